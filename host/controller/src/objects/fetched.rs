//! An object as it comes from the API server: its metadata, and everything else as JSON.

use std::borrow::Cow;

use divvy_karmada::api::{Cluster, ObjectMeta, PolicyScope, PropagationPolicy, ReadValue};
use k8s_openapi::apimachinery::pkg::apis::meta::v1;
use kube::Resource;
use kube::core::DynamicResourceScope;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Kind, ObjectKey};

/// An object of any watched kind. Managed fields and owner references are skipped while it is parsed.
#[derive(Debug, Clone, Default)]
pub struct Fetched {
    /// Metadata that decisions read.
    pub metadata: ObjectMeta,
    /// The specification; `null` if there is none.
    pub spec: Value,
    /// The status; `null` if there is none.
    pub status: Value,
    /// Only the resource version, which a watch continues from.
    version: v1::ObjectMeta,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

impl<'de> Deserialize<'de> for Fetched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Document { metadata, spec, status } = Document::deserialize(deserializer)?;
        let version = v1::ObjectMeta {
            resource_version: Some(metadata.resource_version.clone()),
            ..v1::ObjectMeta::default()
        };
        Ok(Self {
            metadata,
            spec,
            status,
            version,
        })
    }
}

impl Resource for Fetched {
    type DynamicType = Kind;
    type Scope = DynamicResourceScope;

    fn kind(kind: &Kind) -> Cow<'_, str> {
        kind.kind().into()
    }

    fn group(kind: &Kind) -> Cow<'_, str> {
        kind.group().into()
    }

    fn version(kind: &Kind) -> Cow<'_, str> {
        kind.version().into()
    }

    fn plural(kind: &Kind) -> Cow<'_, str> {
        kind.plural().into()
    }

    fn meta(&self) -> &v1::ObjectMeta {
        &self.version
    }

    fn meta_mut(&mut self) -> &mut v1::ObjectMeta {
        &mut self.version
    }
}

impl Fetched {
    /// An object with this metadata and status, to write from.
    pub fn new(metadata: ObjectMeta, status: Value) -> Self {
        Self {
            metadata,
            status,
            ..Self::default()
        }
    }

    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            namespace: self.metadata.namespace.clone(),
            name: self.metadata.name.clone(),
        }
    }

    pub(super) fn cluster(self) -> Result<Cluster, serde_json::Error> {
        Ok(Cluster {
            api_version: Cluster::API_VERSION.to_owned(),
            kind: Cluster::KIND.to_owned(),
            metadata: self.metadata,
            spec: typed(self.spec)?,
            status: typed(self.status)?,
        })
    }

    pub(super) fn policy(self, kind: Kind) -> Result<PropagationPolicy, serde_json::Error> {
        let scope = match kind {
            Kind::ClusterPolicy => PolicyScope::Cluster,
            _ => PolicyScope::Namespaced,
        };
        Ok(PropagationPolicy {
            api_version: PropagationPolicy::API_VERSION.to_owned(),
            kind: scope.kind().to_owned(),
            metadata: self.metadata,
            spec: typed(self.spec)?,
        })
    }
}

/// Reads a value; `null` is the type's default.
pub(super) fn typed<T: ReadValue + Default>(value: Value) -> Result<T, serde_json::Error> {
    match value {
        Value::Null => Ok(T::default()),
        value => T::from_value(value),
    }
}
