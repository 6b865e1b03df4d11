//! Tables that a profile provides: typed columns with one cell per cluster of the snapshot, or one per row that the table
//! has for the cluster. Any cell may be missing.

use std::fmt;
use std::marker::PhantomData;

use divvy_framework_abi::arena::Arena;
use divvy_framework_abi::row::cell_type;
use divvy_framework_abi::view::CycleView;

use crate::clusters::Row;
use crate::weekly::Weekly;

/// Maximum digits after the decimal point of a [`ColumnType::Decimal`]: as many as 64 bits can hold.
pub const SCALE_MAX: u32 = 18;

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Integers of 64 bits.
    Integer,
    /// Decimals with a fixed number of digits after the decimal point, as integers of 64 bits: with scale 4, 0.12 is 1200.
    Decimal {
        /// Digits after the decimal point, at most [`SCALE_MAX`].
        scale: u32,
    },
    /// Texts.
    Text,
    /// `true` or `false`.
    Boolean,
    /// Points in time, in milliseconds since 1970-01-01T00:00:00Z.
    Time,
    /// Hours that recur on days of the week, by the local time of a zone: [`Weekly`].
    Weekly,
}

impl ColumnType {
    /// The code of the ABI, a value of [`cell_type`], and the scale.
    pub const fn code(self) -> (u32, u32) {
        match self {
            Self::Integer => (cell_type::INTEGER, 0),
            Self::Decimal { scale } => (cell_type::DECIMAL, scale),
            Self::Text => (cell_type::TEXT, 0),
            Self::Boolean => (cell_type::BOOLEAN, 0),
            Self::Time => (cell_type::TIME, 0),
            Self::Weekly => (cell_type::WEEKLY, 0),
        }
    }

    /// The name in profiles and messages, without the scale.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Decimal { .. } => "decimal",
            Self::Text => "text",
            Self::Boolean => "boolean",
            Self::Time => "time",
            Self::Weekly => "weekly",
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())?;
        match self {
            Self::Decimal { scale } => write!(formatter, " with scale {scale}"),
            _ => Ok(()),
        }
    }
}

/// Number of rows per key of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum RowsPerKey {
    /// At most one.
    #[default]
    One,
    /// Any number, in the order of the file.
    Several,
}

/// Cells of one column, by row of the snapshot.
///
/// In a table with several rows per key, [`Self::count`] and [`Self::nth`] read them all. All columns of a table have as many
/// for a cluster, in the same order.
#[derive(Clone, Copy)]
pub struct Cells<'a, T> {
    rows: RowsPerKey,
    cells: &'a [i64],
    presence: &'a [u64],
    view: &'a CycleView<'a>,
    value: PhantomData<T>,
}

/// The type of a cell's value.
pub trait CellValue<'a>: Sized {
    /// Reads a cell as it crosses the boundary; `None` if it refers to nothing.
    #[doc(hidden)]
    fn read(view: &'a CycleView<'a>, cell: i64) -> Option<Self>;
}

impl CellValue<'_> for i64 {
    #[inline]
    fn read(_: &CycleView<'_>, cell: i64) -> Option<Self> {
        Some(cell)
    }
}

impl CellValue<'_> for bool {
    #[inline]
    fn read(_: &CycleView<'_>, cell: i64) -> Option<Self> {
        Some(cell != 0)
    }
}

impl<'a> CellValue<'a> for &'a str {
    #[inline]
    fn read(view: &'a CycleView<'a>, cell: i64) -> Option<Self> {
        let text = usize::try_from(cell).ok()?;
        Some(view.table_texts.as_slice().get(text)?.read(view.table_pool.as_str()))
    }
}

impl<'a> CellValue<'a> for Weekly<'a> {
    #[inline]
    fn read(view: &'a CycleView<'a>, cell: i64) -> Option<Self> {
        let index = usize::try_from(cell).ok()?;
        let row = view.table_weekly.as_slice().get(index)?;
        Some(Self::new(*row, view.table_offsets.as_slice()))
    }
}

fn bit(words: &[u64], index: usize) -> bool {
    let word = words.get(index / 64).copied().unwrap_or(0);
    word >> (index % 64) & 1 == 1
}

impl<'a, T> Cells<'a, T> {
    /// True if the table has no cell for the cluster in a row; of several rows, if it has none in the first.
    #[inline]
    pub fn is_missing(&self, row: Row) -> bool {
        self.raw(row, 0).is_none()
    }

    /// The cells as they cross the boundary: integers, scaled decimals, 0 and 1 for booleans, equal numbers for equal texts.
    /// One per cluster of the snapshot; 0 if the cell is missing. Of a table with several rows per key, runs of cells, as the
    /// ABI describes them.
    #[inline]
    pub fn as_slice(&self) -> &'a [i64] {
        self.cells
    }

    /// The number of rows that the table has for the cluster in a row. In a table with one row per key, 0 if the cell is
    /// missing.
    #[inline]
    pub fn count(&self, row: Row) -> usize {
        match self.rows {
            RowsPerKey::One => usize::from(bit(self.presence, row.index())),
            RowsPerKey::Several => self.run(row).1,
        }
    }

    /// Start and length of a cluster's run of cells.
    #[inline]
    fn run(&self, row: Row) -> (usize, usize) {
        let packed = self.cells.get(row.index()).copied().unwrap_or(0) as u64;
        ((packed >> 32) as usize, (packed & u64::from(u32::MAX)) as usize)
    }

    #[inline]
    fn raw(&self, row: Row, index: usize) -> Option<i64> {
        match self.rows {
            RowsPerKey::One => {
                let cell = self.cells.get(row.index()).copied()?;
                (index == 0 && bit(self.presence, row.index())).then_some(cell)
            }
            RowsPerKey::Several => {
                let (start, length) = self.run(row);
                let at = (index < length).then(|| start.checked_add(index))??;
                let cell = self.view.table_row_cells.as_slice().get(at).copied()?;
                bit(self.view.table_row_presence.as_slice(), at).then_some(cell)
            }
        }
    }
}

impl<'a, T: CellValue<'a>> Cells<'a, T> {
    /// The cell of the cluster in a row; `None` if it is missing. Of several rows, the cell of the first.
    #[inline]
    pub fn get(&self, row: Row) -> Option<T> {
        self.nth(row, 0)
    }

    /// The cell in one of the rows that the table has for the cluster in a row, counted from 0; `None` if it is missing, or if
    /// there is no such row.
    #[inline]
    pub fn nth(&self, row: Row, index: usize) -> Option<T> {
        T::read(self.view, self.raw(row, index)?)
    }
}

/// The cells of a column that the called plugin declares, as the expected type; `None` if the view does not have the
/// column with this type. For the SDK, which wraps it in the types that authors see.
#[doc(hidden)]
pub fn column<'a, T>(view: &'a CycleView<'a>, table: &str, name: &str, expected: ColumnType) -> Option<Cells<'a, T>> {
    column_of_rows(view, RowsPerKey::One, table, name, expected)
}

/// As [`column`], of a table with this number of rows per key.
#[doc(hidden)]
pub fn column_of_rows<'a, T>(
    view: &'a CycleView<'a>,
    rows_per_key: RowsPerKey,
    table: &str,
    name: &str,
    expected: ColumnType,
) -> Option<Cells<'a, T>> {
    let pool = view.table_pool.as_str();
    let columns = view.table_columns.as_slice();
    let number = columns
        .iter()
        .position(|column| column.name.read(pool) == name && column.table.read(pool) == table)?;
    let column = columns.get(number)?;
    if (column.cell_type, column.scale) != expected.code() {
        return None;
    }
    let rows = Arena::new(view.snapshot.as_slice()).rows();
    let part = |length: usize| {
        let start = number.checked_mul(length)?;
        Some(start..start.checked_add(length)?)
    };
    Some(Cells {
        rows: rows_per_key,
        cells: view.table_cells.as_slice().get(part(rows)?)?,
        presence: view.table_presence.as_slice().get(part(rows.div_ceil(64))?)?,
        view,
        value: PhantomData,
    })
}
