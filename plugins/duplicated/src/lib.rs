//! Duplicated as a plugin. [`duplicated`] implements the rule; this file passes it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod duplicated;

use divvy_framework::prelude::*;

/// The strategy, which has no configuration.
#[derive(Default)]
struct Duplicated;

impl Plugin for Duplicated {
    const NAME: &'static str = "duplicated";
    const DESCRIPTION: &'static str = "gives every candidate the full count";
}

impl AssignPlugin for Duplicated {
    const STRATEGIES: &'static [&'static str] = &["Duplicated"];
    const PROMISES: Promises = Promises::NONE.duplicates().order_independent().inert().each_alone();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        duplicated::divide(context.replicas(), result.replicas())?;
        for candidate in context.candidates() {
            context.explain(candidate, || {
                Reason::of(Cause::FullCount).figure("replicas", context.replicas())
            });
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(Duplicated: Assign);

#[cfg(test)]
mod tests;
