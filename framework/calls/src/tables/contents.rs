//! A table as it was read: rows by their key, with at most one typed cell per column.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use divvy_framework_abi::arena::group;
use divvy_framework_view::clusters::Cluster;
use divvy_framework_view::tables::{ColumnType, RowsPerKey};

use super::weekly::WeeklyHours;

/// Kind of the keys of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TableKey {
    /// Names of clusters.
    Cluster,
    /// Regions: `spec.region`.
    Region,
    /// Providers: `spec.provider`.
    Provider,
    /// Values of the label with this key.
    Label(Box<str>),
}

impl TableKey {
    /// The group of columns, as a bit of [`group`], that determines a cluster's row.
    pub(super) fn group(&self) -> u64 {
        match self {
            Self::Cluster => group::NAMES,
            Self::Region | Self::Provider => group::LOCATION,
            Self::Label(_) => group::LABELS,
        }
    }

    /// The cluster's value of this property; `None` if the cluster has no such property.
    pub fn row_key<'a>(&self, cluster: &Cluster<'a>) -> Option<&'a str> {
        let present = |text: &'a str| (!text.is_empty()).then_some(text);
        match self {
            Self::Cluster => present(cluster.name()),
            Self::Region => present(cluster.region()),
            Self::Provider => present(cluster.provider()),
            Self::Label(key) => cluster.label(key),
        }
    }
}

impl fmt::Display for TableKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster => formatter.write_str("cluster"),
            Self::Region => formatter.write_str("region"),
            Self::Provider => formatter.write_str("provider"),
            Self::Label(key) => write!(formatter, "label:{key}"),
        }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// An integer, or a decimal multiplied by ten to the power of its scale.
    Number(i64),
    /// A text.
    Text(&'a str),
    /// A boolean.
    Boolean(bool),
    /// A point in time, in milliseconds since 1970.
    Time(i64),
    /// Hours that recur on days of the week.
    Weekly(&'a Arc<WeeklyHours>),
}

/// A table: rows by their key, and typed columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableContents {
    key: TableKey,
    rows_per_key: RowsPerKey,
    /// Number of each key, in the order in which they were added.
    keys: HashMap<Box<str>, u32>,
    /// The rows of each key, by its number. Empty with one row per key: the row then has the number of its key.
    rows_of: Vec<Vec<u32>>,
    rows: u32,
    columns: Vec<ColumnContents>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnContents {
    pub(super) name: Box<str>,
    pub(super) column_type: ColumnType,
    /// One cell per row; `None` if it is missing. A text is an index into `texts`, hours of a week one into `weekly`.
    pub(super) cells: Vec<Option<i64>>,
    /// The distinct texts of the cells.
    pub(super) texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, i64>,
    /// The distinct hours of the cells.
    pub(super) weekly: Vec<Arc<WeeklyHours>>,
    weekly_numbers: HashMap<Arc<WeeklyHours>, i64>,
}

impl TableContents {
    /// A table without rows, with columns of these names and types.
    pub fn new<N: Into<Box<str>>>(key: TableKey, columns: impl IntoIterator<Item = (N, ColumnType)>) -> Self {
        let column = |(name, column_type): (N, ColumnType)| ColumnContents {
            name: name.into(),
            column_type,
            cells: Vec::new(),
            texts: Vec::new(),
            numbers: HashMap::new(),
            weekly: Vec::new(),
            weekly_numbers: HashMap::new(),
        };
        Self {
            key,
            rows_per_key: RowsPerKey::One,
            keys: HashMap::new(),
            rows_of: Vec::new(),
            rows: 0,
            columns: columns.into_iter().map(column).collect(),
        }
    }

    /// This table, which must still be empty, with any number of rows per key.
    #[must_use]
    pub fn with_several_rows(self) -> Self {
        Self {
            rows_per_key: RowsPerKey::Several,
            ..self
        }
    }

    /// The number of rows per key.
    pub fn rows_per_key(&self) -> RowsPerKey {
        self.rows_per_key
    }

    /// The kind of the rows' keys.
    pub fn key(&self) -> &TableKey {
        &self.key
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// True if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Names and types of the columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, ColumnType)> {
        self.columns.iter().map(|column| (&*column.name, column.column_type))
    }

    /// The row for a key; a new row has no cells. With several rows per key, the first one.
    pub fn row(&mut self, key: &str) -> u32 {
        match self.first_row(key) {
            Some(row) => row,
            None => self.add_row(key),
        }
    }

    /// The first row for a key; `None` if it has none.
    fn first_row(&self, key: &str) -> Option<u32> {
        let number = *self.keys.get(key)?;
        match self.rows_per_key {
            RowsPerKey::One => Some(number),
            RowsPerKey::Several => self.rows_of.get(number as usize)?.first().copied(),
        }
    }

    /// Adds a row without cells. With one row per key, a key must not be added twice: its first row would be lost.
    pub fn add_row(&mut self, key: &str) -> u32 {
        let row = self.rows;
        match self.rows_per_key {
            RowsPerKey::One => _ = self.keys.insert(key.into(), row),
            RowsPerKey::Several => {
                let number = match self.keys.get(key) {
                    Some(&number) => number,
                    None => {
                        let number = u32::try_from(self.rows_of.len()).unwrap_or(u32::MAX);
                        self.keys.insert(key.into(), number);
                        self.rows_of.push(Vec::new());
                        number
                    }
                };
                if let Some(rows) = self.rows_of.get_mut(number as usize) {
                    rows.push(row);
                }
            }
        }
        self.rows = row.saturating_add(1);
        for column in &mut self.columns {
            column.cells.push(None);
        }
        row
    }

    /// The keys, in no particular order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.keys().map(|key| &**key)
    }

    /// The rows of each key, by its number. Empty with one row per key.
    pub(super) fn rows_by_key(&self) -> &[Vec<u32>] {
        &self.rows_of
    }

    /// Sets a cell. Returns false and changes nothing if the row or the column does not exist, or if the cell is not of
    /// the column's type.
    pub fn set(&mut self, row: u32, column: usize, cell: Cell<'_>) -> bool {
        let Some(column) = self.columns.get_mut(column) else {
            return false;
        };
        let number = match (cell, column.column_type) {
            (Cell::Number(number), ColumnType::Integer | ColumnType::Decimal { .. }) => number,
            (Cell::Boolean(value), ColumnType::Boolean) => value.into(),
            (Cell::Text(text), ColumnType::Text) => column.text_index(text),
            (Cell::Time(time), ColumnType::Time) => time,
            (Cell::Weekly(hours), ColumnType::Weekly) => column.weekly_index(hours),
            _ => return false,
        };
        let Some(slot) = column.cells.get_mut(row as usize) else {
            return false;
        };
        *slot = Some(number);
        true
    }

    /// The number in the row for a key; `None` if there is no such row or column, or if its cell is missing. With several rows per key, in
    /// the first one.
    pub fn number(&self, key: &str, column: usize) -> Option<i64> {
        let row = self.first_row(key)?;
        let cells = &self.columns.get(column)?.cells;
        cells.get(row as usize).copied().flatten()
    }

    /// Number of the key that is a cluster's; `None` if the table has no row for it. With one row per key, it is the row.
    pub(super) fn cluster_key(&self, cluster: &Cluster<'_>) -> Option<u32> {
        self.keys.get(self.key.row_key(cluster)?).copied()
    }

    pub(super) fn column(&self, number: usize) -> Option<&ColumnContents> {
        self.columns.get(number)
    }
}

impl ColumnContents {
    /// The index of a text; a new text is added.
    fn text_index(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as i64;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// The index of hours; those that the column does not have yet are added.
    fn weekly_index(&mut self, hours: &Arc<WeeklyHours>) -> i64 {
        if let Some(&index) = self.weekly_numbers.get(hours) {
            return index;
        }
        let index = self.weekly.len() as i64;
        self.weekly.push(Arc::clone(hours));
        self.weekly_numbers.insert(Arc::clone(hours), index);
        index
    }
}
