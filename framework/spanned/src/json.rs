//! Parses JSON text into a tree with lines.
//!
//! `serde_json` reads valid JSON straight into the types; this parser is for text that contains an error, or of which
//! lines are needed. The YAML parser cannot replace it, because JSON is not a subset of YAML: only JSON has escapes
//! such as `\ud83d\ude00`.

use std::sync::Arc;

use super::diagnostic::Cause;
use super::fault::{Fault, ValueError};
use super::node::{DEPTH_MAX, Node, NodeValue};
use super::path::{FieldPath, PathSegment};
use super::words;

/// Parses the JSON value at the start of a text; `first_line` is the line on which the text begins.
///
/// Returns the tree and the number of bytes read, so that consecutive values can be parsed one by one. Duplicate keys
/// are added to `faults`; the first one counts. A syntax error is returned as an error, without a tree.
pub fn parse(text: &str, first_line: usize, faults: &mut Vec<Fault>) -> Result<(Node, usize), ValueError> {
    let mut reader = Reader {
        text,
        position: 0,
        line: first_line,
        path: Vec::new(),
        faults,
    };
    let node = reader.value()?;
    Ok((node, reader.position))
}

struct Reader<'text, 'faults> {
    text: &'text str,
    position: usize,
    line: usize,
    path: Vec<PathSegment>,
    faults: &'faults mut Vec<Fault>,
}

impl Reader<'_, '_> {
    fn syntax(&self, message: impl Into<String>) -> ValueError {
        self.error(Cause::syntax("JSON", message))
    }

    fn error(&self, cause: Cause) -> ValueError {
        let path = match cause {
            Cause::TooDeep { .. } => FieldPath::beginning_of(&self.path),
            _ => FieldPath::from_segments(self.path.clone()),
        };
        Fault::new(path, self.line, cause).into()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Skips white space and returns the byte after it.
    fn next_token(&mut self) -> Option<u8> {
        while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = self.peek() {
            self.line += usize::from(byte == b'\n');
            self.position += 1;
        }
        self.peek()
    }

    /// The next character, for messages.
    fn found(&self) -> String {
        match self.text.get(self.position..).and_then(|rest| rest.chars().next()) {
            Some(character) => format!("{character:?}"),
            None => "the end of the input".to_owned(),
        }
    }

    fn value(&mut self) -> Result<Node, ValueError> {
        if self.path.len() > DEPTH_MAX {
            return Err(self.error(Cause::TooDeep { depth_max: DEPTH_MAX }));
        }
        let token = self.next_token();
        let line = self.line;
        let value = match token {
            Some(b'{') => self.mapping()?,
            Some(b'[') => self.list()?,
            Some(b'"') => NodeValue::Text(self.string()?.into()),
            Some(b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => self.scalar()?,
            _ => return Err(self.syntax(format!("expected a value, got {}", self.found()))),
        };
        Ok(Node::new(line, value))
    }

    fn mapping(&mut self) -> Result<NodeValue, ValueError> {
        self.position += 1;
        let mut entries: Vec<(Arc<str>, Node)> = Vec::new();
        let mut lines = std::collections::HashMap::new();
        if self.next_token() == Some(b'}') {
            self.position += 1;
            return Ok(NodeValue::Mapping(Arc::new(entries)));
        }
        loop {
            if self.next_token() != Some(b'"') {
                return Err(self.syntax(format!("expected a key in quotes, got {}", self.found())));
            }
            let key_line = self.line;
            let key: Arc<str> = self.string()?.into();
            let first_line = lines.get(&key).copied();
            // A duplicate is reported here, and its value is parsed below only to find further problems.
            if let Some(first_line) = first_line {
                let error = self.error(Cause::DuplicateKey {
                    key: key.to_string(),
                    first_line,
                });
                self.faults.push(error.into());
            } else {
                lines.insert(Arc::clone(&key), key_line);
            }
            if self.next_token() != Some(b':') {
                return Err(self.syntax(format!("expected `:` after the key {key:?}, got {}", self.found())));
            }
            self.position += 1;
            self.path.push(PathSegment::Key(key.to_string()));
            let value = self.value()?;
            self.path.pop();
            if first_line.is_none() {
                entries.push((key, value));
            }
            match self.next_token() {
                Some(b',') => self.position += 1,
                Some(b'}') => {
                    self.position += 1;
                    return Ok(NodeValue::Mapping(Arc::new(entries)));
                }
                _ => return Err(self.syntax(format!("expected `,` or `}}`, got {}", self.found()))),
            }
        }
    }

    fn list(&mut self) -> Result<NodeValue, ValueError> {
        self.position += 1;
        let mut items = Vec::new();
        if self.next_token() == Some(b']') {
            self.position += 1;
            return Ok(NodeValue::List(Arc::new(items)));
        }
        loop {
            self.path.push(PathSegment::Index(items.len()));
            let item = self.value()?;
            self.path.pop();
            items.push(item);
            match self.next_token() {
                Some(b',') => self.position += 1,
                Some(b']') => {
                    self.position += 1;
                    return Ok(NodeValue::List(Arc::new(items)));
                }
                _ => return Err(self.syntax(format!("expected `,` or `]`, got {}", self.found()))),
            }
        }
    }

    /// Reads a string. `serde_json` decodes it, so that only one implementation interprets escapes.
    fn string(&mut self) -> Result<String, ValueError> {
        let start = self.position;
        let mut end = start + 1;
        loop {
            match self.text.as_bytes().get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.syntax("a string without its closing quote")),
                Some(_) => end += 1,
            }
        }
        // Both ends are quotation marks, so the range ends between characters; anything else is not a string.
        let quoted = self.text.get(start..=end).ok_or_else(|| self.syntax("not a string"))?;
        let decoded = serde_json::from_str(quoted).map_err(|error| self.syntax(without_position(&error)))?;
        self.position = end + 1;
        Ok(decoded)
    }

    fn scalar(&mut self) -> Result<NodeValue, ValueError> {
        let bytes = self.text.as_bytes().iter().skip(self.position);
        let length = bytes
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            .count();
        // The word is ASCII, so the range begins and ends between characters.
        let Some(word) = self.text.get(self.position..self.position + length) else {
            return Err(self.syntax(format!("expected a value, got {}", self.found())));
        };
        let value = match word {
            "null" => NodeValue::Null,
            "true" => NodeValue::Bool(true),
            "false" => NodeValue::Bool(false),
            number => match serde_json::from_str::<serde_json::Number>(number) {
                Ok(read) => match (&read).into() {
                    // `serde_json` does not always read the nearest double.
                    NodeValue::Float(read) => NodeValue::decimal(number, number.parse().unwrap_or(read.value)),
                    integer => integer,
                },
                Err(error) => return Err(self.syntax(format!("`{number}`: {}", without_position(&error)))),
            },
        };
        self.position += length;
        Ok(value)
    }
}

/// The message of `serde_json` in the terms of documents, without its position: `expected a mapping, got a list`
/// instead of `invalid type: sequence, expected struct Metadata at line 1 column 9`.
pub fn plain_message(error: &serde_json::Error) -> String {
    words::message(without_position(error))
}

/// The message of `serde_json` without its position, which is relative to the text that was parsed.
pub fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ").filter(|_| error.line() > 0) {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
