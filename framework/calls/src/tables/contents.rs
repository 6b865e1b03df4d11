//! A table as it was read: one row per key, with at most one typed cell per column.

use std::collections::HashMap;
use std::fmt;

use divvy_framework_abi::arena::group;
use divvy_framework_view::clusters::Cluster;
use divvy_framework_view::tables::ColumnType;

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

    /// The key of a cluster's row; `None` if the cluster has no such property.
    pub(super) fn row_key<'a>(&self, cluster: &Cluster<'a>) -> Option<&'a str> {
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
}

/// A table: rows by their key, and typed columns.
#[derive(Debug, Clone)]
pub struct TableContents {
    key: TableKey,
    rows: HashMap<Box<str>, u32>,
    columns: Vec<ColumnContents>,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct ColumnContents {
    pub(super) name: Box<str>,
    pub(super) column_type: ColumnType,
    /// One cell per row; `None` if it is missing. A text is an index into `texts`.
    pub(super) cells: Vec<Option<i64>>,
    /// The distinct texts of the cells.
    pub(super) texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, i64>,
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
        };
        Self {
            key,
            rows: HashMap::new(),
            columns: columns.into_iter().map(column).collect(),
        }
    }

    /// The kind of the rows' keys.
    pub fn key(&self) -> &TableKey {
        &self.key
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Names and types of the columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, ColumnType)> {
        self.columns.iter().map(|column| (&*column.name, column.column_type))
    }

    /// The row for a key; a new row has no cells.
    pub fn row(&mut self, key: &str) -> u32 {
        if let Some(&row) = self.rows.get(key) {
            return row;
        }
        let row = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.insert(key.into(), row);
        for column in &mut self.columns {
            column.cells.push(None);
        }
        row
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
            _ => return false,
        };
        let Some(slot) = column.cells.get_mut(row as usize) else {
            return false;
        };
        *slot = Some(number);
        true
    }

    /// The number in the row for a key; `None` if there is no such row or column, or if its cell is missing.
    pub fn number(&self, key: &str, column: usize) -> Option<i64> {
        let row = *self.rows.get(key)?;
        let cells = &self.columns.get(column)?.cells;
        cells.get(row as usize).copied().flatten()
    }

    /// The row of a cluster; `None` if the table has none for it.
    pub(super) fn cluster_row(&self, cluster: &Cluster<'_>) -> Option<u32> {
        self.rows.get(self.key.row_key(cluster)?).copied()
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
}
