//! The tables that a profile provides to its plugins, and their cells for the snapshots that are in use.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use divvy_framework_calls::snapshot::Snapshot;
use divvy_framework_calls::tables::{PluginTables, ResolvedTables, TableKey};
use divvy_profile::table::{LoadedTable, TableError, TableVersions};

/// Snapshots for which cells are kept. A live scheduler uses one at a time, a forecast one per thread and side.
const SNAPSHOTS_MAX: usize = 8;

/// The tables that plugins of a profile read.
#[derive(Debug)]
pub struct ProvidedTables {
    /// A number that no other tables of this process have.
    number: u64,
    tables: Vec<LoadedTable>,
    /// Tables that each plugin reads, by the plugin's number.
    plugins: Vec<(u64, PluginTables)>,
    /// The cells for the latest snapshots, the newest first: one entry per plugin.
    resolved: Mutex<VecDeque<Arc<[ResolvedTables]>>>,
}

impl ProvidedTables {
    /// Tables, and what each plugin reads of them.
    pub(crate) fn new(tables: Vec<LoadedTable>, plugins: Vec<(u64, PluginTables)>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            tables,
            plugins,
            resolved: Mutex::default(),
        }
    }

    /// The tables, by name.
    pub fn tables(&self) -> &[LoadedTable] {
        &self.tables
    }

    /// The version of each table.
    pub fn versions(&self) -> TableVersions {
        let tables = self.tables.iter();
        tables
            .map(|table| (table.name().to_owned(), table.source().version.clone()))
            .collect()
    }

    /// A number that no other tables of this process have. It is never 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Rows for clusters that are not among these names.
    pub fn unknown_clusters(&self, clusters: &BTreeSet<&str>) -> Vec<TableError> {
        let tables = self.tables.iter();
        tables.flat_map(|table| table.unknown_clusters(clusters)).collect()
    }

    /// Rows for a region, a provider or the value of a label that no cluster has. `values` returns all values that clusters have
    /// of a property.
    pub fn unknown_values<'a>(&self, values: impl Fn(&TableKey) -> BTreeSet<&'a str>) -> Vec<TableError> {
        let tables = self.tables.iter();
        tables.flat_map(|table| table.unknown_values(&values)).collect()
    }

    /// The tables of a plugin, and their index among the cells of [`Self::resolve`]; `None` if it reads no table.
    pub(crate) fn of(&self, plugin: u64) -> Option<(usize, &PluginTables)> {
        let index = self.plugins.iter().position(|(number, _)| *number == plugin)?;
        Some((index, &self.plugins.get(index)?.1))
    }

    /// The cells for a snapshot, one entry per plugin. They are made once per snapshot, from those of an earlier one where
    /// clusters have not changed.
    pub(crate) fn resolve(&self, snapshot: &Snapshot) -> Arc<[ResolvedTables]> {
        let version = snapshot.version();
        // Held while cells are made, so that cycles on other threads wait for them instead of making their own.
        let mut known = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |cells: &&Arc<[ResolvedTables]>| cells.first().is_some_and(|cells| cells.snapshot() == version);
        if let Some(cells) = known.iter().find(is_of) {
            return Arc::clone(cells);
        }
        let follows = |cells: &&Arc<[ResolvedTables]>| {
            cells
                .first()
                .is_some_and(|cells| snapshot.changed_since(cells.snapshot()).is_some())
        };
        let previous = known.iter().find(follows).cloned();
        let plugins = self.plugins.iter().enumerate();
        let cells: Arc<[ResolvedTables]> = plugins
            .map(|(index, (_, tables))| tables.resolve(snapshot, previous.as_ref().and_then(|cells| cells.get(index))))
            .collect();
        known.truncate(SNAPSHOTS_MAX - 1);
        known.push_front(Arc::clone(&cells));
        cells
    }
}
