//! Serde over the tree, with errors that keep the path, the line and the expected value.
//!
//! `serde_path_to_error` over `serde_json::Value` was considered and rejected: it has no lines, it merges "expected"
//! and "actual" into one text, and it cannot skip a value that has already been reported.

use std::sync::Arc;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::fault::ValueError;
use super::names::quoted_list;
use super::node::{Node, NodeValue};
use super::path::PathSegment;

/// The tree as serde reads it.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'node>(pub(super) &'node Node);

impl<'node> NodeDeserializer<'node> {
    fn visit<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let node = self.0;
        match &node.value {
            NodeValue::Null | NodeValue::Skipped => visitor.visit_unit(),
            NodeValue::Bool(value) => visitor.visit_bool(*value),
            NodeValue::Integer(value) => visitor.visit_i64(*value),
            NodeValue::Unsigned(value) => visitor.visit_u64(*value),
            NodeValue::Float(value) => visitor.visit_f64(*value),
            NodeValue::Text(text) => visitor.visit_borrowed_str(text),
            NodeValue::List(items) => {
                let mut elements = Items(items.iter().enumerate());
                let value = visitor.visit_seq(&mut elements)?;
                match elements.0.len() {
                    0 => Ok(value),
                    // A tuple reads only as many elements as it has; any others are an error.
                    more => {
                        let expected = format!("a list of {}", items.len() - more);
                        Err(de::Error::invalid_length(items.len(), &expected.as_str()))
                    }
                }
            }
            NodeValue::Mapping(entries) => visitor.visit_map(Entries::new(entries)),
        }
    }
}

/// Declares methods that accept only values of one shape. Otherwise the error names the actual value.
macro_rules! shaped {
    ($($method:ident: $shape:pat,)+) => {
        $(
            fn $method<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
                match &self.0.value {
                    $shape => self.deserialize_any(visitor),
                    _ => Err(ValueError::wrong_type(self.0, &visitor)),
                }
            }
        )+
    };
}

impl<'node> de::Deserializer<'node> for NodeDeserializer<'node> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.visit(visitor).map_err(|error| error.in_value(self.0))
    }

    shaped! {
        deserialize_bool: NodeValue::Bool(_),
        deserialize_str: NodeValue::Text(_),
        deserialize_string: NodeValue::Text(_),
        deserialize_seq: NodeValue::List(_),
        deserialize_map: NodeValue::Mapping(_),
    }

    fn deserialize_option<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
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
    ) -> Result<V::Value, ValueError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'node>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let read = match &self.0.value {
            NodeValue::Text(variant) => visitor.visit_enum(BorrowedStrDeserializer::new(variant)),
            NodeValue::Mapping(entries) if entries.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries::new(entries)))
            }
            _ => {
                let expected = format!("one of {}", quoted_list(variants));
                return Err(ValueError::wrong_type(self.0, &expected.as_str()));
            }
        };
        read.map_err(|error| error.in_value(self.0))
    }

    fn deserialize_newtype_struct<V: Visitor<'node>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        // The tree is already parsed, so a value can be skipped without reading it.
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'node>>
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

/// The elements of a list with their indices.
struct Items<'node>(std::iter::Enumerate<std::slice::Iter<'node, Node>>);

impl<'node> SeqAccess<'node> for Items<'node> {
    type Error = ValueError;

    fn next_element_seed<Seed: DeserializeSeed<'node>>(
        &mut self,
        seed: Seed,
    ) -> Result<Option<Seed::Value>, ValueError> {
        let visible = |(_, node): &(usize, &Node)| !matches!(node.value, NodeValue::Skipped);
        let Some((index, node)) = self.0.find(visible) else {
            return Ok(None);
        };
        seed.deserialize(NodeDeserializer(node))
            .map(Some)
            .map_err(|error| error.in_value(node).below(PathSegment::Index(index)))
    }
}

/// The entries of a mapping, each read as its key and then its value.
struct Entries<'node> {
    entries: std::slice::Iter<'node, (Arc<str>, Node)>,
    value: Option<(&'node str, &'node Node)>,
}

impl<'node> Entries<'node> {
    fn new(entries: &'node [(Arc<str>, Node)]) -> Self {
        Self {
            entries: entries.iter(),
            value: None,
        }
    }
}

impl<'node> MapAccess<'node> for Entries<'node> {
    type Error = ValueError;

    fn next_key_seed<Seed: DeserializeSeed<'node>>(&mut self, seed: Seed) -> Result<Option<Seed::Value>, ValueError> {
        let visible = |(_, node): &&(Arc<str>, Node)| !matches!(node.value, NodeValue::Skipped);
        let Some((key, node)) = self.entries.find(visible) else {
            return Ok(None);
        };
        self.value = Some((key, node));
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
            .map_err(|error: ValueError| error.on_line(node.line))
    }

    fn next_value_seed<Seed: DeserializeSeed<'node>>(&mut self, seed: Seed) -> Result<Seed::Value, ValueError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(NodeDeserializer(node))
            .map_err(|error| error.in_value(node).below(PathSegment::Key(key.to_owned())))
    }
}
