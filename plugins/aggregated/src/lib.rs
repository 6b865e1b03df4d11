//! Aggregated as a plugin. [`aggregated`] implements the rule; this file passes it the context and the sort orders.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aggregated;
pub mod configuration;
mod explanation;

use configuration::{AggregatedConfiguration, Method};
use divvy_framework::division::Scratch;
use divvy_framework::prelude::*;

/// The strategy, as configured.
struct Aggregated {
    configuration: AggregatedConfiguration,
}

impl Plugin for Aggregated {
    const NAME: &'static str = "aggregated";
    const DESCRIPTION: &'static str = "divides replicas over as few clusters as possible";
}

impl ConfiguredPlugin for Aggregated {
    type Configuration = AggregatedConfiguration;

    fn new(configuration: AggregatedConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }
}

impl AssignPlugin for Aggregated {
    const STRATEGIES: &'static [&'static str] = &["Aggregated"];
    /// Not order-independent: `method = "webster"` keeps equal capacities in the order of the candidates, as Karmada
    /// does.
    const PROMISES: Promises = Promises::NONE.respects_capacity().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let request = context.division_request();
        let fill = self.configuration.division_fill();
        let out = result.replicas();
        with_scratch(|division: &mut Scratch| {
            match self.configuration.method {
                Method::EvenRemainder => {
                    aggregated::divide(&request, fill, context.policy_order(), context.ties(), out, division)
                }
                // When shrinking, Karmada sorts the last result in the order of the binding; otherwise it sorts the
                // candidates in the order of Select.
                Method::Webster if request.shrinks() => aggregated::divide(
                    &request,
                    fill,
                    context.last_order(),
                    context.karmada_ties(),
                    out,
                    division,
                ),
                Method::Webster => {
                    let order = |index: usize| index as u64;
                    aggregated::divide(&request, fill, order, context.karmada_ties(), out, division)
                }
            }
        })?;
        if context.wants_explanation() {
            explanation::explain(context, self.configuration, result.replicas());
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(Aggregated: Assign);

#[cfg(test)]
mod tests;
