//! Cluster-scoped custom kinds.
//!
//! Offline there is no API server to ask, so an object without a namespace is first put into the namespace `default`. A
//! CustomResourceDefinition anywhere in the input may declare that its kind is cluster-scoped.

use std::collections::HashSet;

use super::Located;
use divvy_karmada::workloads::WorkloadResource;

/// Clears the namespace of objects whose CustomResourceDefinition in the input declares them cluster-scoped.
pub(super) fn remove_namespaces_of_custom_kinds(resources: &mut [Located<WorkloadResource>]) {
    let definitions = resources.iter().filter_map(|located| {
        let resource = &located.object.resource;
        let spec = resource
            .value
            .get("spec")
            .filter(|_| resource.type_meta.kind == "CustomResourceDefinition")?;
        let text = |value: Option<&serde_json::Value>| value.and_then(|value| value.as_str()).map(str::to_owned);
        let is_cluster_scoped = text(spec.get("scope"))? == "Cluster";
        let kind = text(spec.get("names").and_then(|names| names.get("kind")))?;
        is_cluster_scoped.then_some((text(spec.get("group"))?, kind))
    });
    let cluster_scoped: HashSet<(String, String)> = definitions.collect();
    for located in resources {
        let resource = &mut located.object.resource;
        if cluster_scoped.contains(&(resource.type_meta.group().to_owned(), resource.type_meta.kind.clone())) {
            resource.metadata.namespace.clear();
        }
    }
}
