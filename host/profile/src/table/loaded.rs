//! A table that was read, with its version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use divvy_framework_calls::tables::{TableContents, TableKey};
use divvy_spanned::names;

use super::configuration::TableConfiguration;
use super::error::{TableError, TableProblem};
use super::read::TableSource;

/// The version of each table, by the table's name: the SHA-256 checksum of its file.
pub type TableVersions = BTreeMap<String, String>;

/// A table of a profile, read and typed. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LoadedTable {
    name: String,
    source: TableSource,
    contents: Arc<TableContents>,
    /// Keys of the rows, with their lines.
    pub(super) keys: Arc<[(Box<str>, usize)]>,
}

impl LoadedTable {
    /// Reads a table's text as the profile declares it.
    ///
    /// # Errors
    ///
    /// Every problem of the text, in the order of the lines.
    pub fn new(name: &str, source: TableSource, configuration: &TableConfiguration) -> Result<Self, Vec<TableError>> {
        let (contents, keys) = source.rows(configuration)?;
        Ok(Self {
            name: name.to_owned(),
            source,
            contents: Arc::new(contents),
            keys: keys.into(),
        })
    }

    /// Reads a table from its file.
    ///
    /// # Errors
    ///
    /// Those of [`Self::new`], and a problem if the file cannot be read.
    pub fn read(name: &str, file: &Path, configuration: &TableConfiguration) -> Result<Self, Vec<TableError>> {
        let source = TableSource::read(file).map_err(|error| vec![*error])?;
        Self::new(name, source, configuration)
    }

    /// Name of the table in the profile.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the table, with its version.
    pub fn source(&self) -> &TableSource {
        &self.source
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.contents.len()
    }

    /// The rows by their keys.
    pub fn contents(&self) -> &Arc<TableContents> {
        &self.contents
    }

    /// The numbers of a column that are not missing, with the keys of their rows and their lines.
    pub fn numbers(&self, column: usize) -> impl Iterator<Item = (&str, usize, i64)> {
        let number = move |(key, line): &'_ (Box<str>, usize)| Some((*line, self.contents.number(key, column)?));
        let keys = self.keys.iter();
        keys.filter_map(move |row| number(row).map(|(line, number)| (&*row.0, line, number)))
    }

    /// Errors for rows whose cluster is not among these names; none if the rows are not for clusters by name.
    pub fn unknown_clusters(&self, clusters: &BTreeSet<&str>) -> Vec<TableError> {
        if *self.contents.key() != TableKey::Cluster {
            return Vec::new();
        }
        let unknown = self.keys.iter().filter(|(key, _)| !clusters.contains(&**key));
        let error = |(key, line): &(Box<str>, usize)| TableError {
            file: self.source.file.clone(),
            line: Some(*line),
            problem: TableProblem::UnknownCluster {
                cluster: key.to_string(),
                nearest: names::nearest(key, clusters.iter().copied()).map(str::to_owned),
            },
        };
        unknown.map(error).collect()
    }
}
