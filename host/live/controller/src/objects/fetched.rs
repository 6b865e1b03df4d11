//! An object as it comes from the API server: its metadata, and everything else as text.

use std::borrow::Cow;

use divvy_karmada::api::{
    Cluster, ObjectMeta, PolicyScope, PropagationPolicy, ReadJson, ResourceBindingStatus, TargetCluster,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1;
use kube::Resource;
use kube::core::DynamicResourceScope;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Kind, ObjectKey};

/// An object of any watched kind. Managed fields and owner references are skipped while it is parsed.
///
/// Specification and status stay text: most objects are read once, as the type of their kind, and the answer to a write is
/// often not read at all.
#[derive(Debug, Clone, Default)]
pub struct Fetched {
    /// Metadata that decisions read.
    pub metadata: ObjectMeta,
    /// The specification; `None` if there is none.
    pub(super) spec: Option<Box<RawValue>>,
    /// The status; `None` if there is none.
    pub(super) status: Option<Box<RawValue>>,
    /// Only the resource version, which a watch continues from.
    version: v1::ObjectMeta,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Option<Box<RawValue>>,
    #[serde(default)]
    status: Option<Box<RawValue>>,
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
    /// The result of a binding.
    ///
    /// # Errors
    ///
    /// An error of `serde_json` if the clusters do not have their types.
    pub(crate) fn clusters(&self) -> Result<Vec<TargetCluster>, serde_json::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Specification {
            clusters: Option<Vec<TargetCluster>>,
        }
        let Some(text) = &self.spec else { return Ok(Vec::new()) };
        let specification: Option<Specification> = serde_json::from_str(text.get())?;
        Ok(specification.unwrap_or_default().clusters.unwrap_or_default())
    }

    /// The status of a binding.
    ///
    /// # Errors
    ///
    /// An error of `serde_json` if a field does not have its type. A patch must not be made from a status that was not read: it would
    /// remove the conditions of other controllers.
    pub fn status(&self) -> Result<ResourceBindingStatus, serde_json::Error> {
        typed(self.status.as_deref())
    }

    /// Namespace and name.
    pub(crate) fn key(&self) -> ObjectKey {
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
            spec: typed(self.spec.as_deref())?,
            status: typed(self.status.as_deref())?,
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
            spec: typed(self.spec.as_deref())?,
        })
    }
}

/// Reads a text; `None` is the type's default.
pub(super) fn typed<T: ReadJson + Default>(text: Option<&RawValue>) -> Result<T, serde_json::Error> {
    text.map_or_else(|| Ok(T::default()), |text| T::from_json(text.get()))
}
