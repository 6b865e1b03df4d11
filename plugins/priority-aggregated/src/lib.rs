//! PriorityAggregated as a plugin. [`priority_aggregated`] implements the rule; this file passes it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod configuration;
pub mod priority_aggregated;

use configuration::PriorityAggregatedConfiguration;
use divvy_framework::prelude::*;
use priority_aggregated::PriorityAggregatedScratch;

/// The strategy, as configured.
struct PriorityAggregated {
    configuration: PriorityAggregatedConfiguration,
}

impl Plugin for PriorityAggregated {
    const NAME: &'static str = "priority-aggregated";
    const DESCRIPTION: &'static str = "divides replicas over preferred clusters first";
}

impl ConfiguredPlugin for PriorityAggregated {
    type Configuration = PriorityAggregatedConfiguration;

    fn new(configuration: PriorityAggregatedConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }
}

/// Policy list with the priorities of clusters (`proposals/priority-aggregated.md`: minimum 1).
const PRIORITIES: RuleList =
    RuleList::new("preferredPriorityList", &[RuleField::required("priority").at_least(1)]).giving_priorities();

impl AssignPlugin for PriorityAggregated {
    const STRATEGIES: &'static [&'static str] = &["PriorityAggregated"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();
    const NEEDS: Needs = Needs::NONE.own_tiers();
    const RULE_LISTS: &'static [RuleList] = &[PRIORITIES];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        for rule in context.rules() {
            if let Some(priority @ ..=0) = rule.value("priority") {
                return Err(Failure::preferences(
                    format!("{}.priority", rule.origin()),
                    format!("expected a priority of 1 or more, got {priority}"),
                ));
            }
        }
        let request = context.division_request();
        with_scratch(|scratch: &mut PriorityAggregatedScratch| {
            priority_aggregated::divide(
                &request,
                context.tiers().as_slice(),
                self.configuration.fill.into(),
                context.policy_order(),
                context.ties(),
                result.replicas(),
                scratch,
            )
        })?;
        let counts = result.replicas();
        for (candidate, &count) in context.candidates().zip(&*counts) {
            context.explain(candidate, || explanation(context, candidate, count));
        }
        Ok(())
    }
}

/// Explains why the candidate got `count` replicas. The host knows its tier, last replicas and room.
fn explanation(context: &AssignContext<'_, PriorityAggregated>, candidate: Candidate, count: i64) -> Reason {
    let last = context.last()[candidate];
    match count {
        0 if last == 0 => Reason::of(Cause::NotNeeded),
        0 => Reason::of(Cause::Drained),
        _ if count == context.capacity()[candidate] => Reason::of(Cause::Filled).bound(Bound::Capacity),
        _ if count == last && !context.is_fresh() => Reason::of(Cause::Unchanged),
        _ => Reason::of(Cause::Proportion).bound(Bound::Tier),
    }
}

divvy_framework::export_plugin!(PriorityAggregated: Assign);

#[cfg(test)]
mod tests;
