//! Splits a text at its `---` lines.
//!
//! Each chunk is parsed separately, so that a syntax error in one document does not hide the problems of the next.
//! Splitting is safe: inside a YAML document, no line may begin with `---` followed by white space.

/// A part of a text between two `---` lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk<'text> {
    /// The text.
    pub text: &'text str,
    /// Line of the file on which the text begins, counted from 1.
    pub first_line: usize,
}

/// The chunks of a text. Chunks without content are left out.
pub fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut first_line = 1;
    for (line, (offset, content)) in (1..).zip(lines(text)) {
        if is_marker(content) {
            push(&mut chunks, &text[start..offset], first_line);
            // Anything after the marker on the same line belongs to the new document.
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

/// Each line, including its line break, with its offset.
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
    // Directives (`%YAML 1.2`) precede the marker of their document. None of them affects how a manifest is read.
    let is_content = |line: &str| !matches!(line.trim_start().as_bytes().first(), None | Some(b'#' | b'%'));
    if text.lines().any(is_content) {
        chunks.push(Chunk { text, first_line });
    }
}

/// Finds the lines on which parts of a text begin, in one pass over the text.
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

    /// Line on which a part of the text begins. Parts must be passed in the order of the text.
    pub fn line_of(&mut self, part: &str) -> usize {
        // Both are slices of one text, so the distance between their addresses is an offset. Any other string
        // leaves the counter unchanged.
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        if let Some(between) = self.text.as_bytes().get(self.counted_to..offset) {
            self.line += between.iter().filter(|byte| **byte == b'\n').count();
            self.counted_to = offset;
        }
        self.line
    }
}
