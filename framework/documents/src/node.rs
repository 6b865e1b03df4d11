//! A document as a tree whose every value knows its line.
//!
//! Typed structures are read from this tree, not from the text, whenever something is wrong or the text is
//! YAML: only so can every problem of a document be found and placed. Aliased parts are shared, so that a
//! document that names one large part a thousand times takes no more memory than its text.

use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::path::{FieldPath, PathSegment};

/// The deepest nesting that is read. Kubernetes' own objects stay below 60; `serde_json` stops at 128.
pub const DEPTH_MAX: usize = 120;

/// A value and its line.
#[derive(Debug, Clone)]
pub struct Node {
    /// The line, counted from 1.
    pub line: usize,
    /// The value.
    pub value: NodeValue,
}

/// A value.
#[derive(Debug, Clone)]
pub enum NodeValue {
    /// `null`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer above the range of `Integer`.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Node>>),
    /// Keys and their values, each key once, in the order of the text.
    Mapping(Arc<Vec<(Arc<str>, Node)>>),
    /// A value that was reported as a problem and is read as if it were not there.
    Skipped,
}

impl Node {
    /// A value on a line.
    pub fn new(line: usize, value: NodeValue) -> Self {
        Self { line, value }
    }

    /// The value of a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let NodeValue::Mapping(entries) = &self.value else {
            return None;
        };
        entries.iter().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    /// The text of a key of a mapping, if it is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn child(&self, segment: &PathSegment) -> Option<&Self> {
        match (segment, &self.value) {
            (PathSegment::Key(key), _) => self.get(key),
            (PathSegment::Index(index), NodeValue::List(items)) => items.get(*index),
            (PathSegment::Index(_), _) => None,
        }
    }

    /// The value at a path.
    pub fn at(&self, path: &FieldPath) -> Option<&Self> {
        path.segments()
            .iter()
            .try_fold(self, |node, segment| node.child(segment))
    }

    /// The line of the value at a path, or of the last value on the way to it.
    pub fn line_of(&self, path: &FieldPath) -> usize {
        let mut node = self;
        for segment in path.segments() {
            match node.child(segment) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.line
    }

    /// Takes the value at a path out of sight. False if there is none to take.
    pub fn skip(&mut self, segments: &[PathSegment]) -> bool {
        let Some((first, rest)) = segments.split_first() else {
            let visible = !matches!(self.value, NodeValue::Skipped);
            self.value = NodeValue::Skipped;
            return visible;
        };
        let child = match (first, &mut self.value) {
            (PathSegment::Key(key), NodeValue::Mapping(entries)) => {
                let position = entries.iter().position(|(name, _)| **name == **key);
                position
                    .and_then(|position| Arc::make_mut(entries).get_mut(position))
                    .map(|(_, child)| child)
            }
            (PathSegment::Index(index), NodeValue::List(items)) => Arc::make_mut(items).get_mut(*index),
            _ => None,
        };
        child.is_some_and(|child| child.skip(rest))
    }

    /// The value as `serde_json` holds it.
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null | NodeValue::Skipped => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Integer(value) => Value::Number((*value).into()),
            NodeValue::Unsigned(value) => Value::Number((*value).into()),
            // JSON has no infinity; Kubernetes has no use for one.
            NodeValue::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            NodeValue::Text(text) => Value::String(text.to_string()),
            NodeValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Mapping(entries) => {
                let fields = entries.iter().map(|(key, value)| (key.to_string(), value.to_json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// The value as messages name it: `the number `5``, `a list`.
    pub fn describe(&self) -> String {
        const TEXT_LENGTH_MAX: usize = 40;
        match &self.value {
            NodeValue::Null | NodeValue::Skipped => "null".to_owned(),
            NodeValue::Bool(value) => format!("the boolean `{value}`"),
            NodeValue::Integer(value) => format!("the number `{value}`"),
            NodeValue::Unsigned(value) => format!("the number `{value}`"),
            NodeValue::Float(value) => format!("the number `{value}`"),
            NodeValue::Text(text) if text.chars().count() > TEXT_LENGTH_MAX => {
                let start: String = text.chars().take(TEXT_LENGTH_MAX).collect();
                format!("the string {start:?}…")
            }
            NodeValue::Text(text) => format!("the string {text:?}"),
            NodeValue::List(_) => "a list".to_owned(),
            NodeValue::Mapping(_) => "a mapping".to_owned(),
        }
    }
}

impl From<&Number> for NodeValue {
    fn from(number: &Number) -> Self {
        if let Some(integer) = number.as_i64() {
            Self::Integer(integer)
        } else if let Some(unsigned) = number.as_u64() {
            Self::Unsigned(unsigned)
        } else {
            Self::Float(number.as_f64().unwrap_or(f64::NAN))
        }
    }
}

/// A value that has no text counts as one line.
impl From<&Value> for Node {
    fn from(value: &Value) -> Self {
        let value = match value {
            Value::Null => NodeValue::Null,
            Value::Bool(value) => NodeValue::Bool(*value),
            Value::Number(number) => number.into(),
            Value::String(text) => NodeValue::Text(text.as_str().into()),
            Value::Array(items) => NodeValue::List(Arc::new(items.iter().map(Self::from).collect())),
            Value::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.as_str().into(), value.into()));
                NodeValue::Mapping(Arc::new(entries.collect()))
            }
        };
        Self::new(1, value)
    }
}
