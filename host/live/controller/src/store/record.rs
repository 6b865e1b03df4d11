//! One binding in the store.

use std::sync::Arc;

use divvy_karmada::api::{
    Component, ObjectMeta, ObjectReference, Placement, PolicyScope, ReplicaRequirements, ResourceBinding,
    ResourceBindingSpec, ResourceBindingStatus, SchedulePriority, TargetCluster, Timestamp, WorkloadAffinityGroups,
};
use divvy_karmada::policy::{Claim, claimed_by};
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::strategy::STRATEGY_ANNOTATION;

use super::bindings::BindingChange;
use super::parts::{Clusters, KeptComponent, KeptCondition, Rare, Reference, Resource, Texts, Version};
use super::{Shared, SharedPlacement};
use crate::objects::{AggregatedStatus, BindingDocument, BindingKey};
use crate::write::patch::read_metadata;
use divvy_scheduler::decide::rules::{Sum, goes_everywhere};
use divvy_scheduler::decide::{APPLIED_PLACEMENT, APPLIED_POLICY};
use divvy_scheduler::moves::failback::FAILBACK_ANNOTATION;
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;

/// A result that was written, whether its status shows it yet or not, or that may have been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Divided {
    /// Clusters of a result whose answer was lost; `None` once it is known to be written. The result counts once the binding has
    /// these clusters.
    pub(crate) awaited: Option<Box<[TargetCluster]>>,
    /// The request for a reschedule that it answers.
    pub(crate) request: Option<Timestamp>,
    /// The affinity group of a result that answers a reschedule, which began at the first. `None` for any other result: as in Karmada,
    /// the group of the status counts until another is written.
    pub(crate) group: Option<Arc<str>>,
    /// Time of the previous scheduling. As long as the status has this time, it describes an earlier result.
    pub(crate) before: Option<Timestamp>,
}

impl Divided {
    /// Confirms the result if a version of the binding has its clusters.
    fn confirm(&mut self, clusters: &Clusters) {
        self.awaited.take_if(|awaited| clusters.are(awaited));
    }

    /// The group in use if the status has this time of the last scheduling; `None` if the group of the status counts.
    fn group_beside(&self, answered: Option<Timestamp>) -> Option<Arc<str>> {
        self.group.clone().filter(|_| self.before == answered)
    }
}

/// A binding in the store. Scope, namespace and name are in its key.
#[derive(Debug)]
pub struct Record {
    /// UID.
    pub(crate) uid: Box<str>,
    /// Generation.
    pub(crate) generation: i64,
    /// Resource version as a number; 0 if it is not one.
    pub(crate) version: u64,
    /// Priority in the queue; 0 if it has none.
    pub(crate) priority: i32,
    has_priority: bool,
    /// True if this scheduler decides it.
    pub(crate) is_ours: bool,
    /// Time at which a reschedule was requested.
    pub(crate) requested: Option<Timestamp>,
    /// Time of the last scheduling.
    pub(crate) answered: Option<Timestamp>,
    /// The last result of this process, whose status may not be written yet.
    pub(crate) divided: Option<Box<Divided>>,
    /// True if that request has not been answered by a decision.
    pub(crate) is_reschedule_pending: bool,
    /// True if a change of a cluster may move it although it is satisfied: it goes to every candidate, or its policy names a
    /// strategy that may do so.
    pub(crate) follows_clusters: bool,
    /// True if a cluster changed since its last decision, and the profile moves satisfied bindings for that reason.
    pub(crate) is_moved_by_clusters: bool,
    /// The affinity group in use.
    pub(crate) observed_group: Option<Arc<str>>,
    /// The policy that claims it, as in [`claim_text`].
    pub(crate) claim: Option<Arc<str>>,
    /// Its placement.
    pub(crate) placement: Option<Arc<SharedPlacement>>,
    /// The annotation `policy.karmada.io/applied-placement`.
    pub(crate) applied_placement: Option<Arc<str>>,
    /// State of the resource in each cluster.
    pub(crate) aggregated: Box<[AggregatedStatus]>,
    /// The result.
    pub clusters: Clusters,
    /// Hash of its labels and annotations, except those that decisions write.
    metadata: u64,
    /// Number of the relist that named it last.
    pub(super) epoch: u64,
    resource_version: Version,
    labels: Texts,
    /// Without the applied placement.
    annotations: Texts,
    resource: Resource,
    replicas: Option<i32>,
    requirements: Option<Arc<ReplicaRequirements>>,
    scheduler_name: Arc<str>,
    conditions: Box<[KeptCondition]>,
    observed_generation: i64,
    rare: Option<Box<Rare>>,
}

impl Record {
    pub(super) fn new(
        document: BindingDocument,
        is_ours: bool,
        version: u64,
        epoch: u64,
        old: Option<&Self>,
        shared: &mut Shared,
    ) -> Self {
        let BindingDocument {
            object,
            placement,
            aggregated,
        } = document;
        let hash = read_metadata(&object.metadata);
        let requested = object.spec.reschedule_triggered_at;
        let answered = object.status.last_scheduled_time;
        // A request is pending if it is later than the last scheduling, or if it arrived while this process watched, in which
        // case the clocks of the two times, and their resolution of a second, do not matter.
        let is_later = matches!((requested, answered), (Some(requested), Some(answered)) if requested > answered);
        let old = old.filter(|old| *old.uid == object.metadata.uid);
        // The leader answers a request with a later time, so a request that a standby saw arrive does not stay pending.
        let is_answered = answered >= requested && old.is_some_and(|old| old.answered < answered);
        let is_renewed = answered.is_some()
            && !is_answered
            && old.is_some_and(|old| old.is_reschedule_pending || old.requested < requested);
        let placement = placement.as_deref().map(|text| shared.placement(text));
        let follows_clusters = follows_clusters(&object, placement.as_deref());
        let claim = claimed_by(&object.metadata).map(|claim| shared.text(&claim_text(claim)));
        // Every field is named, so that a new one does not compile until it is kept.
        let ResourceBinding {
            api_version: _,
            kind: _,
            metadata,
            spec,
            status,
        } = object;
        let ObjectMeta {
            name: _,
            namespace: _,
            uid,
            resource_version,
            generation,
            labels,
            mut annotations,
            annotation,
            deletion_timestamp,
        } = metadata;
        let ResourceBindingSpec {
            resource,
            replicas,
            replica_requirements,
            components,
            clusters,
            placement: _,
            graceful_eviction_tasks,
            required_by,
            scheduler_name,
            reschedule_triggered_at: _,
            suspension,
            schedule_priority,
            workload_affinity_groups,
        } = spec;
        let ResourceBindingStatus {
            scheduler_observed_generation,
            scheduler_observed_affinity_name: observed,
            last_scheduled_time: _,
            conditions,
        } = status;
        let rare = Rare {
            components: each(components, |component| KeptComponent::new(component, shared)),
            graceful_eviction_tasks: each(graceful_eviction_tasks, |task| task),
            required_by: each(required_by, |reference| Reference::new(reference, shared)),
            suspension,
            workload_affinity_groups,
            annotation,
            deletion_timestamp,
        };
        let clusters = Clusters::new(clusters, shared);
        let mut divided = old.and_then(|old| old.divided.clone());
        if let Some(divided) = &mut divided {
            divided.confirm(&clusters);
        }
        let known = divided.as_ref().filter(|divided| divided.awaited.is_none());
        let divided_for = known.and_then(|known| known.request);
        let known_group = known.and_then(|known| known.group_beside(answered));
        let applied = annotations.remove(APPLIED_PLACEMENT);
        Self {
            uid: uid.into(),
            generation,
            version,
            priority: schedule_priority.map_or(0, |priority| priority.priority),
            has_priority: schedule_priority.is_some(),
            is_ours,
            requested,
            answered,
            is_reschedule_pending: (is_later || is_renewed) && requested != divided_for,
            follows_clusters,
            is_moved_by_clusters: old.is_some_and(|old| old.is_moved_by_clusters),
            observed_group: known_group.or_else(|| (!observed.is_empty()).then(|| shared.text(&observed))),
            divided,
            claim,
            placement,
            applied_placement: applied.map(|text| shared.text(&text)),
            aggregated: each(aggregated, |state| AggregatedStatus {
                cluster: shared.text(&state.cluster),
                ..state
            }),
            clusters,
            metadata: hash,
            epoch,
            resource_version: Version::new(resource_version),
            labels: Texts::new(labels, shared),
            annotations: Texts::new(annotations, shared),
            resource: Resource::new(resource, shared),
            replicas,
            requirements: replica_requirements.map(|requirements| shared.requirements.share(requirements)),
            scheduler_name: shared.text(&scheduler_name),
            conditions: each(conditions, |condition| KeptCondition::new(condition, shared)),
            observed_generation: scheduler_observed_generation,
            rare: (!rare.is_empty()).then(|| Box::new(rare)),
        }
    }

    pub(super) fn change_from(&self, old: Option<&Self>) -> BindingChange {
        match old {
            Some(old) if old.uid == self.uid => BindingChange {
                is_new: false,
                generation: old.generation != self.generation,
                metadata: old.is_ours != self.is_ours || old.metadata != self.metadata,
                aggregated: old.aggregated != self.aggregated,
                is_stale: false,
            },
            _ => BindingChange {
                is_new: true,
                ..BindingChange::default()
            },
        }
    }

    /// The binding in Karmada's type, with its placement if that can be read, and without the annotation of the applied one.
    /// `key` is its key in the store.
    pub fn binding(&self, key: &BindingKey) -> ResourceBinding {
        let rare = self.rare.as_deref();
        ResourceBinding {
            api_version: ResourceBinding::API_VERSION.to_owned(),
            kind: key.scope.kind().to_owned(),
            metadata: ObjectMeta {
                name: key.name.clone(),
                namespace: key.namespace.clone(),
                uid: (*self.uid).to_owned(),
                resource_version: self.resource_version.text(),
                generation: self.generation,
                labels: self.labels.map(),
                annotations: self.annotations.map(),
                annotation: rare.and_then(|rare| rare.annotation.clone()),
                deletion_timestamp: rare.and_then(|rare| rare.deletion_timestamp),
            },
            spec: ResourceBindingSpec {
                resource: self.resource(),
                replicas: self.replicas,
                replica_requirements: self.requirements.clone(),
                components: self.components().iter().map(KeptComponent::component).collect(),
                clusters: self.clusters.targets(),
                placement: self
                    .placement
                    .as_ref()
                    .and_then(|shared| shared.placement.as_ref().ok())
                    .map(Arc::clone),
                graceful_eviction_tasks: rare.map_or_else(Vec::new, |rare| rare.graceful_eviction_tasks.to_vec()),
                required_by: rare.map_or_else(Vec::new, |rare| {
                    rare.required_by.iter().map(Reference::reference).collect()
                }),
                scheduler_name: (*self.scheduler_name).to_owned(),
                reschedule_triggered_at: self.requested,
                suspension: rare.and_then(|rare| rare.suspension.clone()),
                schedule_priority: self.has_priority.then_some(SchedulePriority {
                    priority: self.priority,
                }),
                workload_affinity_groups: self.groups().cloned(),
            },
            status: ResourceBindingStatus {
                scheduler_observed_generation: self.observed_generation,
                scheduler_observed_affinity_name: self.observed_group.as_deref().unwrap_or_default().to_owned(),
                last_scheduled_time: self.answered,
                conditions: self.conditions.iter().map(KeptCondition::condition).collect(),
            },
        }
    }

    /// Records a result that is written, with or without its status, or that may have been.
    pub(crate) fn divided_into(&mut self, divided: Divided) {
        if divided.awaited.is_none()
            && let Some(group) = divided.group_beside(self.answered)
        {
            self.observed_group = Some(group);
        }
        self.divided = Some(Box::new(divided));
    }

    /// The placement; `None` if there is none, or it cannot be read.
    pub(crate) fn readable_placement(&self) -> Option<&Placement> {
        let shared = self.placement.as_ref()?;
        shared.placement.as_deref().ok()
    }

    /// True if it has the mark of a move.
    pub(crate) fn has_mark(&self) -> bool {
        self.annotations.contains(MOVE_ANNOTATION)
    }

    /// True if its clusters have another number of replicas than it asks for. Any other scheduler takes that for a change of the replicas.
    pub(crate) fn is_off_sum(&self) -> bool {
        self.clusters.sum() != self.replicas.map_or(0, i64::from)
    }

    /// True if it has the annotation of what left its clusters.
    pub(crate) fn has_departures(&self) -> bool {
        self.annotations.contains(FAILBACK_ANNOTATION)
    }

    /// The workload affinity groups.
    pub fn groups(&self) -> Option<&WorkloadAffinityGroups> {
        self.rare.as_ref()?.workload_affinity_groups.as_ref()
    }

    /// The resource that it propagates.
    pub fn resource(&self) -> ObjectReference {
        self.resource.reference()
    }

    /// Pod templates of the resource, which determine the room that a result takes.
    pub fn footprint(&self) -> Footprint {
        Footprint::new(&ResourceBindingSpec {
            replicas: self.replicas,
            replica_requirements: self.requirements.clone(),
            components: self.components().iter().map(KeptComponent::component).collect(),
            ..ResourceBindingSpec::default()
        })
    }

    /// `replicas` pods of one template as a component, with the template's requirements. A resource with a single template has its own
    /// name there, as in Karmada.
    pub(crate) fn component(&self, template: &str, replicas: i32) -> Component {
        match self.components().iter().find(|known| *known.name == *template) {
            Some(known) => Component {
                replicas,
                ..known.component()
            },
            None => Component {
                name: self.resource.name().to_owned(),
                replicas,
                replica_requirements: self.requirements.as_deref().cloned(),
            },
        }
    }

    fn components(&self) -> &[KeptComponent] {
        self.rare.as_ref().map_or(&[], |rare| &rare.components)
    }
}

/// True if a change of a cluster may move a binding although it is satisfied.
fn follows_clusters(binding: &ResourceBinding, placement: Option<&SharedPlacement>) -> bool {
    let annotations = &binding.metadata.annotations;
    let names_strategy = [APPLIED_POLICY, STRATEGY_ANNOTATION]
        .iter()
        .any(|key| annotations.contains_key(*key));
    let placement = placement.and_then(|shared| shared.placement.as_ref().ok());
    let sum = placement.map(|placement| Sum::from_placement(placement));
    names_strategy || sum.is_none_or(|sum| goes_everywhere(binding, sum))
}

/// The kept part of each value, in a block of the right size: a vector that grew has one of up to twice its size.
fn each<T, K>(values: Vec<T>, kept: impl FnMut(T) -> K) -> Box<[K]> {
    let mut exact = Vec::with_capacity(values.len());
    exact.extend(values.into_iter().map(kept));
    exact.into_boxed_slice()
}

/// A claim as one text, the same for all bindings of a policy.
pub(crate) fn claim_text(claim: Claim<'_>) -> String {
    let word = |scope| match scope {
        PolicyScope::Namespaced => "namespaced",
        PolicyScope::Cluster => "cluster",
    };
    match claim {
        Claim::Name { scope, namespace, name } => format!("{}/name/{namespace}/{name}", word(scope)),
        Claim::PermanentId { scope, id } => format!("{}/id/{id}", word(scope)),
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    /// A live scheduler has one for every binding.
    #[test]
    fn a_record_does_not_grow_unnoticed() {
        assert!(size_of::<Record>() <= 416, "{}", size_of::<Record>());
    }
}
