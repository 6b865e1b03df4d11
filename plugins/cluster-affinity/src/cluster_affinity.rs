//! The rule: a cluster must match one of the affinities that are in force; with none in force every cluster does.
//!
//! How one affinity matches (names, exclusions, labels, fields, zones) is the SDK's [`ClusterMatcher`], since strategies
//! need the same. The last result plays no part here: a cluster that no longer matches is rejected even if the binding
//! runs there.

use divvy_framework::clusters::ClusterMatcher;

/// Why a cluster is rejected: Karmada's text.
pub(crate) const REASON: &str = "cluster(s) did not match the placement cluster affinity constraint";

/// The affinities in force, by how much work they are.
#[derive(Debug)]
pub(crate) enum AnyOf<'a> {
    /// Every cluster matches: no affinity, or one that demands nothing.
    Everything,
    /// The usual case, kept apart for the speed of its loop.
    One(ClusterMatcher<'a>),
    /// An affinity and those it overflows to.
    Several(Vec<ClusterMatcher<'a>>),
}

impl<'a> AnyOf<'a> {
    /// Any one of `affinities`.
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
