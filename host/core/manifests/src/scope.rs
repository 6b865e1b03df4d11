//! Cluster-scoped custom kinds.
//!
//! Offline there is no API server to ask, so an object without a namespace is first put into the namespace `default`. A
//! CustomResourceDefinition anywhere in the input may declare that its kind is cluster-scoped.

use std::collections::HashSet;

use super::Located;
use divvy_karmada::workloads::WorkloadResource;

/// Clears the namespace of objects whose CustomResourceDefinition in the input declares them cluster-scoped.
pub(super) fn remove_namespaces_of_custom_kinds(resources: &mut [Located<Box<WorkloadResource>>]) {
    let definitions = resources.iter().filter_map(|located| {
        let defined = located.object.resource.defines.as_deref()?;
        defined
            .is_cluster_scoped
            .then(|| (defined.group.clone(), defined.kind.clone()))
    });
    let cluster_scoped: HashSet<(String, String)> = definitions.collect();
    if cluster_scoped.is_empty() {
        return;
    }
    for located in resources {
        let resource = &mut located.object.resource;
        if cluster_scoped.contains(&(resource.type_meta.group().to_owned(), resource.type_meta.kind.clone())) {
            resource.metadata.namespace.clear();
        }
    }
}
