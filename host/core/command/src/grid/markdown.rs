//! A grid as a Markdown table.

use std::io::{self, Write};

use super::{Align, Cell, Grid, Line};
use crate::layout::markdown;
use crate::style;

/// Maximum number of rows that are not folded.
const UNFOLDED_MAX: usize = 20;

impl Grid<'_> {
    /// Writes the grid as a table, without columns that are empty. Many rows are folded, and lines of free text follow in the last
    /// cell of the row before them.
    ///
    /// # Errors
    ///
    /// The error of `out`. Some lines may have been written.
    pub(super) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.rows();
        let shown: Vec<usize> = (0..self.columns.len())
            .filter(|&column| {
                rows.iter()
                    .any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()))
            })
            .collect();
        if shown.is_empty() {
            return Ok(());
        }
        let is_folded = rows.len() > UNFOLDED_MAX;
        if is_folded {
            writeln!(out, "<details><summary>{} rows</summary>\n", rows.len())?;
        }
        let titles = shown.iter().map(|&column| self.columns[column].title.to_owned());
        write_row(out, titles)?;
        let rules = shown.iter().map(|&column| match self.columns[column].align {
            Align::Left => "---".to_owned(),
            Align::Right => "--:".to_owned(),
        });
        write_row(out, rules)?;
        for row in rows {
            write_row(
                out,
                shown.iter().map(|&column| row.get(column).cloned().unwrap_or_default()),
            )?;
        }
        match is_folded {
            true => writeln!(out, "\n</details>\n"),
            false => writeln!(out),
        }
    }

    /// The cells of all rows as Markdown.
    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for line in &self.lines {
            match line {
                Line::Cells(cells) => {
                    let mut row: Vec<String> = cells.iter().map(cell).collect();
                    row.resize(self.columns.len(), String::new());
                    rows.push(row);
                }
                Line::Text { text, .. } => {
                    if rows.is_empty() {
                        rows.push(vec![String::new(); self.columns.len()]);
                    }
                    if let Some(last) = rows.last_mut().and_then(|row| row.last_mut()) {
                        if !last.is_empty() {
                            last.push_str("<br>");
                        }
                        last.push_str(&markdown(text));
                    }
                }
            }
        }
        rows
    }
}

fn cell(cell: &Cell<'_>) -> String {
    // Markdown joins spaces, which separate the parts of a cell on a terminal.
    let text = cell.words().trim().replace("  ", ", ");
    let text = text.as_str();
    match (text.is_empty(), cell.style == style::BAD) {
        (true, _) => String::new(),
        (false, true) => format!("**{}**", markdown(text)),
        (false, false) => markdown(text).into_owned(),
    }
}

fn write_row(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    writeln!(out, "| {} |", cells.join(" | "))
}
