//! Errors of tables, one variant per cause.

use std::path::PathBuf;

use divvy_framework_calls::tables::{TableKey, WeeklyFault};
use divvy_framework_view::tables::ColumnType;
use divvy_spanned::names;

use super::time::nearest_zone;

/// Reason why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {problem}", .file.display(), line_suffix(*.line))]
pub struct TableError {
    /// Path of the table's file.
    pub file: PathBuf,
    /// Line number, starting at 1; `None` if the whole file is at fault.
    pub line: Option<usize>,
    /// The cause.
    pub problem: TableProblem,
}

fn line_suffix(line: Option<usize>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

/// Cause of a [`TableError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableProblem {
    /// The file cannot be read.
    #[error("the table cannot be read: {message}")]
    Unreadable {
        /// Message of the operating system.
        message: String,
    },
    /// The file's name does not show its format.
    #[error("the file of a table must end in `.csv`, `.json` or `.toml`")]
    UnknownFormat,
    /// The file is too large.
    #[error("the table is larger than {bytes_max} bytes")]
    TooLarge {
        /// The limit, in bytes.
        bytes_max: u64,
    },
    /// The file has too many rows.
    #[error("the table has more than {rows_max} rows")]
    TooManyRows {
        /// The limit.
        rows_max: usize,
    },
    /// The file is not UTF-8 text.
    #[error("the table is not UTF-8 text")]
    NotUtf8,
    /// The file has no content.
    #[error("the table is empty: expected {expected}")]
    Empty {
        /// Expected beginning of a table in this format.
        expected: &'static str,
    },
    /// The file is not valid in its format.
    #[error("not valid {language}: {message}")]
    Syntax {
        /// `CSV`, `JSON` or `TOML`.
        language: &'static str,
        /// Message of the parser.
        message: String,
    },
    /// A file in JSON or TOML is not a mapping from keys to rows.
    #[error("{location}: expected a mapping from columns to cells, got {actual}")]
    NotARow {
        /// The row's key.
        location: String,
        /// Description of the value.
        actual: String,
    },
    /// A key of a table with several rows per key does not map to a list.
    #[error("rows `{key}`: expected a list of mappings from columns to cells, got {actual}")]
    NotAList {
        /// The key.
        key: String,
        /// Description of the value.
        actual: String,
    },
    /// The header of a CSV file names a column twice.
    #[error("the header names the column `{column}` twice")]
    HeaderTwice {
        /// The name.
        column: String,
    },
    /// The file lacks a column that the profile names.
    #[error("the table has no column `{column}`")]
    MissingColumn {
        /// Name in the file.
        column: String,
        /// Names that the file has.
        known: Vec<String>,
    },
    /// A row of a CSV file has too many or too few cells.
    #[error("the row has {}, the header {expected}", counted(*.actual))]
    WrongLength {
        /// Columns of the header.
        expected: usize,
        /// Cells of the row.
        actual: usize,
    },
    /// A row has no key.
    #[error("the row has no key: its column `{column}` is empty")]
    NoKey {
        /// Name of the column with the key.
        column: String,
    },
    /// Two rows have the same key.
    #[error("a second row for `{key}`, first on line {first_line}")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Line of the first row.
        first_line: usize,
    },
    /// A row gives a column twice.
    #[error("row `{key}`: the column `{column}` is given twice, first on line {first_line}")]
    DuplicateCell {
        /// Key of the row.
        key: String,
        /// Name of the column.
        column: String,
        /// Line on which it is given first.
        first_line: usize,
    },
    /// A cell is not of its column's type.
    #[error("row `{key}`, column `{column}`: expected {expected}, got {actual}")]
    WrongType {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// Declared type.
        expected: ColumnType,
        /// Description of the cell.
        actual: String,
    },
    /// A price is negative.
    #[error("row `{key}`, column `{column}`: the price is {price}, expected at least 0")]
    NegativePrice {
        /// Key of the row.
        key: String,
        /// Name of the column in the profile.
        column: String,
        /// The price.
        price: String,
    },
    /// A number does not fit into 64 bits.
    #[error("row `{key}`, column `{column}`: {actual} does not fit into 64 bits as {expected}")]
    OutOfRange {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// Declared type.
        expected: ColumnType,
        /// The number.
        actual: String,
    },
    /// A decimal has more digits after the decimal point than its column.
    #[error(
        "row `{key}`, column `{column}`: {actual} has {digits} digits after the decimal point, expected at most {scale}"
    )]
    TooManyDecimals {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// The decimal.
        actual: String,
        /// Its digits after the decimal point.
        digits: usize,
        /// The column's scale.
        scale: u32,
    },
    /// A cell is not a point in time.
    #[error("row `{key}`, column `{column}`: expected a time, got {actual}")]
    NotATime {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// Description of the cell.
        actual: String,
    },
    /// A cell names a time zone that does not exist.
    #[error("row `{key}`, column `{column}`: the time zone database has no `{zone}`")]
    UnknownZone {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// The zone.
        zone: String,
    },
    /// A cell is a local time that the zone's clocks skip.
    #[error("row `{key}`, column `{column}`: the clocks are put forward past {actual}")]
    SkippedTime {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// The cell.
        actual: String,
    },
    /// A cell is a local time that the zone's clocks show twice.
    #[error("row `{key}`, column `{column}`: the clocks are put back and show {actual} twice")]
    RepeatedTime {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// The cell.
        actual: String,
    },
    /// A cell is not hours of a week.
    #[error("row `{key}`, column `{column}`: expected {fault}, got {actual}")]
    NotWeekly {
        /// Key of the row.
        key: String,
        /// Name of the column in the file.
        column: String,
        /// What was expected.
        fault: WeeklyFault,
        /// Description of the cell.
        actual: String,
    },
    /// A row is for a cluster that the fleet does not have.
    #[error("no cluster is named `{cluster}`")]
    UnknownCluster {
        /// The name.
        cluster: String,
        /// The most similar name of a cluster.
        nearest: Option<String>,
    },
    /// A row is for a region, a provider or a label's value that no cluster has.
    #[error("no cluster has the {} `{value}`", words_of(.property))]
    UnknownValue {
        /// Property of a cluster by which rows are found.
        property: TableKey,
        /// Key of the row.
        value: String,
        /// The most similar value that a cluster has.
        nearest: Option<String>,
    },
    /// A row is not what the plugin that reads it expects.
    #[error("row `{key}`{}: {message}", in_column(.column))]
    Refused {
        /// Key of the row.
        key: String,
        /// Name of the column, as plugins read it; empty for the whole row.
        column: String,
        /// Message of the plugin.
        message: String,
        /// The plugin's hint.
        hint: Option<String>,
    },
}

fn words_of(key: &TableKey) -> String {
    match key {
        TableKey::Label(label) => format!("label `{label}` with the value"),
        other => other.to_string(),
    }
}

fn in_column(column: &str) -> String {
    match column {
        "" => String::new(),
        column => format!(", column `{column}`"),
    }
}

fn counted(cells: usize) -> String {
    match cells {
        1 => "1 cell".to_owned(),
        cells => format!("{cells} cells"),
    }
}

impl TableError {
    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match &self.problem {
            TableProblem::MissingColumn { column, known } => names::hint(column, known),
            TableProblem::NotATime { .. } => {
                Some("such as `2026-12-24T20:00:00+01:00` or `2026-12-24 20:00 Europe/Berlin`".to_owned())
            }
            TableProblem::UnknownZone { zone, .. } => match nearest_zone(zone) {
                Some(nearest) => Some(format!("did you mean `{nearest}`?")),
                None => Some("zones are named as in the IANA database, such as `Europe/Berlin` or `UTC`".to_owned()),
            },
            TableProblem::SkippedTime { .. } | TableProblem::RepeatedTime { .. } => {
                Some("give its offset from UTC, such as `2026-10-25T02:30:00+02:00`".to_owned())
            }
            TableProblem::Refused { hint, .. } => hint.clone(),
            TableProblem::NotAList { .. } => {
                Some("with `rows = \"several\"`, a table maps keys to lists: `{\"eu\": [{\"price\": 1}]}`".to_owned())
            }
            TableProblem::UnknownCluster { nearest, .. } | TableProblem::UnknownValue { nearest, .. } => {
                nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"))
            }
            TableProblem::TooManyDecimals { .. } => {
                Some("give the column a larger `scale`, or round the number".to_owned())
            }
            TableProblem::NotARow { .. } => {
                Some("a table is a mapping from keys to rows: `{\"eu\": {\"price\": 1}}`".to_owned())
            }
            _ => None,
        }
    }
}
