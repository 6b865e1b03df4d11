//! Replaces serde's Rust terms in messages by those of documents: a whole number, a list, a mapping.

use std::borrow::Cow;

use serde::de::Unexpected;

use super::node::{Node, NodeValue};

/// Description of an `i64` in messages.
pub const WHOLE_NUMBER: &str = "a whole number from -9223372036854775808 to 9223372036854775807";

/// Translates a description of the expected value. Unknown descriptions are unchanged: types describe themselves.
pub(crate) fn expected(expected: &str) -> Cow<'_, str> {
    if let Some(number) = expected.strip_prefix("a nonzero ") {
        return nonzero(number);
    }
    if let Some(length) = length(expected) {
        return Cow::Owned(format!("a list of {length}"));
    }
    const MAPPINGS: [&str; 4] = ["struct ", "enum ", "internally tagged enum ", "adjacently tagged enum "];
    let plain = match expected {
        "f32" | "f64" => "a number",
        "unit" => "null",
        "path string" | "a borrowed path" => "a path",
        "os string" | "a borrowed string" => "a string",
        "option" | "any valid JSON value" => "any value",
        "a boolean" => "`true` or `false`",
        "a sequence" | "an empty array" | "a byte array" | "byte array" => "a list",
        "a map" | "newtype variant" | "tuple variant" | "struct variant" => "a mapping",
        "IP address" => "an IP address",
        "IPv4 address" => "an IPv4 address",
        "IPv6 address" => "an IPv6 address",
        "socket address" | "IPv4 socket address" | "IPv6 socket address" => "an IP address with a port",
        "variant identifier" | "field identifier" => "a string",
        other if other.starts_with("unit ") => "null",
        other if MAPPINGS.iter().any(|start| other.starts_with(start)) => "a mapping",
        other => whole(other).unwrap_or(other),
    };
    Cow::Borrowed(plain)
}

/// The range of a type of whole numbers.
fn whole(number: &str) -> Option<&'static str> {
    Some(match number {
        "i64" | "isize" => WHOLE_NUMBER,
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i16" => "a whole number from -32768 to 32767",
        "i8" => "a whole number from -128 to 127",
        "u64" | "usize" => "a whole number from 0 to 18446744073709551615",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "i128" | "integer with support for saturating semantics" => "a whole number",
        "u128" => "a whole number of at least 0",
        _ => return None,
    })
}

/// The range of a type of whole numbers without 0.
fn nonzero(number: &str) -> Cow<'_, str> {
    let Some(range) = whole(number) else {
        return Cow::Borrowed(number);
    };
    match range.strip_prefix("a whole number from 0 ") {
        Some(to) => Cow::Owned(format!("a whole number from 1 {to}")),
        None if number == "u128" => Cow::Borrowed("a whole number of at least 1"),
        None => Cow::Owned(format!("{range}, but not 0")),
    }
}

/// The length of a list in a description such as `a tuple of size 2`.
fn length(expected: &str) -> Option<&str> {
    let starts = ["a tuple of size ", "an array of length "];
    let length = starts.iter().find_map(|start| expected.strip_prefix(start));
    // `tuple struct Pair with 2 elements`
    let counted = || {
        let (kind, count) = expected.split_once(" with ")?;
        let (count, _) = count.split_once(" element").filter(|_| kind.starts_with("tuple "))?;
        Some(count)
    };
    length.or_else(counted)
}

/// Describes a value that serde has copied.
pub(crate) fn actual(unexpected: Unexpected<'_>) -> String {
    let value = match unexpected {
        Unexpected::Bool(value) => NodeValue::Bool(value),
        Unexpected::Unsigned(value) => NodeValue::Unsigned(value),
        Unexpected::Signed(value) => NodeValue::Integer(value),
        // Formatted by `serde_json`, which a plugin contains anyway, and not by the standard library.
        Unexpected::Float(value) => match serde_json::Number::from_f64(value) {
            Some(number) => (&number).into(),
            None => NodeValue::Null,
        },
        Unexpected::Char(value) => NodeValue::Text(value.to_string().into()),
        Unexpected::Str(value) => NodeValue::Text(value.into()),
        Unexpected::Unit | Unexpected::Option => NodeValue::Null,
        Unexpected::Bytes(_) | Unexpected::Seq => NodeValue::List(Default::default()),
        Unexpected::Other(described) => return described.to_owned(),
        _ => NodeValue::Mapping(Default::default()),
    };
    Node::new(0, value).describe()
}

/// Replaces a reason in which serde names a Rust type.
pub(crate) fn reason(message: String) -> String {
    if message.starts_with("data did not match any variant of untagged enum ") {
        return "the value has none of the known forms".to_owned();
    }
    message
}

/// Translates a whole message of serde, for parsers that expose only its text. Unknown messages are unchanged.
pub(crate) fn message(message: String) -> String {
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("missing key {key}");
    }
    let parts = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| message.strip_prefix(start)?.rsplit_once(", expected "));
    let Some((unexpected, wanted)) = parts else {
        return reason(message);
    };
    let actual = match unexpected.split_once(' ') {
        Some(("integer", number)) => format!("the number {number}"),
        Some(("boolean", value)) => format!("the boolean {value}"),
        Some(("string", text)) => format!("the string {text}"),
        _ => match unexpected.strip_prefix("floating point ") {
            Some(number) => format!("the number {number}"),
            None => match unexpected {
                "sequence" => "a list".to_owned(),
                "map" => "a mapping".to_owned(),
                "unit value" => "null".to_owned(),
                other => other.to_owned(),
            },
        },
    };
    format!("expected {}, got {actual}", expected(wanted))
}
