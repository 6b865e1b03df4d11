//! The Filter plugin `api-enablement`: rejects clusters that do not serve the API of the resource.
//!
//! This file connects the SDK to the rule in [`api_enablement`], which computes one verdict per *set* of API
//! enablements: most clusters of a fleet share one of a few sets, and a set holds about a hundred kinds.

#![forbid(unsafe_code)]

mod api_enablement;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;
use divvy_framework::reuse::with_scratch;

use api_enablement::{REASON, Verdicts};

/// Rejects clusters that do not serve the API of the resource.
#[derive(Default)]
struct ApiEnablement;

impl Plugin for ApiEnablement {
    const NAME: &'static str = "api-enablement";
    const DESCRIPTION: &'static str = "rejects clusters that do not serve the API of the resource";
}

impl FilterPlugin for ApiEnablement {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let (clusters, binding) = (context.clusters(), context.binding());
        let sets = clusters.api_sets();
        with_scratch(|verdicts: &mut Verdicts| {
            verdicts.decide(&clusters, binding.resource_api_version(), binding.resource_kind());
            result.retain_newcomers(|row| sets.get(row).is_some_and(|set| verdicts.serves(set)), |_| REASON);
        });
        Ok(())
    }
}

divvy_framework::export_plugin!(ApiEnablement: Filter);
