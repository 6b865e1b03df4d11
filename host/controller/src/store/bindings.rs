//! Bindings, each as compact JSON with the columns that are read without parsing it.
//!
//! A binding is parsed only when it is decided. Its placement and the applied placement are shared texts, since all
//! bindings of a policy have the same. Together this is about two kilobytes per binding.

use std::sync::Arc;

use divvy_karmada::api::{BindingScope, Placement, PolicyScope, ReadJson, ResourceBinding, TargetCluster, Timestamp};
use divvy_karmada::policy::{Claim, claimed_by};
use divvy_scheduler::strategy::STRATEGY_ANNOTATION;
use indexmap::IndexMap;

use super::{Shared, SharedPlacement};
use crate::decide::rules::{Sum, goes_everywhere};
use crate::decide::{APPLIED_PLACEMENT, APPLIED_POLICY};
use crate::objects::{AggregatedStatus, BindingDocument, BindingKey};
use crate::write::patch::read_metadata;

/// A binding in the store.
#[derive(Debug)]
pub struct Record {
    /// UID.
    pub uid: Box<str>,
    /// Generation.
    pub generation: i64,
    /// Resource version as a number; 0 if it is not one.
    pub version: u64,
    /// Priority in the queue.
    pub priority: i32,
    /// True if this scheduler decides it.
    pub is_ours: bool,
    /// Time at which a reschedule was requested.
    pub requested: Option<Timestamp>,
    /// Time of the last scheduling.
    answered: Option<Timestamp>,
    /// The request that a result of this process answers, be its status written or not.
    pub divided_for: Option<Timestamp>,
    /// True if that request has not been answered by a decision.
    pub is_reschedule_pending: bool,
    /// True if a change of a cluster may move it although it is satisfied: it goes to every candidate, or its policy
    /// names a strategy that may send it there.
    pub follows_clusters: bool,
    /// True if a cluster changed since its last decision, under a profile that then moves satisfied bindings.
    pub is_moved_by_clusters: bool,
    /// The affinity group in use.
    pub observed_group: Option<Arc<str>>,
    /// The policy that claims it, as in [`claim_text`].
    pub claim: Option<Arc<str>>,
    /// Its placement.
    pub placement: Option<Arc<SharedPlacement>>,
    /// The annotation `policy.karmada.io/applied-placement`.
    pub applied_placement: Option<Arc<str>>,
    /// State of the resource in each cluster.
    pub aggregated: Box<[AggregatedStatus]>,
    /// Hash of its labels and annotations, except those that decisions write.
    metadata: u64,
    /// The rest of the object.
    document: Box<str>,
    /// Number of the relist that named it last.
    epoch: u64,
}

/// The bindings of a control plane.
#[derive(Debug, Default)]
pub struct BindingStore {
    /// In the order of their arrival, as long as none is removed: bindings that are decided for one reason are decided in
    /// this order, in every process.
    records: IndexMap<Arc<BindingKey>, Record>,
    shared: Shared,
    /// Number of the last relist, by scope: the two kinds are listed independently.
    epochs: [u64; 2],
}

/// Differences between a new version of a binding and the stored one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindingChange {
    /// It is new, or another object of the same name.
    pub is_new: bool,
    /// Its specification changed.
    pub generation: bool,
    /// Its labels or annotations changed, the applied ones aside.
    pub metadata: bool,
    /// The state of its resource changed.
    pub aggregated: bool,
    /// The version was older than the stored one and was ignored.
    pub is_stale: bool,
}

impl BindingStore {
    /// Inserts a version of a binding and reports what changed. `is_ours` is the answer of
    /// [`divvy_scheduler::decide::ownership::is_ours`].
    ///
    /// The stored version and older ones are ignored: after a write, its answer is stored at once, and the watch
    /// still has to repeat what came before.
    /// A relist (`is_listed`) is believed even then, unless the stored version came after it began: versions go back if
    /// a control plane was restored from a backup.
    pub fn upsert(
        &mut self,
        document: BindingDocument,
        is_ours: bool,
        is_listed: bool,
    ) -> (Arc<BindingKey>, BindingChange) {
        let key = document.key();
        let version = version_number(&document.object.metadata.resource_version);
        let epoch = self.epochs[slot(key.scope)];
        let known = self.records.get_key_value(&key);
        let shared_key = known.map_or_else(|| Arc::new(key), |(key, _)| Arc::clone(key));
        let old = known.map(|(_, record)| record);
        if let Some(old) = old
            && version < old.version
            && *old.uid == document.object.metadata.uid
            && !(is_listed && old.epoch != epoch)
        {
            self.mark_listed(&shared_key);
            let stale = BindingChange {
                is_stale: true,
                ..BindingChange::default()
            };
            return (shared_key, stale);
        }
        if let Some(old) = old
            && !is_listed
            && version != 0
            && version == old.version
            && *old.uid == document.object.metadata.uid
            && old.is_ours == is_ours
        {
            return (shared_key, BindingChange::default());
        }
        let record = Record::new(document, is_ours, version, epoch, old, &mut self.shared);
        let change = record.change_from(old);
        self.records.insert(Arc::clone(&shared_key), record);
        (shared_key, change)
    }

    /// The binding with this key.
    pub fn get(&self, key: &BindingKey) -> Option<&Record> {
        self.records.get(key)
    }

    /// The shared key of a binding.
    pub fn shared_key(&self, key: &BindingKey) -> Option<&Arc<BindingKey>> {
        self.records.get_key_value(key).map(|(key, _)| key)
    }

    /// The binding with this key, to change its marks.
    pub fn get_mut(&mut self, key: &BindingKey) -> Option<&mut Record> {
        self.records.get_mut(key)
    }

    /// Removes a binding. Returns true if it was there.
    pub fn remove(&mut self, key: &BindingKey) -> bool {
        self.records.swap_remove(key).is_some()
    }

    /// All bindings, in an order that follows from the calls before.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &Record)> {
        self.records.iter()
    }

    /// Number of bindings.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True if there are no bindings.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Begins a relist of one kind: from now on, versions count as named by it.
    pub fn begin_relist(&mut self, scope: BindingScope) {
        self.epochs[slot(scope)] += 1;
    }

    fn mark_listed(&mut self, key: &BindingKey) {
        let epoch = self.epochs[slot(key.scope)];
        if let Some(record) = self.records.get_mut(key) {
            record.epoch = epoch;
        }
    }

    /// Keys of the bindings of one kind that the relist did not mention. They are still in the store.
    pub fn unlisted(&self, scope: BindingScope) -> Vec<Arc<BindingKey>> {
        let epoch = self.epochs[slot(scope)];
        let unlisted = self
            .records
            .iter()
            .filter(|(key, record)| key.scope == scope && record.epoch != epoch);
        unlisted.map(|(key, _)| Arc::clone(key)).collect()
    }
}

fn slot(scope: BindingScope) -> usize {
    match scope {
        BindingScope::Namespaced => 0,
        BindingScope::Cluster => 1,
    }
}

impl Record {
    fn new(
        document: BindingDocument,
        is_ours: bool,
        version: u64,
        epoch: u64,
        old: Option<&Self>,
        shared: &mut Shared,
    ) -> Self {
        let BindingDocument {
            mut object,
            placement,
            aggregated,
        } = document;
        let metadata = read_metadata(&object.metadata);
        let applied = object.metadata.annotations.remove(APPLIED_PLACEMENT);
        let requested = object.spec.reschedule_triggered_at;
        let answered = object.status.last_scheduled_time;
        // A request is later than the last scheduling, or it arrived while this process watched: then the clocks of
        // the two times, and their resolution of a second, do not matter.
        let is_later = matches!((requested, answered), (Some(requested), Some(answered)) if requested > answered);
        let old = old.filter(|old| *old.uid == object.metadata.uid);
        let divided_for = old.and_then(|old| old.divided_for);
        // Whoever leads answers it by a later time: what a standby has seen arrive does not stay pending.
        let is_answered = answered >= requested && old.is_some_and(|old| old.answered < answered);
        let is_renewed = answered.is_some()
            && !is_answered
            && old.is_some_and(|old| old.is_reschedule_pending || old.requested < requested);
        let placement = placement.as_deref().map(|text| shared.placement(text));
        let sum = placement
            .as_ref()
            .and_then(|shared| shared.placement.as_ref().ok())
            .map(|placement| Sum::of_placement(placement));
        let names_strategy = [APPLIED_POLICY, STRATEGY_ANNOTATION]
            .iter()
            .any(|key| object.metadata.annotations.contains_key(*key));
        let observed = object.status.scheduler_observed_affinity_name.as_str();
        let document = serde_json::to_string(&object).unwrap_or_default();
        Self {
            uid: object.metadata.uid.as_str().into(),
            generation: object.metadata.generation,
            version,
            priority: object.spec.schedule_priority.map_or(0, |priority| priority.priority),
            is_ours,
            requested,
            answered,
            divided_for,
            is_reschedule_pending: (is_later || is_renewed) && requested != divided_for,
            follows_clusters: names_strategy || sum.is_none_or(|sum| goes_everywhere(&object, sum)),
            is_moved_by_clusters: old.is_some_and(|old| old.is_moved_by_clusters),
            observed_group: (!observed.is_empty()).then(|| shared.text(observed)),
            claim: claimed_by(&object.metadata).map(|claim| shared.text(&claim_text(claim))),
            placement,
            applied_placement: applied.as_deref().map(|text| shared.text(text)),
            aggregated: aggregated.into(),
            metadata,
            // A copy of the right size: an allocator may leave a text that grew in a block of twice its size.
            document: document.as_str().into(),
            epoch,
        }
    }

    fn change_from(&self, old: Option<&Self>) -> BindingChange {
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

    /// The binding without its placement and the annotation of the applied one; `None` if it cannot be parsed, which
    /// its own serialisation always can.
    pub fn binding(&self) -> Option<ResourceBinding> {
        ResourceBinding::from_json(&self.document).ok()
    }

    /// The placement; `None` if there is none, or it cannot be read.
    pub fn readable_placement(&self) -> Option<&Placement> {
        let shared = self.placement.as_ref()?;
        shared.placement.as_deref().ok()
    }

    /// False if it is certainly in no workload affinity group, which is known without parsing it.
    pub fn may_be_grouped(&self) -> bool {
        self.document.contains("\"workloadAffinityGroups\"")
    }

    /// The clusters of the result.
    pub fn targets(&self) -> Vec<TargetCluster> {
        self.binding().map(|binding| binding.spec.clusters).unwrap_or_default()
    }

    /// Bytes of the JSON, for figures about memory.
    pub fn size(&self) -> usize {
        self.document.len()
    }
}

/// A claim as one text, the same for all bindings of a policy.
pub fn claim_text(claim: Claim<'_>) -> String {
    let word = |scope| match scope {
        PolicyScope::Namespaced => "namespaced",
        PolicyScope::Cluster => "cluster",
    };
    match claim {
        Claim::Name { scope, namespace, name } => format!("{}/name/{namespace}/{name}", word(scope)),
        Claim::PermanentId { scope, id } => format!("{}/id/{id}", word(scope)),
    }
}

/// A resource version as a number, which Kubernetes 1.35 and later guarantee it to be within one kind; 0 otherwise.
pub fn version_number(version: &str) -> u64 {
    version.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;
    use crate::objects::{Kind, Object};

    fn document(version: &str, replicas: i32) -> BindingDocument {
        let object = json!({
            "metadata": {"namespace": "shop", "name": "web", "uid": "u", "resourceVersion": version, "generation": replicas},
            "spec": {"replicas": replicas},
        });
        match Object::read(Kind::Binding, from_value(object).unwrap()) {
            Ok(Object::Binding(document)) => *document,
            other => panic!("not a binding: {other:?}"),
        }
    }

    #[test]
    fn versions_that_are_stored_already_change_nothing() {
        let mut store = BindingStore::default();
        let mut applied = |version, replicas, is_listed| {
            let (key, change) = store.upsert(document(version, replicas), true, is_listed);
            let kept = store
                .get(&key)
                .and_then(Record::binding)
                .and_then(|binding| binding.spec.replicas);
            (change, kept)
        };
        let is_new = BindingChange {
            is_new: true,
            ..BindingChange::default()
        };
        let is_stale = BindingChange {
            is_stale: true,
            ..BindingChange::default()
        };
        let has_changed = BindingChange {
            generation: true,
            ..BindingChange::default()
        };
        assert_eq!(applied("10", 1, false), (is_new, Some(1)));
        assert_eq!(applied("12", 2, false), (has_changed, Some(2)));
        // The watch repeats a write and what came before it.
        assert_eq!(applied("11", 1, false), (is_stale, Some(2)));
        assert_eq!(applied("12", 2, false), (BindingChange::default(), Some(2)));
    }

    #[test]
    fn versions_that_are_not_numbers_are_never_the_same() {
        let mut store = BindingStore::default();
        for replicas in [3, 4] {
            let (key, _) = store.upsert(document("x", replicas), true, false);
            let binding = store.get(&key).and_then(Record::binding);
            assert_eq!(binding.and_then(|binding| binding.spec.replicas), Some(replicas));
        }
    }

    #[test]
    fn another_scheduler_takes_a_version_that_is_stored_already() {
        let mut store = BindingStore::default();
        store.upsert(document("10", 1), true, false);
        let (key, change) = store.upsert(document("10", 1), false, false);
        assert!(change.metadata);
        assert!(store.get(&key).is_some_and(|record| !record.is_ours));
    }
}
