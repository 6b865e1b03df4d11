//! All that a cycle needs of one binding.

use std::fmt;

use crate::api::{
    BindingScope, Component, ObjectReference, Placement, ReplicaRequirements, ResourceBindingSpec, StringMap,
};
use crate::manifests::Source;
use crate::strategy::{StrategyError, StrategyRequest};

/// Why a binding is not scheduled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The binding is being deleted.
    Deleting,
    /// Its scheduling is suspended.
    Suspended,
    /// It has no placement of its own and follows other bindings.
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

/// One binding, ready to be scheduled.
#[derive(Debug, Clone, PartialEq)]
pub struct BindingInput {
    /// Whether the binding belongs to a namespace.
    pub scope: BindingScope,
    /// Its namespace; empty for a `ClusterResourceBinding`.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its unique identifier; empty for one that is in no control plane.
    pub uid: String,
    /// Its generation.
    pub generation: i64,
    /// Its labels.
    pub labels: StringMap,
    /// Its annotations.
    pub annotations: StringMap,
    /// The resource.
    pub resource: ObjectReference,
    /// The replicas.
    pub replicas: i64,
    /// What one replica needs. `None`, together with no replicas and no components: not a workload.
    pub requirements: Option<ReplicaRequirements>,
    /// The parts of a resource with several pod templates.
    pub components: Vec<Component>,
    /// The last result.
    pub last: Vec<(String, i64)>,
    /// Clusters that the resource is being taken from, in the order of the tasks.
    pub evicted_from: Vec<String>,
    /// The placement, with defaults applied.
    pub placement: Placement,
    /// Whether a division from scratch was asked for after the last scheduling.
    pub fresh: bool,
    /// The affinity group that was used last; empty if none was.
    pub observed_affinity: String,
    /// The place in the queue: the larger goes first.
    pub priority: i32,
    /// Which scheduler the binding names; empty for the default one.
    pub scheduler_name: String,
    /// Whether that is another scheduler than this one. The binding is decided all the same.
    pub is_foreign: bool,
    /// The policy behind it, as `<kind> <namespace>/<name>`, if it is known.
    pub policy: Option<String>,
    /// Why it is not scheduled, if it is not.
    pub skip: Option<SkipReason>,
    /// The strategy and its preferences, or why they make no sense.
    pub strategy: Result<StrategyRequest, StrategyError>,
    /// Where the binding, or else its workload, stands.
    pub source: Source,
}

impl BindingInput {
    /// `<namespace>/<name>`, or the name alone without a namespace.
    pub fn key(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// The binding's kind.
    pub fn kind(&self) -> &'static str {
        self.scope.kind()
    }

    /// Whether the resource has replicas. One with neither replicas nor requirements nor components goes to
    /// every candidate; one with requirements and 0 replicas is scheduled, to nobody.
    pub fn is_workload(&self) -> bool {
        self.replicas > 0 || self.requirements.is_some() || !self.components.is_empty()
    }

    /// Whether a specification asks for a division from scratch. As in Karmada, only what was scheduled once
    /// can be rescheduled.
    pub(super) fn is_fresh(spec: &ResourceBindingSpec, status: &crate::api::ResourceBindingStatus) -> bool {
        match (spec.reschedule_triggered_at, status.last_scheduled_time) {
            (Some(triggered), Some(scheduled)) => triggered > scheduled,
            _ => false,
        }
    }
}
