//! Everything that a plan reads of a binding: borrowed, and hashed as a whole.
//!
//! A plan can be kept as long as its input is the same. Because a plan is made from this type alone, nothing that it reads
//! can be missing from the hash. Freshness and the observed affinity group are not here: they enter the cycle.

use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_karmada::api::{Placement, ResourceList, StringMap, TargetCluster};
use divvy_karmada::detector::{Binding, PolicyFacts};

/// The parts of a binding that decide its plan.
#[derive(Debug, Clone, Hash)]
pub struct PlanInput<'a> {
    /// The binding's kind.
    pub kind: &'static str,
    /// Its namespace; empty for a `ClusterResourceBinding`.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its unique identifier; empty for one that is in no control plane.
    pub uid: &'a str,
    /// Its labels.
    pub labels: &'a StringMap,
    /// Its annotations.
    pub annotations: &'a StringMap,
    /// Its singular `metadata.annotation` (`specified-replicas.md`, solution three).
    pub annotation: Option<&'a str>,
    /// The resource's API version, kind, namespace, name and UID.
    pub resource: [&'a str; 5],
    /// The replicas.
    pub replicas: i64,
    /// True if the resource has replicas.
    pub is_workload: bool,
    /// The requests of one replica; `None` if nothing is known of what a replica needs.
    pub requests: Option<&'a ResourceList>,
    /// Name, replicas and requests of each pod template of a resource with several.
    pub components: Vec<(&'a str, i64, Option<&'a ResourceList>)>,
    /// The last result.
    pub last: &'a [TargetCluster],
    /// Clusters that the resource is being taken from, in the order of the tasks.
    pub evicted_from: Vec<&'a str>,
    /// The placement as it was written; `None` is every cluster, duplicated.
    pub placement: Option<&'a Placement>,
    /// The policy's part.
    pub policy: Option<&'a PolicyFacts>,
}

impl<'a> PlanInput<'a> {
    /// The input of a binding's plan.
    pub fn new(binding: &'a Binding) -> Self {
        let Binding { object, policy, .. } = binding;
        let spec = &object.spec;
        let resource = &spec.resource;
        Self {
            kind: object.scope().kind(),
            namespace: &object.metadata.namespace,
            name: &object.metadata.name,
            uid: &object.metadata.uid,
            labels: &object.metadata.labels,
            annotations: &object.metadata.annotations,
            annotation: object.metadata.annotation.as_deref(),
            resource: [
                &resource.api_version,
                &resource.kind,
                &resource.namespace,
                &resource.name,
                &resource.uid,
            ],
            replicas: binding.replicas(),
            is_workload: binding.is_workload(),
            requests: spec.replica_requirements.as_ref().map(|needs| &needs.resource_request),
            components: spec
                .components
                .iter()
                .map(|component| {
                    let requests = component.replica_requirements.as_ref();
                    let replicas = i64::from(component.replicas);
                    (
                        component.name.as_str(),
                        replicas,
                        requests.map(|needs| &needs.resource_request),
                    )
                })
                .collect(),
            last: &spec.clusters,
            evicted_from: spec
                .graceful_eviction_tasks
                .iter()
                .map(|task| task.from_cluster.as_str())
                .collect(),
            placement: spec.placement.as_ref(),
            policy: policy.as_ref(),
        }
    }

    /// The hash of everything in it. Equal inputs have equal hashes in every run of one build.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The text from which ties are drawn: the UID, or kind, namespace and name where there is none.
    pub fn identity(&self) -> String {
        if self.uid.is_empty() {
            format!("{}/{}/{}", self.kind, self.namespace, self.name)
        } else {
            self.uid.to_owned()
        }
    }
}
