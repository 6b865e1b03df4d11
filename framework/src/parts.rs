//! Parts of a binding that a plugin declares to act on.

use divvy_framework_abi::descriptor::binding_part;

/// Parts of a binding that the calls of a filter or a score act on: [`FilterPlugin::ACTS_ON`](crate::filter::FilterPlugin::ACTS_ON)
/// and [`ScorePlugin::ACTS_ON`](crate::score::ScorePlugin::ACTS_ON).
///
/// The host does not call the plugin for a binding that has none of them. Many bindings have no last result, no
/// evictions and no spread constraints. A call that finds nothing to do still costs a few hundred instructions, of
/// about ten thousand for a whole cycle on ten clusters.
///
/// ```
/// use divvy_framework::plugin::BindingParts;
///
/// const EITHER: BindingParts = BindingParts::EVICTIONS.or(BindingParts::LAST_RESULT);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingParts(u64);

impl BindingParts {
    /// Any part, in this version of the SDK and in later ones: the plugin is called for every binding.
    pub const ALL: Self = Self(0);

    /// A last result: [`Binding::last`](crate::binding::Binding::last) lists a cluster, with any number of replicas, even one
    /// that is gone.
    pub const LAST_RESULT: Self = Self(binding_part::LAST_RESULT);

    /// Graceful eviction tasks: [`Binding::evictions`](crate::binding::Binding::evictions).
    pub const EVICTIONS: Self = Self(binding_part::EVICTIONS);

    /// Spread constraints, even if Select ignores them for the strategy:
    /// [`Binding::spread_constraints`](crate::binding::Binding::spread_constraints).
    pub const SPREAD_CONSTRAINTS: Self = Self(binding_part::SPREAD_CONSTRAINTS);

    /// Cluster affinities of the placement, even one without conditions:
    /// [`Binding::affinities`](crate::binding::Binding::affinities).
    pub const CLUSTER_AFFINITIES: Self = Self(binding_part::CLUSTER_AFFINITIES);

    /// A workload affinity group: [`Placements::affinity_group`](crate::binding::Placements::affinity_group).
    pub const AFFINITY_GROUP: Self = Self(binding_part::AFFINITY_GROUP);

    /// A workload anti-affinity group: [`Placements::anti_affinity_group`](crate::binding::Placements::anti_affinity_group).
    pub const ANTI_AFFINITY_GROUP: Self = Self(binding_part::ANTI_AFFINITY_GROUP);

    /// The union of these parts and others: the plugin is called for a binding that has any of them.
    #[must_use]
    pub const fn or(self, others: Self) -> Self {
        // `ALL` is 0, so a union with it needs a case of its own.
        match (self.0, others.0) {
            (0, _) | (_, 0) => Self::ALL,
            (these, others) => Self(these | others),
        }
    }

    /// The bits that cross the boundary; 0 for any part.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// The constants of these parts, for messages.
    #[cfg(feature = "testing")]
    pub(crate) fn names(self) -> String {
        let known = [
            (Self::LAST_RESULT, "`LAST_RESULT`"),
            (Self::EVICTIONS, "`EVICTIONS`"),
            (Self::SPREAD_CONSTRAINTS, "`SPREAD_CONSTRAINTS`"),
            (Self::CLUSTER_AFFINITIES, "`CLUSTER_AFFINITIES`"),
            (Self::AFFINITY_GROUP, "`AFFINITY_GROUP`"),
            (Self::ANTI_AFFINITY_GROUP, "`ANTI_AFFINITY_GROUP`"),
        ];
        let declared = known.iter().filter(|(part, _)| self.0 & part.0 != 0);
        let names: Vec<&str> = declared.map(|(_, name)| *name).collect();
        names.join(", ")
    }
}
