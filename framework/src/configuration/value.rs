//! A serde deserialiser over JSON values whose errors keep their parts.
//!
//! `serde_json` turns "unknown field" into text. Here it stays a key and the list of known keys, so that the message, the
//! hint and the line number can be made from them.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected, VariantAccess, Visitor};
use serde_json::Value;

use super::ValueError;

/// Deserialises from a borrowed value.
#[derive(Clone, Copy)]
pub(super) struct ValueDeserializer<'de> {
    value: &'de Value,
}

impl<'de> ValueDeserializer<'de> {
    pub(super) fn new(value: &'de Value) -> Self {
        Self { value }
    }

    fn unexpected(self) -> Unexpected<'de> {
        match self.value {
            Value::Null => Unexpected::Other("null"),
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => Unexpected::Unsigned(value),
                (_, Some(value), _) => Unexpected::Signed(value),
                (_, _, value) => Unexpected::Float(value.unwrap_or(f64::NAN)),
            },
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }
}

impl<'de> IntoDeserializer<'de, ValueError> for ValueDeserializer<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(values) => {
                let mut sequence = SeqDeserializer::new(values.iter().map(Self::new));
                let result = visitor.visit_seq(&mut sequence)?;
                sequence.end()?;
                Ok(result)
            }
            Value::Object(entries) => {
                let pairs = entries.iter().map(|(key, value)| (key.as_str(), Self::new(value)));
                let mut map = MapDeserializer::new(pairs);
                let result = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(result)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self.value {
            Value::String(variant) => visitor.visit_enum(Variant {
                name: variant,
                content: None,
            }),
            Value::Object(entries) => match entries.iter().next() {
                Some((name, content)) if entries.len() == 1 => visitor.visit_enum(Variant {
                    name,
                    content: Some(Self::new(content)),
                }),
                _ => Err(serde::de::Error::invalid_type(
                    Unexpected::Map,
                    &"an object with a single key",
                )),
            },
            _ => Err(serde::de::Error::invalid_type(self.unexpected(), &"a text")),
        }
    }

    /// Serde would read a struct from a list too; a configuration is a table with names.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self.value {
            Value::Object(_) => self.deserialize_any(visitor),
            _ => Err(serde::de::Error::invalid_type(self.unexpected(), &"an object")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// A variant of an enum: its name, and its content unless it is a plain text.
struct Variant<'de> {
    name: &'de str,
    content: Option<ValueDeserializer<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = ValueError;
    type Variant = VariantContent<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, VariantContent<'de>), ValueError> {
        let name = seed.deserialize(IntoDeserializer::<ValueError>::into_deserializer(self.name))?;
        Ok((name, VariantContent { content: self.content }))
    }
}

struct VariantContent<'de> {
    content: Option<ValueDeserializer<'de>>,
}

impl<'de> VariantContent<'de> {
    fn required(self, expected: &str) -> Result<ValueDeserializer<'de>, ValueError> {
        self.content
            .ok_or_else(|| serde::de::Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> VariantAccess<'de> for VariantContent<'de> {
    type Error = ValueError;

    fn unit_variant(self) -> Result<(), ValueError> {
        match self.content {
            None => Ok(()),
            Some(content) => Err(serde::de::Error::invalid_type(content.unexpected(), &"nothing")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ValueError> {
        seed.deserialize(self.required("a value")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, ValueError> {
        self.required("a list")?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.required("an object")?.deserialize_any(visitor)
    }
}
