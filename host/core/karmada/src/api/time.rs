//! RFC 3339 timestamps, as Kubernetes writes them.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time. A leap second is read as the last second of its minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

/// A text that is not an RFC 3339 timestamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a timestamp like `2026-01-02T15:04:05Z`, got `{text}`")]
pub struct TimestampError {
    /// The text, as it was given.
    pub text: String,
}

impl Timestamp {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    pub fn seconds(self) -> i64 {
        self.0.as_second()
    }

    /// Whole milliseconds since 1970-01-01T00:00:00Z.
    pub fn milliseconds(self) -> i64 {
        self.0.as_millisecond()
    }

    /// The time `milliseconds` after 1970-01-01T00:00:00Z, limited to the range of RFC 3339.
    pub fn from_milliseconds(milliseconds: i64) -> Self {
        let bounds = jiff::Timestamp::MIN.as_millisecond()..=jiff::Timestamp::MAX.as_millisecond();
        let milliseconds = milliseconds.clamp(*bounds.start(), *bounds.end());
        Self(jiff::Timestamp::from_millisecond(milliseconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }

    /// The time `seconds` after 1970-01-01T00:00:00Z, limited to the range of RFC 3339.
    pub fn from_seconds(seconds: i64) -> Self {
        let bounds = jiff::Timestamp::MIN.as_second()..=jiff::Timestamp::MAX.as_second();
        let seconds = seconds.clamp(*bounds.start(), *bounds.end());
        Self(jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }
}

/// True if a text has the separators of RFC 3339. The parser also reads other notations, which Go refuses.
fn has_separators(text: &str) -> bool {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let offset = bytes
        .get(19..)
        .is_some_and(|rest| rest.ends_with(b"Z") || rest.iter().nth_back(2) == Some(&b':'));
    offset
        && separators
            .iter()
            .all(|(at, separator)| bytes.get(*at) == Some(separator))
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let parsed = has_separators(text).then(|| text.parse().ok()).flatten();
        parsed.map(Self).ok_or_else(|| TimestampError { text: text.to_owned() })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Timestamp;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a timestamp like `2026-01-02T15:04:05Z`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}
