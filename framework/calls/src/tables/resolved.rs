//! The columns that one plugin declares, and their cells for one snapshot.

use std::sync::Arc;

use divvy_framework_abi::hash::hash_text;
use divvy_framework_abi::row::TableColumnRow;
use divvy_framework_abi::text::Text;
use divvy_framework_abi::view::CycleView;
use divvy_framework_abi::{Slice, Str};
use divvy_framework_view::clusters::Row;

use super::contents::TableContents;
use crate::snapshot::{Snapshot, SnapshotVersion};

/// The columns that one plugin declares, in the order in which it declares them.
#[derive(Debug, Default)]
pub struct PluginTables {
    columns: Vec<TableColumnRow>,
    sources: Vec<ColumnSource>,
    texts: Vec<Text>,
    pool: String,
}

/// Source of the cells of a declared column.
#[derive(Debug)]
struct ColumnSource {
    contents: Arc<TableContents>,
    column: usize,
    /// Index of the column's first text among those of all columns.
    first_text: i64,
}

/// The cells of a plugin's columns for one snapshot.
#[derive(Debug, Clone)]
pub struct ResolvedTables {
    snapshot: SnapshotVersion,
    rows: usize,
    cells: Vec<i64>,
    presence: Vec<u64>,
}

impl PluginTables {
    /// Adds a column of a table, by its number; the plugin refers to the table as `table`. Returns false if the table
    /// has no such column.
    pub fn push(&mut self, table: &str, contents: &Arc<TableContents>, column: usize) -> bool {
        let Some(source) = contents.column(column) else {
            return false;
        };
        let (cell_type, scale) = source.column_type.code();
        let row = TableColumnRow {
            table: pooled(&mut self.pool, table),
            name: pooled(&mut self.pool, &source.name),
            cell_type,
            scale,
        };
        self.columns.push(row);
        let first_text = self.texts.len() as i64;
        for text in &source.texts {
            let text = pooled(&mut self.pool, text);
            self.texts.push(text);
        }
        self.sources.push(ColumnSource {
            contents: Arc::clone(contents),
            column,
            first_text,
        });
        true
    }

    /// Groups of columns of clusters on which the cells depend, as bits of [`divvy_framework_abi::arena::group`].
    pub fn groups(&self) -> u64 {
        let keys = self.sources.iter().map(|source| source.contents.key().group());
        keys.fold(0, |groups, group| groups | group)
    }

    /// The cells for the clusters of a snapshot. Rows that have not changed are taken from `previous`, the cells for
    /// another snapshot.
    pub fn resolve(&self, snapshot: &Snapshot, previous: Option<&ResolvedTables>) -> ResolvedTables {
        let changed = previous.and_then(|previous| Some((previous, snapshot.changed_since(previous.snapshot)?)));
        if let Some((previous, changed)) = changed {
            let mut resolved = previous.clone();
            resolved.snapshot = snapshot.version();
            let rows: Vec<u32> = changed.collect();
            self.fill(snapshot, &rows, &mut resolved);
            return resolved;
        }
        let rows = snapshot.arena().rows();
        let mut resolved = ResolvedTables {
            snapshot: snapshot.version(),
            rows,
            cells: vec![0; rows * self.columns.len()],
            presence: vec![0; rows.div_ceil(64) * self.columns.len()],
        };
        let all: Vec<u32> = (0..rows as u32).collect();
        self.fill(snapshot, &all, &mut resolved);
        resolved
    }

    /// Writes the cells of some rows.
    fn fill(&self, snapshot: &Snapshot, rows: &[u32], resolved: &mut ResolvedTables) {
        let clusters = snapshot.clusters();
        // Rows of the previous column's table: most columns share theirs with the one before.
        let mut found: (Option<&Arc<TableContents>>, Vec<Option<u32>>) = (None, Vec::new());
        for (number, source) in self.sources.iter().enumerate() {
            if found.0.is_none_or(|known| !Arc::ptr_eq(known, &source.contents)) {
                let table_row = |&row: &u32| {
                    source
                        .contents
                        .cluster_row(&clusters.get(Row::from_index(row as usize)))
                };
                found = (Some(&source.contents), rows.iter().map(table_row).collect());
            }
            let Some(column) = source.contents.column(source.column) else {
                continue;
            };
            for (&row, table_row) in rows.iter().zip(&found.1) {
                let cell = table_row.and_then(|table_row| column.cells.get(table_row as usize).copied().flatten());
                // Only text cells are indices, and only text columns have texts.
                let offset = if column.texts.is_empty() { 0 } else { source.first_text };
                resolved.set(number, row as usize, cell.map(|cell| cell + offset));
            }
        }
    }

    /// `view`, as the plugin that declares these columns sees it.
    pub fn seen_in<'a>(&'a self, view: CycleView<'a>, resolved: &'a ResolvedTables) -> CycleView<'a> {
        CycleView {
            table_columns: Slice::new(&self.columns),
            table_cells: Slice::new(&resolved.cells),
            table_presence: Slice::new(&resolved.presence),
            table_texts: Slice::new(&self.texts),
            table_pool: Str::new(&self.pool),
            ..view
        }
    }
}

impl ResolvedTables {
    /// The version of the snapshot to which the cells belong.
    pub fn snapshot(&self) -> SnapshotVersion {
        self.snapshot
    }

    fn set(&mut self, column: usize, row: usize, cell: Option<i64>) {
        if let Some(slot) = self.cells.get_mut(column * self.rows + row) {
            *slot = cell.unwrap_or(0);
        }
        if let Some(word) = self.presence.get_mut(column * self.rows.div_ceil(64) + row / 64) {
            let bit = 1 << (row % 64);
            *word = if cell.is_some() { *word | bit } else { *word & !bit };
        }
    }
}

/// Appends a text to the string of all texts.
fn pooled(pool: &mut String, text: &str) -> Text {
    // Tables are limited to far less than 4 GiB when they are read; a text beyond that would read as empty.
    let start = u32::try_from(pool.len()).unwrap_or(u32::MAX);
    pool.push_str(text);
    Text {
        start,
        length: u32::try_from(text.len()).unwrap_or(0),
        hash: hash_text(text),
    }
}
