//! Swap as a plugin. The SDK's arithmetic of moves implements the rule; this file passes it the context, without a surge.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use divvy_framework::pace::Situation;
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
        let within_total = Situation {
            max_surge: 0,
            ..context.situation()
        };
        result.largest_step(&within_total, context.ties());
        Ok(())
    }
}

divvy_framework::export_plugin!(Swap: Pace);

#[cfg(test)]
mod tests;
