//! Taints of clusters and the tolerations of placements.
//!
//! The words are kept, not judged: whether a toleration covers a taint is a filter plugin's decision.

use serde::{Deserialize, Serialize};

use super::words::Word;
use super::{Timestamp, is_default, nullable};

pub use divvy_framework_view::words::{TaintEffect, TolerationOperator};

/// A taint of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// When the taint was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Timestamp>,
}

/// A toleration of a placement or a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// The key; empty with `Exists` tolerates every taint.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub key: String,
    /// How to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Word<TolerationOperator>>,
    /// The value to compare with.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub value: String,
    /// The effect that is tolerated; none is every effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Word<TaintEffect>>,
    /// For how many seconds an eviction is put off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}
