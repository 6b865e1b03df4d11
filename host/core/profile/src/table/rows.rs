//! The rows of a table on their way from a file to typed columns, with every problem on the way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divvy_framework_calls::tables::{Cell, TableContents, TableKey, WeeklyFault, WeeklyHours};
use divvy_framework_view::tables::{ColumnType, RowsPerKey};

use super::configuration::ColumnConfiguration;
use super::error::{TableError, TableProblem};
use super::number::{self, NumberFault};
use super::time::{TimeFault, Zones};

/// Maximum number of rows of a table.
pub const ROWS_MAX: usize = 100_000;

/// Maximum number of problems that are reported for one file.
const PROBLEMS_MAX: usize = 100;

/// A column that the profile declares.
#[derive(Debug, Clone)]
pub(super) struct DeclaredColumn {
    /// Name in the file.
    pub(super) source: String,
    column_type: ColumnType,
}

/// A cell as a file has it.
pub(super) enum RawCell<'a> {
    /// A text without a type, as in CSV.
    Untyped(&'a str),
    /// A number, as it is written.
    Number(&'a str),
    /// A string.
    Text(&'a str),
    /// A boolean.
    Boolean(bool),
    /// Anything else, described.
    Other(String),
}

/// Collects rows and problems.
pub(super) struct Rows<'a> {
    file: &'a Path,
    /// The columns, in the order of the contents.
    pub(super) columns: Vec<DeclaredColumn>,
    contents: TableContents,
    /// Keys with their lines, in the order of the file.
    keys: Vec<(Box<str>, usize)>,
    lines: HashMap<Box<str>, usize>,
    problems: Vec<TableError>,
    zones: Zones,
}

/// The rows of a table, and the line of each key in the order of the file.
pub(super) type Finished = (TableContents, Vec<(Box<str>, usize)>);

impl<'a> Rows<'a> {
    pub(super) fn new<'c>(
        file: &'a Path,
        (key, rows_per_key): (TableKey, RowsPerKey),
        columns: impl Iterator<Item = (&'c String, &'c ColumnConfiguration)> + Clone,
    ) -> Self {
        let declared = columns.clone().map(|(name, column)| DeclaredColumn {
            source: column.from.clone().unwrap_or_else(|| name.clone()),
            column_type: column.column_type,
        });
        let typed = columns.map(|(name, column)| (name.as_str(), column.column_type));
        let contents = TableContents::new(key, typed);
        Self {
            file,
            columns: declared.collect(),
            contents: match rows_per_key {
                RowsPerKey::One => contents,
                RowsPerKey::Several => contents.with_several_rows(),
            },
            keys: Vec::new(),
            lines: HashMap::new(),
            problems: Vec::new(),
            zones: Zones::default(),
        }
    }

    /// Reports a problem.
    pub(super) fn refuse(&mut self, line: Option<usize>, problem: TableProblem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(TableError {
                file: PathBuf::from(self.file),
                line,
                problem,
            });
        }
    }

    /// True if reading can stop, because there are too many rows or too many problems.
    pub(super) fn is_full(&mut self, line: usize) -> bool {
        if self.keys.len() >= ROWS_MAX {
            self.refuse(Some(line), TableProblem::TooManyRows { rows_max: ROWS_MAX });
            return true;
        }
        self.problems.len() >= PROBLEMS_MAX
    }

    /// True if a key has a list of rows.
    pub(super) fn takes_several(&self) -> bool {
        self.contents.rows_per_key() == RowsPerKey::Several
    }

    /// Adds a row; `None` if the key already has its only one.
    pub(super) fn row(&mut self, key: &str, line: usize) -> Option<u32> {
        if let Some(&first_line) = self.lines.get(key)
            && !self.takes_several()
        {
            let key = key.to_owned();
            self.refuse(Some(line), TableProblem::DuplicateKey { key, first_line });
            return None;
        }
        self.lines.insert(key.into(), line);
        self.keys.push((key.into(), line));
        Some(self.contents.add_row(key))
    }

    /// Sets a cell of a row.
    pub(super) fn set(&mut self, (row, key): (u32, &str), line: usize, column: usize, cell: &RawCell<'_>) {
        let Some(declared) = self.columns.get(column) else {
            return;
        };
        let expected = declared.column_type;
        match typed(cell, expected, &mut self.zones) {
            Ok(TypedCell::Plain(cell)) => _ = self.contents.set(row, column, cell),
            Ok(TypedCell::Weekly(hours)) => _ = self.contents.set(row, column, Cell::Weekly(&Arc::new(hours))),
            Err(CellFault::Time(fault)) => {
                let (key, column, actual) = (key.to_owned(), declared.source.clone(), describe(cell));
                let problem = match fault {
                    TimeFault::NotATime => TableProblem::NotATime { key, column, actual },
                    TimeFault::UnknownZone(zone) => TableProblem::UnknownZone { key, column, zone },
                    TimeFault::Skipped => TableProblem::SkippedTime { key, column, actual },
                    TimeFault::Repeated => TableProblem::RepeatedTime { key, column, actual },
                };
                self.refuse(Some(line), problem);
            }
            Err(CellFault::Weekly(fault)) => {
                let (key, column, actual) = (key.to_owned(), declared.source.clone(), describe(cell));
                let problem = match fault {
                    WeeklyFault::UnknownZone { zone } => TableProblem::UnknownZone { key, column, zone },
                    fault => TableProblem::NotWeekly {
                        key,
                        column,
                        fault,
                        actual,
                    },
                };
                self.refuse(Some(line), problem);
            }
            Err(CellFault::Other(fault)) => {
                let (key, column, actual) = (key.to_owned(), declared.source.clone(), describe(cell));
                let problem = match (fault, expected) {
                    (NumberFault::OutOfRange, _) => TableProblem::OutOfRange {
                        key,
                        column,
                        expected,
                        actual,
                    },
                    (NumberFault::TooManyDecimals(digits), ColumnType::Decimal { scale }) => {
                        TableProblem::TooManyDecimals {
                            key,
                            column,
                            actual,
                            digits,
                            scale,
                        }
                    }
                    _ => TableProblem::WrongType {
                        key,
                        column,
                        expected,
                        actual,
                    },
                };
                self.refuse(Some(line), problem);
            }
        }
    }

    /// The rows.
    ///
    /// # Errors
    ///
    /// Every problem that was reported, in the order of the file.
    pub(super) fn finish(mut self) -> Result<Finished, Vec<TableError>> {
        if self.problems.is_empty() {
            return Ok((self.contents, self.keys));
        }
        self.problems.sort_by_key(|problem| problem.line);
        Err(self.problems)
    }
}

/// A cell of its column's type.
enum TypedCell<'a> {
    Plain(Cell<'a>),
    Weekly(WeeklyHours),
}

/// Reason why a cell is not of its column's type.
enum CellFault {
    Time(TimeFault),
    Weekly(WeeklyFault),
    /// It is not a number, or of another type.
    Other(NumberFault),
}

/// A cell as its column's type.
fn typed<'a>(cell: &RawCell<'a>, expected: ColumnType, zones: &mut Zones) -> Result<TypedCell<'a>, CellFault> {
    match (expected, cell) {
        (ColumnType::Time, RawCell::Untyped(text) | RawCell::Text(text)) => {
            let time = zones.time(text).map_err(CellFault::Time)?;
            Ok(TypedCell::Plain(Cell::Time(time)))
        }
        (ColumnType::Time, _) => Err(CellFault::Time(TimeFault::NotATime)),
        (ColumnType::Weekly, RawCell::Untyped(text) | RawCell::Text(text)) => {
            let hours = WeeklyHours::parse(text, |name| zones.offsets(name));
            hours.map(TypedCell::Weekly).map_err(CellFault::Weekly)
        }
        (ColumnType::Weekly, _) => Err(CellFault::Weekly(WeeklyFault::Form)),
        _ => plain(cell, expected).map(TypedCell::Plain).map_err(CellFault::Other),
    }
}

fn plain<'a>(cell: &RawCell<'a>, expected: ColumnType) -> Result<Cell<'a>, NumberFault> {
    match (expected, cell) {
        (ColumnType::Integer, RawCell::Untyped(text) | RawCell::Number(text)) => {
            number::integer(text).map(Cell::Number)
        }
        // JSON and TOML have no decimals, so a string is read as well.
        (ColumnType::Decimal { scale }, RawCell::Untyped(text) | RawCell::Number(text) | RawCell::Text(text)) => {
            number::decimal(text, scale).map(Cell::Number)
        }
        (ColumnType::Text, RawCell::Untyped(text) | RawCell::Text(text)) => Ok(Cell::Text(text)),
        (ColumnType::Boolean, RawCell::Boolean(value)) => Ok(Cell::Boolean(*value)),
        (ColumnType::Boolean, RawCell::Untyped("true")) => Ok(Cell::Boolean(true)),
        (ColumnType::Boolean, RawCell::Untyped("false")) => Ok(Cell::Boolean(false)),
        _ => Err(NumberFault::NotANumber),
    }
}

/// Characters of a cell that a message shows.
const SHOWN_MAX: usize = 60;

fn describe(cell: &RawCell<'_>) -> String {
    match cell {
        RawCell::Untyped(text) | RawCell::Number(text) => format!("`{}`", shortened(text)),
        RawCell::Text(text) => format!("the string {:?}", shortened(text)),
        RawCell::Boolean(value) => format!("the boolean `{value}`"),
        RawCell::Other(description) => description.clone(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
