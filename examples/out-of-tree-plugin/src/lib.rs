//! CheapestFirst, a complete plugin in one file. Its README describes the rule and how to copy it:
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use divvy_framework::cycle::CallContext;
use divvy_framework::division::{Request, Scratch, tiers};
use divvy_framework::prelude::*;
use divvy_framework::tracing::debug;

/// Configuration in a profile.
#[derive(Configuration)]
#[serde(default)]
struct CheapestFirstConfiguration {
    /// Annotation of a cluster that contains its price.
    annotation: String,
    /// Treatment of clusters without a price.
    unpriced: Unpriced,
}

impl Default for CheapestFirstConfiguration {
    fn default() -> Self {
        Self {
            annotation: "example.com/price-per-core-hour".to_owned(),
            unpriced: Unpriced::Last,
        }
    }
}

/// Treatment of clusters without a price.
#[derive(PartialEq, Configuration)]
enum Unpriced {
    /// They come after all others.
    Last,
    /// They get nothing.
    Never,
}

/// Preferences in the annotation `divvy.io/preferences` of a policy.
#[derive(Default, Preferences)]
#[serde(default)]
struct CheapestFirstPreferences {
    /// Clusters that cost more, or have no price, get nothing. Absent: no limit.
    maximum_price: Option<f64>,
}

struct CheapestFirst {
    configuration: CheapestFirstConfiguration,
}

impl Plugin for CheapestFirst {
    const NAME: &'static str = "cheapest-first";
    const DESCRIPTION: &'static str = "fills the cheapest clusters first";
}

impl ConfiguredPlugin for CheapestFirst {
    type Configuration = CheapestFirstConfiguration;

    /// An error rejects the profile, with its text: the plugin is not loaded.
    fn new(configuration: CheapestFirstConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        if configuration.annotation.is_empty() {
            return Err("`annotation` is empty".into());
        }
        Ok(Self { configuration })
    }
}

impl PreparePlugin for CheapestFirst {
    /// Highest price that this binding pays.
    type Prepared = f64;

    /// A `Failure` affects only this binding; it names the wrong key of the preferences.
    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<f64, Failure> {
        let preferences = context.preferences::<CheapestFirstPreferences>()?;
        match preferences.and_then(|preferences| preferences.maximum_price) {
            Some(limit) if limit < 0.0 => Err(Failure::preferences("maximumPrice", "expected a price of at least 0")),
            Some(limit) => Ok(limit),
            None => Ok(f64::INFINITY),
        }
    }
}

/// Memory that is reused between calls: the affordable candidates, cheapest first, and their columns.
#[derive(Default)]
struct Offers {
    offers: Vec<(f64, u64, Candidate)>,
    fits_now: Vec<i64>,
    last: Vec<i64>,
    tiers: Vec<u32>,
    counts: Vec<i64>,
    division: Scratch,
}

impl AssignPlugin<CheapestFirstPreferences> for CheapestFirst {
    /// Name of the strategy in policies.
    const STRATEGIES: &'static [&'static str] = &["CheapestFirst"];
    /// Guarantees to the host. `Scenario::assign_checked` verifies them in tests.
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(
        &self,
        context: &AssignContext<'_, Self, CheapestFirstPreferences>,
        result: &mut AssignResult<'_>,
    ) -> Result<(), Failure> {
        let limit = context.prepared()?;
        with_scratch(|memory: &mut Offers| {
            let Offers {
                offers,
                fits_now,
                last,
                tiers,
                counts,
                division,
            } = memory;
            // Sort the affordable candidates by price. Ties are broken by the tie key and never by their index, so that
            // the result does not depend on the order of clusters.
            let affordable = context.candidates().filter_map(|candidate| {
                let price = self.price(context, candidate).filter(|price| price <= limit)?;
                Some((price, context.tie_key(candidate), candidate))
            });
            offers.clear();
            offers.extend(affordable);
            offers.sort_unstable_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));

            // Each cluster is a tier of its own, and the cheapest is the best. The division keeps existing replicas,
            // adds replicas to the best tier with room, removes them from the worst, and in a fresh cycle fills the
            // tiers from the best on.
            replace(fits_now, offers.iter().map(|offer| context.fits_now()[offer.2]));
            replace(last, offers.iter().map(|offer| context.last()[offer.2]));
            replace(tiers, 0..offers.len() as u32);
            replace(counts, offers.iter().map(|_| 0));
            let request = Request::new(context.replicas(), fits_now, last, context.division_request().cycle);
            tiers::divide_among_tiers(&request, tiers, tiers::LastTier::WithinCapacity, counts, division)?;

            // Candidates that are not set here get no replicas.
            for (&(price, _, candidate), &replicas) in offers.iter().zip(&*counts) {
                result.set(candidate, replicas);
                context.explain(candidate, || format!("price {price}"));
            }
            Ok(())
        })
    }
}

impl CheapestFirst {
    /// Price of a candidate. Without one it is infinite, or `None` if such clusters get nothing.
    fn price(&self, context: &CallContext<'_, Self>, candidate: Candidate) -> Option<f64> {
        let cluster = context.cluster(candidate);
        let written = cluster.annotation(&self.configuration.annotation);
        let price = written
            .and_then(|text| text.parse().ok())
            .filter(|price| (0.0..).contains(price));
        if let (Some(written), None) = (written, price) {
            debug!(cluster = cluster.name(), written, "invalid price: expected at least 0");
        }
        price.or((self.configuration.unpriced == Unpriced::Last).then_some(f64::INFINITY))
    }
}

/// Replaces the content of a column and keeps its memory.
fn replace<T>(column: &mut Vec<T>, values: impl Iterator<Item = T>) {
    column.clear();
    column.extend(values);
}

divvy_framework::export_plugin!(CheapestFirst: Assign, Prepare);

#[cfg(test)]
mod tests;
