//! Errors in the meaning of one binding: its row becomes an error, and the others are decided.

use divvy_documents::names::quoted_list;
use serde_json::Value;

/// Why a binding's strategy or its preferences cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBinding {
    /// No loaded plugin serves the strategy.
    #[error("no loaded plugin serves the strategy `{strategy}` ({origin}); known strategies, nearest first: {}", quoted_list(.known))]
    UnknownStrategy {
        /// The name as it was written.
        strategy: String,
        /// Its place.
        origin: String,
        /// The names that are served, nearest first.
        known: Vec<String>,
    },
    /// The preferences are not JSON.
    #[error("{origin}: not valid JSON: {reason}")]
    NotJson {
        /// Their place.
        origin: String,
        /// The parser's message.
        reason: String,
    },
    /// A key of the preferences has another type.
    #[error("{origin}: expected {expected}, got {actual}")]
    WrongType {
        /// Its place.
        origin: String,
        /// The type that belongs there.
        expected: String,
        /// The value that is there.
        actual: String,
    },
    /// An entry of a list that cannot be read.
    #[error("{origin}: {reason}")]
    Malformed {
        /// Its place.
        origin: String,
        /// The field at fault and why.
        reason: String,
    },
    /// An annotation with a value that means nothing.
    #[error("{origin}: expected {expected}, got `{actual}`")]
    InvalidValue {
        /// Its place.
        origin: String,
        /// The values that it can have.
        expected: String,
        /// The value that is there.
        actual: String,
    },
    /// An entry of a declared list with a key that the list does not have.
    #[error("{origin}: unknown key `{key}`, expected `targetCluster` and {}", quoted_list(.fields))]
    UnknownKey {
        /// Its place.
        origin: String,
        /// The key.
        key: String,
        /// The fields that the plugin declares.
        fields: Vec<String>,
    },
    /// An entry that names no cluster.
    #[error("{origin}: no clusters are named: `targetCluster` is missing")]
    WithoutTarget {
        /// Its place.
        origin: String,
    },
    /// An entry with clusters both under and beside `targetCluster`.
    #[error("{origin}: clusters are named both under `targetCluster` and beside it")]
    TwoTargets {
        /// Its place.
        origin: String,
    },
    /// An entry without a field that its strategy needs.
    #[error("{origin}: missing: expected `{field}`")]
    WithoutField {
        /// Its place.
        origin: String,
        /// The field.
        field: String,
    },
    /// A field both directly and in `extendFields`, with different values.
    #[error("{origin}: `{field}` is given twice, as {direct} and in `extendFields` as {extended}")]
    TwoValues {
        /// Its place.
        origin: String,
        /// The field.
        field: String,
        /// The value beside `targetCluster`.
        direct: i64,
        /// The value in `extendFields`.
        extended: i64,
    },
    /// A value below the field's minimum.
    #[error("{origin}: expected `{field}` of at least {minimum}, got {actual}")]
    TooSmall {
        /// Its place.
        origin: String,
        /// The field.
        field: String,
        /// The least value.
        minimum: i64,
        /// The value.
        actual: i64,
    },
    /// Preferences that exclude each other.
    #[error("{origin}: `{first}` and `{second}` cannot both be given")]
    Conflict {
        /// Their place.
        origin: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// Priorities beside a strategy that has no tiers.
    #[error("{origin}: cluster priorities cannot be combined with the strategy `{strategy}`")]
    PriorityNotAllowed {
        /// Their place.
        origin: String,
        /// The strategy.
        strategy: String,
    },
}

impl InvalidBinding {
    /// A value of another type than `expected`.
    pub(super) fn wrong_type(origin: &str, expected: &str, actual: &Value) -> Self {
        Self::WrongType {
            origin: origin.to_owned(),
            expected: expected.to_owned(),
            actual: describe(actual),
        }
    }
}

/// A value for a message: scalars as they are, the others by their type.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        scalar => scalar.to_string(),
    }
}
