//! Specified as a plugin. The rule is in [`specified`]; [`groups`] reads the groups from the policy.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod groups;
pub mod specified;

use divvy_framework::prelude::*;
use groups::Groups;
use specified::SpecifiedScratch;

/// The strategy: nothing to configure.
struct Specified;

/// Memory reused from call to call.
#[derive(Debug, Default)]
struct SpecifiedMemory {
    groups: Groups,
    division: SpecifiedScratch,
}

impl Plugin for Specified {
    const NAME: &'static str = "specified";
    const DESCRIPTION: &'static str = "divides replicas into the counts that the user gives";
    type Configuration = NoConfiguration;
    type Preferences = NoPreferences;
    type Prepared = ();

    fn new(_: NoConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self)
    }

    fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

impl AssignPlugin for Specified {
    const STRATEGIES: &'static [&'static str] = &["Specified"];
    const PROMISES: Promises = Promises::NONE.order_independent().inert();
    /// The counts are for groups of clusters, whatever their tiers.
    const NEEDS: Needs = Needs::NONE.no_spread().own_tiers();
    const RULE_LISTS: &'static [RuleList] = &[RuleList {
        list: "staticSpecifyList",
        field: "replicas",
    }];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let (replicas, last, ties) = (context.replicas(), context.last(), context.ties());
        with_scratch(|SpecifiedMemory { groups, division }: &mut SpecifiedMemory| {
            if context.rules().len() == 0 {
                return specified::divide_without_preference(replicas, last, ties, result.replicas(), division)
                    .map_err(|error| groups.failure(error));
            }
            groups.read(context)?;
            specified::divide(replicas, groups.iter(), last, ties, result.replicas(), division)
                .map_err(|error| groups.failure(error))
        })
    }
}

divvy_framework::export_plugin!(Specified: Assign);

#[cfg(test)]
mod tests;
