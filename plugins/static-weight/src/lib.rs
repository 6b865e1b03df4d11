//! StaticWeight as a plugin. [`static_weight`] implements the rule; this file resolves the weights and passes it the
//! context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod explanation;
pub mod static_weight;

use divvy_framework::division::{DivisionError, Scratch};
use divvy_framework::prelude::*;
use static_weight::{Method, weigh_alike_unless_weighted};

/// Configuration of the plugin in a profile.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
struct StaticWeightConfiguration {
    /// Method of distributing the remainder.
    method: Method,
}

/// The strategy, as configured.
struct StaticWeight {
    configuration: StaticWeightConfiguration,
}

/// Buffers reused between calls.
#[derive(Debug, Default)]
struct StaticWeightColumns {
    weights: Vec<i64>,
    all_weights: Vec<i64>,
    division: Scratch,
}

impl Plugin for StaticWeight {
    const NAME: &'static str = "static-weight";
    const DESCRIPTION: &'static str = "divides replicas by static weights";
}

impl ConfiguredPlugin for StaticWeight {
    type Configuration = StaticWeightConfiguration;

    fn new(configuration: StaticWeightConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }
}

impl AssignPlugin for StaticWeight {
    const STRATEGIES: &'static [&'static str] = &["StaticWeight"];
    const PROMISES: Promises = Promises::NONE.order_independent().inert();
    const NEEDS: Needs = Needs::NONE.no_spread().rules_decide_tiers().last_tier_overflows();
    const RULE_LISTS: &'static [RuleList] = &[RuleList::new(
        "staticWeightList",
        &[RuleField::required("weight").at_least(1)],
    )];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        with_scratch(|columns: &mut StaticWeightColumns| {
            let StaticWeightColumns {
                weights,
                all_weights,
                division,
            } = columns;
            resolve_weights(context, self.configuration.method, weights, all_weights);
            let (replicas, last, out) = (context.replicas(), context.last().as_slice(), result.replicas());
            let method = self.configuration.method;
            match method {
                Method::EvenRemainder => {
                    static_weight::divide(replicas, weights, last, method, context.ties(), out, division)
                }
                Method::Webster => {
                    static_weight::divide(replicas, weights, last, method, context.karmada_ties(), out, division)
                }
            }
            .map_err(|error| failure(context, error))?;
            if context.wants_explanation() {
                explanation::explain(context, method, weights, out);
            }
            Ok(())
        })
    }
}

/// Converts an error of the arithmetic to a failure. A tier without positive weights is unschedulable rather than a
/// fault of the plugin, because the policy causes it.
fn failure(context: &AssignContext<'_, StaticWeight>, error: DivisionError) -> Failure {
    match error {
        DivisionError::NoWeight { requested } if context.tier().1 <= 1 => Failure::unschedulable(format!(
            "{requested} replicas requested, and none of these candidates has a positive weight"
        )),
        DivisionError::NoWeight { requested } => Failure::unschedulable(format!(
            "{requested} replicas requested in tier {}, in which no cluster has a positive weight",
            // Operators see tiers counted from 1, as in the table.
            context.tier().0 + 1
        )),
        error => error.into(),
    }
}

/// Writes the weight of each candidate: the largest among the rules that match it, or 0 if none does. If no candidate
/// of any tier has a positive weight, all get the weight 1. With Webster, as in Karmada, only the current tier is
/// considered. Without tiers, candidates that are not in this call are cordoned: their weights count, because the rest must not go
/// to clusters to which the policy gives none.
fn resolve_weights(
    context: &AssignContext<'_, StaticWeight>,
    method: Method,
    weights: &mut Vec<i64>,
    all_weights: &mut Vec<i64>,
) {
    if context.rules().len() == 0 {
        weights.clear();
        weights.resize(context.len(), 1);
        return;
    }
    context.largest_rule_value("weight", 0, weights);
    // Negative weights count as 0, as in Karmada.
    weights.iter_mut().for_each(|weight| *weight = (*weight).max(0));
    // This tier gets equal weights only if no other tier has a weight either; otherwise its clusters get nothing.
    let (_, tier_count) = context.tier();
    let is_part = context.all_rows().len() > context.len();
    if (method == Method::EvenRemainder || tier_count <= 1) && is_part && weights.iter().all(|&weight| weight == 0) {
        context.largest_rule_value_of(context.all_rows(), "weight", 0, all_weights);
        if all_weights.iter().any(|&weight| weight > 0) {
            return;
        }
    }
    weigh_alike_unless_weighted(weights);
}

divvy_framework::export_plugin!(StaticWeight: Assign);

#[cfg(test)]
mod tests;
