//! A text cut at its `---` lines.
//!
//! Each chunk is parsed on its own, so that a syntax error in one document does not hide the problems of the
//! next. Cutting is safe: YAML allows no line that begins with `---` and white space inside a document.

/// A part of a text between two `---` lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk<'text> {
    /// The text.
    pub text: &'text str,
    /// The line of the file on which it begins, counted from 1.
    pub first_line: usize,
}

/// The chunks of a text, those without any content left out.
pub fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut first_line = 1;
    for (line, (offset, content)) in (1..).zip(lines(text)) {
        if is_marker(content) {
            push(&mut chunks, &text[start..offset], first_line);
            // What follows the marker on its line belongs to the document.
            let has_content = !content[3..].trim().is_empty();
            (start, first_line) = if has_content {
                (offset, line)
            } else {
                (offset + content.len(), line + 1)
            };
        }
    }
    push(&mut chunks, &text[start..], first_line);
    chunks
}

/// Each line with its offset, its line break included.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |offset, content| {
        let start = *offset;
        *offset += content.len();
        Some((start, content))
    })
}

fn is_marker(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn push<'text>(chunks: &mut Vec<Chunk<'text>>, text: &'text str, first_line: usize) {
    // Directives (`%YAML 1.2`) are before the marker of the document they belong to; none changes how a
    // manifest is read.
    let is_content = |line: &str| !matches!(line.trim_start().as_bytes().first(), None | Some(b'#' | b'%'));
    if text.lines().any(is_content) {
        chunks.push(Chunk { text, first_line });
    }
}

/// The lines on which parts of a text begin, counted on from part to part.
pub struct LineCounter<'text> {
    text: &'text str,
    counted_to: usize,
    line: usize,
}

impl<'text> LineCounter<'text> {
    /// A counter at the start of a chunk.
    pub fn new(chunk: &Chunk<'text>) -> Self {
        Self {
            text: chunk.text,
            counted_to: 0,
            line: chunk.first_line,
        }
    }

    /// The line of a part of the text. Parts must be asked for in their order.
    pub fn line_of(&mut self, part: &str) -> usize {
        // Both are slices of one text, so the distance of their addresses is an offset; anything else
        // leaves the counter where it is.
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        if let Some(between) = self.text.as_bytes().get(self.counted_to..offset) {
            self.line += between.iter().filter(|byte| **byte == b'\n').count();
            self.counted_to = offset;
        }
        self.line
    }
}
