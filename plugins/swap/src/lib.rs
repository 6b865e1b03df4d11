//! Swap as a plugin. [`swap`] has the rule; this file passes it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod swap;

use divvy_framework::prelude::*;

/// The pace, which has no configuration.
#[derive(Default)]
struct Swap;

impl Plugin for Swap {
    const NAME: &'static str = "swap";
    const DESCRIPTION: &'static str = "exchanges replicas within the total that the binding asks for";
}

impl PacePlugin for Swap {
    fn pace(&self, context: &PaceContext<'_>, result: &mut PaceResult<'_>) -> Result<(), Failure> {
        result.largest_step(&swap::within_total(context.situation()), context.ties());
        Ok(())
    }
}

divvy_framework::export_plugin!(Swap: Pace);

#[cfg(test)]
mod tests;
