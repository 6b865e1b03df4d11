//! Control characters in data for programs, and characters that change the direction of text.
//!
//! JSON and YAML can contain most of them, but people read both on terminals, which obey them. Both have escapes that mean the same
//! to a program.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::text::is_hidden;

/// Begins the replacement of a character in YAML. The library writes it as [`WRITTEN_MARK`], and the text with it in quotes.
const MARK: char = '\u{7}';
const WRITTEN_MARK: &str = "\\a";

/// Bytes of JSON that are looked at together: a serializer writes a few at a time.
const BLOCK: usize = 64 * 1024;

/// Escapes characters in JSON that is written through it. Outside of texts, JSON has none.
pub(crate) struct EscapedJson<W> {
    out: W,
    /// What is not yet written; whole characters, as the serializer writes no others.
    block: Vec<u8>,
}

impl<W: Write> EscapedJson<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, block: Vec::new() }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.pass_on()
    }

    fn pass_on(&mut self) -> io::Result<()> {
        match hidden(&self.block) {
            None => self.out.write_all(&self.block)?,
            Some(text) => self.out.write_all(escaped(text).as_bytes())?,
        }
        self.block.clear();
        Ok(())
    }
}

impl<W: Write> Write for EscapedJson<W> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= BLOCK {
            return self.pass_on();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.out.flush()
    }
}

/// Escapes characters in JSON from a place on.
pub(crate) fn escape_from(start: usize, json: &mut Vec<u8>) {
    let Some(text) = json.get(start..).and_then(hidden) else {
        return;
    };
    let escaped = escaped(text);
    json.truncate(start);
    json.extend_from_slice(escaped.as_bytes());
}

/// The text of these bytes, if it has characters that are escaped.
fn hidden(bytes: &[u8]) -> Option<&str> {
    // Nearly all output is ASCII.
    if bytes.is_ascii() && !bytes.contains(&0x7f) {
        return None;
    }
    std::str::from_utf8(bytes).ok().filter(|text| text.contains(is_hidden))
}

/// The escapes that JSON and YAML share: `\u202e`.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_hidden(character) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => shown.push(character),
        }
    }
    shown
}

/// A value as YAML.
///
/// # Errors
///
/// The error of the library.
pub(crate) fn yaml(value: &impl Serialize) -> io::Result<String> {
    let text = serde_saphyr::to_string(value).map_err(io::Error::other)?;
    if !text.contains(is_hidden) {
        return Ok(text);
    }
    // Such a character may be in a text without quotes, where there are no escapes. A mark makes the library quote it.
    let mut value = serde_json::to_value(value)?;
    // Longer than anything in the text itself that looks like a mark.
    let length = runs(&text).map(|(_, length)| length).max().unwrap_or(0) + 1;
    mark(&mut value, &MARK.to_string().repeat(length));
    let marked = serde_saphyr::to_string(&value).map_err(io::Error::other)?;
    let mut shown = String::with_capacity(marked.len());
    let mut rest = 0;
    for (start, found) in runs(&marked).filter(|(_, found)| *found >= length) {
        // The text before a mark may end like one.
        let end = start + found * WRITTEN_MARK.len();
        shown.push_str(&marked[rest..end - length * WRITTEN_MARK.len()]);
        shown.push_str("\\u");
        rest = end;
    }
    shown.push_str(&marked[rest..]);
    Ok(shown)
}

/// Start and length of each run of written marks.
fn runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut marks = text.match_indices(WRITTEN_MARK).map(|(start, _)| start).peekable();
    std::iter::from_fn(move || {
        let start = marks.next()?;
        let mut length = 1;
        while marks.next_if_eq(&(start + length * WRITTEN_MARK.len())).is_some() {
            length += 1;
        }
        Some((start, length))
    })
}

/// Replaces each such character in the texts and keys of a value by marks and its number.
fn mark(value: &mut Value, marks: &str) {
    let marked = |text: &str| -> Option<String> {
        let is_marked = |character: char| is_hidden(character) || character == MARK;
        text.contains(is_marked).then(|| {
            let mut shown = String::new();
            for character in text.chars() {
                match is_marked(character) {
                    true => shown.push_str(&format!("{marks}{:04x}", u32::from(character))),
                    false => shown.push(character),
                }
            }
            shown
        })
    };
    match value {
        Value::String(text) => {
            if let Some(marked) = marked(text) {
                *text = marked;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| mark(value, marks)),
        Value::Object(fields) => {
            let entries = std::mem::take(fields).into_iter();
            *fields = entries
                .map(|(key, mut value)| {
                    mark(&mut value, marks);
                    (marked(&key).unwrap_or(key), value)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_mean_the_same() {
        let value = json!({
            "plain": "a\u{202e}b", "quoted": "\u{1b}[31m\u{7}\\a \\a\u{202e}\u{7}\u{202e}", "path": "C:\\a\\a", "of\u{2066}": ["\u{9b}m", "\u{7f}", "two\nlines\t"],
            "others": "é 東 a: b",
        });
        let yaml = yaml(&value).expect("it can be written");
        assert!(!yaml.contains(is_hidden), "{yaml}");
        let read: Value = serde_saphyr::from_str(&yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"));
        assert_eq!(read, value, "{yaml}");
        let mut json = Vec::new();
        let mut out = EscapedJson::new(&mut json);
        serde_json::to_writer_pretty(&mut out, &value).expect("memory takes everything");
        out.finish().expect("memory takes everything");
        let json = String::from_utf8(json).expect("it is text");
        assert!(!json.contains(is_hidden), "{json}");
        assert_eq!(serde_json::from_str::<Value>(&json).ok(), Some(value), "{json}");
    }

    /// A block ends where the serializer has written a part of its output.
    #[test]
    fn no_block_is_lost_or_cut() {
        let texts: Vec<String> = (0..30_000).map(|number| format!("é\u{202e}{number}")).collect();
        let (mut json, mut whole) = (Vec::new(), b"before ".to_vec());
        let mut out = EscapedJson::new(&mut json);
        serde_json::to_writer(&mut out, &texts).expect("memory takes everything");
        out.finish().expect("memory takes everything");
        assert!(json.len() > 4 * BLOCK);
        assert_eq!(serde_json::from_slice::<Vec<String>>(&json).ok().as_ref(), Some(&texts));
        serde_json::to_writer(&mut whole, &texts).expect("memory takes everything");
        escape_from(b"before ".len(), &mut whole);
        assert!(whole == [b"before ", &json[..]].concat());
    }
}
