//! A document as a tree in which every value knows its line.
//!
//! If the text is YAML or contains an error, types are read from this tree, because that is the only way to find and
//! locate all problems of a document. Aliased parts are shared, so that a document that references one large part a
//! thousand times takes no more memory than its text.

use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::path::{FieldPath, PathSegment};

/// Maximum nesting depth. Kubernetes' own objects stay below 60; `serde_json` stops at 128.
pub const DEPTH_MAX: usize = 120;

/// A value and its line.
#[derive(Debug, Clone)]
pub struct Node {
    /// Line on which the value begins, counted from 1.
    pub line: usize,
    /// The value.
    pub value: NodeValue,
}

/// A value.
#[derive(Debug, Clone)]
pub enum NodeValue {
    /// `null`, or no value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer beyond the range of `Integer`.
    Unsigned(u64),
    /// Any other number.
    Float(Arc<Decimal>),
    /// A string.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Node>>),
    /// Keys and values in the order of the text. Keys are unique.
    Mapping(Arc<Vec<(Arc<str>, Node)>>),
    /// A value that has been reported as a problem and is read as absent.
    Skipped,
}

/// A number with a fraction or an exponent, or too large for an integer.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimal {
    /// The number as it is written, so that it can be read without rounding.
    pub text: Box<str>,
    /// The nearest double.
    pub value: f64,
}

impl NodeValue {
    /// A [`Decimal`] from the text as it is written and the nearest double.
    pub fn decimal(text: &str, value: f64) -> Self {
        let text = text.into();
        Self::Float(Arc::new(Decimal { text, value }))
    }
}

impl Node {
    /// A value that begins on a line.
    pub fn new(line: usize, value: NodeValue) -> Self {
        Self { line, value }
    }

    /// The value of a key; `None` if the node is not a mapping or lacks the key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let NodeValue::Mapping(entries) = &self.value else {
            return None;
        };
        entries.iter().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    /// The string value of a key; `None` if the key is absent or its value is not a string.
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

    /// The value at a path; `None` if there is none.
    pub fn at(&self, path: &FieldPath) -> Option<&Self> {
        let mut segments = path.segments().iter();
        segments.try_fold(self, |node, segment| node.child(segment))
    }

    /// Line of the value at a path, or of its closest existing ancestor.
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

    /// Hides the value at a path from deserializers. Returns false if there is none, or if it is already hidden.
    pub fn skip(&mut self, segments: &[PathSegment]) -> bool {
        let Some((first, rest)) = segments.split_first() else {
            let visible = !matches!(self.value, NodeValue::Skipped);
            self.value = NodeValue::Skipped;
            return visible;
        };
        let child = match (first, &mut self.value) {
            (PathSegment::Key(key), NodeValue::Mapping(entries)) => {
                let mut entries = Arc::make_mut(entries).iter_mut();
                entries.find(|(name, _)| **name == **key).map(|(_, child)| child)
            }
            (PathSegment::Index(index), NodeValue::List(items)) => Arc::make_mut(items).get_mut(*index),
            _ => None,
        };
        child.is_some_and(|child| child.skip(rest))
    }

    /// Converts the value to `serde_json`. Hidden values become `null`, and a number beyond every double becomes its text: it must not
    /// be read as absent.
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null | NodeValue::Skipped => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Integer(value) => Value::Number((*value).into()),
            NodeValue::Unsigned(value) => Value::Number((*value).into()),
            NodeValue::Float(number) => {
                Number::from_f64(number.value).map_or_else(|| Value::String(number.text.to_string()), Value::Number)
            }
            NodeValue::Text(text) => Value::String(text.to_string()),
            NodeValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Mapping(entries) => {
                let fields = entries.iter().map(|(key, value)| (key.to_string(), value.to_json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// Describes the value for messages, such as ``the number `5` `` or `a list`. Long strings are cut.
    pub fn describe(&self) -> String {
        const TEXT_LENGTH_MAX: usize = 40;
        match &self.value {
            NodeValue::Null | NodeValue::Skipped => "null".to_owned(),
            NodeValue::Bool(value) => format!("the boolean `{value}`"),
            NodeValue::Integer(value) => format!("the number `{value}`"),
            NodeValue::Unsigned(value) => format!("the number `{value}`"),
            NodeValue::Float(number) => match number.text.get(..TEXT_LENGTH_MAX) {
                Some(start) if number.text.len() > TEXT_LENGTH_MAX => format!("the number `{start}…`"),
                _ => format!("the number `{}`", number.text),
            },
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
            Self::decimal(&number.to_string(), number.as_f64().unwrap_or(f64::NAN))
        }
    }
}

/// A value without source text; every node is on line 1.
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
