//! The rule: a cluster must match one of the affinities in force. If there are none, every cluster passes.
//!
//! The SDK's [`ClusterMatcher`] matches a single affinity (names, exclusions, labels, fields, zones), because
//! strategies need it too. The last result is not considered: a cluster that no longer matches is rejected even if the
//! binding runs there.

use divvy_framework::clusters::ClusterMatcher;

/// Reason for rejecting a cluster, in Karmada's words.
pub(crate) const REASON: &str = "cluster(s) did not match the placement cluster affinity constraint";

/// Affinities in force, with separate variants for the cheaper cases.
#[derive(Debug)]
pub(crate) enum AnyOf<'a> {
    /// Every cluster matches: there is no affinity, or one without conditions.
    Everything,
    /// The usual case, separate to keep its loop fast.
    One(ClusterMatcher<'a>),
    /// An affinity and its overflow affinities.
    Several(Vec<ClusterMatcher<'a>>),
}

impl<'a> AnyOf<'a> {
    /// Matches a cluster if any of `affinities` does.
    pub(crate) fn new(mut affinities: impl Iterator<Item = ClusterMatcher<'a>>) -> Self {
        let Some(first) = affinities.next() else {
            return Self::Everything;
        };
        if first.matches_all() {
            return Self::Everything;
        }
        let Some(second) = affinities.next() else {
            return Self::One(first);
        };
        let mut all = vec![first, second];
        all.extend(affinities);
        if all.iter().any(ClusterMatcher::matches_all) {
            return Self::Everything;
        }
        Self::Several(all)
    }
}
