//! A virtual API server: objects with versions and generations, a history that watches read, merge patches with
//! preconditions, and faults.

mod answer;
mod client;
mod fault;

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_controller::objects::{Kind, ObjectKey};
use serde_json::{Value, json};

use crate::agenda::Millis;

pub use self::answer::{Reply, Request, Verb, read, requested, unmet, write};
pub use self::client::client;
pub use self::fault::{Effect, Fault, Faults, Fitting};

/// A version of an object, or its deletion.
#[derive(Debug, Clone)]
pub struct Record {
    /// Time of the write.
    pub at: Millis,
    /// Version of the write.
    pub version: u64,
    /// The object's identity.
    pub key: ObjectKey,
    /// The object; `None` if it was deleted.
    pub object: Option<Arc<Value>>,
}

/// Everything that the API server stores.
#[derive(Debug, Default)]
pub struct Server {
    objects: BTreeMap<(Kind, ObjectKey), Arc<Value>>,
    history: BTreeMap<Kind, Vec<Record>>,
    version: u64,
    uids: u64,
}

impl Server {
    /// The objects of a kind, in the order of their keys.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&ObjectKey, &Arc<Value>)> {
        let first = ObjectKey {
            namespace: String::new(),
            name: String::new(),
        };
        let from = self.objects.range((kind, first)..);
        from.take_while(move |((of, _), _)| *of == kind)
            .map(|((_, key), object)| (key, object))
    }

    /// An object.
    pub fn get(&self, kind: Kind, key: &ObjectKey) -> Option<&Arc<Value>> {
        self.objects.get(&(kind, key.clone()))
    }

    /// Version of the last write.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// All writes to objects of a kind.
    pub fn history(&self, kind: Kind) -> &[Record] {
        self.history.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Creates an object; does nothing if it exists.
    pub fn create(&mut self, now: Millis, kind: Kind, mut object: Value) {
        let key = key_of(&object);
        if self.objects.contains_key(&(kind, key.clone())) {
            return;
        }
        self.uids += 1;
        let metadata = &mut object["metadata"];
        if metadata["uid"].is_null() {
            metadata["uid"] = json!(format!("00000000-0000-4000-8000-{:012x}", self.uids));
        }
        metadata["generation"] = json!(1);
        self.store(now, kind, key, object);
    }

    /// Changes an object, and its generation if its specification changed. Returns false if nothing changed.
    pub fn change(&mut self, now: Millis, kind: Kind, key: &ObjectKey, change: impl FnOnce(&mut Value)) -> bool {
        let Some(before) = self.get(kind, key).cloned() else {
            return false;
        };
        let mut object = Value::clone(&before);
        change(&mut object);
        if object == *before {
            return false;
        }
        let deletion = |object: &Value| object["metadata"]["deletionTimestamp"].clone();
        if object["spec"] != before["spec"] || deletion(&object) != deletion(&before) {
            let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
            object["metadata"]["generation"] = json!(generation + 1);
        }
        self.store(now, kind, key.clone(), object);
        true
    }

    /// Changes an object by a merge patch (RFC 7386) as a controller does. Returns false if nothing changed.
    pub fn patch(&mut self, now: Millis, kind: Kind, key: &ObjectKey, patch: &Value) -> bool {
        self.change(now, kind, key, |object| json_patch::merge(object, patch))
    }

    /// Creates an object, or replaces all of it but its identity and generation.
    pub fn apply(&mut self, now: Millis, kind: Kind, object: Value) {
        let key = key_of(&object);
        let Some(before) = self.get(kind, &key).cloned() else {
            return self.create(now, kind, object);
        };
        self.change(now, kind, &key, |stored| {
            *stored = object;
            for field in ["uid", "generation", "resourceVersion"] {
                stored["metadata"][field] = before["metadata"][field].clone();
            }
        });
    }

    /// Forgets the history, for those that show each change at once.
    pub fn forget_history(&mut self) {
        self.history.clear();
    }

    /// Deletes an object at once.
    pub fn delete(&mut self, now: Millis, kind: Kind, key: &ObjectKey) -> Option<Arc<Value>> {
        let object = self.objects.remove(&(kind, key.clone()))?;
        self.version += 1;
        self.note(now, kind, key.clone(), None);
        Some(object)
    }

    /// The object as it was at a version of its own.
    pub fn at_version(&self, kind: Kind, version: u64) -> Option<&Arc<Value>> {
        let history = self.history(kind);
        let index = history.binary_search_by_key(&version, |record| record.version).ok()?;
        history[index].object.as_ref()
    }

    fn store(&mut self, now: Millis, kind: Kind, key: ObjectKey, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(object);
        self.objects.insert((kind, key.clone()), Arc::clone(&object));
        self.note(now, kind, key, Some(object));
    }

    fn note(&mut self, at: Millis, kind: Kind, key: ObjectKey, object: Option<Arc<Value>>) {
        let version = self.version;
        self.history.entry(kind).or_default().push(Record {
            at,
            version,
            key,
            object,
        });
    }
}

/// Namespace and name of an object.
pub fn key_of(object: &Value) -> ObjectKey {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    ObjectKey {
        namespace: text("namespace"),
        name: text("name"),
    }
}

/// The version of an object.
pub fn version_of(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.and_then(|version| version.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_of_the_specification_raises_the_generation_and_no_change_raises_nothing() {
        let mut server = Server::default();
        server.create(
            0,
            Kind::Binding,
            json!({"metadata": {"name": "a", "namespace": "n"}, "spec": {"replicas": 1}}),
        );
        let key = ObjectKey {
            namespace: "n".to_owned(),
            name: "a".to_owned(),
        };
        let state = |server: &Server| {
            let object = server.get(Kind::Binding, &key).unwrap();
            (version_of(object), object["metadata"]["generation"].as_i64().unwrap())
        };
        assert_eq!(state(&server), (1, 1));
        assert!(server.change(1, Kind::Binding, &key, |object| object["status"] = json!({"x": 1})));
        assert_eq!(state(&server), (2, 1));
        assert!(server.change(2, Kind::Binding, &key, |object| object["spec"]["replicas"] = json!(2)));
        assert_eq!(state(&server), (3, 2));
        assert!(!server.change(3, Kind::Binding, &key, |object| object["spec"]["replicas"] = json!(2)));
        assert_eq!((state(&server), server.history(Kind::Binding).len()), ((3, 2), 3));
        assert_eq!(server.at_version(Kind::Binding, 2).unwrap()["spec"]["replicas"], 1);
    }
}
