//! Serde over the tree, with an error that knows its path, its line, and what was expected.
//!
//! `serde_path_to_error` over `serde_json::Value` was rejected: it has no lines, it folds "expected" and
//! "actual" into one text, and it cannot step over a value that was already reported.

use std::fmt;

use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};

use super::node::{Node, NodeValue};
use super::path::PathSegment;
use super::problem::Cause;

/// What a type refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The path, innermost step first.
    reversed_path: Vec<PathSegment>,
    /// The line, once the value is known.
    pub(super) line: Option<usize>,
    /// What is wrong.
    pub(super) cause: Cause,
}

impl Refusal {
    fn new(cause: Cause) -> Box<Self> {
        Box::new(Self {
            reversed_path: Vec::new(),
            line: None,
            cause,
        })
    }

    /// The path, outermost step first.
    pub(super) fn into_parts(mut self) -> (Vec<PathSegment>, Option<usize>, Cause) {
        self.reversed_path.reverse();
        (self.reversed_path, self.line, self.cause)
    }
}

/// A boxed refusal: serde passes errors through every level, so they had better be small.
#[derive(Debug)]
pub(super) struct NodeError(pub(super) Box<Refusal>);

impl NodeError {
    fn wrong_type(node: &Node, expected: &dyn de::Expected) -> Self {
        let expected = expected.to_string();
        Self(Refusal::new(Cause::WrongType {
            expected: plain(&expected),
            actual: node.describe(),
        }))
    }

    fn at(mut self, line: usize) -> Self {
        self.0.line.get_or_insert(line);
        self
    }

    fn below(mut self, segment: PathSegment) -> Self {
        self.0.reversed_path.push(segment);
        self
    }
}

/// Rust's names for types in the words of a manifest.
fn plain(expected: &str) -> String {
    match expected {
        "i64" => "an integer of 64 bits",
        "i32" => "an integer of 32 bits",
        "u32" => "an integer from 0 to 4294967295",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "a mapping",
        other if other.starts_with("struct ") => "a mapping",
        other => other,
    }
    .to_owned()
}

impl fmt::Display for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.cause.fmt(formatter)
    }
}

impl std::error::Error for NodeError {}

impl de::Error for NodeError {
    fn custom<Message: fmt::Display>(message: Message) -> Self {
        Self(Refusal::new(Cause::InvalidValue {
            reason: message.to_string(),
        }))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self(Refusal::new(Cause::WrongType {
            expected: plain(&expected.to_string()),
            actual: unexpected.to_string(),
        }))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }
}

/// The tree as serde reads it.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'node>(pub(super) &'node Node);

impl<'node> NodeDeserializer<'node> {
    fn visit<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, NodeError> {
        let node = self.0;
        match &node.value {
            NodeValue::Null | NodeValue::Skipped => visitor.visit_unit(),
            NodeValue::Bool(value) => visitor.visit_bool(*value),
            NodeValue::Integer(value) => visitor.visit_i64(*value),
            NodeValue::Unsigned(value) => visitor.visit_u64(*value),
            NodeValue::Float(value) => visitor.visit_f64(*value),
            NodeValue::Text(text) => visitor.visit_borrowed_str(text),
            NodeValue::List(items) => visitor.visit_seq(Items {
                items: items.iter().enumerate(),
            }),
            NodeValue::Mapping(entries) => visitor.visit_map(Entries {
                entries: entries.iter(),
                value: None,
            }),
        }
    }
}

/// Declares methods that read a value only if it has the shape; the message then names what stands there.
macro_rules! shaped {
    ($($method:ident: $shape:pat,)+) => {
        $(
            fn $method<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, NodeError> {
                match &self.0.value {
                    $shape => self.visit(visitor).map_err(|error| error.at(self.0.line)),
                    _ => Err(NodeError::wrong_type(self.0, &visitor).at(self.0.line)),
                }
            }
        )+
    };
}

impl<'node> de::Deserializer<'node> for NodeDeserializer<'node> {
    type Error = NodeError;

    fn deserialize_any<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, NodeError> {
        self.visit(visitor).map_err(|mut error| {
            // Serde's name for the value that stands here is Rust's, not the manifest's.
            if let Cause::WrongType { actual, .. } = &mut error.0.cause
                && error.0.line.is_none()
            {
                *actual = self.0.describe();
            }
            error.at(self.0.line)
        })
    }

    shaped! {
        deserialize_bool: NodeValue::Bool(_),
        deserialize_str: NodeValue::Text(_),
        deserialize_string: NodeValue::Text(_),
        deserialize_seq: NodeValue::List(_),
        deserialize_map: NodeValue::Mapping(_),
    }

    fn deserialize_option<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, NodeError> {
        match self.0.value {
            NodeValue::Null | NodeValue::Skipped => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'node>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'node>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, NodeError> {
        // Unlike most formats, nothing has to be read to get past a value.
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'node>>
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct enum identifier
    }
}

impl<'node> IntoDeserializer<'node, NodeError> for NodeDeserializer<'node> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct Items<'node> {
    items: std::iter::Enumerate<std::slice::Iter<'node, Node>>,
}

impl<'node> SeqAccess<'node> for Items<'node> {
    type Error = NodeError;

    fn next_element_seed<Seed: DeserializeSeed<'node>>(
        &mut self,
        seed: Seed,
    ) -> Result<Option<Seed::Value>, NodeError> {
        for (index, node) in self.items.by_ref() {
            if matches!(node.value, NodeValue::Skipped) {
                continue;
            }
            return seed
                .deserialize(NodeDeserializer(node))
                .map(Some)
                .map_err(|error| error.at(node.line).below(PathSegment::Index(index)));
        }
        Ok(None)
    }
}

struct Entries<'node> {
    entries: std::slice::Iter<'node, (std::rc::Rc<str>, Node)>,
    value: Option<(&'node str, &'node Node)>,
}

impl<'node> MapAccess<'node> for Entries<'node> {
    type Error = NodeError;

    fn next_key_seed<Seed: DeserializeSeed<'node>>(&mut self, seed: Seed) -> Result<Option<Seed::Value>, NodeError> {
        for (key, node) in self.entries.by_ref() {
            if matches!(node.value, NodeValue::Skipped) {
                continue;
            }
            self.value = Some((key, node));
            let key: &'node str = key;
            return seed.deserialize(de::value::BorrowedStrDeserializer::new(key)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<Seed: DeserializeSeed<'node>>(&mut self, seed: Seed) -> Result<Seed::Value, NodeError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(NodeDeserializer(node))
            .map_err(|error| error.at(node.line).below(PathSegment::Key(key.to_owned())))
    }
}
