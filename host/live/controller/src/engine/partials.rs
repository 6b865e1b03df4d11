//! Bindings whose result has fewer replicas than requested, until a cluster may have room for more.
//!
//! Such a binding is settled: nothing looks at it, except a change of the binding itself or of its policy. A cluster whose room grew
//! wakes it only if one more replica fits there by the general estimate, which accurate estimates can only reduce. A process that did
//! not decide the binding itself does not know the room at the time, and decides once.

use std::sync::Arc;

use divvy_scheduler::decision::Partial;
use divvy_scheduler::fleet::estimate::{Demand, estimate};

use super::Engine;
use super::effects::{Effects, Wake};
use super::life::{InFlight, Life, Missing};
use super::lives::Group;
use crate::condition::{MESSAGE_MAX, SUCCESS_MESSAGE, shortened};
use crate::decision::LiveDecision;
use crate::objects::BindingKey;
use divvy_scheduler::decide::affinity::{ClusterProperties, selects};

impl Engine {
    /// Wakes the moves that lack room in these clusters, and the bindings with missing replicas for which one of them has room, because
    /// theirs may have grown. Those that are being written or estimated are looked at again afterwards.
    pub(super) fn room_grew(&mut self, clusters: &[&str]) -> Effects {
        let mut effects = Effects::default();
        for cluster in clusters {
            effects.append(self.wake_moves_on(cluster, true));
        }
        if !self.lives.knows_quorums {
            return effects;
        }
        let known = clusters.iter().filter(|name| !self.clusters.is_deleting(name));
        let grown: Vec<&ClusterProperties> = known.filter_map(|name| self.clusters.properties(name)).collect();
        let (snapshot, set) = self.fleet.snapshot();
        let columns = snapshot.snapshot().clusters();
        let ledger = self.capacity.holdings.ledger(&snapshot, set);
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
        self.lives.outdate(|key, life| match (life.in_flight(), &life.missing) {
            (Some(in_flight), _) => {
                let partial = in_flight.partial.as_ref();
                partial.is_some_and(|demand| is_concerned(key, Some(demand)))
            }
            (None, Some(Missing::Unsettled(demand))) => is_concerned(key, Some(demand)),
            (None, _) => is_concerned(key, None),
        });
        let settled = self.lives.of(Group::Settled);
        let woken = settled.filter(|(key, life)| life.settled().is_some_and(|demand| is_concerned(key, Some(demand))));
        let woken: Vec<Arc<BindingKey>> = woken.map(|(key, _)| Arc::clone(key)).collect();
        for key in &woken {
            effects.append(self.unsettle(key));
        }
        effects
    }

    /// Decides a binding with missing replicas again.
    fn unsettle(&mut self, key: &Arc<BindingKey>) -> Effects {
        let is_unsettled = self.lives.update(key, |life| match life.missing.take() {
            Some(Missing::Settled(demand)) => {
                life.missing = Some(Missing::Unsettled(demand));
                true
            }
            other => {
                life.missing = other;
                false
            }
        });
        let mut effects = Effects::default();
        if is_unsettled == Some(true) {
            effects.look(key, Wake::Around);
        }
        effects
    }

    /// Decides every binding with missing replicas again, because the profile has changed.
    pub(super) fn unsettle_all(&mut self) -> Effects {
        let settled = self.lives.keys(Group::Settled).clone();
        for key in &settled {
            self.lives.update(key, |life| life.missing = None);
        }
        Effects::around(settled)
    }

    /// Does not leave a binding settled whose estimates are older than the room of a cluster.
    pub(super) fn unsettle_outdated(&mut self, key: &Arc<BindingKey>) -> Effects {
        match self.lives.get(key).and_then(Life::in_flight) {
            Some(in_flight) if in_flight.partial.is_none() => {}
            Some(_) => _ = self.lives.update(key, Life::outdate),
            None => return self.unsettle(key),
        }
        Effects::default()
    }

    /// Settles a binding at the end of its decision, or of its look, if replicas are missing.
    pub(super) fn settle(&mut self, key: &Arc<BindingKey>, in_flight: &InFlight) {
        match in_flight.partial.clone().filter(|_| in_flight.failure.is_none()) {
            Some(demand) => self
                .lives
                .change(key, |life| life.missing = Some(Missing::Settled(demand))),
            None => _ = self.lives.update(key, |life| life.missing = None),
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
