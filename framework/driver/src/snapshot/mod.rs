//! Snapshots: the clusters as one arena of columns, shared by every cycle and every plugin.
//!
//! A [`SnapshotStore`] takes clusters in through a [`ClusterWriter`] and gives out a [`Snapshot`], which never changes.
//! Plugins read it as [`Clusters`](divvy_framework_view::clusters::Clusters).
//!
//! Texts are interned once, when a cluster arrives. A changed cluster is written into the arena of the last snapshot if
//! nobody holds that any more, else into a second arena that is kept in step. An arena is built anew when a cluster comes or
//! goes, or when a column has no room left for changes; what no cluster uses any more is given back then. Copying the arena
//! at every change was considered and rejected: at 5,000 clusters it costs hundreds of times as much as the change.

mod arena;
mod contents;
mod row;
mod store;
mod symbols;

pub use row::ClusterWriter;
pub use store::{Snapshot, SnapshotStore};

#[cfg(test)]
mod tests;
