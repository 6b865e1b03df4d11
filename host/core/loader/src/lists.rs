//! The policy lists that a strategy declares: the document
//! [`RULE_LISTS`](divvy_framework_abi::service::document::RULE_LISTS).

use serde::Deserialize;

/// A list that a strategy reads, as its plugin declares it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleList {
    /// Key of the list.
    pub name: String,
    /// Numeric fields that an entry can have besides `targetCluster`.
    pub fields: Vec<RuleField>,
    /// True if the first field of the list is a cluster priority.
    #[serde(default)]
    pub priorities: bool,
}

/// A numeric field of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleField {
    /// Key of the field.
    pub name: String,
    /// Minimum value; unlimited if absent.
    #[serde(default)]
    pub minimum: Option<i64>,
    /// True if every entry must have the field.
    #[serde(default)]
    pub required: bool,
}
