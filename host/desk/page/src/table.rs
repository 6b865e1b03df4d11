//! Tables of pages, with bars or a line above them.

use serde::Serialize;

use crate::texts::visible;

/// One table, with a section of its own.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Title of the section.
    pub title: &'static str,
    /// A sentence below it; may be empty.
    pub remark: String,
    /// Bars above it; may be empty.
    pub bars: Vec<Bar>,
    /// A line above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each with a value per column.
    pub rows: Vec<Vec<Value>>,
}

/// A bar: how full something is.
#[derive(Debug, Clone, Serialize)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Use in percent of the whole.
    pub percent: i64,
    /// What is that full.
    pub detail: String,
}

/// A line in steps: one count against another.
#[derive(Debug, Clone, Serialize)]
pub struct Steps {
    /// What counts from the left to the right.
    pub across: &'static str,
    /// What counts upwards.
    pub up: &'static str,
    /// The ends of the steps, from the left to the right.
    pub points: Vec<Point>,
}

/// The end of a step.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Point {
    /// From the left.
    pub x: i64,
    /// Upwards.
    pub y: i64,
}

/// A column.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    /// Its title.
    pub title: &'static str,
    /// Kind of its values.
    pub kind: Kind,
}

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Names and words.
    Text,
    /// Sentences, which wrap.
    Long,
    /// Counts.
    Number,
    /// Counts that should be 0.
    Harm,
}

impl Kind {
    /// A column of this kind.
    pub fn column(self, title: &'static str) -> Column {
        Column { title, kind: self }
    }
}

/// A value in a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A text.
    Text(String),
    /// A count.
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(visible(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<i64> for Value {
    fn from(count: i64) -> Self {
        Self::Number(count)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Number(i64::try_from(count).unwrap_or(i64::MAX))
    }
}
