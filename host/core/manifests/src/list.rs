//! One JSON list of objects, cut into its objects while it is read.
//!
//! A dump of a control plane is such a list, of hundreds of megabytes. It is never in memory as a whole, and its objects are read on
//! all cores. Until its end it may turn out to be something else: invalid, not a list, or a list whose items leave their type to
//! it. Then everything that was read is discarded, and the input is read again like any other text, with all its problems.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::ops::Range;

use divvy_parallel::{in_order, threads};
use divvy_spanned::Document;
use divvy_spanned::chunks::{Chunk, LineCounter};

use super::ReadOptions;
use super::object::{DocumentLocation, Envelope, Found, ObjectReader};

/// Bytes of objects that one thread reads at a time.
const BATCH: usize = 1 << 20;
/// Bytes that are read from the stream at once.
const BLOCK: u64 = 1 << 17;
/// Maximum number of bytes before the first object, and after the last one.
const ENDS_MAX: usize = 1 << 16;

/// Reads a list and passes the findings to `take`, in the order of the list. Returns false if the stream holds anything else, or
/// cannot be read; the caller then discards the findings.
pub(super) fn read(
    stream: &mut dyn Read,
    options: &ReadOptions,
    location: &DocumentLocation,
    mut take: impl FnMut(Vec<Found>),
) -> bool {
    let mut cutter = Cutter::new(stream, options.bytes_max);
    let Some(()) = cutter.head() else {
        return false;
    };
    let read = |batch: Batch| {
        let mut reader = ObjectReader::for_cut_objects(options);
        let chunk = Chunk {
            text: &batch.text,
            first_line: batch.first_line,
        };
        let mut lines = LineCounter::new(&chunk);
        for range in batch.objects {
            // Objects are cut at braces, which are whole characters.
            let text = &chunk.text[range];
            reader.object(&Document::from_json(text, lines.line_of(text)), None, location);
            if reader.is_misread {
                break;
            }
        }
        (reader.found, reader.is_misread)
    };
    let batches = std::iter::from_fn(|| cutter.batch());
    let is_read = in_order(
        batches,
        threads(),
        || read,
        |(found, is_misread)| {
            take(found);
            if is_misread { Err(()) } else { Ok(()) }
        },
    );
    is_read.is_ok() && cutter.is_list()
}

/// Consecutive objects of a list.
struct Batch {
    text: String,
    /// Line of the file on which the text begins.
    first_line: usize,
    objects: Vec<Range<usize>>,
}

/// Cuts a stream into a beginning, objects and an end, by its braces, brackets and strings alone.
struct Cutter<'stream> {
    stream: &'stream mut dyn Read,
    /// Bytes that may still be read.
    left: u64,
    /// Bytes that were read but not cut off yet.
    bytes: Vec<u8>,
    /// Line on which `bytes` begin.
    line: usize,
    /// Everything before the objects.
    head: Vec<u8>,
    /// True if an object was found.
    has_objects: bool,
    /// True if the stream cannot be read, or is too long.
    has_failed: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Objects follow.
    Objects,
    /// The list has ended.
    Ended,
    /// The stream is anything else.
    Other,
}

impl<'stream> Cutter<'stream> {
    fn new(stream: &'stream mut dyn Read, bytes_max: u64) -> Self {
        Self {
            stream,
            left: bytes_max,
            bytes: Vec::new(),
            line: 1,
            head: Vec::new(),
            has_objects: false,
            has_failed: false,
            state: State::Other,
        }
    }

    /// Reads more bytes; `None` at the end, and if the stream cannot be read.
    fn fill(&mut self) -> Option<()> {
        if self.has_failed {
            return None;
        }
        let length = self.bytes.len();
        // Not into zeros: most texts are far smaller than a block.
        if (&mut *self.stream).take(BLOCK).read_to_end(&mut self.bytes).is_err() {
            self.has_failed = true;
        }
        let read = self.bytes.len() - length;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => self.has_failed = true,
        }
        (read > 0 && !self.has_failed).then_some(())
    }

    /// Cuts off the first bytes.
    fn cut(&mut self, at: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(at);
        let cut = std::mem::replace(&mut self.bytes, rest);
        self.line += cut.iter().filter(|byte| **byte == b'\n').count();
        cut
    }

    /// Reads up to the first object; `None` if the stream is not a list of that kind.
    fn head(&mut self) -> Option<()> {
        while self.bytes.len() < ENDS_MAX && self.fill().is_some() {}
        let end = items(&self.bytes[..self.bytes.len().min(ENDS_MAX)])?;
        self.head = self.cut(end);
        self.state = State::Objects;
        Some(())
    }

    /// The byte at a position, or the next one that is not white space, with its position.
    fn next_token(&mut self, mut at: usize) -> Option<(usize, u8)> {
        loop {
            match self.bytes.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(&byte) => return Some((at, byte)),
                None => self.fill()?,
            }
        }
    }

    /// The next objects; `None` at the end of the list, or if the stream is not one.
    fn batch(&mut self) -> Option<Batch> {
        if self.state != State::Objects {
            return None;
        }
        let mut objects = Vec::new();
        let mut at = 0;
        self.state = State::Other;
        while at < BATCH {
            let (start, byte) = self.next_token(at)?;
            // Only an empty list ends where an object may begin.
            if byte == b']' && !self.has_objects {
                self.state = State::Ended;
                at = start + 1;
                break;
            }
            if byte != b'{' {
                return None;
            }
            let end = self.end(start)?;
            objects.push(start..end);
            self.has_objects = true;
            let (separator, byte) = self.next_token(end)?;
            at = separator + 1;
            match byte {
                b',' => {}
                b']' => {
                    self.state = State::Ended;
                    break;
                }
                _ => return None,
            }
        }
        if self.state != State::Ended {
            self.state = State::Objects;
        }
        let first_line = self.line;
        let text = String::from_utf8(self.cut(at));
        let Ok(text) = text else {
            self.state = State::Other;
            return None;
        };
        Some(Batch {
            text,
            first_line,
            objects,
        })
    }

    /// The position after the object that begins at a position.
    fn end(&mut self, start: usize) -> Option<usize> {
        let (mut at, mut depth) = (start, 0_usize);
        let mut is_text = false;
        loop {
            while let Some(&byte) = self.bytes.get(at) {
                at += 1;
                match byte {
                    b'"' => is_text = !is_text,
                    // The character after it does not end the text.
                    b'\\' if is_text => at += 1,
                    b'{' | b'[' if !is_text => depth += 1,
                    b'}' | b']' if !is_text => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => {}
                }
            }
            self.fill()?;
        }
    }

    /// Reads what follows the list. True if the whole is a list of objects.
    fn is_list(&mut self) -> bool {
        while self.state == State::Ended && self.bytes.len() <= ENDS_MAX && self.fill().is_some() {}
        if self.state != State::Ended || self.has_failed || self.bytes.len() > ENDS_MAX {
            return false;
        }
        let whole = [self.head.as_slice(), b"]", self.bytes.as_slice()].concat();
        let envelope = std::str::from_utf8(&whole).ok();
        let envelope = envelope.and_then(|text| serde_json::from_str::<Envelope<'_>>(text).ok());
        let kind = envelope.and_then(|envelope| envelope.kind);
        kind.is_some_and(|kind| kind.ends_with("List"))
    }
}

/// The position after the bracket that begins the `items` of an object; `None` if there are none.
fn items(bytes: &[u8]) -> Option<usize> {
    let after_space = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    };
    let mut at = after_space(0);
    let mut depth = 0_usize;
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let text = &bytes[start..at];
                at += 1;
                let colon = after_space(at);
                if depth == 1 && text == b"items" && bytes.get(colon) == Some(&b':') {
                    let bracket = after_space(colon + 1);
                    return (bytes.get(bracket) == Some(&b'[')).then_some(bracket + 1);
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).filter(|depth| *depth > 0)?,
            _ => {}
        }
    }
}
