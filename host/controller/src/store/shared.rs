//! Texts and placements that many bindings share, each held once.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_karmada::api::{Placement, ReadJson};

/// A placement that all bindings of a policy share.
#[derive(Debug)]
pub struct SharedPlacement {
    /// The placement as JSON, with every field that the API server keeps.
    pub text: Arc<str>,
    /// The placement; the default and the error if it cannot be read.
    pub placement: Result<Arc<Placement>, String>,
}

/// Texts and placements by their text.
#[derive(Debug, Default)]
pub struct Shared {
    texts: HashMap<Arc<str>, ()>,
    placements: HashMap<Arc<str>, Arc<SharedPlacement>>,
    /// Number of entries above which unused ones are dropped.
    limit: usize,
}

impl Shared {
    /// The one copy of a text.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some((known, ())) = self.texts.get_key_value(text) {
            return Arc::clone(known);
        }
        self.make_room();
        let shared: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&shared), ());
        shared
    }

    /// The one copy of a placement.
    pub fn placement(&mut self, text: &str) -> Arc<SharedPlacement> {
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

    /// Drops what nothing uses once there are twice as many entries as after the last time.
    fn make_room(&mut self) {
        const SMALLEST_LIMIT: usize = 1024;
        if self.texts.len() < self.limit.max(SMALLEST_LIMIT) {
            return;
        }
        self.placements.retain(|_, placement| Arc::strong_count(placement) > 1);
        self.texts.retain(|text, ()| Arc::strong_count(text) > 1);
        self.limit = 2 * self.texts.len();
    }
}
