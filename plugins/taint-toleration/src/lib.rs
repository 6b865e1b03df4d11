//! The Filter plugin `taint-toleration`: rejects clusters with a taint that the placement does not tolerate.
//!
//! Which taint is tolerated is the SDK's [`UntoleratedTaints`](divvy_framework::binding::UntoleratedTaints), Kubernetes' rule. A cluster that
//! the last result lists stays, as in Karmada. A fleet without taints costs nothing.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

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
        context.with_untolerated_taints(|taints| {
            result.retain_newcomers(|row| !taints.any(row), |row| taints.reason(row));
        });
        Ok(())
    }
}

divvy_framework::export_plugin!(TaintToleration: Filter);
