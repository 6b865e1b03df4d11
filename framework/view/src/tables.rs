//! Tables that a profile provides: typed columns with one cell per cluster of the snapshot. Any cell may be missing.

use std::fmt;
use std::marker::PhantomData;

use divvy_framework_abi::arena::Arena;
use divvy_framework_abi::row::cell_type;
use divvy_framework_abi::text::Text;
use divvy_framework_abi::view::CycleView;

use crate::clusters::Row;

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
}

impl ColumnType {
    /// The code of the ABI, a value of [`cell_type`], and the scale.
    pub const fn code(self) -> (u32, u32) {
        match self {
            Self::Integer => (cell_type::INTEGER, 0),
            Self::Decimal { scale } => (cell_type::DECIMAL, scale),
            Self::Text => (cell_type::TEXT, 0),
            Self::Boolean => (cell_type::BOOLEAN, 0),
        }
    }

    /// The name in profiles and messages, without the scale.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Decimal { .. } => "decimal",
            Self::Text => "text",
            Self::Boolean => "boolean",
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

/// Cells of one column, by row of the snapshot.
#[derive(Clone, Copy)]
pub struct Cells<'a, T> {
    cells: &'a [i64],
    presence: &'a [u64],
    texts: &'a [Text],
    pool: &'a str,
    value: PhantomData<T>,
}

impl<'a, T> Cells<'a, T> {
    /// True if the table has no cell for the cluster in a row.
    #[inline]
    pub fn is_missing(&self, row: Row) -> bool {
        let word = self.presence.get(row.index() / 64).copied().unwrap_or(0);
        word >> (row.index() % 64) & 1 == 0
    }

    /// The cells as they cross the boundary: integers, scaled decimals, 0 and 1 for booleans, equal numbers for equal texts.
    /// One per cluster of the snapshot; 0 if the cell is missing.
    #[inline]
    pub fn as_slice(&self) -> &'a [i64] {
        self.cells
    }

    #[inline]
    fn cell(&self, row: Row) -> Option<i64> {
        let cell = self.cells.get(row.index()).copied()?;
        (!self.is_missing(row)).then_some(cell)
    }
}

impl Cells<'_, i64> {
    /// The cell of the cluster in a row; `None` if it is missing.
    #[inline]
    pub fn get(&self, row: Row) -> Option<i64> {
        self.cell(row)
    }
}

impl Cells<'_, bool> {
    /// The cell of the cluster in a row; `None` if it is missing.
    #[inline]
    pub fn get(&self, row: Row) -> Option<bool> {
        self.cell(row).map(|cell| cell != 0)
    }
}

impl<'a> Cells<'a, &'a str> {
    /// The cell of the cluster in a row; `None` if it is missing.
    #[inline]
    pub fn get(&self, row: Row) -> Option<&'a str> {
        let text = usize::try_from(self.cell(row)?).ok()?;
        Some(self.texts.get(text)?.read(self.pool))
    }
}

/// The cells of a column that the called plugin declares, as the expected type; `None` if the view does not have the
/// column with this type. For the SDK, which wraps it in the types that authors see.
#[doc(hidden)]
pub fn column<'a, T>(view: &'a CycleView<'a>, table: &str, name: &str, expected: ColumnType) -> Option<Cells<'a, T>> {
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
        cells: view.table_cells.as_slice().get(part(rows)?)?,
        presence: view.table_presence.as_slice().get(part(rows.div_ceil(64))?)?,
        texts: view.table_texts.as_slice(),
        pool,
        value: PhantomData,
    })
}
