//! Tables that a profile provides to its plugins: a CSV, JSON or TOML file beside the profile, with columns of declared
//! types, and rows for clusters by name, region, provider or the value of a label.
//!
//! A table goes through four forms: [`TableSource`] is a file's text with its version, [`LoadedTable`] its typed
//! columns, the scheduler's `ProvidedTables` the tables that the plugins of a profile read, and the calls'
//! `ResolvedTables` the cells for one snapshot. Every problem of a file is found at once, with its line.
//!
//! Times and hours with a time zone are resolved when a table is read, by a database that is part of the binary
//! ([`time_zone_version`]).
//!
//! A table's version is the SHA-256 checksum of its file. Recordings have the text of each version that was used, so a
//! replay does not depend on the file.

pub(crate) mod configuration;
mod csv;
mod error;
mod loaded;
mod number;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod time;
mod tree;

pub use divvy_framework_calls::tables::TableKey;
pub use error::{TableError, TableProblem};
pub use loaded::{LoadedTable, TableVersions, row_key};
pub use read::{TABLE_BYTES_MAX, TableSource};
pub use rows::ROWS_MAX;
pub(crate) use time::Zones;
pub use time::time_zone_version;
