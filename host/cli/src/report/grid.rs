//! Aligned columns without boxes, as `kubectl` prints them, for text that is cut nowhere.
//!
//! A table crate was tried in thought and left out: they draw boxes, wrap cells and keep every cell as a paragraph, while
//! here a line must stay a line that can be searched, names must stay whole, and a long name may break the line once.

use std::io::{self, Write};

use anstyle::Style;

use super::style;
use super::text::{printable, width, wrapped};

/// Spaces between columns.
const GAP: usize = 2;
/// However narrow the terminal is, names have so many columns before they break the line.
const FIRST_COLUMN_MINIMUM: usize = 16;

/// How far the further lines of a text are moved to the right.
const HANG: usize = 2;
/// However narrow the terminal is, texts have so many columns.
const TEXT_MINIMUM: usize = 20;

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// At the left: words.
    Left,
    /// At the right: numbers.
    Right,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its title.
    pub(crate) title: &'static str,
    /// Where its text stands.
    pub(crate) align: Align,
    /// Whether a text that is too wide takes the room of empty cells before it instead of widening the column.
    pub(crate) leans: bool,
}

/// What stands in one line and column.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    content: Content,
    style: Style,
}

#[derive(Debug, Clone)]
enum Content {
    Text(String),
    /// A part of the column's width, in thousandths.
    Bar(u16),
}

#[derive(Debug, Clone)]
enum Line {
    Cells(Vec<Cell>),
    Text { indent: usize, text: String, style: Style },
    Blank,
}

/// Lines of cells in columns, with lines of free text among them.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<Column>,
    lines: Vec<Line>,
    indent: usize,
}

impl Column {
    /// A column of words.
    pub(crate) fn left(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Left,
            leans: false,
        }
    }

    /// A column of numbers.
    pub(crate) fn right(title: &'static str) -> Self {
        let align = Align::Right;
        Self {
            align,
            ..Self::left(title)
        }
    }

    /// A column of words at the right, that lean over empty cells before them.
    pub(crate) fn leaning(title: &'static str) -> Self {
        let leans = true;
        Self {
            leans,
            ..Self::right(title)
        }
    }
}

impl Cell {
    /// Text in a style.
    pub(crate) fn new(text: impl AsRef<str>, style: Style) -> Self {
        Self {
            content: Content::Text(printable(text.as_ref()).into_owned()),
            style,
        }
    }

    /// Ordinary text.
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::new(text, style::PLAIN)
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self::plain("")
    }

    /// A bar as long as `part` of `whole` of the column's width.
    pub(crate) fn bar(part: i64, whole: i64, style: Style) -> Self {
        if part <= 0 {
            return Self::empty();
        }
        let share = i128::from(part) * 1000 / i128::from(whole.max(1));
        Self {
            content: Content::Bar(u16::try_from(share.clamp(1, 1000)).unwrap_or(1000)),
            style,
        }
    }

    fn is_empty(&self) -> bool {
        matches!(&self.content, Content::Text(text) if text.is_empty())
    }

    /// Whether a text that is too long for its column may take this cell's index.
    fn gives_way(&self) -> bool {
        matches!(self.content, Content::Bar(_)) || self.is_empty()
    }

    fn width(&self) -> usize {
        match &self.content {
            Content::Text(text) => width(text),
            Content::Bar(_) => 0,
        }
    }

    fn shown(&self, columns: usize) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Bar(share) => bar(usize::from(*share), columns),
        }
    }
}

/// A bar in eighths of a column; at least one eighth, if it is of anything.
fn bar(share: usize, columns: usize) -> String {
    const PARTS: [char; 8] = ['█', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share * columns * 8 / 1000).max(usize::from(share > 0));
    let mut text = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(PARTS[eighths % 8]);
    }
    text
}

/// Writes spaces. The width of a format would do, but panics beyond 65,535, and names come from outside.
fn spaces(out: &mut dyn Write, count: usize) -> io::Result<()> {
    for _ in 0..count {
        out.write_all(b" ")?;
    }
    Ok(())
}

impl Grid {
    /// No line yet.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            lines: Vec::new(),
            indent: 0,
        }
    }

    /// The same, moved to the right.
    #[must_use]
    pub(crate) fn indented(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    /// A line of cells, one a column; missing ones are empty.
    pub(crate) fn cells(&mut self, cells: Vec<Cell>) {
        self.lines.push(Line::Cells(cells));
    }

    /// A line of free text, broken between words where the terminal ends.
    pub(crate) fn text(&mut self, indent: usize, text: impl AsRef<str>, style: Style) {
        self.lines.push(Line::Text {
            indent,
            text: printable(text.as_ref()).into_owned(),
            style,
        });
    }

    /// An empty line.
    pub(crate) fn blank(&mut self) {
        self.lines.push(Line::Blank);
    }

    /// Writes the titles and the lines. Columns in which nothing stands are left out.
    ///
    /// # Errors
    ///
    /// What the stream fails with.
    pub(crate) fn write(&self, out: &mut dyn Write, columns: Option<usize>) -> io::Result<()> {
        let widths = self.widths(columns);
        let titles: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| Cell::new(column.title, style::FAINT))
            .collect();
        self.write_cells(out, &titles, &widths)?;
        for line in &self.lines {
            match line {
                Line::Blank => writeln!(out)?,
                Line::Cells(cells) => self.write_cells(out, cells, &widths)?,
                Line::Text { indent, text, style } => {
                    let indent = self.indent + indent;
                    // What goes on below hangs, so that the next text can be told from it.
                    let room = columns.map(|columns| columns.saturating_sub(indent + HANG).max(TEXT_MINIMUM));
                    for (number, part) in wrapped(text, room).iter().enumerate() {
                        let indent = if number == 0 { indent } else { indent + HANG };
                        spaces(out, indent)?;
                        writeln!(out, "{style}{part}{style:#}")?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The width of each column; 0 leaves it out.
    fn widths(&self, columns: Option<usize>) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        let mut filled = vec![false; self.columns.len()];
        for line in &self.lines {
            let Line::Cells(cells) = line else { continue };
            for (index, cell) in cells.iter().enumerate().take(widths.len()) {
                filled[index] |= !cell.is_empty();
                if !self.columns[index].leans {
                    widths[index] = widths[index].max(cell.width());
                }
            }
        }
        for ((width_of, filled), column) in widths.iter_mut().zip(filled).zip(&self.columns) {
            if filled {
                *width_of = (*width_of).max(width(column.title));
            }
        }
        self.widen_for_what_leans(&mut widths);
        if let (Some(columns), Some((first, others))) = (columns, widths.split_first_mut()) {
            let taken: usize = others.iter().filter(|width| **width > 0).map(|width| width + GAP).sum();
            let left = columns.saturating_sub(taken + self.indent);
            *first = (*first).min(left.max(FIRST_COLUMN_MINIMUM));
        }
        widths
    }

    /// Makes columns that lean as wide as their cells need beyond the empty cells before them.
    fn widen_for_what_leans(&self, widths: &mut [usize]) {
        for index in (0..widths.len()).filter(|&index| self.columns[index].leans) {
            for line in &self.lines {
                let Line::Cells(cells) = line else { continue };
                let Some(cell) = cells.get(index) else { continue };
                let before = cells.iter().zip(widths.iter()).take(index).rev();
                let room: usize = before
                    .take_while(|(cell, _)| cell.is_empty())
                    .filter(|(_, width)| **width > 0)
                    .map(|(_, width)| width + GAP)
                    .sum();
                widths[index] = widths[index].max(cell.width().saturating_sub(room));
            }
        }
    }

    fn write_cells(&self, out: &mut dyn Write, cells: &[Cell], widths: &[usize]) -> io::Result<()> {
        spaces(out, self.indent)?;
        let last = cells
            .iter()
            .zip(widths)
            .rposition(|(cell, width)| *width > 0 && !cell.is_empty());
        // Columns that are due before the next text: a line never ends in spaces.
        let mut owed = 0;
        let mut index = 0;
        while let (Some(cell), Some(last)) = (cells.get(index), last)
            && index <= last
        {
            let columns = widths.get(index).copied().unwrap_or(0);
            if columns == 0 {
                index += 1;
                continue;
            }
            if cell.is_empty() {
                owed += columns + GAP;
                index += 1;
                continue;
            }
            let text = cell.shown(columns);
            let used = width(&text);
            let style = cell.style;
            let padding = columns.saturating_sub(used);
            let (before, after) = match self.columns.get(index).map(|column| column.align) {
                Some(Align::Right) => (padding, 0),
                _ => (0, padding),
            };
            let leans = self.columns.get(index).is_some_and(|column| column.leans);
            let over = if leans { used.saturating_sub(columns) } else { 0 };
            // One space at least stays, however little room the cells before have left.
            spaces(out, (owed + before).saturating_sub(over).max(usize::from(owed > 0)))?;
            write!(out, "{style}{text}{style:#}")?;
            owed = after + GAP;
            if used > columns && !leans && index < last {
                let next = widths.get(index + 1).copied().unwrap_or(0);
                let gives_way = cells.get(index + 1).is_some_and(Cell::gives_way);
                if gives_way && used <= columns + GAP + next {
                    owed = columns + GAP + next - used + GAP;
                    index += 1;
                } else {
                    // The name has the line for itself; what belongs to it stands below, in its columns.
                    writeln!(out)?;
                    spaces(out, self.indent)?;
                    owed = columns + GAP;
                }
            }
            index += 1;
        }
        writeln!(out)
    }
}
