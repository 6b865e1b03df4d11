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

/// Up to here, every whole number is a double.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The tree as serde reads it.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'node>(pub(super) &'node Node);

// These functions are compiled once per type that is read, so code that does not depend on the type is in functions of
// its own.

/// Reads a value with the method of a visitor that takes its shape.
macro_rules! shaped {
    ($($method:ident: $shape:pat => $visit:expr,)+) => {
        $(
            fn $method<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
                let read = match &self.0.value {
                    $shape => $visit(visitor),
                    _ => return Err(ValueError::wrong_type(self.0, &visitor)),
                };
                self.located(read)
            }
        )+
    };
}

impl<'node> NodeDeserializer<'node> {
    /// The result, with the line and the value of its error.
    fn located<T>(self, read: Result<T, ValueError>) -> Result<T, ValueError> {
        match read {
            Ok(value) => Ok(value),
            Err(error) => Err(error.in_value(self.0)),
        }
    }
}

fn visit_list<'node, V: Visitor<'node>>(items: &'node [Node], visitor: V) -> Result<V::Value, ValueError> {
    let mut elements = Items(items.iter().enumerate());
    let value = visitor.visit_seq(&mut elements)?;
    match elements.0.len() {
        0 => Ok(value),
        more => Err(too_long(items, more)),
    }
}

/// A tuple reads only as many elements as it has; any others are an error.
#[cold]
fn too_long(items: &[Node], more: usize) -> ValueError {
    let expected = format!("a list of {}", items.len() - more);
    de::Error::invalid_length(items.len(), &expected.as_str())
}

impl<'node> de::Deserializer<'node> for NodeDeserializer<'node> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        let read = match &self.0.value {
            NodeValue::Null | NodeValue::Skipped => visitor.visit_unit(),
            NodeValue::Bool(value) => visitor.visit_bool(*value),
            NodeValue::Integer(value) => visitor.visit_i64(*value),
            NodeValue::Unsigned(value) => visitor.visit_u64(*value),
            NodeValue::Float(number) => visitor.visit_f64(number.value),
            NodeValue::Text(text) => visitor.visit_borrowed_str(text),
            NodeValue::List(items) => visit_list(items, visitor),
            NodeValue::Mapping(entries) => visitor.visit_map(Entries::new(entries)),
        };
        self.located(read)
    }

    shaped! {
        deserialize_bool: NodeValue::Bool(value) => |visitor: V| visitor.visit_bool(*value),
        deserialize_str: NodeValue::Text(text) => |visitor: V| visitor.visit_borrowed_str(text),
        deserialize_string: NodeValue::Text(text) => |visitor: V| visitor.visit_borrowed_str(text),
        deserialize_seq: NodeValue::List(items) => |visitor: V| visit_list(items, visitor),
        deserialize_map: NodeValue::Mapping(entries) => |visitor: V| visitor.visit_map(Entries::new(entries)),
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
            _ => return Err(not_a_variant(self.0, variants)),
        };
        self.located(read)
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

    fn deserialize_i32<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.deserialize_i64(visitor)
    }

    /// `3.0` and `1e1` are whole numbers, as kubectl reads them.
    fn deserialize_i64<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match &self.0.value {
            NodeValue::Float(number) if number.value.fract() == 0.0 && number.value.abs() < WHOLE_MAX => {
                // Exact: the value is whole and within the range.
                self.located(visitor.visit_i64(number.value as i64))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'node>>
        i8 i16 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

#[cold]
fn not_a_variant(node: &Node, variants: &[&str]) -> ValueError {
    let expected = format!("one of {}", quoted_list(variants));
    ValueError::wrong_type(node, &expected.as_str())
}

/// Adds the index of an item to an error in it.
#[cold]
fn below_index(error: ValueError, node: &Node, index: usize) -> ValueError {
    error.in_value(node).below(PathSegment::Index(index))
}

/// Adds the key of a mapping's value to an error in it.
#[cold]
fn below_key(error: ValueError, node: &Node, key: &str) -> ValueError {
    error.in_value(node).below(PathSegment::Key(key.to_owned()))
}

/// The elements of a list with their indices.
struct Items<'node>(std::iter::Enumerate<std::slice::Iter<'node, Node>>);

impl<'node> Items<'node> {
    fn next(&mut self) -> Option<(usize, &'node Node)> {
        self.0.find(|(_, node)| !matches!(node.value, NodeValue::Skipped))
    }
}

impl<'node> SeqAccess<'node> for Items<'node> {
    type Error = ValueError;

    fn next_element_seed<Seed: DeserializeSeed<'node>>(
        &mut self,
        seed: Seed,
    ) -> Result<Option<Seed::Value>, ValueError> {
        let Some((index, node)) = self.next() else {
            return Ok(None);
        };
        match seed.deserialize(NodeDeserializer(node)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(below_index(error, node, index)),
        }
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

    /// The next key. Its value is read next.
    fn next(&mut self) -> Option<(&'node str, &'node Node)> {
        let (key, node) = (self.entries).find(|(_, node)| !matches!(node.value, NodeValue::Skipped))?;
        self.value = Some((key, node));
        self.value
    }

    /// The value of the key that was read last.
    fn value(&mut self) -> Result<(&'node str, &'node Node), ValueError> {
        let value = self.value.take();
        value.ok_or_else(|| de::Error::custom("a value was requested before its key"))
    }
}

impl<'node> MapAccess<'node> for Entries<'node> {
    type Error = ValueError;

    fn next_key_seed<Seed: DeserializeSeed<'node>>(&mut self, seed: Seed) -> Result<Option<Seed::Value>, ValueError> {
        let Some((key, node)) = self.next() else {
            return Ok(None);
        };
        match seed.deserialize(KeyDeserializer(key)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error.under_key(key).on_line(node.line)),
        }
    }

    fn next_value_seed<Seed: DeserializeSeed<'node>>(&mut self, seed: Seed) -> Result<Seed::Value, ValueError> {
        let (key, node) = self.value()?;
        match seed.deserialize(NodeDeserializer(node)) {
            Ok(value) => Ok(value),
            Err(error) => Err(below_key(error, node, key)),
        }
    }
}

/// The key of a mapping. JSON keys are texts, so a key that is read as a number or a boolean is parsed.
#[derive(Clone, Copy)]
struct KeyDeserializer<'node>(&'node str);

macro_rules! parsed {
    ($($method:ident: $visit:ident,)+) => {
        $(
            fn $method<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
                match self.0.parse() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => visitor.visit_borrowed_str(self.0),
                }
            }
        )+
    };
}

impl<'node> de::Deserializer<'node> for KeyDeserializer<'node> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_borrowed_str(self.0)
    }

    parsed! {
        deserialize_bool: visit_bool, deserialize_i8: visit_i64, deserialize_i16: visit_i64, deserialize_i32: visit_i64,
        deserialize_i64: visit_i64, deserialize_i128: visit_i128, deserialize_u8: visit_u64, deserialize_u16: visit_u64,
        deserialize_u32: visit_u64, deserialize_u64: visit_u64, deserialize_u128: visit_u128,
    }

    fn deserialize_enum<V: Visitor<'node>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_newtype_struct<V: Visitor<'node>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'node>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'node>>
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
