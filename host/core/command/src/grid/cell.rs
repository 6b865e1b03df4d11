//! The cells of a table: text, numbers and bars, each with a style.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;

use crate::style;
use crate::text::{is_plain, printable, width};

/// Indentation of a cell that belongs to an earlier row.
const BELOW: &[u8] = b"  ";

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left, for words.
    Left,
    /// To the right, for numbers.
    Right,
}

/// Content and style of one cell.
#[derive(Debug, Clone)]
pub struct Cell<'a> {
    content: Content<'a>,
    /// Colour and weight.
    pub style: Style,
}

#[derive(Debug, Clone)]
enum Content<'a> {
    Text(Text<'a>),
    /// Text that is indented within its column.
    Below(Text<'a>),
    /// A number, which becomes text only when it is written: most cells of a large table are numbers.
    Number(i64),
    /// A bar, its length in thousandths of the column's width.
    Bar(u16),
}

/// Printable text, which is measured once: the same names are in thousands of rows.
#[derive(Debug, Clone)]
struct Text<'a> {
    text: Cow<'a, str>,
    width: usize,
    /// True if each byte is a column.
    is_plain: bool,
}

impl<'a> Cell<'a> {
    /// Text in a style.
    pub fn new(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self {
            content: Content::Text(Text::new(text.into())),
            style,
        }
    }

    /// Ordinary text.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self::new(text, style::PLAIN)
    }

    /// Ordinary text, indented: a part of the object that the first cell of an earlier row names.
    pub fn below(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            content: Content::Below(Text::new(text.into())),
            style: style::PLAIN,
        }
    }

    /// A number.
    pub fn number(number: i64) -> Self {
        Self {
            content: Content::Number(number),
            style: style::PLAIN,
        }
    }

    /// The same content in a style.
    #[must_use]
    pub fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// A cell without text.
    pub fn empty() -> Self {
        Self {
            content: Content::Text(Text::EMPTY),
            style: style::PLAIN,
        }
    }

    /// A bar of `part / whole` of the column's width; an empty cell if `part` is not positive.
    pub fn bar(part: i64, whole: i64, style: Style) -> Self {
        if part <= 0 {
            return Self::empty();
        }
        let share = i128::from(part) * 1000 / i128::from(whole.max(1));
        Self {
            content: Content::Bar(u16::try_from(share.clamp(1, 1000)).unwrap_or(1000)),
            style,
        }
    }

    /// True for a text without letters.
    pub fn is_empty(&self) -> bool {
        self.text().is_some_and(str::is_empty)
    }

    /// The text; `None` for anything else, and for text that is indented.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// The content as text; empty for a bar.
    pub(super) fn words(&self) -> Cow<'_, str> {
        match &self.content {
            Content::Text(text) | Content::Below(text) => Cow::Borrowed(&text.text),
            Content::Number(number) => Cow::Owned(number.to_string()),
            Content::Bar(_) => Cow::Borrowed(""),
        }
    }

    /// True if text that is too long for its column may cover this cell.
    pub fn gives_way(&self) -> bool {
        matches!(self.content, Content::Bar(_)) || self.is_empty()
    }

    /// Columns that the content takes.
    pub fn width(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.width,
            Content::Below(text) => text.width + BELOW.len(),
            Content::Number(number) => digits(*number),
            Content::Bar(_) => 0,
        }
    }

    /// Number of columns that the cell takes in a column of this width.
    pub fn width_in(&self, columns: usize) -> usize {
        match &self.content {
            Content::Bar(share) => width(&bar(usize::from(*share), columns)),
            _ => self.width(),
        }
    }

    /// Writes the cell into a column that begins at `start` of the bytes, with the spaces before it. Returns false if it has a style,
    /// does not fit the column, or takes other columns than bytes.
    pub fn write_plain(
        &self,
        bytes: &mut Vec<u8>,
        start: usize,
        (width, align): (usize, Align),
        is_plain: bool,
    ) -> bool {
        let mut buffer = itoa::Buffer::new();
        let (indent, text) = match &self.content {
            Content::Text(text) if text.is_plain => (0, &*text.text),
            Content::Below(text) if text.is_plain => (BELOW.len(), &*text.text),
            Content::Number(number) => (0, buffer.format(*number)),
            Content::Text(_) | Content::Below(_) | Content::Bar(_) => return false,
        };
        let Some(padding) = width.checked_sub(indent + text.len()) else {
            return false;
        };
        if !is_plain && self.style != style::PLAIN {
            return false;
        }
        let before = if align == Align::Right { padding } else { 0 };
        bytes.resize(start + before + indent, b' ');
        bytes.extend_from_slice(text.as_bytes());
        true
    }

    /// Writes the cell without padding.
    pub fn write(&self, out: &mut (impl Write + ?Sized), columns: usize, is_plain: bool) -> io::Result<()> {
        let style = if is_plain { style::PLAIN } else { self.style };
        // Most cells have no style, and formatting one takes as long as writing the text.
        if style != style::PLAIN {
            write!(out, "{style}")?;
        }
        match &self.content {
            Content::Text(text) => out.write_all(text.text.as_bytes())?,
            Content::Below(text) => {
                out.write_all(BELOW)?;
                out.write_all(text.text.as_bytes())?;
            }
            Content::Number(number) => out.write_all(itoa::Buffer::new().format(*number).as_bytes())?,
            Content::Bar(share) => out.write_all(bar(usize::from(*share), columns).as_bytes())?,
        }
        if style != style::PLAIN {
            write!(out, "{style:#}")?;
        }
        Ok(())
    }
}

impl<'a> Text<'a> {
    const EMPTY: Self = Self {
        text: Cow::Borrowed(""),
        width: 0,
        is_plain: true,
    };

    fn new(text: Cow<'a, str>) -> Self {
        if is_plain(&text) {
            let width = text.len();
            return Self {
                text,
                width,
                is_plain: true,
            };
        }
        let text = printable_text(text);
        Self {
            width: width(&text),
            is_plain: is_plain(&text),
            text,
        }
    }
}

/// Columns that a number takes.
fn digits(number: i64) -> usize {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(number < 0)
}

/// Like [`printable`], but does not copy text that is printable.
fn printable_text(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => printable(text),
        Cow::Owned(text) => match printable(&text) {
            Cow::Borrowed(_) => Cow::Owned(text),
            Cow::Owned(escaped) => Cow::Owned(escaped),
        },
    }
}

/// Draws a bar in eighths of a column: at least one eighth for any share above zero.
fn bar(share: usize, columns: usize) -> String {
    const PARTS: [char; 8] = ['█', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share * columns * 8 / 1000).max(usize::from(share > 0));
    let mut text = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(PARTS[eighths % 8]);
    }
    text
}
