//! The columns that one plugin declares, and their cells for one snapshot.

use std::sync::Arc;

use divvy_framework_abi::hash::hash_text;
use divvy_framework_abi::row::{OffsetRow, TableColumnRow, WeeklyRow};
use divvy_framework_abi::text::{Span, Text};
use divvy_framework_abi::view::CycleView;
use divvy_framework_abi::{Slice, Str};
use divvy_framework_memory::{Column, Pool};
use divvy_framework_view::clusters::Row;
use divvy_framework_view::tables::RowsPerKey;

use super::contents::{ColumnContents, TableContents};
use super::weekly::TimeZone;
use crate::snapshot::{Snapshot, SnapshotVersion};

/// The columns that one plugin declares, in the order in which it declares them.
#[derive(Debug, Default)]
pub struct PluginTables {
    columns: Column<TableColumnRow>,
    sources: Vec<ColumnSource>,
    texts: Column<Text>,
    pool: Pool,
    /// Cells of tables with several rows per key, one run per column and key.
    row_cells: Column<i64>,
    row_presence: Column<u64>,
    weekly: Column<WeeklyRow>,
    offsets: Column<OffsetRow>,
    /// Zones whose offsets are in `offsets`.
    zones: Vec<(Arc<TimeZone>, Span)>,
}

/// Source of the cells of a declared column.
#[derive(Debug)]
struct ColumnSource {
    contents: Arc<TableContents>,
    column: usize,
    /// Index of the column's first text, or of its first hours of a week, among those of all columns.
    first: i64,
    /// With several rows per key: the run of each key's cells, packed as a cell.
    runs: Vec<i64>,
}

/// The cells of a plugin's columns for one snapshot.
#[derive(Debug, Clone)]
pub struct ResolvedTables {
    snapshot: SnapshotVersion,
    rows: usize,
    cells: Column<i64>,
    presence: Column<u64>,
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
        let first = match source.weekly.is_empty() {
            true => self.texts.len() as i64,
            false => self.weekly.len() as i64,
        };
        for text in &source.texts {
            let text = pooled(&mut self.pool, text);
            self.texts.push(text);
        }
        for hours in &source.weekly {
            let offsets = self.offsets_of(hours.zone());
            self.weekly.push(hours.row(offsets));
        }
        let keys = contents.rows_by_key().iter();
        let runs = keys.map(|rows| self.push_run(source, rows, first)).collect();
        self.sources.push(ColumnSource {
            contents: Arc::clone(contents),
            column,
            first,
            runs,
        });
        true
    }

    /// The offsets of a zone, which all hours in it share.
    fn offsets_of(&mut self, zone: &Arc<TimeZone>) -> Span {
        if let Some((_, span)) = self.zones.iter().find(|(known, _)| known == zone) {
            return *span;
        }
        let span = span(self.offsets.len(), zone.offsets().len());
        self.offsets.extend_from_slice(zone.offsets());
        self.zones.push((Arc::clone(zone), span));
        span
    }

    /// Adds the cells that a column has in some rows. Returns their run, packed as a cell.
    fn push_run(&mut self, column: &ColumnContents, rows: &[u32], first: i64) -> i64 {
        let run = span(self.row_cells.len(), rows.len());
        for &row in rows {
            let cell = column.cell(row, first);
            let (word, bit) = (self.row_cells.len() / 64, self.row_cells.len() % 64);
            if word == self.row_presence.len() {
                self.row_presence.push(0);
            }
            if let Some(word) = self.row_presence.get_mut(word) {
                *word |= u64::from(cell.is_some()) << bit;
            }
            self.row_cells.push(cell.unwrap_or(0));
        }
        i64::from(run.start) << 32 | i64::from(run.length)
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
            cells: Column::filled(rows * self.columns.len(), 0),
            presence: Column::filled(rows.div_ceil(64) * self.columns.len(), 0),
        };
        let all: Vec<u32> = (0..rows as u32).collect();
        self.fill(snapshot, &all, &mut resolved);
        resolved
    }

    /// Writes the cells of some rows.
    fn fill(&self, snapshot: &Snapshot, rows: &[u32], resolved: &mut ResolvedTables) {
        let clusters = snapshot.clusters();
        // Keys of the previous column's table: most columns share theirs with the one before.
        let mut found: (Option<&Arc<TableContents>>, Vec<Option<u32>>) = (None, Vec::new());
        for (number, source) in self.sources.iter().enumerate() {
            if found.0.is_none_or(|known| !Arc::ptr_eq(known, &source.contents)) {
                let key = |&row: &u32| {
                    source
                        .contents
                        .cluster_key(&clusters.get(Row::from_index(row as usize)))
                };
                found = (Some(&source.contents), rows.iter().map(key).collect());
            }
            let Some(column) = source.contents.column(source.column) else {
                continue;
            };
            let rows_per_key = source.contents.rows_per_key();
            for (&row, key) in rows.iter().zip(&found.1) {
                let cell = key.and_then(|key| match rows_per_key {
                    RowsPerKey::One => column.cell(key, source.first),
                    RowsPerKey::Several => source.runs.get(key as usize).copied(),
                });
                resolved.set(number, row as usize, cell);
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
            table_row_cells: Slice::new(&self.row_cells),
            table_row_presence: Slice::new(&self.row_presence),
            table_weekly: Slice::new(&self.weekly),
            table_offsets: Slice::new(&self.offsets),
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

impl ColumnContents {
    /// The cell in a row of the table; that of a text or of hours refers to those of all columns, of which `first` is this
    /// column's first.
    fn cell(&self, row: u32, first: i64) -> Option<i64> {
        let cell = self.cells.get(row as usize).copied().flatten()?;
        let is_index = !self.texts.is_empty() || !self.weekly.is_empty();
        Some(if is_index { cell + first } else { cell })
    }
}

/// A run. Tables are limited to far less than 2³² cells when they are read; a run beyond that would be empty.
fn span(start: usize, length: usize) -> Span {
    match (u32::try_from(start), u32::try_from(length)) {
        (Ok(start), Ok(length)) => Span { start, length },
        _ => Span::EMPTY,
    }
}

/// Appends a text to the string of all texts.
fn pooled(pool: &mut Pool, text: &str) -> Text {
    // Tables are limited to far less than 4 GiB when they are read; a text beyond that would read as empty.
    let start = u32::try_from(pool.len()).unwrap_or(u32::MAX);
    pool.push_str(text);
    Text {
        start,
        length: u32::try_from(text.len()).unwrap_or(0),
        hash: hash_text(text),
    }
}
