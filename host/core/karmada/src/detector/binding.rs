//! A binding as every source supplies it: Karmada's object, plus the parts of its policy that the object lacks.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::location::PolicyLocation;
use crate::api::{BindingScope, ObjectMeta, PropagationPolicy, ResourceBinding, StringMap};
use divvy_spanned::names::quoted_list;
use divvy_spanned::{ObjectName, Source};

/// A `ResourceBinding` or `ClusterResourceBinding`, with the facts about its policy.
///
/// The placement is as written; the scheduler applies its defaults later.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Binding {
    /// The binding.
    pub object: Box<ResourceBinding>,
    /// The policy behind the binding, if it is known.
    pub policy: Option<Arc<PolicyFacts>>,
    /// The workload that the binding propagates, if it is known.
    pub workload: Option<WorkloadFacts>,
    /// Location of the binding in the input, or that of its workload.
    pub source: Option<Source>,
    /// Requests of the policy and the workload that the binding does not contain yet.
    pub pending: Vec<Pending>,
}

/// A part of a binding that is out of date with its policy or its workload, so that Karmada's detector would write it next.
/// [`Binding::object`] already has the new value, except for [`Pending::Lazy`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// The policy has another placement.
    Placement,
    /// The policy has another placement, but is lazy and waits for a change of the workload.
    Lazy,
    /// The workload has another number of replicas.
    Replicas {
        /// Replicas of the binding.
        binding: i32,
        /// Replicas of the workload.
        workload: i32,
    },
    /// The workload's replicas have other requirements.
    Requirements,
    /// The labels of the workload put it into other affinity groups.
    WorkloadAffinityGroups,
}

/// The parts of a policy that its bindings do not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyFacts {
    /// `PropagationPolicy` or `ClusterPropagationPolicy`.
    pub kind: String,
    /// Namespace of the policy; empty for a `ClusterPropagationPolicy`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name of the policy.
    pub name: String,
    /// Labels of the policy.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub labels: StringMap,
    /// Annotations of the policy.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub annotations: StringMap,
    /// The singular `metadata.annotation` (`specified-replicas.md`, solution three).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
    /// `spec.replicas`: the total that the binding must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// `Lazy` if changes to the policy take effect only with the workload's next change; otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub activation_preference: String,
    /// Location of the policy in the input, for messages.
    #[serde(skip)]
    pub location: PolicyLocation,
}

/// The parts of a workload that its bindings do not contain, although plugins may read them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadFacts {
    /// Labels of the workload.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub labels: StringMap,
    /// Annotations of the workload.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub annotations: StringMap,
}

impl From<&ObjectMeta> for WorkloadFacts {
    fn from(metadata: &ObjectMeta) -> Self {
        Self {
            labels: metadata.labels.clone(),
            annotations: metadata.annotations.clone(),
        }
    }
}

impl From<&PropagationPolicy> for PolicyFacts {
    fn from(policy: &PropagationPolicy) -> Self {
        let metadata = &policy.metadata;
        Self {
            kind: policy.kind.clone(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            labels: metadata.labels.clone(),
            annotations: metadata.annotations.clone(),
            annotation: metadata.annotation.clone(),
            replicas: policy.spec.replicas,
            activation_preference: policy.spec.activation_preference.clone(),
            location: PolicyLocation::default(),
        }
    }
}

impl PolicyFacts {
    /// Kind, namespace and name of the policy, for messages.
    pub fn object_name(&self) -> ObjectName {
        ObjectName::new(&self.kind, &self.namespace, &self.name)
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Placement => formatter.write_str("the policy's placement is not in the binding yet"),
            Self::Lazy => formatter.write_str(
                "the policy is lazy: its placement takes effect with the next change of the workload's specification",
            ),
            Self::Replicas { binding, workload } => {
                write!(formatter, "the workload has {workload} replicas, the binding {binding}")
            }
            Self::Requirements => {
                formatter.write_str("the requests of the workload's replicas are not in the binding yet")
            }
            Self::WorkloadAffinityGroups => {
                formatter.write_str("the affinity groups of the workload are not in the binding yet")
            }
        }
    }
}

/// The reason why a binding is not scheduled. The host skips such a binding and leaves its last result in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The binding is being deleted.
    Deleting,
    /// Scheduling of the binding is suspended.
    Suspended,
    /// The binding has no placement of its own and follows these bindings.
    Follows(Vec<String>),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deleting => formatter.write_str("the binding is being deleted"),
            Self::Suspended => formatter.write_str("scheduling is suspended"),
            Self::Follows(bindings) => write!(formatter, "follows {}", quoted_list(bindings)),
        }
    }
}

impl Binding {
    /// `<namespace>/<name>`, or only the name if there is no namespace.
    pub fn key(&self) -> String {
        self.object.metadata.key()
    }

    /// Namespace, name and scope, which identify a binding.
    pub fn identity(&self) -> (&str, &str, BindingScope) {
        let metadata = &self.object.metadata;
        (&metadata.namespace, &metadata.name, self.object.scope())
    }

    /// Replicas to divide; 0 if the binding does not set them.
    pub fn replicas(&self) -> i64 {
        i64::from(self.object.spec.replicas.unwrap_or(0))
    }

    /// True if the resource is a workload. A resource without replicas, requirements and components is not, and goes to
    /// every candidate. A workload with 0 replicas is scheduled to no cluster.
    pub fn is_workload(&self) -> bool {
        let spec = &self.object.spec;
        self.replicas() > 0 || spec.replica_requirements.is_some() || !spec.components.is_empty()
    }

    /// The last result, as pairs of cluster name and replicas.
    pub fn last(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        let targets = self.object.spec.clusters.iter();
        targets.map(|target| (target.name.as_str(), i64::from(target.replicas)))
    }

    /// Name of the last affinity group used; empty if there was none.
    pub fn observed_affinity(&self) -> &str {
        &self.object.status.scheduler_observed_affinity_name
    }

    /// Priority in the scheduling queue, larger first.
    pub fn priority(&self) -> i32 {
        let priority = self.object.spec.schedule_priority;
        priority.map_or(0, |priority| priority.priority)
    }

    /// True if a reschedule from scratch was requested after the last scheduling. As in Karmada, a binding that was
    /// never scheduled cannot be rescheduled.
    pub fn is_fresh(&self) -> bool {
        let ResourceBinding { spec, status, .. } = &*self.object;
        let times = spec.reschedule_triggered_at.zip(status.last_scheduled_time);
        times.is_some_and(|(triggered, scheduled)| triggered > scheduled)
    }

    /// The scheduler that the binding names, if it is not `own`. A binding without a scheduler's name may be scheduled by any.
    pub fn foreign_scheduler(&self, own: &str) -> Option<&str> {
        let name = self.object.spec.scheduler_name.as_str();
        (!name.is_empty() && name != own).then_some(name)
    }

    /// The reason to skip the binding; `None` if it is to be scheduled.
    pub fn skip_reason(&self) -> Option<SkipReason> {
        let ResourceBinding { metadata, spec, .. } = &*self.object;
        if metadata.is_deleting() {
            return Some(SkipReason::Deleting);
        }
        if spec.suspension.as_ref().and_then(|suspension| suspension.scheduling) == Some(true) {
            return Some(SkipReason::Suspended);
        }
        let follows = spec.placement.is_none() && !spec.required_by.is_empty();
        follows.then(|| {
            let names = spec.required_by.iter().map(|other| match other.namespace.as_str() {
                "" => other.name.clone(),
                namespace => format!("{namespace}/{}", other.name),
            });
            SkipReason::Follows(names.collect())
        })
    }
}
