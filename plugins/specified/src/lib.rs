//! Specified as a plugin. [`specified`] implements the rule; [`groups`] reads the groups from the policy.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod explanation;
pub mod groups;
pub mod specified;

use divvy_framework::prelude::*;
use groups::Groups;
use specified::SpecifiedScratch;

/// The strategy, which has no configuration.
#[derive(Default)]
struct Specified;

/// Buffers reused between calls.
#[derive(Debug, Default)]
struct SpecifiedMemory {
    groups: Groups,
    division: SpecifiedScratch,
}

impl Plugin for Specified {
    const NAME: &'static str = "specified";
    const DESCRIPTION: &'static str = "divides replicas into the counts that the user gives";
}

impl AssignPlugin for Specified {
    const STRATEGIES: &'static [&'static str] = &["Specified"];
    const PROMISES: Promises = Promises::NONE.order_independent().inert();
    /// Counts apply to groups of clusters regardless of tiers, and override spread constraints.
    const NEEDS: Needs = Needs::NONE.no_spread().own_tiers().no_priorities();
    const RULE_LISTS: &'static [RuleList] = &[RuleList::new(
        "staticSpecifyList",
        &[RuleField::required("replicas").at_least(0)],
    )];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let (replicas, last, ties) = (context.replicas(), context.last().as_slice(), context.ties());
        with_scratch(|SpecifiedMemory { groups, division }: &mut SpecifiedMemory| {
            let out = result.replicas();
            if context.rules().len() == 0 {
                specified::divide_without_preference(replicas, last, ties, out, division)
                    .map_err(|error| groups.failure(context, error))?;
                if context.wants_explanation() {
                    explanation::explain_equal_shares(context, out);
                }
                return Ok(());
            }
            groups.read(context)?;
            specified::divide(replicas, groups.iter(), last, ties, out, division)
                .map_err(|error| groups.failure(context, error))?;
            if context.wants_explanation() {
                explanation::explain(context, groups, out);
            }
            Ok(())
        })
    }
}

divvy_framework::export_plugin!(Specified: Assign);

#[cfg(test)]
mod tests;
