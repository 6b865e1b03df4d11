//! StaticWeight as a plugin. The rule is in [`static_weight`]; this file resolves the weights and hands it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod explanation;
pub mod static_weight;

use divvy_framework::division::{DivisionError, Scratch};
use divvy_framework::prelude::*;
use static_weight::{Method, weigh_alike_unless_weighted};

/// What a profile can configure.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
struct StaticWeightConfiguration {
    /// How the remainder is given out.
    method: Method,
}

/// The strategy, as configured.
struct StaticWeight {
    configuration: StaticWeightConfiguration,
}

/// Memory reused from call to call.
#[derive(Debug, Default)]
struct StaticWeightColumns {
    weights: Vec<i64>,
    all_weights: Vec<i64>,
    division: Scratch,
}

impl Plugin for StaticWeight {
    const NAME: &'static str = "static-weight";
    const DESCRIPTION: &'static str = "divides replicas by static weights";
    type Configuration = StaticWeightConfiguration;
    type Preferences = NoPreferences;
    type Prepared = ();

    fn new(configuration: StaticWeightConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }

    fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
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
            let (replicas, last, out) = (context.replicas(), context.last(), result.replicas());
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

/// Replicas for a tier in which nobody weighs anything have nowhere to go; that is the policy's doing, not the plugin's.
fn failure(context: &AssignContext<'_, StaticWeight>, error: DivisionError) -> Failure {
    match error {
        DivisionError::NoWeight { requested } => Failure::unschedulable(format!(
            "{requested} replicas requested in tier {}, in which no cluster has a positive weight",
            context.tier().0
        )),
        error => error.into(),
    }
}

/// Writes the weight of each candidate: the largest among the rules that match it, 0 if none does. If nobody has a positive
/// one, all weigh 1: nobody among the candidates of all tiers, or for Webster, as in Karmada, of this tier.
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
    // Karmada too counts a weight below zero as none.
    weights.iter_mut().for_each(|weight| *weight = (*weight).max(0));
    let (_, tier_count) = context.tier();
    if method == Method::EvenRemainder && tier_count > 1 && weights.iter().all(|&weight| weight == 0) {
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
