//! Tables in JSON and TOML: a mapping from keys to rows, or to lists of rows, each of which maps columns to cells. Columns that the profile does
//! not name are ignored, and a cell that is absent or null is missing.

use std::collections::BTreeSet;

use divvy_spanned::{Cause, Fault, Node, NodeValue, PathSegment, json, toml};

use super::error::TableProblem;
use super::rows::{RawCell, Rows};

/// Reads the rows of a JSON text.
pub(super) fn read_json(text: &str, rows: &mut Rows<'_>) {
    if text.trim().is_empty() {
        let expected = "a mapping from keys to rows";
        rows.refuse(None, TableProblem::Empty { expected });
        return;
    }
    let mut faults = Vec::new();
    match json::parse(text, 1, &mut faults) {
        Ok((tree, end)) => {
            let rest = &text[end..];
            if let Some(found) = rest.trim_start().chars().next() {
                let line = 1 + text[..text.len() - rest.trim_start().len()].matches('\n').count();
                let message = format!("expected the end of the input, got {found:?}");
                rows.refuse(
                    Some(line),
                    TableProblem::Syntax {
                        language: "JSON",
                        message,
                    },
                );
            }
            refuse(faults, "JSON", rows);
            read(&tree, rows);
        }
        Err(error) => {
            faults.push(error.into());
            refuse(faults, "JSON", rows);
        }
    }
}

/// Reads the rows of a TOML text.
pub(super) fn read_toml(text: &str, rows: &mut Rows<'_>) {
    if text.trim().is_empty() {
        let expected = "a table per row";
        rows.refuse(None, TableProblem::Empty { expected });
        return;
    }
    // The type of a column decides if a date-time can be read.
    let (tree, faults) = toml::parse_with_times(text);
    refuse(faults, "TOML", rows);
    read(&tree, rows);
}

/// Reports the parser's faults.
fn refuse(faults: Vec<Fault>, language: &'static str, rows: &mut Rows<'_>) {
    for fault in faults {
        let line = Some(fault.line);
        let problem = match (fault.path.segments(), fault.cause) {
            ([], Cause::DuplicateKey { key, first_line }) => TableProblem::DuplicateKey { key, first_line },
            ([PathSegment::Key(row), ..], Cause::DuplicateKey { key, first_line }) => TableProblem::DuplicateCell {
                key: row.clone(),
                column: key,
                first_line,
            },
            (_, Cause::Syntax { message, .. }) => TableProblem::Syntax { language, message },
            (path, cause) => {
                let location: Vec<String> = path.iter().map(segment).collect();
                let message = format!("{}: {cause}", location.join("."));
                TableProblem::Syntax { language, message }
            }
        };
        rows.refuse(line, problem);
    }
}

fn segment(segment: &PathSegment) -> String {
    match segment {
        PathSegment::Key(key) => key.clone(),
        PathSegment::Index(index) => index.to_string(),
    }
}

fn read(tree: &Node, rows: &mut Rows<'_>) {
    let entries = match &tree.value {
        NodeValue::Mapping(entries) => entries,
        // Reported already.
        NodeValue::Skipped => return,
        _ => {
            let (location, actual) = ("the table".to_owned(), tree.describe());
            rows.refuse(Some(tree.line), TableProblem::NotARow { location, actual });
            return;
        }
    };
    let sources: Vec<String> = rows.columns.iter().map(|column| column.source.clone()).collect();
    let mut seen = vec![false; sources.len()];
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (key, node) in entries.iter() {
        if rows.is_full(node.line) {
            return;
        }
        match (&node.value, rows.takes_several()) {
            (NodeValue::Skipped, _) => {}
            (NodeValue::List(list), true) => {
                for row in list.iter() {
                    if rows.is_full(row.line) {
                        return;
                    }
                    read_row((key, row), &sources, rows, (&mut seen, &mut known));
                }
            }
            (_, true) => {
                let (key, actual) = (key.to_string(), node.describe());
                rows.refuse(Some(node.line), TableProblem::NotAList { key, actual });
            }
            (_, false) => read_row((key, node), &sources, rows, (&mut seen, &mut known)),
        }
    }
    // A column that no row has is a misspelt name. Without rows there is nothing to compare with.
    let missing = sources
        .iter()
        .zip(&seen)
        .filter(|(_, is_seen)| !**is_seen && !entries.is_empty());
    for (column, _) in missing {
        let known = known.iter().map(|name| (*name).to_owned()).collect();
        let column = column.clone();
        rows.refuse(None, TableProblem::MissingColumn { column, known });
    }
}

/// Reads one row. Columns that were found are marked as seen, and other names are collected.
fn read_row<'a>(
    (key, node): (&str, &'a Node),
    sources: &[String],
    rows: &mut Rows<'_>,
    (seen, known): (&mut [bool], &mut BTreeSet<&'a str>),
) {
    let NodeValue::Mapping(cells) = &node.value else {
        if !matches!(node.value, NodeValue::Skipped) {
            let (location, actual) = (format!("row `{key}`"), node.describe());
            rows.refuse(Some(node.line), TableProblem::NotARow { location, actual });
        }
        return;
    };
    let Some(row) = rows.row(key, node.line) else {
        return;
    };
    for (name, cell) in cells.iter() {
        let Some(column) = sources.iter().position(|source| **source == **name) else {
            known.insert(name);
            continue;
        };
        if let Some(seen) = seen.get_mut(column) {
            *seen = true;
        }
        let raw = match &cell.value {
            NodeValue::Null | NodeValue::Skipped => continue,
            NodeValue::Bool(value) => RawCell::Boolean(*value),
            NodeValue::Text(text) => RawCell::Text(text),
            NodeValue::Float(number) => RawCell::Number(&number.text),
            NodeValue::Integer(number) => {
                rows.set((row, key), cell.line, column, &RawCell::Number(&number.to_string()));
                continue;
            }
            NodeValue::Unsigned(number) => {
                rows.set((row, key), cell.line, column, &RawCell::Number(&number.to_string()));
                continue;
            }
            NodeValue::List(_) | NodeValue::Mapping(_) => RawCell::Other(cell.describe()),
        };
        rows.set((row, key), cell.line, column, &raw);
    }
}
