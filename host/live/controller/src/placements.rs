//! Placements of bindings in workload affinity groups: on the control plane, and after the decisions in flight.
//!
//! The placement of a decision counts at once, so that the next decision sees it. A successful write keeps it; a failed one
//! restores the placement on the control plane. Versions that arrive meanwhile are kept aside. Placements are kept only for
//! profiles with a plugin that needs them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use divvy_karmada::api::{BindingScope, TargetCluster, WorkloadAffinityGroups};
use divvy_scheduler::placements::{Placements, Targets, targets_of};

use crate::objects::BindingKey;

/// A binding on the control plane: its groups, if it is in any, and its clusters.
pub(crate) type Observed = Option<(WorkloadAffinityGroups, Targets)>;

/// The part of a binding that its peers see. `clusters` is called only if it is in a group.
pub(crate) fn read_placement(
    key: &BindingKey,
    groups: Option<&WorkloadAffinityGroups>,
    clusters: impl FnOnce() -> Vec<TargetCluster>,
) -> Observed {
    let groups = groups.filter(|groups| !groups.is_empty() && key.scope == BindingScope::Namespaced)?;
    Some((groups.clone(), targets_of(&clusters())))
}

/// The placements of a live control plane.
#[derive(Debug, Default)]
pub(crate) struct LivePlacements {
    index: Placements,
    /// The versions on the control plane of the bindings whose decision is in flight.
    in_flight: HashMap<Arc<BindingKey>, Observed>,
    /// Bindings whose peers changed since [`Self::take_affected`].
    affected: BTreeSet<BindingKey>,
}

impl LivePlacements {
    /// Records a version of a binding, as [`read_placement`] reads it.
    pub(crate) fn observe(&mut self, key: &BindingKey, observed: Observed) {
        match self.in_flight.get_mut(key) {
            Some(aside) => *aside = observed,
            None => self.set(key, observed),
        }
    }

    /// Records the placement of a decision, until [`Self::keep`] or [`Self::take_back`].
    pub(crate) fn assume(&mut self, key: &Arc<BindingKey>, result: &[TargetCluster]) {
        let Some((groups, targets)) = self.current(key) else {
            return;
        };
        let assumed = Some((groups.clone(), targets_of(result)));
        self.in_flight
            .entry(Arc::clone(key))
            .or_insert_with(|| Some((groups, targets)));
        self.set(key, assumed);
    }

    /// Keeps the placement of a decision that was written.
    pub(crate) fn keep(&mut self, key: &BindingKey) {
        self.in_flight.remove(key);
    }

    /// Restores the placement on the control plane, because the decision was not written.
    pub(crate) fn take_back(&mut self, key: &BindingKey) {
        if let Some(observed) = self.in_flight.remove(key) {
            self.set(key, observed);
        }
    }

    /// Takes back every decision in flight.
    pub(crate) fn take_back_all(&mut self) {
        let mut keys: Vec<Arc<BindingKey>> = self.in_flight.keys().map(Arc::clone).collect();
        keys.sort_unstable();
        for key in keys {
            self.take_back(&key);
        }
    }

    /// Forgets a binding that is gone.
    pub(crate) fn forget(&mut self, key: &BindingKey) {
        self.in_flight.remove(key);
        self.set(key, None);
    }

    /// The bindings whose decision is in flight, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Arc<BindingKey>> {
        self.in_flight.keys()
    }

    /// The placements, for a decision.
    pub(crate) fn index(&self) -> &Placements {
        &self.index
    }

    /// Bindings whose peers changed since the last call, in order.
    pub(crate) fn take_affected(&mut self) -> BTreeSet<BindingKey> {
        std::mem::take(&mut self.affected)
    }

    fn current(&self, key: &BindingKey) -> Observed {
        let (groups, targets) = self.index.get(&key.namespace, &key.name)?;
        (key.scope == BindingScope::Namespaced).then(|| (groups.clone(), Arc::clone(targets)))
    }

    fn set(&mut self, key: &BindingKey, placed: Observed) {
        if key.scope != BindingScope::Namespaced {
            return;
        }
        let before = self.current(key);
        if before == placed {
            return;
        }
        let (namespace, name) = (&key.namespace, &key.name);
        match &placed {
            Some((groups, targets)) => _ = self.index.set(namespace, name, groups, Arc::clone(targets)),
            None => _ = self.index.remove(namespace, name),
        }
        for (groups, _) in before.iter().chain(&placed) {
            let names = self.index.names_in(namespace, name, groups);
            self.affected
                .extend(names.into_iter().map(|name| BindingKey { name, ..key.clone() }));
        }
    }
}

#[cfg(test)]
mod tests;
