//! What is left of bindings that are not decided here: nothing may be.

use std::sync::Arc;

use super::Engine;
use crate::holdings::HeldPart;
use crate::objects::BindingKey;
use crate::placements::LivePlacements;

impl Engine {
    /// What is remembered, shown or counted of bindings that this process does not decide, by binding: of those that are suspended or
    /// another scheduler's, and of all while it does not lead. Of bindings that are gone, anything counts. A write or a question under way
    /// does not, because it ends by its answer.
    ///
    /// There is never any. This is for tests that say so.
    pub fn leftovers(&self) -> Vec<String> {
        let is_gone = |key: &BindingKey| self.bindings.get(key).is_none();
        let lives = self.lives.iter().filter(|(key, _)| !self.decides(key));
        let lives = lives.flat_map(|(key, life)| life.traces().map(move |trace| format!("{key}: {trace}")));
        let queued = self.lives.queue.keys().filter(|key| !self.decides(key));
        let queued = queued.map(|key| format!("{key}: turn in the queue"));
        let shown = self.panel.moving_keys().into_iter().filter(|key| !self.decides(key));
        let shown = shown.map(|key| format!("{key}: text about its move"));
        let explained = self.panel.explained_keys();
        let of_gone: [(&str, Vec<&Arc<BindingKey>>); 5] = [
            ("explanation", explained.iter().collect()),
            (
                "held capacity",
                self.capacity
                    .holdings
                    .parts()
                    .map(|part: HeldPart<'_>| part.binding)
                    .collect(),
            ),
            ("recent taking", self.capacity.takings.keys().collect()),
            ("assumed workload", self.capacity.assumed.keys().collect()),
            (
                "assumed placement",
                self.placements.iter().flat_map(LivePlacements::keys).collect(),
            ),
        ];
        let of_gone = of_gone.iter().flat_map(|(what, keys)| {
            let gone = keys.iter().filter(|key| is_gone(key));
            gone.map(move |key| format!("{key}: {what}"))
        });
        let mut leftovers: Vec<String> = lives.chain(queued).chain(shown).chain(of_gone).collect();
        leftovers.sort();
        leftovers
    }
}
