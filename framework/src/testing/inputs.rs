//! Inputs that the kit offers only if a plugin declares them, the preferences of the policy, and the deadline of an answer.

use std::sync::atomic::{AtomicI64, Ordering};

use super::Scenario;
use crate::plugin::Needs;

/// Time until which the last answer holds, in milliseconds since 1970; `i64::MAX` if the plugin set none.
#[derive(Debug)]
pub(super) struct ValidUntil(AtomicI64);

impl ValidUntil {
    pub(super) fn set(&self, milliseconds: i64) {
        self.0.store(milliseconds, Ordering::Relaxed);
    }

    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for ValidUntil {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MAX))
    }
}

impl Clone for ValidUntil {
    fn clone(&self) -> Self {
        Self(AtomicI64::new(self.get()))
    }
}

impl Scenario {
    /// Sets the preferences that the policy carries for the plugin of a step, as JSON. None by default. A plugin reads
    /// them as the type named at the extension point; a plugin that names none refuses them.
    #[must_use]
    pub fn preferences(mut self, preferences: &serde_json::Value) -> Self {
        self.preferences = preferences.to_string();
        self
    }

    /// Grants the needs that the plugin has with its configuration, as [`ConfiguredPlugin::needs`] returns them. The
    /// needs of its extension points are granted anyway.
    ///
    /// [`ConfiguredPlugin::needs`]: crate::plugin::ConfiguredPlugin::needs
    #[must_use]
    pub fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// Sets the time of the decision, in milliseconds since 1970. Unknown by default.
    #[must_use]
    pub fn time(mut self, milliseconds: i64) -> Self {
        self.time = Some(milliseconds);
        self
    }

    /// Sets the binding's priority in the scheduling queue. 0 by default.
    #[must_use]
    pub fn priority(mut self, priority: i64) -> Self {
        self.binding.queue_priority(priority);
        self
    }

    /// Adds a label of the binding itself.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.binding.label(key, value);
        self
    }

    /// Adds an annotation of the binding itself.
    #[must_use]
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.binding.annotation(key, value);
        self
    }

    /// Sets the labels and annotations of the policy. Unknown by default.
    #[must_use]
    pub fn policy_metadata(mut self, labels: &[(&str, &str)], annotations: &[(&str, &str)]) -> Self {
        self.binding
            .policy_metadata(labels.iter().copied(), annotations.iter().copied());
        self
    }

    /// Sets the labels and annotations of the workload. Unknown by default.
    #[must_use]
    pub fn workload_metadata(mut self, labels: &[(&str, &str)], annotations: &[(&str, &str)]) -> Self {
        self.binding
            .workload_metadata(labels.iter().copied(), annotations.iter().copied());
        self
    }

    /// Time until which the answer of the last step holds, in milliseconds since 1970; `None` if the plugin set no
    /// time.
    pub fn valid_until(&self) -> Option<i64> {
        let milliseconds = self.valid_until.get();
        (milliseconds != i64::MAX).then_some(milliseconds)
    }
}
