//! A table that was read, with its version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use divvy_framework_calls::tables::{TableContents, TableKey};
use divvy_framework_view::clusters::Cluster;
use divvy_framework_view::tables::ColumnType;
use divvy_karmada::api;
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

    /// True if cells may name a time zone.
    pub fn reads_time_zones(&self) -> bool {
        let mut columns = self.contents.columns();
        columns.any(|(_, column_type)| matches!(column_type, ColumnType::Time | ColumnType::Weekly))
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
        self.unknown(clusters, |cluster, nearest| TableProblem::UnknownCluster {
            cluster,
            nearest,
        })
    }

    /// Problems of rows whose region, provider or value of a label no cluster has: such a row may be misspelt, or its clusters
    /// do not exist yet. `values` returns all values that clusters have of a property. None if the rows are for clusters by
    /// name.
    pub fn unknown_values<'a>(&self, values: impl FnOnce(&TableKey) -> BTreeSet<&'a str>) -> Vec<TableError> {
        let property = self.contents.key();
        if *property == TableKey::Cluster {
            return Vec::new();
        }
        self.unknown(&values(property), |value, nearest| TableProblem::UnknownValue {
            property: property.clone(),
            value,
            nearest,
        })
    }

    /// Problems of rows whose key is not among these, one per row: its key and the most similar known one.
    fn unknown(
        &self,
        known: &BTreeSet<&str>,
        problem: impl Fn(String, Option<String>) -> TableProblem,
    ) -> Vec<TableError> {
        let unknown = self.keys.iter().filter(|(key, _)| !known.contains(&**key));
        let error = |(key, line): &(Box<str>, usize)| TableError {
            file: self.source.file.clone(),
            line: Some(*line),
            problem: problem(
                key.to_string(),
                names::nearest(key, known.iter().copied()).map(str::to_owned),
            ),
        };
        unknown.map(error).collect()
    }

    /// A row that a plugin refuses, with the line of the row: of those with the key of a cluster, the one with this number.
    pub fn refused(
        &self,
        cluster: &Cluster<'_>,
        number: usize,
        column: &str,
        (message, hint): (String, Option<String>),
    ) -> TableError {
        let key = self.contents.key().row_key(cluster).unwrap_or_default();
        let mut rows = self.keys.iter().filter(|(known, _)| **known == *key);
        TableError {
            file: self.source.file.clone(),
            line: rows.nth(number).map(|(_, line)| *line),
            problem: TableProblem::Refused {
                key: key.to_owned(),
                column: column.to_owned(),
                message,
                hint,
            },
        }
    }
}

/// The value that a cluster has of a property by which rows are found, as [`TableKey::row_key`] for a cluster of a snapshot.
pub fn row_key<'a>(property: &TableKey, cluster: &'a api::Cluster) -> Option<&'a str> {
    let value = match property {
        TableKey::Cluster => cluster.metadata.name.as_str(),
        TableKey::Region => cluster.spec.region.as_str(),
        TableKey::Provider => cluster.spec.provider.as_str(),
        TableKey::Label(key) => return cluster.metadata.labels.get(&**key).map(String::as_str),
    };
    (!value.is_empty()).then_some(value)
}
