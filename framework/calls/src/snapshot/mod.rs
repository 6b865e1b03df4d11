//! Snapshots: the clusters as one arena of columns, shared by every cycle and every plugin.
//!
//! A [`SnapshotStore`] receives clusters through a [`ClusterWriter`] and hands out a [`Snapshot`], which never changes.
//! Plugins read it as [`Clusters`](divvy_framework_view::clusters::Clusters).
//!
//! Texts are interned once, when a cluster arrives. A changed cluster is written into the arena of the last snapshot if
//! no one holds that snapshot any longer, otherwise into a second arena that follows the first. The arena is rebuilt
//! when a cluster is added or removed, or when a column has no room left. Unused texts and sets are dropped when a
//! column is full or when they may outnumber those in use. Copying the arena on every change was considered and
//! rejected: with 5,000 clusters, a copy costs hundreds of times as much as the change.
//!
//! A snapshot also knows the rows that changed since an earlier one, and the groups of columns in which none changed,
//! unless rows or symbols were renumbered in between.

mod arena;
mod contents;
mod history;
mod row;
mod store;
mod symbols;

pub use history::SnapshotVersion;
pub use row::ClusterWriter;
pub use store::{Snapshot, SnapshotStore};

#[cfg(test)]
mod tests;
