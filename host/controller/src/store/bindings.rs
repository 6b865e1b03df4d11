//! Bindings, each as compact JSON with the columns that are read without parsing it.
//!
//! A binding is parsed only when it is decided. Its placement and the applied placement are shared texts, since all
//! bindings of a policy have the same. Together this is about two kilobytes per binding.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_karmada::api::{ResourceBinding, TargetCluster};

use super::{Shared, SharedPlacement};
use crate::decide::APPLIED_PLACEMENT;
use crate::objects::{AggregatedStatus, BindingDocument, BindingKey};

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
    /// True if a reschedule was requested that no decision has answered.
    pub is_reschedule_pending: bool,
    /// Its placement.
    pub placement: Option<Arc<SharedPlacement>>,
    /// The annotation `policy.karmada.io/applied-placement`.
    pub applied_placement: Option<Arc<str>>,
    /// State of the resource in each cluster.
    pub aggregated: Box<[AggregatedStatus]>,
    /// The rest of the object.
    document: Box<[u8]>,
    /// Number of the relist that named it last.
    epoch: u64,
}

/// The bindings of a control plane.
#[derive(Debug, Default)]
pub struct BindingStore {
    records: HashMap<Arc<BindingKey>, Record>,
    shared: Shared,
    epoch: u64,
}

/// What a new version of a binding differs in from the stored one.
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
    /// [`crate::decide::ownership::is_ours`].
    ///
    /// An older version than the stored one is ignored: after a write, its answer is stored at once, and the watch
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
        let known = self.records.get_key_value(&key);
        let shared_key = known.map_or_else(|| Arc::new(key), |(key, _)| Arc::clone(key));
        let old = known.map(|(_, record)| record);
        if let Some(old) = old
            && version < old.version
            && *old.uid == document.object.metadata.uid
            && !(is_listed && old.epoch != self.epoch)
        {
            self.mark_listed(&shared_key);
            let stale = BindingChange {
                is_stale: true,
                ..BindingChange::default()
            };
            return (shared_key, stale);
        }
        let record = Record::new(document, is_ours, version, self.epoch, old, &mut self.shared);
        let change = record.change_from(old);
        self.records.insert(Arc::clone(&shared_key), record);
        (shared_key, change)
    }

    /// The binding with this key.
    pub fn get(&self, key: &BindingKey) -> Option<&Record> {
        self.records.get(key)
    }

    /// The binding with this key, to change its marks.
    pub fn get_mut(&mut self, key: &BindingKey) -> Option<&mut Record> {
        self.records.get_mut(key)
    }

    /// Removes a binding. Returns true if it was there.
    pub fn remove(&mut self, key: &BindingKey) -> bool {
        self.records.remove(key).is_some()
    }

    /// All bindings, in no order.
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

    /// Begins a relist: from now on, versions count as named by it.
    pub fn begin_relist(&mut self) {
        self.epoch += 1;
    }

    /// Marks a binding as named by the relist, even if its version was not new.
    pub fn mark_listed(&mut self, key: &BindingKey) {
        let epoch = self.epoch;
        if let Some(record) = self.records.get_mut(key) {
            record.epoch = epoch;
        }
    }

    /// Ends a relist of the bindings that `is_listed` names, and removes those that it did not mention. Returns them.
    pub fn end_relist(&mut self, is_listed: impl Fn(&BindingKey) -> bool) -> Vec<Arc<BindingKey>> {
        let epoch = self.epoch;
        let gone: Vec<Arc<BindingKey>> = self
            .records
            .iter()
            .filter(|(key, record)| is_listed(key) && record.epoch != epoch)
            .map(|(key, _)| Arc::clone(key))
            .collect();
        for key in &gone {
            self.records.remove(key);
        }
        gone
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
        let applied = object.metadata.annotations.remove(APPLIED_PLACEMENT);
        let requested = object.spec.reschedule_triggered_at;
        let answered = object.status.last_scheduled_time;
        // A request is later than the last scheduling, or it arrived while this process watched: then the clocks of
        // the two times, and their resolution of a second, do not matter.
        let is_later = matches!((requested, answered), (Some(requested), Some(answered)) if requested > answered);
        let old = old.filter(|old| *old.uid == object.metadata.uid);
        let is_renewed = answered.is_some()
            && old.is_some_and(|old| {
                old.is_reschedule_pending
                    || old.generation != object.metadata.generation
                        && old.binding().is_some_and(|old| old.spec.reschedule_triggered_at < requested)
            });
        Self {
            uid: object.metadata.uid.as_str().into(),
            generation: object.metadata.generation,
            version,
            priority: object.spec.schedule_priority.map_or(0, |priority| priority.priority),
            is_ours,
            is_reschedule_pending: is_later || is_renewed,
            placement: placement.as_deref().map(|text| shared.placement(text)),
            applied_placement: applied.as_deref().map(|text| shared.text(text)),
            aggregated: aggregated.into(),
            document: serde_json::to_vec(&object).unwrap_or_default().into(),
            epoch,
        }
    }

    fn change_from(&self, old: Option<&Self>) -> BindingChange {
        match old {
            Some(old) if old.uid == self.uid => BindingChange {
                is_new: false,
                generation: old.generation != self.generation,
                metadata: old.is_ours != self.is_ours
                    || old.document != self.document && metadata_differs(&old.binding(), &self.binding()),
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
        serde_json::from_slice(&self.document).ok()
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

fn metadata_differs(old: &Option<ResourceBinding>, new: &Option<ResourceBinding>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => {
            old.metadata.labels != new.metadata.labels || old.metadata.annotations != new.metadata.annotations
        }
        _ => true,
    }
}

/// A resource version as a number, which Kubernetes 1.35 and later guarantee it to be within one kind; 0 otherwise.
pub fn version_number(version: &str) -> u64 {
    version.parse().unwrap_or(0)
}
