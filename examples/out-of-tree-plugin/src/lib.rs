//! CheapestFirst: the whole plugin. What it does and how it is copied:
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use divvy_framework::division::{Request, Scratch, tiers};
use divvy_framework::prelude::*;
use divvy_framework::tracing::debug;

/// What a profile can configure.
#[derive(Configuration)]
#[serde(default)]
struct CheapestFirstConfiguration {
    /// The annotation of a cluster that holds its price.
    annotation: String,
    /// What becomes of clusters without a price.
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

/// What becomes of clusters without a price.
#[derive(PartialEq, Configuration)]
enum Unpriced {
    /// They come after all others.
    Last,
    /// They get nothing.
    Never,
}

/// What a policy can say in `divvy.io/preferences`.
#[derive(Default, Preferences)]
#[serde(default)]
struct CheapestFirstPreferences {
    /// Clusters that cost more get nothing, those without a price neither. Absent: no limit.
    maximum_price: Option<f64>,
}

struct CheapestFirst {
    configuration: CheapestFirstConfiguration,
}

impl Plugin for CheapestFirst {
    const NAME: &'static str = "cheapest-first";
    const DESCRIPTION: &'static str = "fills the cheapest clusters first";
    type Configuration = CheapestFirstConfiguration;
    type Preferences = CheapestFirstPreferences;
    /// The highest price that this binding pays.
    type Prepared = f64;

    fn new(configuration: CheapestFirstConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        if configuration.annotation.is_empty() {
            return Err("`annotation` is empty".into());
        }
        Ok(Self { configuration })
    }

    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<f64, Failure> {
        match context.preferences().and_then(|preferences| preferences.maximum_price) {
            Some(limit) if limit < 0.0 => Err(Failure::preferences("maximumPrice", "a price is not negative")),
            Some(limit) => Ok(limit),
            None => Ok(f64::INFINITY),
        }
    }
}

/// Memory that is kept from call to call: the affordable candidates, cheapest first, and their columns.
#[derive(Default)]
struct Offers {
    offers: Vec<(f64, u64, usize)>,
    fits_now: Vec<i64>,
    last: Vec<i64>,
    tiers: Vec<u32>,
    counts: Vec<i64>,
    division: Scratch,
}

impl AssignPlugin for CheapestFirst {
    const STRATEGIES: &'static [&'static str] = &["CheapestFirst"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        with_scratch(|memory: &mut Offers| {
            let Offers {
                offers,
                fits_now,
                last,
                tiers,
                counts,
                division,
            } = memory;
            let affordable = (0..context.len())
                .map(|place| (self.price(context, place), context.tie_key(place), place))
                .filter_map(|(price, tie, place)| {
                    Some((price.filter(|price| price <= context.prepared())?, tie, place))
                });
            offers.clear();
            offers.extend(affordable);
            offers.sort_unstable_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));

            // Every cluster is a tier of its own, the cheapest being the best: what runs stays, more goes to the best tier
            // with room, less is taken from the worst, and a fresh cycle fills the tiers from the best on.
            replace(fits_now, offers.iter().map(|&(_, _, place)| context.fits_now()[place]));
            replace(last, offers.iter().map(|&(_, _, place)| context.last()[place]));
            replace(tiers, 0..offers.len() as u32);
            replace(counts, offers.iter().map(|_| 0));
            let request = Request {
                fits_now,
                last,
                ..context.division_request()
            };
            tiers::divide_among_tiers(&request, tiers, tiers::LastTier::WithinCapacity, counts, division)?;

            for (&(price, _, place), &replicas) in offers.iter().zip(&*counts) {
                result.set(place, replicas);
                context.explain(place, || format!("price {price}"));
            }
            Ok(())
        })
    }
}

impl CheapestFirst {
    /// What the candidate at a place costs; `None` if it is to get nothing.
    fn price(&self, context: &AssignContext<'_, Self>, place: usize) -> Option<f64> {
        let cluster = context.cluster(place);
        let written = cluster.annotation(&self.configuration.annotation);
        let price = written
            .and_then(|text| text.parse().ok())
            .filter(|price| (0.0..).contains(price));
        if let (Some(written), None) = (written, price) {
            debug!(cluster = cluster.name(), written, "the price is no number from 0 on");
        }
        price.or((self.configuration.unpriced == Unpriced::Last).then_some(f64::INFINITY))
    }
}

fn replace<T>(column: &mut Vec<T>, values: impl Iterator<Item = T>) {
    column.clear();
    column.extend(values);
}

divvy_framework::export_plugin!(CheapestFirst: Assign);

#[cfg(test)]
mod tests;
