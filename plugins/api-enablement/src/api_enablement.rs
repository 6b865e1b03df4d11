//! The rule: which sets of API enablements serve a resource.
//!
//! It does not know the last result, whose clusters the plugin exempts. Karmada once passed clusters whose condition
//! `CompleteAPIEnablements` is not true; as of v1.19 that condition plays no part, and so it plays none here.

use divvy_framework::clusters::Clusters;

/// Why a cluster is rejected: Karmada's text.
pub(crate) const REASON: &str = "cluster(s) did not have the API resource";

/// For each set of API enablements whether it serves the resource. Kept between cycles for its memory alone.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    by_set: Vec<bool>,
}

impl Verdicts {
    /// Decides for all sets.
    pub(crate) fn decide(&mut self, clusters: &Clusters<'_>, api_version: &str, kind: &str) {
        self.by_set.clear();
        // A text that no cluster mentions anywhere is in no set.
        if let (Some(group_version), Some(kind)) = (clusters.symbol(api_version), clusters.symbol(kind)) {
            self.by_set.extend(
                (0..)
                    .take(clusters.api_set_count())
                    .map(|set| clusters.api_set_has(set, group_version, kind)),
            );
        }
    }

    /// Whether a set serves the resource.
    #[inline]
    pub(crate) fn serves(&self, set: u32) -> bool {
        self.by_set.get(set as usize).copied().unwrap_or(false)
    }
}
