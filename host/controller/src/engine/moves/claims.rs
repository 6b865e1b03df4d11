//! What the moves use of the budgets, and the bindings that wait for them.

use std::sync::Arc;
use std::time::Instant;

use divvy_profile::MoveBudgets;
use divvy_scheduler::moves::budgets::{Admission, Claim, ClaimedCluster, Ledger};
use divvy_scheduler::moves::step::Reason as Wait;

use super::super::{Engine, Moment};
use crate::objects::BindingKey;

/// A move that is under way or waits, as it was seen last.
#[derive(Debug)]
pub(in crate::engine) struct Known {
    /// Its key, as budgets order it.
    pub(super) text: String,
    /// Priority of the binding.
    pub(super) priority: i32,
    /// True if it has begun, and has not released its claim.
    pub(super) is_under_way: bool,
    /// True if it waits for something else than a budget, and needs no claim.
    pub(super) is_blocked: bool,
    /// True if a budget of replicas limits its next step, whatever it waits for.
    pub(super) is_limited: bool,
    /// True if the binding has a mark.
    pub(super) has_mark: bool,
    /// The clusters in which it gives or takes.
    pub(super) clusters: Vec<KnownCluster>,
    /// All clusters whose readiness it depends on.
    pub(super) names: Vec<String>,
    /// What it waits for, and since when in this process.
    pub(super) wait: Option<(Wait, Instant)>,
}

/// A cluster of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownCluster {
    /// Its name.
    pub(super) name: String,
    /// Its region; empty if unknown.
    pub(super) region: String,
    /// Replicas that the move has given it and that are not known to be ready.
    pub(super) unready: i64,
}

impl Known {
    /// True if a report may permit the next step.
    pub(super) fn follows_reports(&self) -> bool {
        let is_elsewhere = |wait: &Wait| {
            matches!(
                wait,
                Wait::Hours | Wait::Dispatching | Wait::Budget(_) | Wait::Admission | Wait::MissingClusters
            )
        };
        self.has_mark || !self.wait.as_ref().is_some_and(|(wait, _)| is_elsewhere(wait))
    }

    /// True if the move depends on a cluster.
    pub(super) fn depends_on(&self, cluster: &str) -> bool {
        self.names.iter().any(|known| known == cluster)
    }

    /// The clusters, as budgets see them.
    pub(super) fn claimed(&self) -> Vec<ClaimedCluster<'_>> {
        let clusters = self.clusters.iter().map(|cluster| ClaimedCluster {
            name: &cluster.name,
            region: &cluster.region,
            unready: cluster.unready,
        });
        clusters.collect()
    }

    /// The claim on budgets, with its clusters.
    pub(super) fn claim<'a>(&'a self, clusters: &'a [ClaimedCluster<'a>]) -> Claim<'a> {
        Claim {
            binding: &self.text,
            priority: self.priority,
            is_under_way: self.is_under_way,
            is_blocked: self.is_blocked,
            clusters,
        }
    }

    /// Uses at least this in each of these clusters.
    fn add(&mut self, clusters: &[KnownCluster]) {
        for seen in clusters {
            match self.clusters.iter_mut().find(|known| known.name == seen.name) {
                Some(known) => known.unready = known.unready.max(seen.unready),
                None => self.clusters.push(seen.clone()),
            }
        }
    }

    /// True if this uses less of a budget than `before`.
    fn frees(&self, before: &Self) -> bool {
        let claims = |known: &Self| !known.is_blocked;
        let unready = |known: &Self| known.clusters.iter().map(|cluster| cluster.unready).sum::<i64>();
        let is_left = |name: &str| self.clusters.iter().all(|cluster| cluster.name != name);
        let leaves = || before.clusters.iter().any(|cluster| is_left(&cluster.name));
        before.is_under_way && !self.is_under_way
            || claims(before) && !claims(self)
            || unready(self) < unready(before)
            || leaves()
    }
}

impl Engine {
    /// The budgets of the profile.
    pub(super) fn budgets(&self) -> MoveBudgets {
        let moves = self.active.moves.as_ref();
        moves.and_then(|moves| moves.budgets).unwrap_or_default()
    }

    /// Keeps what a move uses, and looks at those that its end of use admits.
    pub(super) fn keep_claim(&mut self, key: &Arc<BindingKey>, known: Known, now: Instant) {
        let before = self.moves.known.get(key);
        let frees = before.is_some_and(|before| known.frees(before));
        self.moves.known.insert(Arc::clone(key), known);
        if frees {
            self.wake_admitted(now);
        }
    }

    /// Looks at the moves that wait for a budget and now have one.
    pub(super) fn wake_admitted(&mut self, now: Instant) {
        let budgets = self.budgets();
        if budgets == MoveBudgets::default() {
            return;
        }
        let waits = |known: &Known| {
            let is_for_budget = |(wait, _): &(Wait, Instant)| matches!(wait, Wait::Budget(_) | Wait::Admission);
            known.is_limited || known.wait.as_ref().is_some_and(is_for_budget)
        };
        if !self.moves.known.values().any(waits) {
            return;
        }
        let claimed: Vec<Vec<ClaimedCluster<'_>>> = self.moves.known.values().map(Known::claimed).collect();
        let known = self.moves.known.values().zip(&claimed);
        let claims: Vec<Claim<'_>> = known.map(|(known, clusters)| known.claim(clusters)).collect();
        let (admissions, _) = Ledger::admit(budgets, &claims);
        let admitted = self.moves.known.iter().zip(&admissions);
        let admitted = admitted.filter(|((_, known), admission)| waits(known) && **admission == Admission::Goes);
        let admitted: Vec<Arc<BindingKey>> = admitted.map(|((key, _), _)| Arc::clone(key)).collect();
        for key in &admitted {
            self.wake(key, now);
        }
    }

    /// Finds out what moves use whose replicas may be ready or not by now, before another one takes a step. What is being written is not
    /// seen yet, so that such a move uses the more of what it used before and what is seen. Moves that wait for what is freed are looked at.
    pub(in crate::engine) fn refresh_claims(&mut self, moment: &Moment) {
        if self.moves.stale.is_empty() {
            return;
        }
        let stale = std::mem::take(&mut self.moves.stale);
        if self.budgets() == MoveBudgets::default() {
            return;
        }
        let mut frees = false;
        for key in stale {
            let record = self.bindings.get(&key);
            let candidate = record.and_then(|record| super::Candidate::new(&key, record, self));
            let Some(candidate) = candidate else { continue };
            // Without a mark, nothing was given.
            let Some(mark) = self.read_mark(&candidate, moment) else {
                continue;
            };
            let seen = self.claim_of(&candidate, Some(&mark), moment);
            let is_in_flight = self.in_flight.contains_key(&key);
            let (Some(seen), Some(known)) = (seen, self.moves.known.get_mut(&key)) else {
                continue;
            };
            if is_in_flight {
                known.add(&seen.clusters);
            } else {
                frees |= seen.frees(known);
                known.clusters = seen.clusters;
                known.is_under_way = seen.is_under_way;
                known.is_blocked &= !seen.is_under_way;
            }
        }
        if frees {
            self.wake_admitted(moment.instant);
        }
    }

    /// Finds out what a move with a mark uses, before other moves begin.
    pub(super) fn load_claim(&mut self, key: &Arc<BindingKey>, moment: &Moment) {
        let record = self.bindings.get(key);
        let candidate = record.and_then(|record| super::Candidate::new(key, record, self));
        let Some(candidate) = candidate else { return };
        let mark = self.read_mark(&candidate, moment);
        if let Some(known) = self.claim_of(&candidate, mark.as_ref(), moment) {
            self.moves.known.insert(Arc::clone(key), known);
        }
    }
}
