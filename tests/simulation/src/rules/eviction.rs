//! Rule f: an eviction that ends because it is replaced leaves as many ready replicas as there were.

use divvy_controller::objects::ObjectKey;
use divvy_world::agenda::Millis;
use divvy_world::plane::target_number;
use serde_json::Value;

use super::Rule;
use crate::oracle::targets_of;
use crate::world::{GRACE, World};

impl World<'_> {
    /// Judges the end of a binding's evictions, with its pods in each cluster that have been ready, which is not due by time. A result of half of the grace period ago counts as shown, however late
    /// reports are, and is Karmada's own risk.
    pub(crate) fn judge_eviction(&mut self, key: &ObjectKey, binding: &Value, ready: &[i64]) {
        let written = self.books.results_at.get(key);
        let age = written.map_or(Millis::MAX, |at| self.now - at);
        if age >= Millis::from(GRACE) * 1_000 / 2 || !binding["spec"]["components"].is_null() {
            return;
        }
        self.books.evictions += 1;
        let targets = targets_of(binding);
        let asked: i64 = targets.iter().map(|(_, replicas)| replicas).sum();
        let before: i64 = ready.iter().sum();
        let listed = binding["spec"]["clusters"].as_array().into_iter().flatten();
        let left = listed.filter_map(|target| {
            let replicas = target["replicas"].as_i64().unwrap_or(0);
            Some(ready[target_number(target)?].min(replicas))
        });
        let left: i64 = left.sum();
        // A profile with moves may let some be unavailable.
        let unavailable = self.profile.moves().map_or(0, |moves| moves.unavailable);
        if left < before.min(asked - unavailable) {
            let text = format!(
                "the eviction of {} ends, and leaves {left} ready replicas of {before}; {asked} are asked for: {targets:?}",
                key.name
            );
            self.breach(Rule::F, text);
        }
    }
}
