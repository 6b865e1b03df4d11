//! Taints of clusters and tolerations of placements.
//!
//! This module only stores them: a filter plugin decides whether a toleration covers a taint.

use serde::{Deserialize, Serialize};

use super::words::Word;
use super::{Timestamp, is_default, nullable};

pub use divvy_framework_view::words::{TaintEffect, TolerationOperator};

/// A taint of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    /// The key.
    #[serde(deserialize_with = "nullable")]
    pub key: String,
    /// The value, often empty.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub value: String,
    /// The effect.
    #[serde(deserialize_with = "nullable")]
    pub effect: Word<TaintEffect>,
    /// Time at which the taint was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Timestamp>,
}

/// A toleration of a placement or a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// The key; an empty one with the operator `Exists` tolerates every taint.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub key: String,
    /// Operator that compares the value; absent means `Equal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Word<TolerationOperator>>,
    /// The value to compare with, for `Equal`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub value: String,
    /// The effect that is tolerated; absent means every effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Word<TaintEffect>>,
    /// Seconds by which an eviction is delayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}
