//! Custom kinds without namespace.
//!
//! An object without a namespace is read as one of the namespace `default`, because offline no API server can be asked. A
//! CustomResourceDefinition in the same input can say afterwards that its kind has none.

use std::collections::HashSet;

use super::Located;
use divvy_karmada::workloads::WorkloadResource;

/// Takes the namespace from kinds whose CustomResourceDefinition in the input says that they have none.
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
