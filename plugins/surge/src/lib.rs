//! Surge as a plugin. [`surge`] has the rule; this file passes it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod surge;

use divvy_framework::prelude::*;

/// The pace, which has no configuration.
#[derive(Default)]
struct Surge;

impl Plugin for Surge {
    const NAME: &'static str = "surge";
    const DESCRIPTION: &'static str = "creates new replicas first, and removes the old ones once these are ready";
}

impl PacePlugin for Surge {
    fn pace(&self, context: &PaceContext<'_>, result: &mut PaceResult<'_>) -> Result<(), Failure> {
        surge::advance(&context.situation(), context.ties(), result);
        Ok(())
    }
}

divvy_framework::export_plugin!(Surge: Pace);

#[cfg(test)]
mod tests;
