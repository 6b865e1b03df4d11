//! Tables that a profile provides: their contents by key, and their columns by row of a snapshot.
//!
//! [`TableContents`] is a table as it was read. [`PluginTables`] are the columns that one plugin declares, and
//! [`ResolvedTables`] their cells for one snapshot, laid out as they cross the boundary. After a change of some
//! clusters, the cells of all others are taken over.

mod contents;
mod resolved;
#[cfg(test)]
mod tests;
mod weekly;

pub use contents::{Cell, TableContents, TableKey};
pub use resolved::{PluginTables, ResolvedTables};
pub use weekly::{TimeZone, WeeklyFault, WeeklyHours};
