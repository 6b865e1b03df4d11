//! Changes of clusters that the scheduler has to notice, and the bindings that they concern.
//!
//! The clusters themselves are in the fleet's columns. This store keeps the properties of each, a hash of the parts that
//! filters read, and its free resources, to compare the next version with.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_karmada::api::{Cluster, Quantity, Timestamp};

use super::bindings::version_number;
use divvy_scheduler::decide::affinity::ClusterProperties;

/// The clusters of a control plane.
#[derive(Debug, Default)]
pub(crate) struct ClusterStore {
    clusters: BTreeMap<String, Entry>,
    epoch: u64,
}

#[derive(Debug)]
struct Entry {
    uid: Box<str>,
    version: Box<str>,
    properties: ClusterProperties,
    generation: i64,
    is_deleting: bool,
    /// True for the sync mode `Pull`.
    is_pull: bool,
    /// Time since which it has been Ready, in milliseconds since 1970; `None` if it is not, or does not say.
    ready_since: Option<i64>,
    /// Hash of APIs, conditions and the presence of a resource summary.
    offer: u64,
    /// Free quantity of each resource, in billionths.
    free: BTreeMap<String, i128>,
    /// Nodes of each model.
    models: BTreeMap<u32, i64>,
    epoch: u64,
}

/// Differences between a new version of a cluster and the stored one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClusterChange {
    /// The cluster before the change, if it was known.
    pub(crate) before: Option<ClusterProperties>,
    /// The version is the stored one: a list has named it again.
    pub(crate) is_same: bool,
    /// The version is older than the stored one and was ignored: a watch that resumes at an earlier version repeats it.
    pub(crate) is_stale: bool,
    /// The cluster was not known.
    pub(crate) is_new: bool,
    /// Labels or the specification changed, or its deletion began: the changes that wake satisfied bindings, too.
    pub(crate) is_spec: bool,
    /// Its deletion began.
    pub(crate) deletion_began: bool,
    /// Its APIs or conditions changed, so that filters may judge it differently.
    pub(crate) offers_otherwise: bool,
    /// Resources with more free capacity than before.
    pub(crate) has_grown: bool,
}

impl ClusterStore {
    /// Inserts a version of a cluster and reports what changed. Older versions are ignored as those of a binding are
    /// ([`BindingStore::upsert`](super::BindingStore::upsert)).
    pub(crate) fn upsert(&mut self, cluster: &Cluster, is_listed: bool) -> ClusterChange {
        let entry = Entry::new(cluster, self.epoch);
        if let Some(old) = self.clusters.get_mut(&cluster.metadata.name)
            && entry.is_older_than(old)
            && !(is_listed && old.epoch != self.epoch)
        {
            old.epoch = self.epoch;
            return ClusterChange {
                is_stale: true,
                ..ClusterChange::default()
            };
        }
        let change = match self.clusters.get(&cluster.metadata.name) {
            None => ClusterChange {
                is_new: true,
                is_spec: true,
                // A list may name it for the first time when its deletion has begun.
                deletion_began: entry.is_deleting,
                has_grown: true,
                ..ClusterChange::default()
            },
            Some(old) => ClusterChange {
                is_same: old.is_version_of(&entry),
                is_stale: false,
                is_new: false,
                is_spec: old.properties.labels != entry.properties.labels
                    || old.generation != entry.generation
                    || old.is_deleting != entry.is_deleting,
                deletion_began: entry.is_deleting && !old.is_deleting,
                offers_otherwise: old.offer != entry.offer,
                has_grown: entry.has_grown_from(old),
                before: Some(old.properties.clone()),
            },
        };
        self.clusters.insert(cluster.metadata.name.clone(), entry);
        change
    }

    /// Removes a cluster. Returns true if it was there and its deletion had not been announced.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.clusters.remove(name).is_some_and(|old| !old.is_deleting)
    }

    /// The properties of a cluster.
    pub(crate) fn properties(&self, name: &str) -> Option<&ClusterProperties> {
        self.clusters.get(name).map(|entry| &entry.properties)
    }

    /// True if the cluster is known.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.clusters.contains_key(name)
    }

    /// Time since which a cluster has been Ready, in milliseconds since 1970; `None` if it is not, or does not say.
    pub(crate) fn ready_since(&self, name: &str) -> Option<i64> {
        self.clusters.get(name)?.ready_since
    }

    /// True if the cluster is being deleted.
    pub(crate) fn is_deleting(&self, name: &str) -> bool {
        self.clusters.get(name).is_some_and(|entry| entry.is_deleting)
    }

    /// The clusters that are not being deleted, sorted by name, with true for the sync mode `Pull`.
    pub(crate) fn present(&self) -> impl Iterator<Item = (&ClusterProperties, bool)> {
        let present = self.clusters.values().filter(|entry| !entry.is_deleting);
        present.map(|entry| (&entry.properties, entry.is_pull))
    }

    /// Number of clusters.
    pub(crate) fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Begins a relist.
    pub(crate) fn begin_relist(&mut self) {
        self.epoch += 1;
    }

    /// Counts a cluster as named by the relist, although it is not stored.
    pub(crate) fn mark_listed(&mut self, name: &str) {
        if let Some(entry) = self.clusters.get_mut(name) {
            entry.epoch = self.epoch;
        }
    }

    /// Names of the clusters that the relist did not mention. They are still in the store.
    pub(crate) fn unlisted(&self) -> Vec<String> {
        let unlisted = self.clusters.iter().filter(|(_, entry)| entry.epoch != self.epoch);
        unlisted.map(|(name, _)| name.clone()).collect()
    }
}

impl Entry {
    fn new(cluster: &Cluster, epoch: u64) -> Self {
        let Cluster {
            metadata, spec, status, ..
        } = cluster;
        let mut offer = DefaultHasher::new();
        for api in &status.api_enablements {
            api.group_version.hash(&mut offer);
            for resource in &api.resources {
                resource.kind.hash(&mut offer);
            }
        }
        for condition in &status.conditions {
            (&condition.kind, &condition.status).hash(&mut offer);
        }
        let summary = status.resource_summary.as_ref();
        summary.is_some().hash(&mut offer);
        Self {
            uid: metadata.uid.as_str().into(),
            version: metadata.resource_version.as_str().into(),
            properties: ClusterProperties {
                name: metadata.name.clone(),
                labels: metadata.labels.clone(),
                provider: spec.provider.clone(),
                region: spec.region.clone(),
                zones: match spec.zones.as_slice() {
                    [] if !spec.zone.is_empty() => vec![spec.zone.clone()],
                    zones => zones.to_vec(),
                },
            },
            generation: metadata.generation,
            is_deleting: metadata.is_deleting(),
            is_pull: spec.sync_mode == "Pull",
            ready_since: ready_since(cluster),
            offer: offer.finish(),
            free: summary.map(free).unwrap_or_default(),
            models: summary
                .iter()
                .flat_map(|summary| &summary.allocatable_modelings)
                .map(|model| (model.grade, model.count))
                .collect(),
            epoch,
        }
    }

    /// True if both are the same version of the same object.
    fn is_version_of(&self, other: &Self) -> bool {
        !self.version.is_empty() && (&self.version, &self.uid) == (&other.version, &other.uid)
    }

    /// True if it is an earlier version of the same object.
    fn is_older_than(&self, other: &Self) -> bool {
        self.uid == other.uid && version_number(&self.version) < version_number(&other.version)
    }

    /// True if anything is freer than before.
    fn has_grown_from(&self, old: &Self) -> bool {
        let more = |resource: &String| self.free.get(resource) > old.free.get(resource);
        let nodes = |grade: &u32| self.models.get(grade) > old.models.get(grade);
        self.free.keys().any(more) || self.models.keys().any(nodes)
    }
}

/// The time of the transition to Ready, in milliseconds since 1970.
fn ready_since(cluster: &Cluster) -> Option<i64> {
    let ready = cluster
        .status
        .conditions
        .iter()
        .find(|condition| condition.kind == "Ready");
    let ready = ready.filter(|condition| condition.status == "True")?;
    ready.last_transition_time.map(Timestamp::milliseconds)
}

/// Free quantity of each resource: allocatable less allocated and allocating.
fn free(summary: &divvy_karmada::api::ResourceSummary) -> BTreeMap<String, i128> {
    let names: BTreeSet<&String> = summary.allocatable.keys().collect();
    let names = names.into_iter();
    names
        .map(|name| {
            let of = |list: &divvy_karmada::api::ResourceList| list.get(name).copied().unwrap_or_default();
            let left = of(&summary.allocatable)
                .checked_sub(of(&summary.allocated))
                .and_then(|left| left.checked_sub(of(&summary.allocating)));
            (name.clone(), left.map_or(0, Quantity::as_nano))
        })
        .collect()
}
