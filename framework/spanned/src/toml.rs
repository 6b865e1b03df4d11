//! Parses TOML text into a tree with lines.
//!
//! A value in a table has the line of its key, a value in a list its own line, and a table in an array of tables the
//! line of its header.

use std::sync::Arc;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::diagnostic::Cause;
use super::fault::Fault;
use super::node::{Node, NodeValue};
use super::path::FieldPath;
use super::words::WHOLE_NUMBER;

/// Parses a document and collects its problems.
///
/// After a syntax error the whole tree is [`NodeValue::Skipped`], because the parser's guesses would only cause further
/// errors. A value that no type can accept, such as a date, is reported and skipped.
pub fn parse(text: &str) -> (Node, Vec<Fault>) {
    build(text, false)
}

/// As [`parse`], with dates and times as the texts that are written.
pub fn parse_with_times(text: &str) -> (Node, Vec<Fault>) {
    build(text, true)
}

fn build(text: &str, times_are_texts: bool) -> (Node, Vec<Fault>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let line_starts: Vec<usize> = text.match_indices('\n').map(|(end, _)| end + 1).collect();
    let mut faults = Vec::new();
    for error in errors {
        let cause = Cause::syntax("TOML", error.message().trim());
        let line = error.span().map_or(1, |span| line_at(&line_starts, span.start));
        faults.push(Fault::new(FieldPath::root(), line, cause));
    }
    let mut builder = Builder {
        times_are_texts,
        line_starts,
        faults,
    };
    let value = match builder.faults.as_slice() {
        [] => builder.table(table.get_ref(), &FieldPath::root()),
        _ => NodeValue::Skipped,
    };
    (Node::new(1, value), builder.faults)
}

/// The line of a byte. `line_starts` are the offsets of all lines but the first.
fn line_at(line_starts: &[usize], offset: usize) -> usize {
    1 + line_starts.partition_point(|start| *start <= offset)
}

struct Builder {
    /// True if a date or a time is read as its text, and false if it is a fault.
    times_are_texts: bool,
    line_starts: Vec<usize>,
    faults: Vec<Fault>,
}

impl Builder {
    fn table(&mut self, table: &DeTable<'_>, path: &FieldPath) -> NodeValue {
        let mut entries: Vec<(Arc<str>, Node)> = Vec::new();
        for (key, value) in table {
            let path = path.key(key.get_ref());
            entries.push((key.get_ref().as_ref().into(), self.node(key.span().start, value, &path)));
        }
        // The parser sorts by key, but messages should follow the order of the file.
        entries.sort_by_key(|(_, node)| node.line);
        NodeValue::Mapping(Arc::new(entries))
    }

    fn node(&mut self, offset: usize, value: &Spanned<DeValue<'_>>, path: &FieldPath) -> Node {
        let line = line_at(&self.line_starts, offset);
        let value = match value.get_ref() {
            DeValue::String(text) => NodeValue::Text(text.as_ref().into()),
            DeValue::Boolean(value) => NodeValue::Bool(*value),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(value) => NodeValue::Integer(value),
                Err(_) => self.skip(line, path, WHOLE_NUMBER, format!("`{integer}`")),
            },
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(value) if value.is_finite() => NodeValue::decimal(float.as_str(), value),
                _ => self.skip(line, path, "a finite number", format!("`{float}`")),
            },
            DeValue::Datetime(time) if self.times_are_texts => NodeValue::Text(time.to_string().into()),
            DeValue::Datetime(time) => self.skip(
                line,
                path,
                "a string, a number, a list or a table",
                format!("the time `{time}`"),
            ),
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(index, item)| self.node(item.span().start, item, &path.index(index)));
                NodeValue::List(Arc::new(items.collect()))
            }
            DeValue::Table(table) => self.table(table, path),
        };
        Node::new(line, value)
    }

    fn skip(&mut self, line: usize, path: &FieldPath, expected: &str, actual: String) -> NodeValue {
        let cause = Cause::wrong_type(expected, actual);
        self.faults.push(Fault::new(path.clone(), line, cause));
        NodeValue::Skipped
    }
}
