//! A binding as every source hands it over: Karmada's object, and the part of its policy that the object lacks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::api::{PropagationPolicy, ResourceBinding, StringMap};
use divvy_documents::{ObjectName, Source};

/// A `ResourceBinding` or `ClusterResourceBinding` with its policy's part.
///
/// The placement is as it was written; defaults are applied by the plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Binding {
    /// The binding.
    pub object: ResourceBinding,
    /// The policy behind it, if it is known.
    pub policy: Option<PolicyFacts>,
    /// The place of the binding, or else of its workload, in the input.
    pub source: Option<Source>,
}

/// What a policy says beside the placement that its bindings carry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyFacts {
    /// `PropagationPolicy` or `ClusterPropagationPolicy`.
    pub kind: String,
    /// Its namespace; empty for a `ClusterPropagationPolicy`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its labels.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub labels: StringMap,
    /// Its annotations.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub annotations: StringMap,
    /// Its singular `metadata.annotation` (`specified-replicas.md`, solution three).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
    /// `replicas` of its specification: the total that the binding must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// `Lazy` if changes of the policy wait for the workload's next change; empty if they do not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub activation_preference: String,
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
        }
    }
}

impl PolicyFacts {
    /// `<kind> <namespace>/<name>`.
    pub fn object_name(&self) -> ObjectName {
        ObjectName::new(&self.kind, &self.namespace, &self.name)
    }
}

/// Why a binding is not scheduled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The binding is being deleted.
    Deleting,
    /// Its scheduling is suspended.
    Suspended,
    /// It has no placement of its own and follows these bindings.
    Follows(Vec<String>),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deleting => formatter.write_str("the binding is being deleted"),
            Self::Suspended => formatter.write_str("scheduling is suspended"),
            Self::Follows(bindings) => {
                let names: Vec<String> = bindings.iter().map(|name| format!("`{name}`")).collect();
                write!(formatter, "follows {}", names.join(", "))
            }
        }
    }
}

impl Binding {
    /// `<namespace>/<name>`, or the name alone without a namespace.
    pub fn key(&self) -> String {
        let metadata = &self.object.metadata;
        match metadata.namespace.as_str() {
            "" => metadata.name.clone(),
            namespace => format!("{namespace}/{}", metadata.name),
        }
    }

    /// The replicas.
    pub fn replicas(&self) -> i64 {
        i64::from(self.object.spec.replicas.unwrap_or(0))
    }

    /// True if the resource has replicas. One with neither replicas nor requirements nor components goes to every
    /// candidate; one with requirements and 0 replicas is scheduled, to no cluster.
    pub fn is_workload(&self) -> bool {
        let spec = &self.object.spec;
        self.replicas() > 0 || spec.replica_requirements.is_some() || !spec.components.is_empty()
    }

    /// The last result: clusters with their replicas.
    pub fn last(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        let targets = self.object.spec.clusters.iter();
        targets.map(|target| (target.name.as_str(), i64::from(target.replicas)))
    }

    /// The affinity group that was used last; empty if none was.
    pub fn observed_affinity(&self) -> &str {
        &self.object.status.scheduler_observed_affinity_name
    }

    /// The place in the queue: the larger goes first.
    pub fn priority(&self) -> i32 {
        self.object
            .spec
            .schedule_priority
            .map_or(0, |priority| priority.priority)
    }

    /// True if a division from scratch was requested after the last scheduling. As in Karmada, only a binding that was
    /// scheduled once can be rescheduled.
    pub fn is_fresh(&self) -> bool {
        match (
            self.object.spec.reschedule_triggered_at,
            self.object.status.last_scheduled_time,
        ) {
            (Some(triggered), Some(scheduled)) => triggered > scheduled,
            _ => false,
        }
    }

    /// The scheduler that the binding names if it is not `own`. One that names none leaves the choice to whoever runs.
    pub fn foreign_scheduler(&self, own: &str) -> Option<&str> {
        let name = self.object.spec.scheduler_name.as_str();
        (!name.is_empty() && name != own).then_some(name)
    }

    /// Why it is not scheduled, if it is not.
    pub fn skip_reason(&self) -> Option<SkipReason> {
        let ResourceBinding { metadata, spec, .. } = &self.object;
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
