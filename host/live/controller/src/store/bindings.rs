//! The bindings of a control plane, by their keys.

use std::sync::Arc;

use divvy_karmada::api::BindingScope;
use divvy_karmada::detector::PolicyFacts;
use indexmap::IndexMap;

use super::{Record, Shared, StoredBinding};
use crate::objects::{BindingDocument, BindingKey};

/// The bindings of a control plane.
#[derive(Debug, Default)]
pub struct BindingStore {
    /// In the order of their arrival, as long as none is removed: bindings that are decided for one reason are decided in
    /// this order, in every process. A record has a block of its own: the map grows to twice the size of its entries, and decisions share
    /// the record that they are made from.
    records: IndexMap<Arc<BindingKey>, Arc<Record>>,
    shared: Shared,
    /// Number of the last relist, by scope: the two kinds are listed independently.
    epochs: [u64; 2],
}

/// Differences between a new version of a binding and the stored one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindingChange {
    /// It is new, or another object of the same name.
    pub(crate) is_new: bool,
    /// Its specification changed.
    pub(crate) generation: bool,
    /// Its labels or annotations changed, except for those that decisions write.
    pub(crate) metadata: bool,
    /// The state of its resource changed.
    pub(crate) aggregated: bool,
    /// The version was older than the stored one and was ignored.
    pub(crate) is_stale: bool,
}

impl BindingStore {
    /// Inserts a version of a binding and reports what changed. `is_ours` is the answer of
    /// [`divvy_scheduler::decide::ownership::is_ours`].
    ///
    /// The stored version and older ones are ignored: after a write, its answer is stored at once, and the watch repeats
    /// earlier versions later. A relist (`is_listed`) counts even if its version is older, unless the stored version arrived
    /// after it began: versions decrease if a control plane is restored from a backup.
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
        let old = known.map(|(_, record)| &**record);
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
        self.records.insert(Arc::clone(&shared_key), Arc::new(record));
        (shared_key, change)
    }

    /// The binding with this key.
    pub fn get(&self, key: &BindingKey) -> Option<&Record> {
        self.records.get(key).map(|record| &**record)
    }

    /// The version of the binding with this key that is stored now, to keep it.
    pub(crate) fn shared(&self, key: &BindingKey) -> Option<&Arc<Record>> {
        self.records.get(key)
    }

    /// The binding with this key as a decision reads it, under a policy with these facts.
    pub fn stored(&self, key: &BindingKey, policy: Option<Arc<PolicyFacts>>) -> Option<StoredBinding> {
        let (_, key, record) = self.records.get_full(key)?;
        Some(StoredBinding::new(key, record, record.clusters.targets(), policy))
    }

    /// The shared key of a binding.
    pub(crate) fn shared_key(&self, key: &BindingKey) -> Option<&Arc<BindingKey>> {
        self.records.get_key_value(key).map(|(key, _)| key)
    }

    /// The binding with this key, to change its marks. Whoever keeps the version that is stored now does not see the change.
    pub(crate) fn get_mut(&mut self, key: &BindingKey) -> Option<&mut Record> {
        self.records.get_mut(key).map(Arc::make_mut)
    }

    /// Removes a binding. Returns true if it was there.
    pub(crate) fn remove(&mut self, key: &BindingKey) -> bool {
        self.records.swap_remove(key).is_some()
    }

    /// All bindings, in an order that depends only on the earlier calls.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &Record)> {
        self.records.iter().map(|(key, record)| (key, &**record))
    }

    /// Number of bindings.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Begins a relist of one kind: from now on, versions count as named by it.
    pub(crate) fn begin_relist(&mut self, scope: BindingScope) {
        self.epochs[slot(scope)] += 1;
    }

    /// Counts a binding as named by the relist, although it is not stored.
    pub(crate) fn mark_listed(&mut self, key: &BindingKey) {
        let epoch = self.epochs[slot(key.scope)];
        if let Some(record) = self.get_mut(key) {
            record.epoch = epoch;
        }
    }

    /// Keys of the bindings of one kind that the relist did not mention. They are still in the store.
    pub(crate) fn unlisted(&self, scope: BindingScope) -> Vec<Arc<BindingKey>> {
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

/// A resource version as a number, which Kubernetes 1.35 and later guarantee it to be within one kind; 0 otherwise.
pub(crate) fn version_number(version: &str) -> u64 {
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
            let kept = store.get(&key).map(Record::replicas);
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
        // The watch repeats a write and earlier versions.
        assert_eq!(applied("11", 1, false), (is_stale, Some(2)));
        assert_eq!(applied("12", 2, false), (BindingChange::default(), Some(2)));
    }

    #[test]
    fn versions_that_are_not_numbers_are_never_the_same() {
        let mut store = BindingStore::default();
        for replicas in [3, 4] {
            let (key, _) = store.upsert(document("x", replicas), true, false);
            assert_eq!(store.get(&key).map(Record::replicas), Some(i64::from(replicas)));
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
