//! The clusters, as the cycle reads them: Karmada's objects turned into a snapshot, and how many replicas fit.
//!
//! - [`Fleet`]: takes clusters in, gives snapshots out.
//! - [`estimate`]: Karmada's general estimate, over the columns of a snapshot.
//! - [`Ledger`]: what earlier results of the same run have taken.

pub mod estimate;
mod ledger;
mod record;

pub use ledger::Ledger;
pub(crate) use record::units;
use record::write_cluster;

use divvy_framework_driver::snapshot::{Snapshot, SnapshotStore};

use divvy_karmada::api::Cluster;

/// Clusters that come, change and go.
#[derive(Debug, Default)]
pub struct Fleet {
    store: SnapshotStore,
    keeps_raw: bool,
}

/// The clusters at one moment. Cheap to clone and to hand to threads.
#[derive(Debug, Clone)]
pub struct FleetSnapshot {
    snapshot: Snapshot,
}

impl Fleet {
    /// No cluster yet. `keeps_raw`: a loaded plugin asks for the clusters as JSON.
    pub fn new(keeps_raw: bool) -> Self {
        Self {
            store: SnapshotStore::new(),
            keeps_raw,
        }
    }

    /// Takes a cluster in, in place of an older one of that name. The others are not touched.
    pub fn upsert(&mut self, cluster: &Cluster) {
        self.upsert_with_json(cluster, None);
    }

    /// Takes a cluster in with its JSON as it was written, where that is at hand.
    pub fn upsert_with_json(&mut self, cluster: &Cluster, json: Option<&str>) {
        let keeps_raw = self.keeps_raw;
        self.store.upsert(&cluster.metadata.name, |writer| {
            write_cluster(cluster, writer);
            match json {
                _ if !keeps_raw => {}
                Some(json) => _ = writer.raw_json(json),
                None => _ = writer.raw_json(serde_json::to_string(cluster).unwrap_or_default()),
            }
        });
    }

    /// Takes many clusters in; of several with one name the last stays.
    pub fn extend<'clusters>(&mut self, clusters: impl IntoIterator<Item = &'clusters Cluster>) {
        for cluster in clusters {
            self.upsert(cluster);
        }
    }

    /// Takes a cluster out; `true` if there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.store.remove(name)
    }

    /// The clusters as they are now.
    pub fn snapshot(&mut self) -> FleetSnapshot {
        FleetSnapshot {
            snapshot: self.store.snapshot(),
        }
    }
}

impl FleetSnapshot {
    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Rows of the clusters that are being deleted.
    pub fn deleting(&self) -> &[u32] {
        self.snapshot.deleting()
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.snapshot.clusters().len()
    }

    /// Whether there is no cluster.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of the cluster in a row.
    pub fn name(&self, row: u32) -> &str {
        self.snapshot.clusters().get(row as usize).name()
    }
}
