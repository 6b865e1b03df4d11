//! Requirements of one pod, from its template.
//!
//! The rules are Kubernetes' own (`PodRequests` of k8s.io/component-helpers):
//!
//! - Requests of containers add up. A limit without a request counts as the request.
//! - Sidecars (init containers that always restart) count like containers.
//! - An init container runs next to the sidecars started before it, so the pod needs at least their sum.
//! - Pod-level requests replace the sum; a pod-level limit counts for what no container requests (`defaultPodRequests` of
//!   `pkg/apis/core/v1`). Overhead is added on top.
//!
//! Karmada's default interpreter (`AddPodRequest` of `pkg/util/resource.go`) treats sidecars as ordinary init containers, takes
//! each init container on its own, and ignores pod-level resources. [`ResourceInterpreter::Karmada`] does the same.

use serde::Deserialize;
use serde_json::Value;

use super::{Fields, ResourceInterpreter};
use crate::api::{NodeClaim, Quantity, ReplicaRequirements, ResourceList, StringMap, Toleration};
use divvy_spanned::{Cause, FieldPath};

/// The part of a pod template that determines the requirements.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PodTemplate {
    spec: Option<PodSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodSpec {
    containers: Option<Vec<Container>>,
    init_containers: Option<Vec<Container>>,
    resources: Option<ResourceRequirements>,
    overhead: Option<ResourceList>,
    node_selector: Option<StringMap>,
    tolerations: Option<Vec<Toleration>>,
    affinity: Option<Affinity>,
    priority_class_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Container {
    resources: Option<ResourceRequirements>,
    restart_policy: Option<String>,
}

impl Container {
    fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }

    fn requests(&self) -> ResourceList {
        let resources = self.resources.as_ref();
        resources.map(ResourceRequirements::effective).unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResourceRequirements {
    requests: Option<ResourceList>,
    limits: Option<ResourceList>,
}

impl ResourceRequirements {
    /// The requests; for resources without a request, the limits.
    fn effective(&self) -> ResourceList {
        let mut effective = self.limits.clone().unwrap_or_default();
        effective.extend(self.requests.clone().unwrap_or_default());
        effective
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Affinity {
    node_affinity: Option<NodeAffinity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeAffinity {
    required_during_scheduling_ignored_during_execution: Option<Value>,
}

/// Adds up resources and remembers the name of one whose sum overflows.
#[derive(Default)]
struct Sums {
    overflow: Option<String>,
}

impl Sums {
    fn add(&mut self, total: &mut ResourceList, more: &ResourceList) {
        for (name, amount) in more {
            let sum = total.entry(name.clone()).or_insert(Quantity::ZERO);
            match sum.checked_add(*amount) {
                Some(added) => *sum = added,
                None => self.overflow = Some(name.clone()),
            }
        }
    }
}

/// Raises each resource of `total` to at least its amount in `least`.
fn raise(total: &mut ResourceList, least: &ResourceList) {
    for (name, amount) in least {
        let current = total.entry(name.clone()).or_insert(Quantity::ZERO);
        *current = (*current).max(*amount);
    }
}

impl PodTemplate {
    /// Requirements of a pod with this template; `None` if it requires nothing. `namespace` is that of the workload, `path` the path of the template.
    /// Overflowing sums and negative requests are reported through `fields`.
    pub(super) fn requirements(
        self,
        interpreter: ResourceInterpreter,
        namespace: &str,
        path: &FieldPath,
        fields: &mut impl Fields,
    ) -> Option<ReplicaRequirements> {
        let spec = self.spec.unwrap_or_default();
        let mut sums = Sums::default();
        let mut resource_request = match interpreter {
            ResourceInterpreter::Kubernetes => spec.resource_request(&mut sums),
            ResourceInterpreter::Karmada => spec.resource_request_as_karmada(&mut sums),
        };
        if let Some(name) = sums.overflow {
            let reason = format!("the requests for `{name}` add up to more than a quantity can hold");
            fields.report(path.key("spec"), Cause::InvalidValue { reason });
        }
        resource_request.retain(|name, amount| {
            if amount.is_negative() {
                let reason = format!("expected requests for `{name}` of at least 0, got `{amount}`");
                fields.report(path.key("spec"), Cause::InvalidValue { reason });
            }
            !amount.is_zero() && !amount.is_negative()
        });
        let priority_class_name = spec.priority_class_name.clone().unwrap_or_default();
        let node_claim = spec.node_claim();
        // As in Karmada's bindings: without requests and claims, there are no requirements.
        let requires_nothing = resource_request.is_empty() && node_claim.is_none() && priority_class_name.is_empty();
        (!requires_nothing).then(|| ReplicaRequirements {
            resource_request,
            namespace: namespace.to_owned(),
            priority_class_name,
            node_claim,
        })
    }
}

impl PodSpec {
    fn resource_request(&self, sums: &mut Sums) -> ResourceList {
        // While running, the pod needs all containers at once.
        let mut running = ResourceList::new();
        for container in self.containers.iter().flatten() {
            sums.add(&mut running, &container.requests());
        }
        // While starting, it needs one init container at a time, next to the sidecars that already run.
        let mut sidecars = ResourceList::new();
        let mut starting = ResourceList::new();
        for container in self.init_containers.iter().flatten() {
            if container.is_sidecar() {
                sums.add(&mut sidecars, &container.requests());
                raise(&mut starting, &sidecars);
            } else {
                let mut beside = sidecars.clone();
                sums.add(&mut beside, &container.requests());
                raise(&mut starting, &beside);
            }
        }
        // The pod must fit in both phases, so each resource takes the larger of the two.
        sums.add(&mut running, &sidecars);
        raise(&mut running, &starting);
        if let Some(of_pod) = &self.resources {
            for (name, limit) in of_pod.limits.iter().flatten() {
                running.entry(name.clone()).or_insert(*limit);
            }
            running.extend(of_pod.requests.clone().unwrap_or_default());
        }
        if let Some(overhead) = &self.overhead {
            sums.add(&mut running, overhead);
        }
        running
    }

    fn resource_request_as_karmada(&self, sums: &mut Sums) -> ResourceList {
        let mut total = ResourceList::new();
        for container in self.containers.iter().flatten() {
            sums.add(&mut total, &container.requests());
        }
        for container in self.init_containers.iter().flatten() {
            raise(&mut total, &container.requests());
        }
        if let Some(overhead) = &self.overhead {
            sums.add(&mut total, overhead);
        }
        total
    }

    fn node_claim(self) -> Option<NodeClaim> {
        let node_affinity = self.affinity.and_then(|affinity| affinity.node_affinity);
        let claim = NodeClaim {
            hard_node_affinity: node_affinity
                .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution),
            node_selector: self.node_selector.unwrap_or_default(),
            tolerations: self.tolerations.unwrap_or_default(),
        };
        (claim != NodeClaim::default()).then_some(claim)
    }
}
