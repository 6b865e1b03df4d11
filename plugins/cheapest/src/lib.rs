//! The Score plugin `cheapest`: prefers clusters on which a replica costs less.
//!
//! This file connects the SDK to the rule in [`cheapest`]; the cost of a replica is the SDK's [`cost`].

#![forbid(unsafe_code)]

mod cheapest;
mod configuration;
#[cfg(test)]
mod tests;

use divvy_framework::cost::{self, Cost, CostError, PriceTable};
use divvy_framework::prelude::*;

use cheapest::score_all;
use configuration::CheapestConfiguration;

/// Prices of CPU, memory and GPUs for an hour.
const PRICES: Table = Table::new("prices", cost::COLUMNS);

/// Prefers clusters on which a replica costs less.
struct Cheapest {
    configuration: CheapestConfiguration,
}

impl Plugin for Cheapest {
    const NAME: &'static str = "cheapest";
    const DESCRIPTION: &'static str = "prefers clusters on which a replica costs less";
}

impl ConfiguredPlugin for Cheapest {
    type Configuration = CheapestConfiguration;

    fn new(configuration: CheapestConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        if configuration.gpu_resource.is_empty() {
            return Err("`gpu-resource` is empty, expected the name of a resource such as `nvidia.com/gpu`".into());
        }
        Ok(Self { configuration })
    }
}

impl ScorePlugin for Cheapest {
    const NEEDS: Needs = Needs::NONE.tables(&[PRICES]);

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let requests = cost::requests(&context.binding(), &self.configuration.gpu_resource);
        // Scores start at 0: clusters cannot be compared by something that is not requested.
        if requests.is_nothing() {
            return Ok(());
        }
        let prices = PriceTable::read(context.table(PRICES.name())?)?;
        with_scratch(|costs: &mut Vec<Option<Cost>>| {
            costs.clear();
            for candidate in context.candidates() {
                let cost = prices.prices(context.rows()[candidate]).cost(requests);
                match cost {
                    Ok(cost) => context.explain(candidate, || format!("a replica costs {cost} per hour")),
                    Err(error @ CostError::Missing { .. }) => context.explain(candidate, || error.to_string()),
                    Err(error) => {
                        let cluster = context.cluster(candidate).name();
                        let table = PRICES.name();
                        return Err(Failure::internal(format!(
                            "table `{table}`, cluster `{cluster}`: {error}"
                        )));
                    }
                }
                costs.push(cost.ok());
            }
            score_all(costs, |index, score| result.set(Candidate::from_index(index), score));
            Ok(())
        })
    }
}

divvy_framework::export_plugin!(Cheapest: Score);
