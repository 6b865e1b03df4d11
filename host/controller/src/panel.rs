//! State that the scheduler shows to probes, Prometheus and operators, shared between the deciding thread and the server.
//!
//! The thread that decides publishes; readers never wait for it. Each lock is held for a copy at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use divvy_karmada::api::BindingScope;
use serde::Serialize;
use serde_json::Value;

use crate::explanations::{BYTES_MAX, Explanations};
use crate::objects::BindingKey;
use crate::observe::Metrics;
use crate::serve::{Check, Insight, ObjectPath, Unexplained};
use crate::watchdog::Watchdog;

/// State that the thread that decides publishes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Published {
    /// Kinds that are not listed yet.
    pub(crate) unsynced: Vec<&'static str>,
    /// Plugins that are quarantined.
    pub(crate) quarantined: Vec<&'static str>,
    /// Clusters that are missing.
    pub(crate) missing_clusters: Vec<String>,
}

/// State that the scheduler shows.
pub struct Panel {
    /// Metrics of this process.
    pub(crate) metrics: Arc<Metrics>,
    /// The observer of all plugins' calls.
    pub(crate) watchdog: Arc<Watchdog>,
    published: ArcSwap<Option<Published>>,
    explanations: Mutex<Explanations>,
    shadow: ArcSwap<Option<Value>>,
    /// What is said of the moves of bindings.
    moves: Mutex<HashMap<Arc<BindingKey>, String>>,
}

impl Panel {
    /// A panel on which nothing is published yet.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            watchdog: Arc::new(Watchdog::new(Arc::clone(&metrics))),
            metrics,
            published: ArcSwap::from_pointee(None),
            explanations: Mutex::new(Explanations::new(BYTES_MAX)),
            shadow: ArcSwap::from_pointee(None),
            moves: Mutex::default(),
        }
    }

    /// Publishes the state, if it changed.
    pub(crate) fn publish(&self, state: Published) {
        if self.published.load().as_ref().as_ref() != Some(&state) {
            self.published.store(Arc::new(Some(state)));
        }
    }

    /// Keeps the explanation of a decision.
    pub(crate) fn explained(&self, key: &Arc<BindingKey>, explanation: &impl Serialize) {
        self.lock().insert(key, explanation);
    }

    /// Keeps what is said of a binding's move; `None` if it has none.
    pub(crate) fn moving(&self, key: &Arc<BindingKey>, text: Option<String>) {
        let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => _ = moves.insert(Arc::clone(key), text),
            None => _ = moves.remove(key),
        }
    }

    /// Publishes the comparison with the scheduler in charge.
    pub(crate) fn shadowed(&self, page: Value) {
        self.shadow.store(Arc::new(Some(page)));
    }

    /// Forgets the explanation of a binding that is gone.
    pub(crate) fn forget(&self, key: &BindingKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Explanations> {
        self.explanations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Insight for Panel {
    fn checks(&self) -> Vec<Check> {
        let published = self.published.load();
        let caches = match published.as_ref() {
            None => Check::failing("caches", "the scheduler is starting"),
            Some(state) if !state.unsynced.is_empty() => {
                let kinds = state.unsynced.join(", ");
                Check::failing(
                    "caches",
                    format!("not listed yet: {kinds}; see the log for refused requests"),
                )
            }
            Some(_) => Check::passing("caches"),
        };
        let quarantined = published
            .as_ref()
            .as_ref()
            .map(|state| state.quarantined.join(", "))
            .unwrap_or_default();
        let plugins = match quarantined.is_empty() {
            true => Check::passing("plugins"),
            false => Check::failing(
                "plugins",
                format!("quarantined after repeated panics: {quarantined}; replace the plugin's file or its profile"),
            ),
        };
        let watchdog = match self.watchdog.hanging() {
            None => Check::passing("watchdog"),
            Some(hanging) => Check::failing("watchdog", format!("{hanging}; no decision is made until it does")),
        };
        vec![caches, plugins, watchdog]
    }

    fn metrics(&self) -> String {
        self.metrics.render()
    }

    fn explain(&self, object: &ObjectPath) -> Result<Value, Unexplained> {
        let scopes = [BindingScope::Namespaced, BindingScope::Cluster];
        let scope = scopes
            .into_iter()
            .find(|scope| scope.kind().eq_ignore_ascii_case(&object.kind));
        let scope = scope.ok_or_else(|| Unexplained::Kind {
            kind: object.kind.clone(),
        })?;
        let key = BindingKey {
            scope,
            namespace: object.namespace.clone().unwrap_or_default(),
            name: object.name.clone(),
        };
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let moving = moves.get(&key).cloned();
        drop(moves);
        let explanation = self.lock().get(&key);
        let mut explanation = explanation.ok_or_else(|| Unexplained::Forgotten { object: object.clone() })?;
        if let Some(moving) = moving {
            explanation["move"] = moving.into();
        }
        Ok(explanation)
    }

    fn missing_clusters(&self) -> Vec<String> {
        let published = self.published.load();
        let state = published.as_ref().as_ref();
        state.map(|state| state.missing_clusters.clone()).unwrap_or_default()
    }

    fn shadow(&self) -> Option<Value> {
        self.shadow.load().as_ref().clone()
    }
}
