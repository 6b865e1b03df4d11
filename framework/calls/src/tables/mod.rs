//! Tables that a profile provides: their contents by key, and their columns by row of a snapshot.
//!
//! [`TableContents`] is a table as it was read. [`PluginTables`] are the columns that one plugin declares, and
//! [`ResolvedTables`] their cells for one snapshot, laid out as they cross the boundary. A snapshot that only changed
//! some clusters takes over the cells of the others.

mod contents;
mod resolved;
#[cfg(test)]
mod tests;

pub use contents::{Cell, TableContents, TableKey};
pub use resolved::{PluginTables, ResolvedTables};
