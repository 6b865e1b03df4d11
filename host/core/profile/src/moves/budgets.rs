//! `[profile.moves.budgets]`: bounds of the moves that are under way at once.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Bounds of moves that are under way at once; absent ones do not limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MoveBudgets {
    /// Bindings on their way at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<NonZeroU32>,
    /// Bindings on their way at once into or out of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bindings_per_cluster: Option<NonZeroU32>,
    /// Bindings on their way at once into or out of the clusters of a region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bindings_per_region: Option<NonZeroU32>,
    /// Replicas that moves have given and that are not known to be ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<NonZeroU32>,
    /// Replicas that moves have given a cluster and that are not known to be ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas_per_cluster: Option<NonZeroU32>,
    /// Replicas that moves have given the clusters of a region and that are not known to be ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas_per_region: Option<NonZeroU32>,
}

impl MoveBudgets {
    /// These bounds, with missing ones taken from `base`.
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            bindings: self.bindings.or(base.bindings),
            bindings_per_cluster: self.bindings_per_cluster.or(base.bindings_per_cluster),
            bindings_per_region: self.bindings_per_region.or(base.bindings_per_region),
            replicas: self.replicas.or(base.replicas),
            replicas_per_cluster: self.replicas_per_cluster.or(base.replicas_per_cluster),
            replicas_per_region: self.replicas_per_region.or(base.replicas_per_region),
        }
    }
}
