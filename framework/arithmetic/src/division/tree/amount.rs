//! An [`Amount`] as written in preferences: a number of replicas, or a percentage.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};

use super::node::{Amount, Percent};

const EXPECTED: &str = "a number of replicas, or a percentage such as \"30%\"";

/// Reads `200`, or `"30%"`.
impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(EXPECTED)
    }

    fn visit_i64<E: de::Error>(self, count: i64) -> Result<Amount, E> {
        match count {
            0.. => Ok(Amount::Count(count)),
            _ => Err(E::invalid_value(Unexpected::Signed(count), &self)),
        }
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<Amount, E> {
        let count = i64::try_from(count).map_err(|_| E::invalid_value(Unexpected::Unsigned(count), &self))?;
        Ok(Amount::Count(count))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
        let percent = text
            .strip_suffix('%')
            .and_then(|number| Percent::parse(number.trim_end()));
        match percent {
            Some(percent) => Ok(Amount::Percent(percent)),
            None if text.ends_with('%') => Err(E::custom(format_args!(
                "expected a percentage from 0% to 100% with up to six decimal places, got {text:?}"
            ))),
            None => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Replicas, or a percentage of what the parent gets.",
            "oneOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,6})?\\s*%$" },
            ]
        })
    }
}
