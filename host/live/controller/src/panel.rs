//! State that the scheduler shows to probes, Prometheus and operators, shared between the deciding thread and the server.
//!
//! The thread that decides publishes, and no one waits for another for longer than a copy takes: of what is large, the pointer is copied.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use divvy_karmada::api::BindingScope;
use serde::Serialize;
use serde_json::{Value, json};

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

/// Beginning of the reason why a result is not moved in steps.
pub(crate) const NOT_IN_STEPS: &str = "not moved in steps: ";

/// True for what is said of a move, rather than of a result without one.
fn is_of_move(text: &str) -> bool {
    !text.starts_with(NOT_IN_STEPS)
}

/// State that the scheduler shows.
pub struct Panel {
    /// Metrics of this process.
    pub(crate) metrics: Arc<Metrics>,
    /// The observer of all plugins' calls.
    pub(crate) watchdog: Arc<Watchdog>,
    published: Mutex<Option<Arc<Published>>>,
    /// The reason why no process is known to lead; none without a lease.
    leaderless: Mutex<Option<String>>,
    explanations: Mutex<Explanations>,
    shadow: Mutex<Option<Arc<Value>>>,
    /// What is said of the moves of bindings.
    moves: Mutex<HashMap<Arc<BindingKey>, String>>,
}

impl Panel {
    /// A panel on which nothing is published yet.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            watchdog: Arc::new(Watchdog::new(Arc::clone(&metrics))),
            metrics,
            published: Mutex::default(),
            leaderless: Mutex::default(),
            explanations: Mutex::new(Explanations::new(BYTES_MAX)),
            shadow: Mutex::default(),
            moves: Mutex::default(),
        }
    }

    /// Publishes the state, if it changed.
    pub(crate) fn publish(&self, state: Published) {
        let mut published = locked(&self.published);
        if published.as_deref() != Some(&state) {
            *published = Some(Arc::new(state));
        }
    }

    /// Publishes that no process is known to lead, and why; `None` if one is.
    pub(crate) fn leaderless(&self, cause: Option<String>) {
        *locked(&self.leaderless) = cause;
    }

    /// Keeps the explanation of a decision.
    pub(crate) fn explained(&self, key: &Arc<BindingKey>, explanation: &impl Serialize) {
        self.lock().insert(key, explanation);
    }

    /// Keeps what is said of a binding's move; `None` if it has none.
    pub(crate) fn moving(&self, key: &Arc<BindingKey>, text: Option<String>) {
        let mut moves = locked(&self.moves);
        match text {
            Some(text) => _ = moves.insert(Arc::clone(key), text),
            None => _ = moves.remove(key),
        }
    }

    /// Keeps nothing of the move of any binding. Why a result was not moved in steps is part of its explanation, and stays.
    pub(crate) fn nothing_moves(&self) {
        locked(&self.moves).retain(|_, text| !is_of_move(text));
    }

    /// The bindings of whose moves anything is said.
    pub(crate) fn moving_keys(&self) -> Vec<Arc<BindingKey>> {
        let moves = locked(&self.moves);
        let of_moves = moves.iter().filter(|(_, text)| is_of_move(text));
        of_moves.map(|(key, _)| Arc::clone(key)).collect()
    }

    /// The bindings whose decision is explained.
    pub(crate) fn explained_keys(&self) -> Vec<Arc<BindingKey>> {
        self.lock().keys().map(Arc::clone).collect()
    }

    /// Publishes the comparison with the scheduler in charge.
    pub(crate) fn shadowed(&self, page: Value) {
        *locked(&self.shadow) = Some(Arc::new(page));
    }

    /// Forgets the explanation of a binding that is gone.
    pub(crate) fn forget(&self, key: &BindingKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, Explanations> {
        locked(&self.explanations)
    }

    fn published(&self) -> Option<Arc<Published>> {
        locked(&self.published).clone()
    }
}

/// What a lock guards, also after a panic: each of these values is replaced as a whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Insight for Panel {
    fn checks(&self) -> Vec<Check> {
        let published = self.published();
        let caches = match published.as_deref() {
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
        let quarantined = published.map(|state| state.quarantined.join(", ")).unwrap_or_default();
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
        let lease = match locked(&self.leaderless).clone() {
            None => Check::passing("lease"),
            Some(cause) => Check::failing("lease", cause),
        };
        vec![caches, plugins, watchdog, lease]
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
        let moving = locked(&self.moves).get(&key).cloned();
        let explanation = self.lock().get(&key);
        match (explanation, moving) {
            (Some(mut explanation), Some(moving)) => {
                explanation["move"] = moving.into();
                Ok(explanation)
            }
            (Some(explanation), None) => Ok(explanation),
            // Another process decided the target, and this one goes on.
            (None, Some(moving)) => Ok(json!({"move": moving})),
            (None, None) => Err(Unexplained::Forgotten { object: object.clone() }),
        }
    }

    fn missing_clusters(&self) -> Vec<String> {
        let published = self.published();
        published
            .map(|state| state.missing_clusters.clone())
            .unwrap_or_default()
    }

    fn shadow(&self) -> Option<Value> {
        let page = locked(&self.shadow).clone();
        page.map(Arc::unwrap_or_clone)
    }
}
