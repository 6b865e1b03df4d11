//! What the moves use of the budgets, and the bindings that wait for them.

use std::sync::Arc;

use divvy_profile::MoveBudgets;
use divvy_scheduler::moves::budgets::{Admission, Applicant, ClaimedCluster, Ledger};
use divvy_scheduler::moves::claim::Claim;
use divvy_scheduler::moves::step::Reason as Wait;

use super::super::effects::Effects;
use super::super::lives::Group;
use super::super::{Engine, Moment};
use super::Candidate;
use super::known::Known;
use crate::objects::BindingKey;

impl Engine {
    /// The budgets of the profile.
    pub(super) fn budgets(&self) -> MoveBudgets {
        let moves = self.active.moves.as_ref();
        moves.and_then(|moves| moves.budgets).unwrap_or_default()
    }

    /// Keeps what a move uses and waits for, and looks at those that its end of use admits.
    pub(super) fn keep_claim(
        &mut self,
        candidate: &Candidate,
        claim: Claim,
        wait: Option<&Wait>,
        moment: &Moment,
    ) -> Effects {
        let key = &candidate.key;
        let before = self.known_move(key);
        let since = before.and_then(|before| before.wait.as_ref());
        let since = since.filter(|(before, _)| wait.is_some_and(|wait| wait.word() == before.word()));
        let since = since.map_or(moment.instant, |(_, since)| *since);
        let known = Known {
            wait: wait.map(|wait| (wait.clone(), since)),
            ..without_wait(candidate, claim)
        };
        let frees = before.is_some_and(|before| known.frees(before));
        self.lives.change(key, |life| life.moving = Some(Box::new(known)));
        self.admitted_if(frees)
    }

    /// Looks at the moves that wait for a budget, if something has freed some of it.
    fn admitted_if(&self, frees: bool) -> Effects {
        match frees {
            true => self.wake_admitted(),
            false => Effects::default(),
        }
    }

    /// Looks at the moves that wait for a budget of which there is more now than when they were looked at.
    pub(in crate::engine) fn wake_admitted(&self) -> Effects {
        let budgets = self.budgets();
        let waits = |known: &Known| known.waits_for_place() || !known.claim.wants.is_empty();
        if budgets == MoveBudgets::default() || !self.known_moves().any(|(_, known)| waits(known)) {
            return Effects::default();
        }
        let claimed = self.known_moves().map(|(_, known)| known.claim.claimed());
        let claimed: Vec<Vec<ClaimedCluster<'_>>> = claimed.collect();
        let known = self.known_moves().zip(&claimed);
        let applicants: Vec<Applicant<'_>> = known.map(|((_, known), clusters)| known.applicant(clusters)).collect();
        let (admissions, ledger) = Ledger::admit(budgets, &applicants);
        let admitted = self.known_moves().zip(&admissions);
        let admitted = admitted.filter(|((_, known), admission)| {
            known.waits_for_place() && **admission == Admission::Goes || known.claim.may_give_more(&ledger)
        });
        Effects::around(admitted.map(|((key, _), _)| Arc::clone(key)))
    }

    /// Finds out what moves use whose replicas may be ready or not by now, before another one takes a step. What is being written is not
    /// seen yet, so that such a move uses the more of what it used before and what is seen, until the write has ended. Moves that wait for
    /// what is freed are looked at.
    pub(in crate::engine) fn refresh_claims(&mut self, moment: &Moment) -> Effects {
        if self.lives.keys(Group::Stale).is_empty() {
            return Effects::default();
        }
        let stale = self.lives.keys(Group::Stale).clone();
        for key in &stale {
            self.lives.update(key, |life| life.is_stale = false);
        }
        if self.budgets() == MoveBudgets::default() {
            return Effects::default();
        }
        let mut frees = false;
        for key in stale {
            let record = self.bindings.shared(&key);
            let candidate = record.and_then(|record| Candidate::new(&key, record, self));
            let Some(candidate) = candidate else { continue };
            let mark = self.read_mark(&candidate, moment);
            // Without a mark, nothing was given.
            if mark.is_none() && !self.known_move(&key).is_some_and(Known::has_given) {
                continue;
            }
            let seen = self.claim_of(&candidate, mark.as_ref(), moment);
            let Some(seen) = seen else { continue };
            self.lives.update(&key, |life| {
                let is_in_flight = life.in_flight().is_some();
                let Some(known) = &mut life.moving else { return };
                if is_in_flight {
                    known.claim.add(&seen.clusters);
                } else {
                    let seen = known.using(seen);
                    frees |= seen.frees(known);
                    **known = seen;
                }
            });
        }
        self.admitted_if(frees)
    }

    /// A binding cannot be decided, or its move not be judged, until something else changes. If the move has not begun, it leaves its turn to
    /// others. What it has given before counts.
    pub(in crate::engine) fn pass_over(&mut self, key: &Arc<BindingKey>) -> Effects {
        let leaves_turn = self.lives.update(key, |life| {
            let Some(known) = life.moving.as_mut().filter(|known| !known.claim.is_under_way) else {
                return false;
            };
            known.wait = None;
            known.claim.wants.clear();
            !std::mem::replace(&mut known.claim.is_blocked, true)
        });
        self.admitted_if(leaves_turn == Some(true))
    }

    /// Finds out what a move with a mark uses, before other moves begin.
    pub(super) fn load_claim(&mut self, key: &Arc<BindingKey>, moment: &Moment) {
        let record = self.bindings.shared(key);
        let candidate = record.and_then(|record| Candidate::new(key, record, self));
        let Some(candidate) = candidate else { return };
        let mark = self.read_mark(&candidate, moment);
        if let Some(claim) = self.claim_of(&candidate, mark.as_ref(), moment) {
            let known = without_wait(&candidate, claim);
            self.lives.change(key, |life| life.moving = Some(Box::new(known)));
        }
    }
}

/// The move of a binding that waits for nothing that is known.
fn without_wait(candidate: &Candidate, claim: Claim) -> Known {
    Known {
        text: candidate.key.to_string(),
        priority: candidate.record().priority,
        claim,
        wait: None,
    }
}
