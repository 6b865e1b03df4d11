//! Errors of one binding. Its row becomes an error, and the other bindings are scheduled as usual.

use divvy_spanned::names::quoted_list;
use serde_json::Value;

/// Reason why a binding's strategy or preferences are invalid. The binding is not scheduled and keeps its previous
/// result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBinding {
    /// No loaded plugin serves the strategy.
    #[error("no loaded plugin serves the strategy `{strategy}` ({origin}); known strategies, nearest first: {}", quoted_list(.known))]
    UnknownStrategy {
        /// The name as written.
        strategy: String,
        /// Location of the problem, for messages.
        origin: String,
        /// Known strategies, the most similar name first.
        known: Vec<String>,
    },
    /// The preferences are not valid JSON, or have a key twice.
    #[error("{origin}, line {line} of the annotation: {reason}")]
    NotJson {
        /// Location of the problem, for messages.
        origin: String,
        /// Line in the text of the annotation, counted from 1. The line in the manifest is not known.
        line: usize,
        /// The problem.
        reason: String,
    },
    /// A value in the preferences has the wrong type.
    #[error("{origin}: expected {expected}, got {actual}")]
    WrongType {
        /// Location of the problem, for messages.
        origin: String,
        /// The expected type.
        expected: String,
        /// The actual value.
        actual: String,
    },
    /// An entry of a list cannot be decoded.
    #[error("{origin}: {reason}")]
    Malformed {
        /// Location of the problem, for messages.
        origin: String,
        /// The field at fault and the reason.
        reason: String,
    },
    /// An annotation has an unknown value.
    #[error("{origin}: expected {expected}, got `{actual}`")]
    InvalidValue {
        /// Location of the problem, for messages.
        origin: String,
        /// The allowed values.
        expected: String,
        /// The actual value.
        actual: String,
    },
    /// An entry of a declared list has an undeclared key.
    #[error("{origin}: unknown key `{key}`, expected `targetCluster` and {}", quoted_list(.fields))]
    UnknownKey {
        /// Location of the problem, for messages.
        origin: String,
        /// The undeclared key.
        key: String,
        /// Fields that the plugin declares.
        fields: Vec<String>,
    },
    /// An entry has no `targetCluster`.
    #[error("{origin}: no clusters are named: `targetCluster` is missing")]
    WithoutTarget {
        /// Location of the problem, for messages.
        origin: String,
    },
    /// An entry names clusters both under `targetCluster` and beside it.
    #[error("{origin}: clusters are named both under `targetCluster` and beside it")]
    TwoTargets {
        /// Location of the problem, for messages.
        origin: String,
    },
    /// An entry lacks a field that its strategy needs.
    #[error("{origin}: missing: expected `{field}`")]
    WithoutField {
        /// Location of the problem, for messages.
        origin: String,
        /// Name of the field.
        field: String,
    },
    /// A field is given both directly and in `extendFields`, with different values.
    #[error("{origin}: `{field}` is given twice, as {direct} and in `extendFields` as {extended}")]
    TwoValues {
        /// Location of the problem, for messages.
        origin: String,
        /// Name of the field.
        field: String,
        /// The value beside `targetCluster`.
        direct: i64,
        /// The value in `extendFields`.
        extended: i64,
    },
    /// A value is below the field's minimum.
    #[error("{origin}: expected `{field}` of at least {minimum}, got {actual}")]
    TooSmall {
        /// Location of the problem, for messages.
        origin: String,
        /// Name of the field.
        field: String,
        /// The minimum.
        minimum: i64,
        /// The actual value.
        actual: i64,
    },
    /// A policy carries preferences for one plugin in two annotations.
    #[error("preferences for the plugin `{plugin}` are given twice: in {first} and in {second}")]
    GivenTwice {
        /// Name of the plugin.
        plugin: String,
        /// Location of one of them.
        first: String,
        /// Location of the other.
        second: String,
    },
    /// Two keys of the preferences exclude each other.
    #[error("{origin}: `{first}` and `{second}` cannot both be given")]
    Conflict {
        /// Location of the problem, for messages.
        origin: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// A quorum is combined with a strategy that does not promise to respect capacity, so that it has no fewer replicas that fit.
    #[error(
        "{origin}: a quorum cannot be combined with the strategy `{strategy}`, which divides all replicas whether they fit or not"
    )]
    QuorumNotAllowed {
        /// Location of the problem, for messages.
        origin: String,
        /// Name of the strategy.
        strategy: String,
    },
    /// A quorum is given for a resource with several components, which are scheduled as a whole.
    #[error("{origin}: a quorum cannot be combined with several components, whose replicas are not divided")]
    QuorumOfComponents {
        /// Location of the problem, for messages.
        origin: String,
    },
    /// Cluster priorities are combined with a strategy that does not support them.
    #[error("{origin}: cluster priorities cannot be combined with the strategy `{strategy}`")]
    PriorityNotAllowed {
        /// Location of the problem, for messages.
        origin: String,
        /// Name of the strategy.
        strategy: String,
    },
    /// An annotation of the binding or its policy has one of the other problems.
    #[error("{cause}")]
    Annotation {
        /// Name of the annotation.
        name: String,
        /// The problem.
        cause: Box<InvalidBinding>,
    },
}

impl InvalidBinding {
    /// This problem, of an annotation with that name.
    pub(super) fn of_annotation(self, name: &str) -> Self {
        Self::Annotation {
            name: name.to_owned(),
            cause: Box::new(self),
        }
    }

    /// Name of the annotation at fault; `None` if another field is.
    pub fn annotation(&self) -> Option<&str> {
        match self {
            Self::Annotation { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The problem, wherever it is.
    pub fn cause(&self) -> &Self {
        match self {
            Self::Annotation { cause, .. } => cause.cause(),
            cause => cause,
        }
    }

    /// The error for a value that does not have the expected type.
    pub(super) fn wrong_type(origin: &str, expected: &str, actual: &Value) -> Self {
        Self::WrongType {
            origin: origin.to_owned(),
            expected: expected.to_owned(),
            actual: describe(actual),
        }
    }
}

/// Describes a value in a message: scalars by their value, everything else by its type.
fn describe(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        scalar => scalar.to_string(),
    }
}
