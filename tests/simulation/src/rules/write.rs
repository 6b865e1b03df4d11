//! Rule a: no process writes without holding the lease.

use divvy_judge::LeaseRule;
use divvy_world::agenda::Millis;
use divvy_world::server::Request;
use serde_json::Value;

use super::decision::{is_reschedule_unanswered, takes_away};
use super::moves::is_marked;
use super::rest::follows_room;
use super::{Rule, Verdict};
use crate::oracle::targets_of;
use crate::world::World;

impl World<'_> {
    /// Judges a write that was carried out.
    pub(crate) fn judge_write(&mut self, request: &Request, before: Option<&Value>, after: Option<&Value>) {
        self.books.writes += 1;
        let writer = request.process;
        let what = || format!("number {writer} wrote {}", request.key);
        let mut rule = LeaseRule::default();
        // The identity in the lease is `p<slot>-<number>`.
        let number = self.lease.holder().and_then(|holder| holder.rsplit_once('-'));
        let holder = number.map_or_else(String::new, |(_, number)| format!(" {number}"));
        rule.note(&holder, millis(self.lease.written_at));
        if let Some(text) = rule.judge(&format!("number {writer}"), &request.key.to_string(), millis(self.now)) {
            self.breach(Rule::A, text);
        }
        if let (Some(before), Some(after)) = (before, after) {
            if targets_of(before) != targets_of(after) {
                self.books.results_at.insert(request.key.clone(), self.now);
            }
            self.judge_step(request, before, after);
            self.judge_plan(request, before, after);
        }
        self.judge_move(request, before, after);
        if self.books.quiet_since.is_some() && before != after {
            self.breach(Rule::E, format!("{}, when everything was at rest", what()));
        }
    }

    /// Replicas are taken away at most once for each change of the binding, or of what clusters offer that the decision knew. A process that died
    /// between the two patches of a reschedule has left no record that it was answered: the next one may answer it again.
    fn judge_move(&mut self, request: &Request, before: Option<&Value>, after: Option<&Value>) {
        let (Some(before), Some(after)) = (before, after) else {
            return;
        };
        // A move takes replicas away step by step.
        if is_marked(before) || is_marked(after) {
            return;
        }
        let is_unanswered = is_reschedule_unanswered(before);
        if follows_room(before) {
            self.books.moves.ask(&request.key.to_string(), 0);
        }
        let (before, after) = (targets_of(before), targets_of(after));
        if before == after {
            return;
        }
        let known = self.books.known.get(&request.key).copied().unwrap_or_default();
        let known_before = self.books.known_when_written.insert(request.key.clone(), known);
        if known_before.is_some_and(|before| self.books.has_other_offer(before, known)) {
            self.books.moves.ask(&request.key.to_string(), 0);
        }
        if takes_away(&before, &after) {
            let mover = self.books.movers.insert(request.key.clone(), request.process);
            if is_unanswered && mover.is_some_and(|mover| mover != request.process) {
                self.books.moves.ask(&request.key.to_string(), 0);
            }
            let (before, after) = (before.into_iter().collect(), after.into_iter().collect());
            if let Some(text) = self.books.moves.judge(&request.key.to_string(), &before, &after) {
                self.breach(Rule::E, text);
            }
        }
    }

    /// Ends the life with the breach of a rule.
    pub(crate) fn breach(&mut self, rule: Rule, text: String) {
        self.note(|| format!("✗ rule {rule}: {text}"));
        if self.verdict.is_none() {
            self.verdict = Some(Verdict { rule, text });
        }
    }
}

/// A time in the judge's type.
fn millis(at: Millis) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}
