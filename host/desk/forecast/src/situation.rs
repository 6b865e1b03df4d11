//! The input of one side of a forecast.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};

/// A cluster, and its JSON for plugins that ask for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterEntry {
    /// The cluster.
    pub object: Cluster,
    /// The whole object as it was read, if a plugin needs it.
    pub json: Option<Box<str>>,
}

/// Clusters and bindings at one moment. Cheap to clone: unchanged objects are shared.
#[derive(Debug, Clone, Default)]
pub struct Situation {
    /// The clusters, by name.
    pub clusters: BTreeMap<String, Arc<ClusterEntry>>,
    /// The bindings, sorted by key.
    pub bindings: Vec<Arc<Binding>>,
    /// Clusters that no longer exist but that bindings may still list. Replicas there are lost, and their bindings are decided
    /// as if the clusters were being deleted.
    pub gone: BTreeSet<String>,
    /// Clusters that failed: they exist, but nothing runs there.
    pub failed: BTreeSet<String>,
    /// Clusters whose labels or taints differ from those of the input.
    pub changed: BTreeSet<String>,
}

/// Replicas by cluster; 0 for a resource without replicas.
pub type Assignment = BTreeMap<String, i64>;

/// The clusters that a binding is assigned to. If a cluster is listed twice, its first entry counts, as in the cycle.
pub fn assigned(binding: &Binding) -> Assignment {
    let mut assignment = Assignment::new();
    for (cluster, replicas) in binding.last() {
        assignment.entry(cluster.to_owned()).or_insert(replicas);
    }
    assignment
}

impl Situation {
    /// A situation of these objects. Of two clusters with the same name, the later one counts.
    pub fn new(clusters: impl IntoIterator<Item = ClusterEntry>, bindings: impl IntoIterator<Item = Binding>) -> Self {
        let named = clusters
            .into_iter()
            .map(|cluster| (cluster.object.metadata.name.clone(), Arc::new(cluster)));
        let mut bindings: Vec<Arc<Binding>> = bindings.into_iter().map(Arc::new).collect();
        bindings.sort_by(|left, right| left.identity().cmp(&right.identity()));
        Self {
            clusters: named.collect(),
            bindings,
            ..Self::default()
        }
    }

    /// Names of the clusters that bindings list but that do not exist, each with the number of replicas assigned there.
    pub fn missing(&self) -> BTreeMap<String, i64> {
        let mut missing = BTreeMap::new();
        for binding in &self.bindings {
            for (cluster, replicas) in assigned(binding) {
                if !self.clusters.contains_key(&cluster) {
                    *missing.entry(cluster).or_insert(0) += replicas;
                }
            }
        }
        missing
    }

    /// Treats clusters that are listed but do not exist as gone.
    #[must_use]
    pub fn losing_missing(mut self) -> Self {
        let missing = self.missing();
        self.gone.extend(missing.into_keys());
        self
    }

    /// True if a cluster is gone or being deleted.
    pub(crate) fn is_leaving(&self, cluster: &str) -> bool {
        self.gone.contains(cluster)
            || self
                .clusters
                .get(cluster)
                .is_some_and(|entry| entry.object.metadata.is_deleting())
    }

    /// The clusters as decisions read them.
    pub(crate) fn fleet(&self, keeps_raw: bool) -> Fleet {
        let mut fleet = Fleet::new(keeps_raw);
        for entry in self.clusters.values() {
            fleet.upsert_with_json(&entry.object, entry.json.as_deref());
        }
        fleet
    }

    pub(crate) fn snapshot(&self, keeps_raw: bool) -> FleetSnapshot {
        self.fleet(keeps_raw).snapshot()
    }
}
