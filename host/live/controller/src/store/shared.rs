//! Values that many bindings share, each held once.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use divvy_karmada::api::{Placement, ReadJson, ReplicaRequirements, TypeMeta};

use super::parts::ConditionWords;

/// Number of values up to which unused ones are kept.
const SMALLEST_LIMIT: usize = 1024;

/// A placement that all bindings of a policy share.
#[derive(Debug)]
pub(crate) struct SharedPlacement {
    /// The placement as JSON, with every field that the API server keeps.
    pub(crate) text: Arc<str>,
    /// The placement; the default and the error if it cannot be read.
    pub(crate) placement: Result<Arc<Placement>, String>,
}

/// The values that bindings share, by their content.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Names of clusters and namespaces, keys and values of labels and annotations, texts of placements.
    texts: Pool<str>,
    placements: HashMap<Arc<str>, Arc<SharedPlacement>>,
    /// Kinds of the resources that bindings propagate.
    pub(super) kinds: Pool<TypeMeta>,
    /// Requirements of replicas.
    pub(super) requirements: Pool<ReplicaRequirements>,
    /// Conditions without their generation and time.
    pub(super) conditions: Pool<ConditionWords>,
}

/// Values of one type.
#[derive(Debug)]
pub(super) struct Pool<T: ?Sized> {
    known: HashSet<Arc<T>>,
    /// Number of values at which unused ones are dropped.
    limit: usize,
}

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self {
            known: HashSet::new(),
            limit: SMALLEST_LIMIT,
        }
    }
}

impl<T: ?Sized + Eq + Hash> Pool<T> {
    /// The one copy of a value.
    pub(super) fn share<V: Borrow<T> + Into<Arc<T>>>(&mut self, value: V) -> Arc<T> {
        match self.get(value.borrow()) {
            Some(known) => known,
            None => self.insert(value.into()),
        }
    }

    fn get(&self, value: &T) -> Option<Arc<T>> {
        self.known.get(value).map(Arc::clone)
    }

    /// Adds a new value. Before that, drops unused values if there are twice as many as after the last time.
    fn insert(&mut self, value: Arc<T>) -> Arc<T> {
        if self.is_full() {
            self.known.retain(|value| Arc::strong_count(value) > 1);
            self.limit = SMALLEST_LIMIT.max(2 * self.known.len());
        }
        self.known.insert(Arc::clone(&value));
        value
    }

    fn is_full(&self) -> bool {
        self.known.len() >= self.limit
    }
}

impl Shared {
    /// The one copy of a text.
    pub(crate) fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return known;
        }
        if self.texts.is_full() {
            self.placements.retain(|_, placement| Arc::strong_count(placement) > 1);
        }
        self.texts.insert(text.into())
    }

    /// The one copy of a placement.
    pub(crate) fn placement(&mut self, text: &str) -> Arc<SharedPlacement> {
        if let Some(known) = self.placements.get(text) {
            return Arc::clone(known);
        }
        let text = self.text(text);
        let shared = Arc::new(SharedPlacement {
            placement: Placement::from_json(&text)
                .map(Arc::new)
                .map_err(|error| error.to_string()),
            text: Arc::clone(&text),
        });
        self.placements.insert(text, Arc::clone(&shared));
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_and_unused_ones_are_dropped() {
        let mut shared = Shared::default();
        let kept = shared.text("kept");
        let placement = shared.placement(r#"{"clusterAffinity":{}}"#);
        assert!(Arc::ptr_eq(&kept, &shared.text("kept")));
        for number in 0..10_000 {
            shared.text(&number.to_string());
            shared.placement(&format!(r#"{{"number":{number}}}"#));
        }
        assert!(shared.texts.known.len() <= 1024, "{}", shared.texts.known.len());
        assert!(shared.placements.len() <= 1024, "{}", shared.placements.len());
        assert!(Arc::ptr_eq(&kept, &shared.text("kept")));
        assert!(Arc::ptr_eq(&placement, &shared.placement(&placement.text)));
    }

    #[test]
    fn a_pool_grows_with_what_is_used() {
        let mut pool = Pool::<str>::default();
        let kept: Vec<Arc<str>> = (0..5_000)
            .map(|number| pool.share(number.to_string().as_str()))
            .collect();
        assert_eq!(pool.known.len(), kept.len());
        // It looks through all values only when twice as many have come.
        assert!(
            pool.limit > kept.len() && pool.limit <= 2 * kept.len(),
            "{}",
            pool.limit
        );
    }
}
