//! What the moves use of the budgets, and the bindings that wait for them.

use std::sync::Arc;
use std::time::Instant;

use divvy_profile::MoveBudgets;
use divvy_scheduler::moves::budgets::{Admission, Claim, ClaimedCluster, Ledger};

use super::super::{Engine, Moment};
use super::known::Known;
use crate::objects::BindingKey;

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

    /// Looks at the moves that wait for a budget of which there is more now than when they were looked at.
    pub(super) fn wake_admitted(&mut self, now: Instant) {
        let budgets = self.budgets();
        if budgets == MoveBudgets::default() {
            return;
        }
        let waits = |known: &Known| known.waits_for_place() || !known.wants.is_empty();
        if !self.moves.known.values().any(waits) {
            return;
        }
        let claimed: Vec<Vec<ClaimedCluster<'_>>> = self.moves.known.values().map(Known::claimed).collect();
        let known = self.moves.known.values().zip(&claimed);
        let claims: Vec<Claim<'_>> = known.map(|(known, clusters)| known.claim(clusters)).collect();
        let (admissions, ledger) = Ledger::admit(budgets, &claims);
        let admitted = self.moves.known.iter().zip(&admissions);
        let admitted = admitted.filter(|((_, known), admission)| {
            known.waits_for_place() && **admission == Admission::Goes || known.may_give_more(&ledger)
        });
        let admitted: Vec<Arc<BindingKey>> = admitted.map(|((key, _), _)| Arc::clone(key)).collect();
        for key in &admitted {
            self.wake(key, now);
        }
    }

    /// Finds out what moves use whose replicas may be ready or not by now, before another one takes a step. What is being written is not
    /// seen yet, so that such a move uses the more of what it used before and what is seen, until the write has ended. Moves that wait for
    /// what is freed are looked at.
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
            let mark = self.read_mark(&candidate, moment);
            // Without a mark, nothing was given.
            if mark.is_none() && !self.moves.known.get(&key).is_some_and(Known::has_given) {
                continue;
            }
            let seen = self.claim_of(&candidate, mark.as_ref(), moment);
            let is_in_flight = self.in_flight.contains_key(&key);
            let (Some(seen), Some(known)) = (seen, self.moves.known.get_mut(&key)) else {
                continue;
            };
            if is_in_flight {
                known.add(&seen.clusters);
            } else {
                let seen = known.using(seen);
                frees |= seen.frees(known);
                *known = seen;
            }
        }
        if frees {
            self.wake_admitted(moment.instant);
        }
    }

    /// A binding cannot be decided, or its move not be judged, until something else changes. If the move has not begun, it leaves its turn to
    /// others. What it has given before counts.
    pub(in crate::engine) fn pass_over(&mut self, key: &Arc<BindingKey>, now: Instant) {
        let known = self.moves.known.get_mut(key);
        let Some(known) = known.filter(|known| !known.is_under_way) else {
            return;
        };
        known.wait = None;
        known.wants.clear();
        if !std::mem::replace(&mut known.is_blocked, true) {
            self.wake_admitted(now);
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
