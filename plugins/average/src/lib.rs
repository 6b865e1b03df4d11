//! Average as a plugin. [`average`] implements the rule; this file passes it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod average;
mod explanation;

use average::{AverageColumns, AverageScratch};
use divvy_framework::prelude::*;

/// The strategy, which has no configuration.
#[derive(Default)]
struct Average;

impl Plugin for Average {
    const NAME: &'static str = "average";
    const DESCRIPTION: &'static str = "divides replicas as evenly as capacity allows";
}

impl AssignPlugin for Average {
    const STRATEGIES: &'static [&'static str] = &["Average"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        with_scratch(|scratch: &mut AverageScratch| {
            let columns = AverageColumns {
                fits_now: context.fits_now().as_slice(),
                last: context.last().as_slice(),
                scores: context.scores().as_slice(),
            };
            average::divide(context.replicas(), columns, context.ties(), result.replicas(), scratch)
        })?;
        if context.wants_explanation() {
            explanation::explain(context, result.replicas());
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(Average: Assign);

#[cfg(test)]
mod tests;
