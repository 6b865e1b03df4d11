//! The Filter plugin `taint-toleration`: rejects clusters with a taint that the placement does not tolerate.
//!
//! This file connects the SDK to the rule in [`taint_toleration`]. Tolerations are converted to numbers once per cycle,
//! so that each taint costs a few integer comparisons, and a fleet without taints costs nothing.

#![forbid(unsafe_code)]

mod taint_toleration;
#[cfg(test)]
mod tests;

use divvy_framework::clusters::RowSet;
use divvy_framework::prelude::*;
use divvy_framework::reuse::with_scratch;

use taint_toleration::{Tolerations, reason};

/// Rejects clusters with a taint that the placement does not tolerate.
#[derive(Default)]
struct TaintToleration;

impl Plugin for TaintToleration {
    const NAME: &'static str = "taint-toleration";
    const DESCRIPTION: &'static str = "rejects clusters with a taint that the placement does not tolerate";
}

impl FilterPlugin for TaintToleration {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let (clusters, binding) = (context.clusters(), context.binding());
        if !clusters.any_tainted() {
            return Ok(());
        }
        let taints = clusters.taints();
        with_scratch(|(tolerations, last): &mut (Tolerations, RowSet)| {
            tolerations.compile(&clusters, binding.tolerations());
            binding.collect_last_rows(&clusters, last);
            let first_untolerated = |row| taints.of(row).find(|&taint| tolerations.reject(taint));
            result.retain(
                |row| !taints.any(row) || first_untolerated(row).is_none() || last.contains(row),
                |row| first_untolerated(row).map_or_else(String::new, |taint| reason(&clusters, taint)),
            );
        });
        Ok(())
    }
}

divvy_framework::export_plugin!(TaintToleration: Filter);
