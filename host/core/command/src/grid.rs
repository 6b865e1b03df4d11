//! Aligned columns without boxes, as `kubectl` prints them. Text is never truncated.
//!
//! A table crate was considered and rejected: table crates draw boxes and wrap text inside cells. Here a row must
//! remain one line that `grep` can find, names must remain whole, and a long name breaks its line once at most.

mod cell;
mod markdown;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;

use crate::layout::Layout;
use crate::style;
use crate::text::{printable, width, wrapped};
pub use cell::{Align, Cell};

/// Spaces between columns.
const GAP: usize = 2;
/// Minimum width of the first column, however narrow the terminal. Longer names break the line.
const FIRST_COLUMN_MINIMUM: usize = 16;

/// Additional indentation of the continuation lines of a text.
const HANG: usize = 2;
/// Minimum width of a text, however narrow the terminal.
const TEXT_MINIMUM: usize = 20;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Title in the first line.
    pub title: &'static str,
    /// Alignment of title and cells.
    pub align: Align,
    /// True for free text, which is wrapped within the column if it is the last one.
    is_text: bool,
}

#[derive(Debug, Clone)]
enum Line<'a> {
    Cells(Vec<Cell<'a>>),
    Text { indent: usize, text: String, style: Style },
}

/// Rows of cells in columns, with lines of free text between them.
///
/// A table that does not fit into memory is several grids with the same columns: all are measured, and then each is written
/// with the widths of all.
#[derive(Debug)]
pub struct Grid<'a> {
    columns: Cow<'a, [Column]>,
    lines: Vec<Line<'a>>,
    passing: Option<Passing<'a>>,
    indent: usize,
    is_plain: bool,
}

/// Use of lines that are not kept. Those of a duplicated workload on thousands of clusters would take megabytes, and allocating these
/// takes longer than making the lines twice.
#[derive(Debug)]
enum Passing<'a> {
    /// Their widths are measured.
    Measured(Widths),
    /// They are appended to these bytes, in columns of these widths, for a terminal of this width.
    Written(Vec<u8>, &'a [usize], Option<usize>),
}

/// Width of the widest cell in each column; `None` for a column without content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widths(Vec<Option<usize>>);

impl Widths {
    /// Widths of a table without lines.
    pub fn new(columns: &[Column]) -> Self {
        Self(vec![None; columns.len()])
    }

    /// Widens columns to the cells of a row.
    fn measure(&mut self, cells: &[Cell<'_>]) {
        for (widest, cell) in self.0.iter_mut().zip(cells) {
            if !cell.is_empty() {
                *widest = (*widest).max(Some(cell.width()));
            }
        }
    }

    /// Widens the columns to those of another part of the table.
    pub fn widen(&mut self, other: &Self) {
        for (width, other) in self.0.iter_mut().zip(&other.0) {
            *width = (*width).max(*other);
        }
    }
}

impl Column {
    /// A column of words.
    pub fn left(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Left,
            is_text: false,
        }
    }

    /// A last column of free text. On a narrow terminal, its lines continue below, in the column or, if that is too narrow,
    /// in lines of their own.
    pub fn text(title: &'static str) -> Self {
        Self {
            is_text: true,
            ..Self::left(title)
        }
    }

    /// A column of numbers.
    pub fn right(title: &'static str) -> Self {
        Self {
            align: Align::Right,
            ..Self::left(title)
        }
    }
}

/// Writes spaces. A format width would panic above 65,535, and a name can have any length.
fn spaces(out: &mut (impl Write + ?Sized), mut count: usize) -> io::Result<()> {
    const SPACES: [u8; 64] = [b' '; 64];
    while count > 0 {
        let now = count.min(SPACES.len());
        out.write_all(&SPACES[..now])?;
        count -= now;
    }
    Ok(())
}

/// Writes free text, wrapped between words at the width of the terminal. Continuation lines are indented further, so that the
/// next text is recognisable as such.
///
/// # Errors
///
/// The error of `out`. Some lines may have been written.
pub fn write_text(
    out: &mut (impl Write + ?Sized),
    columns: Option<usize>,
    indent: usize,
    text: &str,
    style: Style,
) -> io::Result<()> {
    let room = columns.map(|columns| columns.saturating_sub(indent + HANG).max(TEXT_MINIMUM));
    for (number, part) in wrapped(text, room).iter().enumerate() {
        let indent = if number == 0 { indent } else { indent + HANG };
        spaces(out, indent)?;
        writeln!(out, "{style}{part}{style:#}")?;
    }
    Ok(())
}

impl<'a> Grid<'a> {
    /// A grid without lines. Several grids may borrow their columns.
    pub fn new(columns: impl Into<Cow<'a, [Column]>>) -> Self {
        Self {
            columns: columns.into(),
            lines: Vec::new(),
            passing: None,
            indent: 0,
            is_plain: false,
        }
    }

    /// Leaves styles out, for an output without colour. Otherwise they would be removed from it later.
    #[must_use]
    pub fn plain(mut self, is_plain: bool) -> Self {
        self.is_plain = is_plain;
        self
    }

    /// Indents all lines by a number of columns.
    #[must_use]
    pub fn indented(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    /// Widens `widths` to the lines that are added, and keeps none of them.
    #[must_use]
    pub fn measuring(mut self, widths: Widths) -> Self {
        self.passing = Some(Passing::Measured(widths));
        self
    }

    /// Appends the lines that are added to `bytes`, as [`Self::write_lines`] writes them, and keeps none.
    #[must_use]
    pub fn writing(mut self, bytes: Vec<u8>, widths: &'a [usize], columns: Option<usize>) -> Self {
        self.passing = Some(Passing::Written(bytes, widths, columns));
        self
    }

    /// The widths after the lines that were measured.
    pub fn measured(self) -> Widths {
        match self.passing {
            Some(Passing::Measured(widths)) => widths,
            _ => Widths::new(&self.columns),
        }
    }

    /// The bytes, with the lines that were written.
    pub fn written(self) -> Vec<u8> {
        match self.passing {
            Some(Passing::Written(bytes, ..)) => bytes,
            _ => Vec::new(),
        }
    }

    /// Adds a row, one cell per column. Missing cells are empty. A caller that adds many rows can lend each and reuse its memory.
    pub fn cells<'row>(&mut self, cells: impl Into<Cow<'row, [Cell<'a>]>>)
    where
        'a: 'row,
    {
        self.add_row(cells.into());
    }

    fn add_row(&mut self, cells: Cow<'_, [Cell<'a>]>) {
        match self.passing.take() {
            None => self.lines.push(Line::Cells(cells.into_owned())),
            Some(Passing::Measured(mut widths)) => {
                widths.measure(&cells);
                self.passing = Some(Passing::Measured(widths));
            }
            Some(Passing::Written(mut bytes, widths, columns)) => {
                if !self.write_plain(&mut bytes, &cells, widths, columns) {
                    let _infallible = self.write_row(&mut bytes, &cells, widths, columns);
                }
                self.passing = Some(Passing::Written(bytes, widths, columns));
            }
        }
    }

    /// Adds free text, wrapped between words at the width of the terminal.
    pub fn text(&mut self, indent: usize, text: impl AsRef<str>, style: Style) {
        self.add(Line::Text {
            indent,
            text: printable(text.as_ref()).into_owned(),
            style,
        });
    }

    /// Adds a line without cells, which widens no column.
    fn add(&mut self, line: Line<'a>) {
        match self.passing.take() {
            None => self.lines.push(line),
            Some(Passing::Written(mut bytes, widths, columns)) => {
                let _infallible = self.write_line(&mut bytes, &line, widths, columns);
                self.passing = Some(Passing::Written(bytes, widths, columns));
            }
            measured => self.passing = measured,
        }
    }

    /// Writes the titles and the lines, without columns that are empty.
    ///
    /// # Errors
    ///
    /// The error of `out`. Some lines may have been written.
    pub fn write(&self, out: &mut dyn Write, layout: impl Into<Layout>) -> io::Result<()> {
        let columns = match layout.into() {
            Layout::Terminal(columns) => columns,
            Layout::Markdown => return self.write_markdown(out),
        };
        let mut content = Widths::new(&self.columns);
        self.measure(&mut content);
        let widths = self.fitted(&content, columns);
        self.write_titles(out, &widths)?;
        self.write_lines(out, &widths, columns)
    }

    /// Writes the titles.
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn write_titles(&self, out: &mut dyn Write, widths: &[usize]) -> io::Result<()> {
        let titles = self.columns.iter().map(|column| Cell::new(column.title, style::FAINT));
        self.write_cells(out, &titles.collect::<Vec<_>>(), widths)
    }

    /// Writes the lines in columns of these widths.
    ///
    /// # Errors
    ///
    /// The error of `out`. Some lines may have been written.
    fn write_lines(&self, out: &mut dyn Write, widths: &[usize], columns: Option<usize>) -> io::Result<()> {
        let mut lines = self.lines.iter();
        lines.try_for_each(|line| self.write_line(out, line, widths, columns))
    }

    fn write_line(
        &self,
        out: &mut (impl Write + ?Sized),
        line: &Line<'_>,
        widths: &[usize],
        columns: Option<usize>,
    ) -> io::Result<()> {
        match line {
            Line::Cells(cells) => self.write_row(out, cells, widths, columns),
            Line::Text { indent, text, style } => {
                let style = if self.is_plain { style::PLAIN } else { *style };
                write_text(out, columns, self.indent + indent, text, style)
            }
        }
    }

    /// Widens columns to the cells of this grid.
    fn measure(&self, content: &mut Widths) {
        for line in &self.lines {
            if let Line::Cells(cells) = line {
                content.measure(cells);
            }
        }
    }

    /// Width of each column for this content on this terminal; 0 for an empty one, which is not written.
    pub fn fitted(&self, content: &Widths, columns: Option<usize>) -> Vec<usize> {
        // A title widens its column only if the column has content: an empty one keeps width 0.
        let widths = content.0.iter().zip(&*self.columns);
        let widths = widths.map(|(widest, column)| widest.map_or(0, |widest| widest.max(width(column.title))));
        let mut widths: Vec<usize> = widths.collect();
        // On a narrow terminal, only the first column shrinks: it holds names, which may have a line of their own.
        if let (Some(columns), Some((first, others))) = (columns, widths.split_first_mut()) {
            // Free text takes what is left.
            if let (Some(width), Some(Column { is_text: true, .. })) = (others.last_mut(), self.columns.last()) {
                *width = (*width).min(TEXT_MINIMUM);
            }
            let taken: usize = others.iter().filter(|width| **width > 0).map(|width| width + GAP).sum();
            let left = columns.saturating_sub(taken + self.indent);
            *first = (*first).min(left.max(FIRST_COLUMN_MINIMUM));
        }
        widths
    }

    /// Writes a row without styles, of cells that fit their columns and whose bytes are columns: nearly all rows of a large table
    /// are of this kind. Writes the same as [`Self::write_row`], or returns false and writes nothing.
    fn write_plain(&self, bytes: &mut Vec<u8>, cells: &[Cell<'_>], widths: &[usize], columns: Option<usize>) -> bool {
        if columns.is_some() && self.columns.last().is_some_and(|column| column.is_text) {
            return false;
        }
        let begin = bytes.len();
        bytes.resize(begin + self.indent, b' ');
        let mut start = bytes.len();
        for ((cell, column), &width) in cells.iter().zip(&*self.columns).zip(widths) {
            if width == 0 {
                continue;
            }
            if !cell.is_empty() && !cell.write_plain(bytes, start, (width, column.align), self.is_plain) {
                bytes.truncate(begin);
                return false;
            }
            start += width + GAP;
        }
        bytes.push(b'\n');
        true
    }

    /// Writes one row. Free text in the last column is wrapped at the width of the terminal.
    fn write_row(
        &self,
        out: &mut (impl Write + ?Sized),
        cells: &[Cell<'_>],
        widths: &[usize],
        columns: Option<usize>,
    ) -> io::Result<()> {
        let is_text = self.columns.last().is_some_and(|column| column.is_text) && cells.len() == self.columns.len();
        let (Some(columns), Some((last, before)), true) = (columns, cells.split_last(), is_text) else {
            return self.write_cells(out, cells, widths);
        };
        let taken = widths.iter().take(before.len()).filter(|width| **width > 0);
        let start = self.indent + taken.map(|width| width + GAP).sum::<usize>();
        let Some(text) = last.text() else {
            return self.write_cells(out, cells, widths);
        };
        if start + last.width() <= columns {
            return self.write_cells(out, cells, widths);
        }
        let style = if self.is_plain { style::PLAIN } else { last.style };
        if columns.saturating_sub(start) < TEXT_MINIMUM {
            self.write_cells(out, before, widths)?;
            return write_text(out, Some(columns), self.indent + 2 * HANG, text, style);
        }
        let lines = wrapped(text, Some(columns - start));
        let (first, rest) = lines
            .split_first()
            .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut row = before.to_vec();
        row.push(Cell::new(first, last.style));
        self.write_cells(out, &row, widths)?;
        for line in rest {
            spaces(out, start)?;
            writeln!(out, "{style}{line}{style:#}")?;
        }
        Ok(())
    }

    /// Writes one row, on two lines if the name in the first column is too long for it.
    fn write_cells(&self, out: &mut (impl Write + ?Sized), cells: &[Cell<'_>], widths: &[usize]) -> io::Result<()> {
        spaces(out, self.indent)?;
        let last = cells
            .iter()
            .zip(widths)
            .rposition(|(cell, width)| *width > 0 && !cell.is_empty());
        // Spaces to write before the next text. They are held back because a line must not end in spaces.
        let mut owed = 0;
        let mut index = 0;
        while let (Some(cell), Some(last)) = (cells.get(index), last)
            && index <= last
        {
            let columns = widths.get(index).copied().unwrap_or(0);
            if columns == 0 || cell.is_empty() {
                owed += if columns == 0 { 0 } else { columns + GAP };
                index += 1;
                continue;
            }
            let used = cell.width_in(columns);
            let padding = columns.saturating_sub(used);
            let (before, after) = match self.columns.get(index).map(|column| column.align) {
                Some(Align::Right) => (padding, 0),
                _ => (0, padding),
            };
            spaces(out, owed + before)?;
            cell.write(out, columns, self.is_plain)?;
            owed = after + GAP;
            if used > columns && index < last {
                // A text slightly too long may cover an empty cell or a bar after it.
                let next = widths.get(index + 1).copied().unwrap_or(0);
                let gives_way = cells.get(index + 1).is_some_and(Cell::gives_way);
                if gives_way && used <= columns + GAP + next {
                    owed = columns + GAP + next - used + GAP;
                    index += 1;
                } else {
                    // The name gets a line of its own, and the other cells follow below in their columns.
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
