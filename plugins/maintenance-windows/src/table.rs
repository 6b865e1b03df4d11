//! The table of windows: its columns, and the rows that are refused.

use divvy_framework::prelude::*;
use divvy_framework::table::RefusedRow;

use crate::maintenance_windows::{Span, Window};

/// Milliseconds since 1970 from which a window has no end: the beginning of the year 9999.
const NEVER: i64 = 253_370_764_800_000;

/// Name of the table.
pub(crate) const TABLE: &str = "windows";

/// The table, with any number of windows per key.
pub(crate) const WINDOWS: Table = Table::new(
    TABLE,
    &[
        TableColumn::time("announced"),
        TableColumn::time("begins"),
        TableColumn::time("ends"),
        TableColumn::weekly("weekly"),
        TableColumn::boolean("evict"),
        TableColumn::text("announced-by"),
    ],
)
.with_several_rows();

/// The columns of the table.
pub(crate) struct Windows<'a> {
    announced: Cells<'a, i64>,
    begins: Cells<'a, i64>,
    ends: Cells<'a, i64>,
    weekly: Cells<'a, Weekly<'a>>,
    evict: Cells<'a, bool>,
    announced_by: Cells<'a, &'a str>,
}

impl<'a> Windows<'a> {
    pub(crate) fn of(table: &TableView<'a>) -> Result<Self, Failure> {
        Ok(Self {
            announced: table.times("announced")?,
            begins: table.times("begins")?,
            ends: table.times("ends")?,
            weekly: table.weekly("weekly")?,
            evict: table.booleans("evict")?,
            announced_by: table.texts("announced-by")?,
        })
    }

    /// Number of windows for a cluster.
    pub(crate) fn count(&self, row: Row) -> usize {
        self.begins.count(row)
    }

    /// A number that clusters share if they have the same rows.
    pub(crate) fn rows_key(&self, row: Row) -> i64 {
        self.begins.as_slice().get(row.index()).copied().unwrap_or(0)
    }

    /// One of a cluster's windows.
    ///
    /// # Errors
    ///
    /// The row is refused unless it has either `weekly`, or `begins` and `ends` in their order.
    pub(crate) fn window(&self, table: &TableView<'a>, row: Row, number: usize) -> Result<Window<'a>, RefusedRow> {
        let refuse = |column: &str, message: &str| Err(table.refuse(row, number, Some(column), message));
        let announced = self.announced.nth(row, number);
        let span = match (
            self.weekly.nth(row, number),
            self.begins.nth(row, number),
            self.ends
                .nth(row, number)
                .map(|ends| if ends < NEVER { ends } else { i64::MAX }),
        ) {
            (Some(_), Some(_), _) => return refuse("begins", "expected none beside `weekly`"),
            (Some(_), _, Some(_)) => return refuse("ends", "expected none beside `weekly`"),
            (Some(_), None, None) if announced.is_some() => {
                return Err(table
                    .refuse(row, number, Some("announced"), "expected none beside `weekly`")
                    .with_hint("the plugin's `lead-minutes` announces every window"));
            }
            (Some(weekly), None, None) => Span::Weekly(weekly),
            (None, Some(begins), Some(ends)) if begins < ends => match announced {
                Some(announced) if announced > begins => {
                    return Err(table
                        .refuse(
                            row,
                            number,
                            Some("announced"),
                            "expected a time before the window begins",
                        )
                        .with_hint("leave it empty for a window that is not announced before it begins"));
                }
                announced => Span::Once {
                    announced,
                    begins,
                    ends,
                },
            },
            (None, Some(_), Some(_)) => return refuse("ends", "expected a time after the window begins"),
            (None, Some(_), None) => return refuse("ends", "expected a time, because the window has `begins`"),
            (None, None, Some(_)) => return refuse("begins", "expected a time, because the window has `ends`"),
            (None, None, None) => {
                return Err(table
                    .refuse(row, number, None, "expected `weekly`, or `begins` and `ends`")
                    .with_hint("such as `Sat 22:00-06:00 Europe/Berlin` in `weekly`"));
            }
        };
        Ok(Window {
            span,
            evicts: self.evict.nth(row, number).unwrap_or(false),
        })
    }

    /// Who announced one of a cluster's windows; empty if that is not stated.
    pub(crate) fn announced_by(&self, row: Row, number: usize) -> &'a str {
        self.announced_by.nth(row, number).unwrap_or_default()
    }
}
