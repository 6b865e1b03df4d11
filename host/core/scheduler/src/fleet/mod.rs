//! Clusters as the cycle reads them: turns Karmada's objects into snapshots and estimates how many replicas fit.
//!
//! - [`Fleet`]: collects clusters and takes snapshots of them.
//! - [`estimate`]: Karmada's general estimate, over the columns of a snapshot.
//! - [`bottlenecks`]: the resource that bounds it in each cluster.
//! - [`Ledger`]: capacity that earlier results of the same run have taken.
//! - [`Footprint`]: the capacity that a result takes.

mod bottleneck;
pub mod estimate;
mod footprint;
mod ledger;
mod record;

pub use bottleneck::bottlenecks;
pub use footprint::{Footprint, PodTemplate};
pub use ledger::Ledger;
use record::write_cluster;
pub use record::{requests, units};

use divvy_framework_calls::snapshot::{Snapshot, SnapshotStore};
use divvy_framework_view::clusters::Row;

use divvy_karmada::api::Cluster;

/// The current clusters, which can be added, replaced and removed at any time.
#[derive(Debug, Default)]
pub struct Fleet {
    store: SnapshotStore,
    keeps_raw: bool,
}

/// The clusters at one moment. Cheap to clone and to send to other threads.
#[derive(Debug, Clone)]
pub struct FleetSnapshot {
    snapshot: Snapshot,
}

impl Fleet {
    /// Creates an empty fleet. `keeps_raw` keeps the clusters' JSON, for profiles with a plugin that needs it.
    pub fn new(keeps_raw: bool) -> Self {
        Self {
            store: SnapshotStore::new(),
            keeps_raw,
        }
    }

    /// True if the clusters' JSON is kept.
    pub fn keeps_raw(&self) -> bool {
        self.keeps_raw
    }

    /// Starts or stops keeping the JSON of clusters that are added or replaced.
    pub fn keep_raw(&mut self, keeps: bool) {
        self.keeps_raw = keeps;
    }

    /// Adds a cluster, or replaces the one with the same name. Other clusters are not touched.
    pub fn upsert(&mut self, cluster: &Cluster) {
        self.upsert_with_json(cluster, None);
    }

    /// Like [`Self::upsert`], with the cluster's original JSON if it is available. Otherwise the cluster is serialized if plugins
    /// need its JSON.
    pub fn upsert_with_json(&mut self, cluster: &Cluster, json: Option<&str>) {
        let keeps_raw = self.keeps_raw;
        self.store.upsert(&cluster.metadata.name, |writer| {
            write_cluster(cluster, writer);
            match json {
                _ if !keeps_raw => {}
                Some(json) => _ = writer.raw_json(json),
                None => match serde_json::to_string(cluster) {
                    Ok(json) => _ = writer.raw_json(json),
                    Err(error) => {
                        debug_assert!(false, "a cluster cannot be written as JSON: {error}");
                        let cluster = &cluster.metadata.name;
                        tracing::error!(cluster, %error, "the cluster's JSON is missing for plugins");
                    }
                },
            }
        });
    }

    /// Adds many clusters. If several have the same name, the last one wins.
    pub fn extend<'clusters>(&mut self, clusters: impl IntoIterator<Item = &'clusters Cluster>) {
        for cluster in clusters {
            self.upsert(cluster);
        }
    }

    /// Removes a cluster. Returns `true` if there was one with this name.
    pub fn remove(&mut self, name: &str) -> bool {
        self.store.remove(name)
    }

    /// Takes a snapshot of the current clusters.
    pub fn snapshot(&mut self) -> FleetSnapshot {
        FleetSnapshot {
            snapshot: self.store.snapshot(),
        }
    }
}

impl FleetSnapshot {
    /// The underlying snapshot of the framework.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Rows of the clusters that are being deleted.
    pub fn deleting(&self) -> &[u32] {
        self.snapshot.deleting()
    }

    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.snapshot.clusters().len()
    }

    /// True if there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of the cluster in `row`.
    pub fn name(&self, row: u32) -> &str {
        self.snapshot.clusters().get(Row::from_index(row as usize)).name()
    }
}
