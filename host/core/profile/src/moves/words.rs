//! Words by which policies and profiles say what is moved in steps.

use serde::{Deserialize, Serialize};

/// Bindings that are moved in steps only if a policy or the profile asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IncludedKind {
    /// `StatefulSet`s. Replicas in two clusters have the same ordinals while a move is under way.
    StatefulSet,
    /// Kinds whose status has no `readyReplicas`. Their health counts, or the time since a step if they have none.
    WithoutReadiness,
}

/// Treatment of the replicas in a cluster that an edit of the policy or the cluster excludes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnExclusion {
    /// They leave in steps, as in any other move.
    #[default]
    Steps,
    /// They leave at once.
    Now,
}
