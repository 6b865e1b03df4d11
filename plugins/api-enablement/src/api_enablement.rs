//! The rule: which sets of API enablements serve a resource.
//!
//! It does not consider the last result; the plugin exempts its clusters. Older versions of Karmada passed clusters
//! whose condition `CompleteAPIEnablements` is not true. Since v1.19 Karmada ignores that condition, and so does this
//! rule.

use divvy_framework::clusters::Clusters;

/// Reason for rejecting a cluster, in Karmada's words.
pub(crate) const REASON: &str = "cluster(s) did not have the API resource";

/// Verdict for each set of API enablements. Kept between cycles only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    by_set: Vec<bool>,
}

impl Verdicts {
    /// Decides for every set whether it serves the resource, replacing the verdicts of the previous call.
    pub(crate) fn decide(&mut self, clusters: &Clusters<'_>, api_version: &str, kind: &str) {
        self.by_set.clear();
        // A string that occurs in no cluster has no symbol and is in no set.
        if let [Some(group_version), Some(kind)] = clusters.symbols([api_version, kind]) {
            self.by_set.extend(clusters.api_sets_with(group_version, kind));
        }
    }

    /// True if the set serves the resource.
    #[inline]
    pub(crate) fn serves(&self, set: u32) -> bool {
        self.by_set.get(set as usize).copied().unwrap_or(false)
    }
}
