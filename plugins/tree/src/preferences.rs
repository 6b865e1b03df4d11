//! The preferences as written in a policy. [`tree`](crate::tree) checks them as a whole.

use divvy_framework::configuration::ClusterMatch;
use divvy_framework::division::tree::Amount;
use divvy_framework::prelude::*;

/// The root of a tree, over all candidates.
#[derive(Debug, Clone, Default, PartialEq, Preferences)]
#[serde(default)]
pub struct TreePreferences {
    /// The property that texts in the children's `match` refer to. Without `children`, each of its values is a child of
    /// its own.
    pub by: Option<By>,
    /// The groups that share the replicas. A cluster in none of them gets nothing.
    pub children: Option<Vec<Child>>,
    /// The rule by which a node without `children` divides its replicas; `byRoom` if absent.
    pub divide: Option<Divide>,
    /// Minimum replicas of each cluster that gets any. Only without `children`.
    pub floor: Option<u32>,
    /// Minimum replicas of every cluster. Only without `children`.
    pub always: Option<u32>,
    /// Maximum replicas of each cluster. Only without `children`.
    pub cap: Option<u32>,
    /// Weights of clusters, for `byWeight`.
    pub weights: Option<Vec<ClusterWeight>>,
}

/// A group of the clusters of its parent.
#[derive(Debug, Clone, PartialEq, Preferences)]
pub struct Child {
    /// Its clusters: a value of the parent's `by`, a list of values, clusters in the form of Karmada's `targetCluster`, or `*` for
    /// those that no sibling matches.
    #[serde(rename = "match")]
    pub clusters: ClusterMatch,
    /// Share among the siblings with weights. Without it, the child keeps what it has, or, with `*`, takes only
    /// replicas that the others cannot. A child without replicas has a `count` of 0.
    #[schemars(range(min = 1))]
    pub weight: Option<u32>,
    /// Exact number of replicas.
    pub count: Option<u32>,
    /// Minimum replicas: a number, or a percentage of the parent's replicas, rounded down.
    pub min: Option<Amount>,
    /// Maximum replicas: a number, or a percentage of the parent's replicas, rounded up.
    pub max: Option<Amount>,
    /// The property that texts in the children's `match` refer to. Without `children`, each of its values is a child of
    /// its own.
    pub by: Option<By>,
    /// The groups that share its replicas. A cluster in none of them gets nothing.
    pub children: Option<Vec<Child>>,
    /// The rule by which a node without `children` divides its replicas; `byRoom` if absent.
    pub divide: Option<Divide>,
    /// Minimum replicas of each cluster that gets any. Only without `children`.
    pub floor: Option<u32>,
    /// Minimum replicas of every cluster. Only without `children`.
    pub always: Option<u32>,
    /// Maximum replicas of each cluster. Only without `children`.
    pub cap: Option<u32>,
    /// Weights of clusters, for `byWeight`.
    pub weights: Option<Vec<ClusterWeight>>,
}

/// A property that groups clusters.
#[derive(Debug, Clone, PartialEq, Eq, Preferences)]
pub enum By {
    /// `spec.region`.
    Region,
    /// `spec.zones`.
    Zone,
    /// `spec.provider`.
    Provider,
    /// The name of the cluster.
    Name,
    /// The value of the label with this key.
    Label(String),
}

/// A rule by which a node without children divides its replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Preferences)]
pub enum Divide {
    /// Existing replicas stay; growth is in proportion to the room that is left, shrinkage in proportion to existing
    /// replicas.
    #[default]
    #[serde(rename = "byRoom")]
    ByRoom,
    /// As evenly as possible.
    #[serde(rename = "evenly")]
    Evenly,
    /// In proportion to `weights`.
    #[serde(rename = "byWeight")]
    ByWeight,
    /// Existing replicas stay, on as few clusters as possible.
    #[serde(rename = "fewest")]
    Fewest,
}

/// The weight of some clusters.
#[derive(Debug, Clone, PartialEq, Preferences)]
pub struct ClusterWeight {
    /// The clusters: a name, a list of names, or the form of Karmada's `targetCluster`.
    #[serde(rename = "match")]
    pub clusters: ClusterMatch,
    /// Their weight; the largest counts if several entries match a cluster. Clusters without a weight get nothing.
    #[schemars(range(min = 1))]
    pub weight: u32,
}

impl Divide {
    /// The word in preferences.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ByRoom => "byRoom",
            Self::Evenly => "evenly",
            Self::ByWeight => "byWeight",
            Self::Fewest => "fewest",
        }
    }
}
