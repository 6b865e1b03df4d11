//! Snapshots: the clusters as one arena of columns, built once and shared by every cycle and every plugin.
//!
//! The host fills a [`SnapshotStore`] with a [`ClusterRecord`] a cluster and asks it for a [`Snapshot`]; tests do the same
//! through the builders of the `testing` feature. A plugin never sees this module: it reads
//! [`Clusters`](divvy_framework_view::clusters::Clusters).
//!
//! The store interns the texts of a cluster once, when the cluster arrives. An updated cluster is read again alone; the
//! columns of all are then copied together, as numbers, when the next snapshot is asked for. The alternative, patching
//! an arena in place, would make a cycle that still reads the older snapshot see half of both.

mod assemble;
mod record;
mod store;
mod symbols;

pub use record::{ClusterRecord, ConditionRecord, ModelRecord, ResourceRecord, ResourceSummaryRecord, TaintRecord};
pub use store::{Snapshot, SnapshotStore};

#[cfg(test)]
mod tests;
