//! The control plane as one process has seen it.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_world::agenda::Millis;
use divvy_world::server::version_of;
use serde_json::Value;

/// The newest version of each object that a process was shown, by a watch or by the answer to a write.
#[derive(Debug, Default)]
pub(crate) struct View {
    objects: BTreeMap<(Kind, ObjectKey), Arc<Value>>,
    /// Clusters that vanished without having been deleted, each since when.
    missing: BTreeMap<String, Millis>,
}

impl View {
    /// Takes in a version. Older ones of bindings and clusters are passed over, as the scheduler does: the answer to a write comes
    /// before the watch that repeats it, and a watch that goes on earlier repeats what it has shown.
    pub(crate) fn see(&mut self, kind: Kind, key: &ObjectKey, object: &Arc<Value>) {
        let known = self.objects.get(&(kind, key.clone()));
        let is_older = known.is_some_and(|known| {
            known["metadata"]["uid"] == object["metadata"]["uid"] && version_of(known) > version_of(object)
        });
        if is_older && matches!(kind, Kind::Binding | Kind::Cluster) {
            return;
        }
        if kind == Kind::Cluster {
            self.missing.remove(&key.name);
        }
        self.objects.insert((kind, key.clone()), Arc::clone(object));
    }

    /// Takes in a deletion.
    pub(crate) fn lose(&mut self, kind: Kind, key: &ObjectKey, now: Millis) {
        let Some(lost) = self.objects.remove(&(kind, key.clone())) else {
            return;
        };
        if kind == Kind::Cluster && lost["metadata"]["deletionTimestamp"].is_null() {
            self.missing.insert(key.name.clone(), now);
        }
    }

    /// Takes in the end of a list: what it did not name is gone.
    pub(crate) fn keep_listed(&mut self, kind: Kind, listed: &[ObjectKey], now: Millis) {
        let known: Vec<ObjectKey> = self.of_kind(kind).map(|(key, _)| key.clone()).collect();
        for key in known.iter().filter(|key| !listed.contains(key)) {
            self.lose(kind, key, now);
        }
    }

    /// Clusters that have been missing for less than a time.
    pub(crate) fn missing(&self, now: Millis, limit: Millis) -> Vec<String> {
        let missing = self.missing.iter().filter(|(_, since)| now < *since + limit);
        missing.map(|(cluster, _)| cluster.clone()).collect()
    }

    /// Takes in that a person believes missing clusters to be gone.
    pub(crate) fn confirm(&mut self) {
        self.missing.clear();
    }

    /// An object.
    pub(crate) fn get(&self, kind: Kind, key: &ObjectKey) -> Option<&Arc<Value>> {
        self.objects.get(&(kind, key.clone()))
    }

    /// The objects of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&ObjectKey, &Arc<Value>)> {
        let all = self.objects.iter().filter(move |((of, _), _)| *of == kind);
        all.map(|((_, key), object)| (key, object))
    }
}
