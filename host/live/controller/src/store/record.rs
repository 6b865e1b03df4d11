//! One binding in the store.

use std::sync::Arc;

use divvy_karmada::api::{
    BindingSuspension, Component, GracefulEvictionTask, ObjectMeta, ObjectReference, Placement, PolicyScope,
    ReplicaRequirements, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus, ResourceList, TargetCluster,
    Timestamp, TypeMeta, WorkloadAffinityGroups,
};
use divvy_karmada::detector::PolicyFacts;
use divvy_karmada::policy::{Claim, claimed_among, claimed_by};
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::plan::{Annotations, PlanInput, TextMap};
use divvy_scheduler::strategy::STRATEGY_ANNOTATION;

use super::bindings::BindingChange;
use super::parts::{Clusters, KeptComponent, KeptCondition, Rare, Resource, Texts, Version};
use super::{Shared, SharedPlacement};
use crate::condition::SCHEDULED;
use crate::objects::{AggregatedStatus, BindingDocument, BindingKey, read_metadata};
use divvy_scheduler::decide::rules::{Sum, goes_everywhere};
use divvy_scheduler::decide::{APPLIED_PLACEMENT, APPLIED_POLICY};
use divvy_scheduler::moves::failback::FAILBACK_ANNOTATION;
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;
use divvy_scheduler::moves::planned::PLANNED_ANNOTATION;

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
#[derive(Debug, Clone)]
pub struct Record {
    /// UID.
    pub(crate) uid: Box<str>,
    /// Generation.
    pub(crate) generation: i64,
    /// Resource version as a number; 0 if it is not one.
    pub(crate) version: u64,
    /// Priority in the queue; 0 if it has none.
    pub(crate) priority: i32,
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
    pub(crate) metadata: u64,
    /// The last generation that was recorded as scheduled.
    pub(crate) observed_generation: i64,
    /// Number of the relist that named it last.
    pub(super) epoch: u64,
    resource_version: Version,
    labels: Texts,
    /// Without the applied placement.
    annotations: Texts,
    resource: Resource,
    replicas: Option<i32>,
    requirements: Option<Arc<ReplicaRequirements>>,
    conditions: Box<[KeptCondition]>,
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
        // Every field is named, so that a new one does not compile until it is kept or left out.
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
            deletion_timestamp: _,
        } = metadata;
        let ResourceBindingSpec {
            resource,
            replicas,
            replica_requirements,
            components,
            clusters,
            placement: _,
            graceful_eviction_tasks,
            required_by: _,
            scheduler_name: _,
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
            suspension,
            workload_affinity_groups,
            annotation,
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

    /// The input of its plan. `key` is its key in the store, `last` its result, and `policy` has the facts about its policy.
    pub(super) fn input<'a>(
        &'a self,
        key: &'a BindingKey,
        last: &'a [TargetCluster],
        policy: Option<&'a PolicyFacts>,
    ) -> PlanInput<'a> {
        let rare = self.rare.as_deref();
        PlanInput {
            kind: key.scope.kind(),
            namespace: &key.namespace,
            name: &key.name,
            uid: &self.uid,
            labels: self.labels.view(),
            annotations: Annotations::new(self.annotations()),
            annotation: rare.and_then(|rare| rare.annotation.as_deref()),
            resource: self.resource.words(),
            replicas: self.replicas(),
            is_workload: self.replicas() > 0 || self.requirements.is_some() || !self.components().is_empty(),
            requests: self.requests(),
            components: self.templates().collect(),
            last,
            evicted_from: self.evictions().iter().map(|task| task.from_cluster.as_str()).collect(),
            placement: self.readable_placement(),
            affinity_groups: self.groups(),
            policy,
            // A control plane's scheduler does not watch workloads.
            workload: None,
            priority: self.priority,
        }
    }

    /// Its status in Karmada's type, which a patch of it repeats in part.
    pub fn status(&self) -> ResourceBindingStatus {
        ResourceBindingStatus {
            scheduler_observed_generation: self.observed_generation,
            scheduler_observed_affinity_name: self.observed_group.as_deref().unwrap_or_default().to_owned(),
            last_scheduled_time: self.answered,
            conditions: self.conditions.iter().map(KeptCondition::condition).collect(),
        }
    }

    /// Its resource version.
    pub(crate) fn resource_version(&self) -> String {
        self.resource_version.text()
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

    /// An annotation. The one of the applied placement is [kept apart](Self::applied_placement).
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations().get(key)
    }

    /// All annotations but the one of the applied placement.
    pub(crate) fn annotations(&self) -> TextMap<'_> {
        self.annotations.view()
    }

    /// A label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.view().get(key)
    }

    /// The claim of the policy that it belongs to, in its namespace.
    pub(crate) fn claimed_in<'a>(&'a self, namespace: &'a str) -> Option<Claim<'a>> {
        claimed_among(namespace, |key| self.annotation(key), |key| self.label(key))
    }

    /// Replicas that it asks for; 0 if it does not set them.
    pub fn replicas(&self) -> i64 {
        self.replicas.map_or(0, i64::from)
    }

    /// Requirements of one replica.
    pub fn requirements(&self) -> Option<&Arc<ReplicaRequirements>> {
        self.requirements.as_ref()
    }

    /// Clusters that Karmada evicts it from.
    pub fn evictions(&self) -> &[GracefulEvictionTask] {
        let rare = self.rare.as_ref();
        rare.map_or(&[], |rare| &rare.graceful_eviction_tasks)
    }

    /// Operations that are suspended.
    pub fn suspension(&self) -> Option<&BindingSuspension> {
        self.rare.as_ref()?.suspension.as_ref()
    }

    /// The condition `Scheduled`.
    pub(crate) fn scheduled(&self) -> Option<&KeptCondition> {
        self.conditions.iter().find(|condition| condition.kind() == SCHEDULED)
    }

    /// True if it has the mark of a move.
    pub(crate) fn has_mark(&self) -> bool {
        self.annotation(MOVE_ANNOTATION).is_some()
    }

    /// True if it has the annotation of a planned target.
    pub(crate) fn has_planned_target(&self) -> bool {
        self.annotation(PLANNED_ANNOTATION).is_some()
    }

    /// True if its clusters have another number of replicas than it asks for. Any other scheduler takes that for a change of the replicas.
    pub(crate) fn is_off_sum(&self) -> bool {
        self.clusters.sum() != self.replicas()
    }

    /// True if it has the annotation of what left its clusters.
    pub(crate) fn has_departures(&self) -> bool {
        self.annotation(FAILBACK_ANNOTATION).is_some()
    }

    /// The workload affinity groups.
    pub fn groups(&self) -> Option<&WorkloadAffinityGroups> {
        self.rare.as_ref()?.workload_affinity_groups.as_ref()
    }

    /// The resource that it propagates.
    pub fn resource(&self) -> ObjectReference {
        self.resource.reference()
    }

    /// The kind of that resource.
    pub(crate) fn kind(&self) -> &TypeMeta {
        self.resource.kind()
    }

    /// Version of the resource when the binding was written.
    pub(crate) fn workload_version(&self) -> String {
        self.resource.version()
    }

    /// Pod templates of the resource, which determine the room that a result takes.
    pub fn footprint(&self) -> Footprint {
        Footprint::from_templates(self.replicas(), self.requests(), self.templates())
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

    /// The components in Karmada's type.
    pub fn component_list(&self) -> Vec<Component> {
        self.components().iter().map(KeptComponent::component).collect()
    }

    fn components(&self) -> &[KeptComponent] {
        self.rare.as_ref().map_or(&[], |rare| &rare.components)
    }

    /// Requests of one replica.
    fn requests(&self) -> Option<&ResourceList> {
        self.requirements.as_deref().map(requests)
    }

    /// Name, replicas and requests of each component.
    fn templates(&self) -> impl ExactSizeIterator<Item = (&str, i64, Option<&ResourceList>)> {
        self.components().iter().map(|component| {
            let requests = component.requirements.as_deref().map(requests);
            (&*component.name, i64::from(component.replicas), requests)
        })
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
    let replicas = i64::from(binding.spec.replicas.unwrap_or(0));
    names_strategy || sum.is_none_or(|sum| goes_everywhere(replicas, sum))
}

fn requests(requirements: &ReplicaRequirements) -> &ResourceList {
    &requirements.resource_request
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
