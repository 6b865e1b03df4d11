//! A binding as it is watched: Karmada's object, its placement as text, and the health of what it propagated.
//!
//! The placement stays text because the annotation `policy.karmada.io/applied-placement` must repeat it with every
//! field, those of newer versions of Karmada included, and because thousands of bindings share one placement.

use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_karmada::api::{BindingScope, ResourceBinding, ResourceBindingStatus};
use serde::Deserialize;
use serde_json::Value;

use super::fetched::typed;
use super::{BindingKey, Fetched, Kind};

/// A binding with the parts that are kept apart from the object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BindingDocument {
    /// The binding, without its placement.
    pub object: ResourceBinding,
    /// The placement as JSON; `None` if there is none.
    pub placement: Option<String>,
    /// State of the resource in each cluster.
    pub aggregated: Vec<AggregatedStatus>,
}

/// State of the resource in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregatedStatus {
    /// Name of the cluster.
    pub cluster: String,
    /// Health of the resource there.
    pub health: Health,
    /// Hash of the whole entry, to notice that it changed.
    pub fingerprint: u64,
}

/// Health of a resource in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// All of it runs.
    Healthy,
    /// Not all of it runs.
    Unhealthy,
    /// Not reported yet, or not known for resources of this kind.
    Unknown,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AggregatedItem {
    cluster_name: String,
    health: Option<String>,
}

impl BindingDocument {
    pub(super) fn read(kind: Kind, fetched: Fetched) -> Result<Self, serde_json::Error> {
        let Fetched {
            metadata,
            mut spec,
            mut status,
            ..
        } = fetched;
        let placement = spec.as_object_mut().and_then(|spec| spec.remove("placement"));
        let placement = placement.filter(|placement| !placement.is_null());
        let aggregated = status
            .as_object_mut()
            .and_then(|status| status.remove("aggregatedStatus"));
        let items: Vec<Value> = match aggregated {
            Some(aggregated) if !aggregated.is_null() => serde_json::from_value(aggregated)?,
            _ => Vec::new(),
        };
        let scope = match kind {
            Kind::ClusterBinding => BindingScope::Cluster,
            _ => BindingScope::Namespaced,
        };
        let status: ResourceBindingStatus = typed(status)?;
        Ok(Self {
            object: ResourceBinding {
                api_version: ResourceBinding::API_VERSION.to_owned(),
                kind: scope.kind().to_owned(),
                metadata,
                spec: typed(spec)?,
                status,
            },
            placement: placement.map(|placement| placement.to_string()),
            aggregated: items
                .into_iter()
                .map(AggregatedStatus::read)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Identity of the binding.
    pub fn key(&self) -> BindingKey {
        BindingKey {
            scope: self.object.scope(),
            namespace: self.object.metadata.namespace.clone(),
            name: self.object.metadata.name.clone(),
        }
    }
}

impl AggregatedStatus {
    fn read(item: Value) -> Result<Self, serde_json::Error> {
        let mut hasher = DefaultHasher::new();
        item.hash(&mut hasher);
        let AggregatedItem { cluster_name, health } = serde_json::from_value(item)?;
        Ok(Self {
            cluster: cluster_name,
            health: match health.as_deref() {
                Some("Healthy") => Health::Healthy,
                Some("Unhealthy") => Health::Unhealthy,
                _ => Health::Unknown,
            },
            fingerprint: hasher.finish(),
        })
    }
}
