//! Bindings whose result has fewer replicas than requested, until a cluster may have room for more.
//!
//! Such a binding is settled: nothing looks at it, except a change of the binding itself or of its policy. A cluster whose room grew
//! wakes it only if one more replica fits there by the general estimate, which accurate estimates can only reduce. A process that did
//! not decide the binding itself does not know the room at the time, and decides once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use divvy_scheduler::decision::Partial;
use divvy_scheduler::fleet::estimate::{Demand, estimate};

use super::{Engine, InFlight};
use crate::condition::{MESSAGE_MAX, SUCCESS_MESSAGE, shortened};
use crate::decision::LiveDecision;
use crate::objects::BindingKey;
use divvy_scheduler::decide::affinity::{ClusterProperties, selects};

/// The settled bindings, each with the demand of one replica.
pub(super) type Partials = BTreeMap<Arc<BindingKey>, Demand>;

impl Engine {
    /// Wakes the moves that lack room in these clusters, and the bindings with missing replicas for which one of them has room, because
    /// theirs may have grown. Those that are being written or estimated are looked at again afterwards.
    pub(super) fn room_grew(&mut self, clusters: &[&str], now: Instant) {
        for cluster in clusters {
            self.wake_moves_on(cluster, true, now);
        }
        if !self.knows_quorums {
            return;
        }
        let known = clusters.iter().filter(|name| !self.clusters.is_deleting(name));
        let grown: Vec<&ClusterProperties> = known.filter_map(|name| self.clusters.properties(name)).collect();
        let snapshot = self.snapshot.get_or_insert_with(|| self.fleet.snapshot());
        let columns = snapshot.snapshot().clusters();
        let ledger = self.holdings.ledger(snapshot, self.cluster_sets);
        let has_room = |demand: &Demand, cluster: &ClusterProperties| {
            let row = columns
                .row(&cluster.name)
                .and_then(|row| u32::try_from(row.index()).ok());
            let Some(row) = row else { return false };
            let mut fits = [0];
            estimate(&columns, &[row], demand, 1, Some(ledger), &mut fits);
            fits > [0]
        };
        let bindings = &self.bindings;
        let is_concerned = |key: &BindingKey, demand: Option<&Demand>| {
            let placement = bindings.get(key).and_then(|record| record.readable_placement());
            placement.is_some_and(|placement| {
                let mut selected = grown.iter().filter(|cluster| selects(placement, cluster));
                selected.any(|cluster| demand.is_none_or(|demand| has_room(demand, cluster)))
            })
        };
        for (key, in_flight) in &mut self.in_flight {
            if let Some(demand) = &in_flight.partial {
                in_flight.is_outdated |= is_concerned(key, Some(demand));
            }
        }
        for (key, is_outdated) in &mut self.estimating {
            *is_outdated |= is_concerned(key, self.unsettled.get(key));
        }
        let woken = self
            .partials
            .iter()
            .filter(|(key, demand)| is_concerned(key, Some(demand)));
        let woken: Vec<Arc<BindingKey>> = woken.map(|(key, _)| Arc::clone(key)).collect();
        for key in &woken {
            self.unsettle(key, now);
        }
    }

    /// Decides a binding with missing replicas again.
    fn unsettle(&mut self, key: &Arc<BindingKey>, now: Instant) {
        if let Some(demand) = self.partials.remove(key) {
            self.unsettled.insert(Arc::clone(key), demand);
            self.wake(key, now);
        }
    }

    /// Decides every binding with missing replicas again, because the profile has changed.
    pub(super) fn unsettle_all(&mut self, now: Instant) {
        for key in std::mem::take(&mut self.partials).into_keys() {
            self.wake(&key, now);
        }
    }

    /// Forgets a binding that is gone or not decided here.
    pub(super) fn forget_partial(&mut self, key: &BindingKey) {
        self.partials.remove(key);
        self.unsettled.remove(key);
    }

    /// Does not leave a binding settled whose estimates are older than the room of a cluster.
    pub(super) fn unsettle_outdated(&mut self, key: &Arc<BindingKey>, now: Instant) {
        match self.in_flight.get_mut(key) {
            Some(in_flight) => in_flight.is_outdated |= in_flight.partial.is_some(),
            None => self.unsettle(key, now),
        }
    }

    /// Settles a binding at the end of its decision, or of its look, if replicas are missing.
    pub(super) fn settle(&mut self, key: &Arc<BindingKey>, in_flight: &InFlight) {
        self.unsettled.remove(key);
        match in_flight.partial.clone().filter(|_| in_flight.failure.is_none()) {
            Some(demand) => _ = self.partials.insert(Arc::clone(key), demand),
            None => _ = self.partials.remove(key),
        }
    }
}

/// The demand of a binding whose decision leaves replicas missing.
pub(super) fn missing_demand(decision: &LiveDecision) -> Option<Demand> {
    let plan = decision.decision.plan.as_ref().as_ref().ok()?;
    decision.decision.partial.as_ref().map(|_| plan.demand.clone())
}

/// Message of the condition of a binding that is scheduled.
pub(super) fn success_message(partial: Option<&Partial>) -> String {
    match partial {
        None => SUCCESS_MESSAGE.to_owned(),
        Some(partial) => shortened(format!("Binding has been scheduled in part: {partial}."), MESSAGE_MAX),
    }
}

/// Message of the condition of a binding that was scheduled, in whole or in part, if the decision is no longer known.
pub(super) fn repaired_message(scheduled: i64, requested: Option<i64>) -> String {
    match requested {
        None => SUCCESS_MESSAGE.to_owned(),
        Some(requested) => {
            let missing = requested - scheduled;
            format!("Binding has been scheduled in part: {scheduled} of {requested} replicas, {missing} missing.")
        }
    }
}
