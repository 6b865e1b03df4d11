//! What can be wrong with the meaning of one binding.

use divvy_documents::names::quoted_list;

/// Why a binding's strategy or its preferences make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// No loaded plugin serves the strategy.
    #[error("no loaded plugin serves the strategy `{strategy}` ({origin}); known strategies, nearest first: {}", quoted_list(.known))]
    Unknown {
        /// The name as it was written.
        strategy: String,
        /// Where it stands.
        origin: String,
        /// The names that are served, nearest first.
        known: Vec<String>,
    },
    /// The preferences are no JSON.
    #[error("{origin}: not valid JSON: {reason}")]
    NotJson {
        /// Where they stand.
        origin: String,
        /// What the parser says.
        reason: String,
    },
    /// A key of the preferences has another type.
    #[error("{origin}: expected {expected}, got {actual}")]
    WrongType {
        /// Where it stands.
        origin: String,
        /// What belongs there.
        expected: String,
        /// What stands there.
        actual: String,
    },
    /// An annotation with a value that means nothing.
    #[error("{origin}: expected {expected}, got `{actual}`")]
    InvalidValue {
        /// Where it stands.
        origin: String,
        /// What belongs there.
        expected: String,
        /// What stands there.
        actual: String,
    },
    /// An entry of a list that a plugin declares, with a key that it does not have.
    #[error("{origin}: unknown key `{key}`, expected `targetCluster` and `{field}`")]
    UnknownKey {
        /// Where it stands.
        origin: String,
        /// The key.
        key: String,
        /// The field that the plugin declares.
        field: String,
    },
    /// A rule that means no cluster.
    #[error("{origin}: no clusters are named: `targetCluster` is missing")]
    WithoutTarget {
        /// Where it stands.
        origin: String,
    },
    /// A rule with clusters both under and beside `targetCluster`.
    #[error("{origin}: clusters are named both under `targetCluster` and beside it")]
    TwoTargets {
        /// Where it stands.
        origin: String,
    },
    /// A rule without the field that its strategy needs.
    #[error("{origin}: missing: expected `{field}`")]
    WithoutField {
        /// Where it stands.
        origin: String,
        /// The field.
        field: &'static str,
    },
    /// A field both directly and in `extendFields`, with different values.
    #[error("{origin}: `{field}` is given twice, as {direct} and in `extendFields` as {extended}")]
    TwoValues {
        /// Where it stands.
        origin: String,
        /// The field.
        field: &'static str,
        /// The value beside `targetCluster`.
        direct: i64,
        /// The value in `extendFields`.
        extended: i64,
    },
    /// A value below what the field allows.
    #[error("{origin}: expected `{field}` of at least {least}, got {actual}")]
    TooSmall {
        /// Where it stands.
        origin: String,
        /// The field.
        field: &'static str,
        /// The least value.
        least: i64,
        /// The value.
        actual: i64,
    },
    /// Preferences that exclude each other.
    #[error("{origin}: `{first}` and `{second}` cannot both be given")]
    Conflict {
        /// Where they stand.
        origin: String,
        /// One key.
        first: String,
        /// The other.
        second: String,
    },
    /// Priorities beside a strategy that knows no tiers.
    #[error("{origin}: cluster priorities cannot be combined with the strategy `{strategy}`")]
    PriorityNotAllowed {
        /// Where they stand.
        origin: String,
        /// The strategy.
        strategy: String,
    },
}
