//! The clusters, as the cycle reads them: Karmada's objects turned into a snapshot, and how many replicas fit.
//!
//! - [`Fleet`]: takes clusters in, gives snapshots out.
//! - [`estimate`]: Karmada's general estimate, over the columns of a snapshot.
//! - [`Ledger`]: what earlier results of the same run have taken.

pub mod estimate;
mod ledger;
mod record;

pub use ledger::Ledger;
pub use record::cluster_record;
pub(crate) use record::units;

use divvy_framework_driver::snapshot::{ClusterRecord, Snapshot, SnapshotStore};

use crate::api::Cluster;

/// Clusters that come, change and go.
#[derive(Debug, Default)]
pub struct Fleet {
    store: SnapshotStore,
    keeps_raw: bool,
}

/// The clusters at one moment.
#[derive(Debug, Clone)]
pub struct FleetSnapshot {
    snapshot: Snapshot,
    deleting: Vec<u32>,
}

impl Fleet {
    /// No cluster yet. `keeps_raw`: whether a loaded plugin asks for the clusters as JSON.
    pub fn new(keeps_raw: bool) -> Self {
        Self {
            store: SnapshotStore::new(),
            keeps_raw,
        }
    }

    /// Takes a cluster in, in place of an older one of that name. The others are not touched.
    pub fn upsert(&mut self, cluster: &Cluster) {
        self.store.upsert(&cluster_record(cluster, self.keeps_raw));
    }

    /// Takes many clusters in.
    pub fn extend<'clusters>(&mut self, clusters: impl IntoIterator<Item = &'clusters Cluster>) {
        let records: Vec<ClusterRecord> = clusters
            .into_iter()
            .map(|cluster| cluster_record(cluster, self.keeps_raw))
            .collect();
        self.store.extend(&records);
    }

    /// Takes many clusters in, each with its JSON as it was written, where that is at hand.
    pub fn extend_with_json<'clusters>(
        &mut self,
        clusters: impl IntoIterator<Item = (&'clusters Cluster, Option<&'clusters str>)>,
    ) {
        let keeps_raw = self.keeps_raw;
        let records: Vec<ClusterRecord> = clusters
            .into_iter()
            .map(|(cluster, json)| {
                let written = json.filter(|_| keeps_raw);
                let mut record = cluster_record(cluster, keeps_raw && written.is_none());
                if let Some(json) = written {
                    record.raw = Some(json.to_owned());
                }
                record
            })
            .collect();
        self.store.extend(&records);
    }

    /// Takes a cluster out; whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        self.store.remove(name)
    }

    /// The clusters as they are now.
    pub fn snapshot(&mut self) -> FleetSnapshot {
        let snapshot = self.store.snapshot();
        let deleting = snapshot
            .clusters()
            .iter()
            .filter(divvy_framework_view::clusters::Cluster::is_deleting)
            .map(|cluster| cluster.row() as u32)
            .collect();
        FleetSnapshot { snapshot, deleting }
    }
}

impl FleetSnapshot {
    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Rows of the clusters that are being deleted.
    pub fn deleting(&self) -> &[u32] {
        &self.deleting
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
