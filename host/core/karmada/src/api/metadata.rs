//! The parts that every Kubernetes object has: type, metadata and conditions.
//!
//! Owner references, finalizers and managed fields are left out, because no scheduling decision reads them.

use serde::{Deserialize, Serialize};

use super::{StringMap, Timestamp, is_default, nullable};

/// `apiVersion` and `kind`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// Group and version, e.g. `apps/v1`.
    #[serde(default, deserialize_with = "nullable")]
    pub api_version: String,
    /// The kind, e.g. `Deployment`.
    #[serde(default, deserialize_with = "nullable")]
    pub kind: String,
}

impl TypeMeta {
    /// The API group; empty for the core group (`v1`).
    pub fn group(&self) -> &str {
        Self::group_of(&self.api_version)
    }

    /// The API group of an `apiVersion`.
    pub fn group_of(api_version: &str) -> &str {
        api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// An object's metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// The name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub name: String,
    /// The namespace; empty for a cluster-scoped object, or if none was written.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// The UID that the API server assigned; empty in a plain manifest.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub uid: String,
    /// The version with which the API server detects conflicting writes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_version: String,
    /// Number of changes to the specification.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub generation: i64,
    /// Labels.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub labels: StringMap,
    /// Annotations.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub annotations: StringMap,
    /// The singular `annotation` of `specified-replicas.md`, solution three: a string that contains JSON.
    /// Kubernetes has no such field, but the manifests in that proposal do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
    /// Time at which deletion was requested; set only while the object is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
}

impl ObjectMeta {
    /// `<namespace>/<name>`, or only the name if there is no namespace.
    pub fn key(&self) -> String {
        match self.namespace.as_str() {
            "" => self.name.clone(),
            namespace => [namespace, "/", &self.name].concat(),
        }
    }

    /// True if the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// One condition of an object's status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Type of the condition, e.g. `Ready`.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "nullable")]
    pub status: String,
    /// Reason for the status, as a word for programs.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Reason for the status, as a sentence for people.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
    /// Generation of the object that the condition describes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// Time at which the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}
