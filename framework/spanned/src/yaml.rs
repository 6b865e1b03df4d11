//! Parses YAML text into a tree with lines.
//!
//! Plain scalars follow the core schema of YAML 1.2, so `on` and `yes` are strings and `012` is the number 12. Merge
//! keys (`<<`) are supported, because Helm charts use them. Aliases are shared, and the values that they expand to are
//! counted in bytes, so that an alias bomb is an error before anything walks the tree.

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::diagnostic::Cause;
use super::fault::{Fault, ValueError};
use super::node::{DEPTH_MAX, Node, NodeValue};
use super::path::{FieldPath, PathSegment};

/// Maximum bytes that the aliases of one text may expand to: its texts and keys, and [`VALUE`] for each value. An API server takes
/// objects of 3 MB.
const ALIASED_BYTES_MAX: usize = 8 << 20;
/// Bytes that every value counts for, however short it is.
const VALUE: usize = 16;

/// Parses all documents of a text; `first_line` is the line on which the text begins.
///
/// Documents that contain only comments are left out. Parsing stops at the first syntax error, so later documents may
/// be missing and later problems unreported.
pub fn parse(text: &str, first_line: usize) -> (Vec<Node>, Vec<Fault>) {
    let Parsed { documents, faults, .. } = parse_counted(text, first_line);
    (documents, faults)
}

/// Like [`parse`], with the cost of the aliases.
pub fn parse_counted(text: &str, first_line: usize) -> Parsed {
    let mut builder = Builder {
        parser: Parser::new_from_str(text),
        first_line,
        anchors: HashMap::new(),
        aliased_bytes: 0,
        path: Vec::new(),
        faults: Vec::new(),
    };
    let mut documents = Vec::new();
    if let Err(error) = builder.documents(&mut documents) {
        builder.faults.push(error.into());
    }
    Parsed {
        documents,
        faults: builder.faults,
        aliased_bytes: builder.aliased_bytes,
    }
}

/// A text that was parsed.
pub struct Parsed {
    /// Its documents.
    pub documents: Vec<Node>,
    /// Its problems.
    pub faults: Vec<Fault>,
    /// Bytes that its aliases expand to.
    pub aliased_bytes: usize,
}

/// A tree with the cost of walking it.
#[derive(Clone)]
struct Built {
    node: Node,
    /// Bytes of the tree, with aliases expanded.
    bytes: usize,
    /// Number of levels below the root.
    height: usize,
}

impl Built {
    fn scalar(line: usize, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Self {
        let node = Node::new(line, scalar(text, style, tag));
        Self {
            node,
            bytes: text.len().saturating_add(VALUE),
            height: 0,
        }
    }
}

struct Builder<'text> {
    parser: Parser<'text, StrInput<'text>>,
    first_line: usize,
    anchors: HashMap<usize, Built>,
    /// Those of all documents: each of them may be kept.
    aliased_bytes: usize,
    path: Vec<PathSegment>,
    /// Faults that did not stop the parser.
    faults: Vec<Fault>,
}

impl<'text> Builder<'text> {
    fn documents(&mut self, documents: &mut Vec<Node>) -> Result<(), ValueError> {
        while let Some((event, span)) = self.next()? {
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(_) | Event::DocumentEnd | Event::StreamStart | Event::Nothing => {
                    self.anchors.clear();
                }
                event => {
                    let built = self.build(event, span)?;
                    let is_empty = matches!(built.node.value, NodeValue::Null);
                    if !is_empty {
                        documents.push(built.node);
                    }
                }
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<(Event<'text>, Span)>, ValueError> {
        let event = self.parser.next_event().transpose();
        event.map_err(|error| self.scan_error(&error))
    }

    /// The next event inside an open list or mapping.
    fn next_inside(&mut self, line: usize) -> Result<(Event<'text>, Span), ValueError> {
        self.next()?
            .ok_or_else(|| self.syntax(line, "the input ends inside a list or mapping"))
    }

    fn scan_error(&self, error: &ScanError) -> ValueError {
        let line = self.first_line + error.marker().line().saturating_sub(1);
        if error.info().contains("recursion limit") {
            // The parser looks ahead, so it can reach its own, higher limit before this code reaches `DEPTH_MAX`.
            return self.error(line, Cause::TooDeep { depth_max: DEPTH_MAX });
        }
        self.syntax(line, format!("{} (column {})", error.info(), error.marker().col() + 1))
    }

    fn syntax(&self, line: usize, message: impl Into<String>) -> ValueError {
        self.error(line, Cause::syntax("YAML", message))
    }

    fn error(&self, line: usize, cause: Cause) -> ValueError {
        let path = match cause {
            Cause::TooDeep { .. } => FieldPath::beginning_of(&self.path),
            _ => FieldPath::from_segments(self.path.clone()),
        };
        Fault::new(path, line, cause).into()
    }

    fn build(&mut self, event: Event<'text>, span: Span) -> Result<Built, ValueError> {
        let line = self.first_line + span.start.line().saturating_sub(1);
        if self.path.len() > DEPTH_MAX {
            return Err(self.error(line, Cause::TooDeep { depth_max: DEPTH_MAX }));
        }
        let (anchor, built) = match event {
            Event::Scalar(text, style, anchor, tag) => (anchor, Built::scalar(line, &text, style, tag.as_deref())),
            Event::SequenceStart(anchor, _) => (anchor, self.list(line)?),
            Event::MappingStart(anchor, _) => (anchor, self.mapping(line)?),
            Event::Alias(anchor) => return self.alias(anchor, line),
            _ => return Err(self.syntax(line, "an unexpected end of a list or mapping")),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, built.clone());
        }
        Ok(built)
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<Built, ValueError> {
        let Some(built) = self.anchors.get(&anchor).cloned() else {
            return Err(self.syntax(line, "an alias inside the very value it names"));
        };
        self.aliased_bytes = self.aliased_bytes.saturating_add(built.bytes);
        if self.aliased_bytes > ALIASED_BYTES_MAX {
            let bytes_max = ALIASED_BYTES_MAX;
            return Err(self.error(line, Cause::TooManyAliases { bytes_max }));
        }
        if self.path.len() + built.height > DEPTH_MAX {
            return Err(self.error(line, Cause::TooDeep { depth_max: DEPTH_MAX }));
        }
        Ok(built)
    }

    fn list(&mut self, line: usize) -> Result<Built, ValueError> {
        let mut items = Vec::new();
        let (mut bytes, mut height) = (VALUE, 0);
        loop {
            let (event, span) = self.next_inside(line)?;
            if matches!(event, Event::SequenceEnd) {
                break;
            }
            self.path.push(PathSegment::Index(items.len()));
            let item = self.build(event, span)?;
            self.path.pop();
            bytes = bytes.saturating_add(item.bytes);
            height = height.max(item.height + 1);
            items.push(item.node);
        }
        Ok(Built {
            node: Node::new(line, NodeValue::List(Arc::new(items))),
            bytes,
            height,
        })
    }

    fn mapping(&mut self, line: usize) -> Result<Built, ValueError> {
        let mut entries: Vec<(Arc<str>, Node)> = Vec::new();
        let mut lines: HashMap<Arc<str>, usize> = HashMap::new();
        let mut merged = Vec::new();
        let (mut bytes, mut height) = (VALUE, 0);
        loop {
            let (event, span) = self.next_inside(line)?;
            let key_line = self.first_line + span.start.line().saturating_sub(1);
            let (key, is_plain): (Arc<str>, bool) = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, style, anchor, tag) => {
                    if anchor != 0 {
                        let built = Built::scalar(key_line, &text, style, tag.as_deref());
                        self.anchors.insert(anchor, built);
                    }
                    (text.as_ref().into(), style == ScalarStyle::Plain)
                }
                _ => {
                    let cause = Cause::wrong_type("a word as key", "a list, mapping or alias");
                    return Err(self.error(key_line, cause));
                }
            };
            let (event, span) = self.next_inside(key_line)?;
            self.path.push(PathSegment::Key(key.to_string()));
            let value = self.build(event, span)?;
            self.path.pop();
            bytes = bytes.saturating_add(key.len()).saturating_add(value.bytes);
            height = height.max(value.height + 1);
            // Merge keys are applied at the end, because the mapping's own keys win wherever they are written.
            if is_plain && &*key == "<<" {
                merged.push(value.node);
                continue;
            }
            if let Some(first_line) = lines.insert(Arc::clone(&key), key_line) {
                let cause = Cause::DuplicateKey {
                    key: key.to_string(),
                    first_line,
                };
                self.faults.push(self.error(key_line, cause).into());
                lines.insert(key, first_line);
                continue;
            }
            entries.push((key, value.node));
        }
        for source in merged {
            self.merge(&source, &mut entries, &mut lines)?;
        }
        Ok(Built {
            node: Node::new(line, NodeValue::Mapping(Arc::new(entries))),
            bytes,
            height,
        })
    }

    /// Adds the keys of a merge key's value that the mapping does not have yet.
    fn merge(
        &self,
        source: &Node,
        entries: &mut Vec<(Arc<str>, Node)>,
        lines: &mut HashMap<Arc<str>, usize>,
    ) -> Result<(), ValueError> {
        match &source.value {
            NodeValue::Mapping(more) => {
                for (key, value) in more.iter() {
                    if !lines.contains_key(key) {
                        lines.insert(Arc::clone(key), value.line);
                        entries.push((Arc::clone(key), value.clone()));
                    }
                }
                Ok(())
            }
            // If several sources have a key, the first one wins.
            NodeValue::List(sources) if sources.iter().all(|part| matches!(part.value, NodeValue::Mapping(_))) => {
                sources.iter().try_for_each(|part| self.merge(part, entries, lines))
            }
            _ => {
                let cause = Cause::wrong_type("a mapping, or a list of mappings, after `<<`", source.describe());
                Err(self.error(source.line, cause))
            }
        }
    }
}

/// Interprets a scalar by its style, its tag and, if it is plain, the core schema.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> NodeValue {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return NodeValue::Text(text.into());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeValue::Null,
        "true" | "True" | "TRUE" => return NodeValue::Bool(true),
        "false" | "False" | "FALSE" => return NodeValue::Bool(false),
        _ => {}
    }
    number(text).unwrap_or_else(|| NodeValue::Text(text.into()))
}

/// A number of the core schema. Infinities and "not a number" stay text, because no field takes them.
fn number(text: &str) -> Option<NodeValue> {
    // As in kubectl, `1_000` is a number, too.
    let joined: String;
    let text = match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') if text.contains('_') => {
            joined = text.replace('_', "");
            joined.as_str()
        }
        _ => text,
    };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return u64::from_str_radix(digits, radix).ok().map(integer);
        }
    }
    // YAML 1.1, as kubectl reads it: `010` is 8, and `08`, which is not octal, is a decimal.
    let is_octal = |digits: &str| digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    if let Some(digits) = unsigned
        .strip_prefix('0')
        .filter(|digits| !digits.is_empty() && is_octal(digits))
    {
        let value = i64::from_str_radix(digits, 8).ok()?;
        return Some(NodeValue::Integer(if text.starts_with('-') { -value } else { value }));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let integer = text.parse().map(NodeValue::Integer);
        let unsigned = integer.or_else(|_| text.parse().map(NodeValue::Unsigned));
        return unsigned
            .or_else(|_| text.parse().map(|value| NodeValue::decimal(text, value)))
            .ok();
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_mantissa = !(whole.is_empty() && fraction.is_empty()) && all_digits(whole) && all_digits(fraction);
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    if !is_mantissa || !is_exponent {
        return None;
    }
    let value = text.parse().ok().filter(|value: &f64| value.is_finite());
    value.map(|value| NodeValue::decimal(text, value))
}

fn integer(value: u64) -> NodeValue {
    i64::try_from(value).map_or(NodeValue::Unsigned(value), NodeValue::Integer)
}
