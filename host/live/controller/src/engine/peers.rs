//! Placements of other bindings: the part that a decision sees, and the bindings that a change wakes.

use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::placements::Peers;

use super::Engine;
use super::effects::{Effects, Wake};
use super::life::Life;
use super::lives::Group;
use crate::condition::Cause;
use crate::objects::BindingKey;
use crate::placements::{LivePlacements, Observed, read_placement};
use crate::store::{Record, StoredBinding};

impl Engine {
    /// The peers that plugins see; `None` if no plugin needs them.
    pub(super) fn peers(&self, binding: &StoredBinding) -> Option<Peers> {
        let placements = self.placements.as_ref()?;
        Peers::of(binding, Some(placements.index()))
    }

    /// Begins to keep placements: those of the stored bindings, updated by the decisions in flight.
    pub(super) fn index_placements(&mut self) {
        let mut placements = LivePlacements::default();
        for (key, record) in self.bindings.iter().filter(|(_, record)| record.groups().is_some()) {
            placements.observe(key, observed(key, record));
        }
        let written = self.lives.of(Group::InFlight);
        let written = written.filter_map(|(key, life)| Some((key, life.placed()?)));
        let awaited = self.lives.of(Group::Compared);
        let awaited = awaited.filter_map(|(key, life)| Some((key, life.compared_result()?)));
        for (key, result) in written.chain(awaited) {
            placements.assume(key, result);
        }
        // No binding has been decided by them yet.
        placements.take_affected();
        self.placements = Some(placements);
    }

    /// Records the placement of a decision before it is written.
    pub(super) fn assume_placement(&mut self, key: &Arc<BindingKey>, result: &[TargetCluster]) -> Effects {
        self.change_placements(|placements| placements.assume(key, result))
    }

    /// Changes placements, and wakes the bindings that fail because of the placement of a peer. Does nothing if no
    /// plugin needs placements.
    pub(super) fn change_placements(&mut self, change: impl FnOnce(&mut LivePlacements)) -> Effects {
        let mut effects = Effects::default();
        let Some(placements) = &mut self.placements else {
            return effects;
        };
        change(placements);
        let affected = placements.take_affected();
        if !self.is_deciding() {
            return effects;
        }
        for key in &affected {
            let Some(key) = self.bindings.shared_key(key) else {
                continue;
            };
            match self.lives.get(key).and_then(Life::in_flight) {
                // Its failure is being written, but the change may have made it obsolete.
                Some(in_flight) if in_flight.failure.is_some() => _ = self.lives.update(key, Life::outdate),
                Some(_) => {}
                None => {
                    if let Some(Cause::Filters | Cause::Capacity) = self.lives.queue.cause(key) {
                        effects.look(key, Wake::Parked);
                    }
                }
            }
        }
        effects
    }
}

/// The part of a stored binding that its peers see.
pub(super) fn observed(key: &BindingKey, record: &Record) -> Observed {
    read_placement(key, record.groups(), || record.clusters.targets())
}
