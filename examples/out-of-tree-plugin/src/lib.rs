//! CheapestFirst, a complete plugin in one file. Its README describes the rule and how to copy it:
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use divvy_framework::cost::{self, Amounts, Cost, CostError, PriceTable};
use divvy_framework::division::{Request, Scratch, tiers};
use divvy_framework::prelude::*;

/// Prices of CPU, memory and GPUs for an hour, which the profile provides.
const PRICES: Table = Table::new("prices", cost::COLUMNS);

/// Configuration in a profile.
#[derive(Configuration)]
#[serde(default)]
struct CheapestFirstConfiguration {
    /// Name of the resource that counts GPUs, for the column `gpu-hour`.
    gpu_resource: String,
    /// Treatment of clusters without a price for something that a replica requests.
    unpriced: Unpriced,
}

impl Default for CheapestFirstConfiguration {
    fn default() -> Self {
        Self {
            gpu_resource: "nvidia.com/gpu".to_owned(),
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
    /// Clusters on which a replica costs more per hour, or has no price, get nothing. Absent: no limit.
    maximum_price: Option<f64>,
    /// Clusters that get replicas, at most. Absent: no limit.
    most_clusters: Option<u32>,
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
        if configuration.gpu_resource.is_empty() {
            return Err("`gpu-resource` is empty".into());
        }
        Ok(Self { configuration })
    }
}

/// Requests of a binding and its limit.
struct Demand {
    /// Requests of a replica.
    requests: Amounts,
    /// Maximum price of a replica for an hour; `None` for no limit.
    limit: Option<Cost>,
    /// Maximum number of clusters.
    most_clusters: usize,
}

impl PreparePlugin for CheapestFirst {
    type Prepared = Demand;

    /// A `Failure` affects only this binding; it names the wrong key of the preferences.
    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<Demand, Failure> {
        let preferences = context.preferences::<CheapestFirstPreferences>()?;
        let most_clusters = match preferences.and_then(|preferences| preferences.most_clusters) {
            Some(0) => return Err(Failure::preferences("mostClusters", "expected at least 1, got 0")),
            Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        let limit = preferences.and_then(|preferences| preferences.maximum_price);
        // The shortest decimal number that is read as this one: what the policy says.
        let limit = limit.map(|limit| limit.to_string().parse()).transpose();
        Ok(Demand {
            requests: cost::requests(&context.binding(), &self.configuration.gpu_resource),
            limit: limit.map_err(|error: cost::InvalidCost| Failure::preferences("maximumPrice", error.to_string()))?,
            most_clusters,
        })
    }
}

/// A candidate with the cost of a replica; without one if a price is missing.
struct Offer {
    cost: Option<Cost>,
    tie: u64,
    candidate: Candidate,
}

/// Memory that is reused between calls: the affordable candidates, cheapest first, and their columns.
#[derive(Default)]
struct Offers {
    offers: Vec<Offer>,
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
    const NEEDS: Needs = Needs::NONE.tables(&[PRICES]);

    /// The host checks the policy's limit in each result, whatever the division below does.
    fn stated_promises(
        &self,
        context: &AssignContext<'_, Self, CheapestFirstPreferences>,
    ) -> Result<StatedPromises, Failure> {
        let most = context.preferences().and_then(|preferences| preferences.most_clusters);
        Ok(most.map_or(StatedPromises::NONE, |most| StatedPromises::NONE.most_clusters(most)))
    }

    fn assign(
        &self,
        context: &AssignContext<'_, Self, CheapestFirstPreferences>,
        result: &mut AssignResult<'_>,
    ) -> Result<(), Failure> {
        let Demand {
            requests,
            limit,
            most_clusters,
        } = context.prepared()?;
        let prices = PriceTable::read(context.table(PRICES.name())?)?;
        with_scratch(|memory: &mut Offers| {
            let Offers {
                offers,
                fits_now,
                last,
                tiers,
                counts,
                division,
            } = memory;
            offers.clear();
            for candidate in context.candidates() {
                let cost = match prices.prices(context.rows()[candidate]).cost(*requests) {
                    Ok(cost) => Some(cost),
                    Err(error @ CostError::Missing { .. }) => {
                        context.explain(candidate, || error.to_string());
                        None
                    }
                    // A wrong price is not one that an operator has left out.
                    Err(error) => {
                        let cluster = context.cluster(candidate).name();
                        return Err(Failure::internal(format!("cluster `{cluster}`: {error}")));
                    }
                };
                if self.is_affordable(cost, *limit) {
                    let tie = context.tie_key(candidate);
                    offers.push(Offer { cost, tie, candidate });
                }
            }
            if offers.len() > *most_clusters {
                // Running replicas stay where they are, as far as the limit allows; clusters without room take no place.
                let (last, capacity) = (context.last(), context.capacity());
                let is_running = |candidate: Candidate| !context.is_fresh() && last[candidate] > 0;
                offers.sort_unstable_by_key(|offer| {
                    let (cost, candidate) = (offer.cost, offer.candidate);
                    let is_full = capacity[candidate] == 0;
                    (!is_running(candidate), is_full, cost.is_none(), cost, offer.tie)
                });
                offers.truncate(*most_clusters);
            }
            // Cheapest first, then those without a price. Ties are broken by the tie key and never by their index, so that
            // the result does not depend on the order of clusters.
            offers.sort_unstable_by_key(|offer| (offer.cost.is_none(), offer.cost, offer.tie));

            // Each cluster is a tier of its own, and the cheapest is the best. The division keeps existing replicas,
            // adds replicas to the best tier with room, removes them from the worst, and in a fresh cycle fills the
            // tiers from the best on.
            replace(fits_now, offers.iter().map(|offer| context.fits_now()[offer.candidate]));
            replace(last, offers.iter().map(|offer| context.last()[offer.candidate]));
            replace(tiers, 0..offers.len() as u32);
            replace(counts, offers.iter().map(|_| 0));
            let request = Request::new(context.replicas(), fits_now, last, context.division_request().cycle);
            tiers::divide_among_tiers(&request, tiers, tiers::LastTier::WithinCapacity, counts, division)?;

            // Candidates that are not set here get no replicas.
            for (offer, &replicas) in offers.iter().zip(&*counts) {
                result.set(offer.candidate, replicas);
                if let Some(cost) = offer.cost {
                    context.explain(offer.candidate, || format!("a replica costs {cost} per hour"));
                }
            }
            Ok(())
        })
    }
}

impl CheapestFirst {
    /// True if a candidate on which a replica costs this much may get replicas.
    fn is_affordable(&self, cost: Option<Cost>, limit: Option<Cost>) -> bool {
        match (cost, limit) {
            (Some(cost), Some(limit)) => cost <= limit,
            (Some(_), None) => true,
            (None, limit) => limit.is_none() && self.configuration.unpriced == Unpriced::Last,
        }
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
