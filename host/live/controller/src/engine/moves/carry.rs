//! The writes and waits that follow from a verdict.

use std::sync::Arc;
use std::time::Duration;

use divvy_karmada::api::{Placement, TargetCluster};
use divvy_profile::{IncludedKind, OnExclusion, WrittenAllowances};
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::decide::rules::Sum;
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::moves::change::{AtOnce, Course, Workload, course, hindrance};
use divvy_scheduler::moves::look::Wish;
use divvy_scheduler::moves::mark::{Mark, ReadMark};
use divvy_scheduler::moves::readiness::Reporting;
use divvy_scheduler::moves::step::{Occasion, Reason as Wait, Stepped, Verdict, Write};

use super::look::reports;
use super::{Candidate, Engine, Moment, REPORT_TIME, is_news};
use crate::condition::{Failure, SUCCESS_MESSAGE, ScheduledReason};
use crate::decision::{LiveDecision, replicas_on};
use crate::engine::apply::{Next, Outcome};
use crate::engine::effects::{Count, Turn};
use crate::engine::life::{InFlight, Why};
use crate::engine::outcome::Chosen;
use crate::engine::{Announcement, News};
use crate::estimates::Answers;
use crate::objects::BindingKey;
use crate::observe::IncomingEvent;
use crate::panel::NOT_IN_STEPS;
use crate::write::StatusWanted;
use crate::write::execute::described;

/// Time after which a surge is tried again that a quota has refused, whether the quota has changed or not.
const QUOTA_TIME: Duration = Duration::from_secs(300);

/// What a step keeps of the decision or of the steps before it.
pub(super) struct Kept<'a> {
    affinity: &'a str,
    pub(super) valid_until: Option<i64>,
    footprint: &'a Footprint,
    reason: Option<Reason>,
}

impl<'a> Kept<'a> {
    /// What the last decision left, for a further step.
    pub(super) fn of_last(candidate: &'a Candidate, footprint: &'a Footprint) -> Self {
        let applied = candidate.applied.as_ref();
        Self {
            affinity: applied
                .and_then(|applied| applied.affinity.as_deref())
                .unwrap_or_default(),
            valid_until: applied.and_then(|applied| applied.valid_until),
            footprint,
            reason: None,
        }
    }
}

impl Engine {
    /// Goes on with a binding that has a valid mark: to its target, or back to its sum if the profile makes no moves.
    pub(in crate::engine) fn go_on(
        &mut self,
        candidate: &Candidate,
        placement: &Arc<Placement>,
        mark: Option<&ReadMark>,
        answers: Option<&Answers>,
        moment: &Moment,
    ) -> Outcome {
        let key = &candidate.key;
        let last = candidate.last();
        let valid = mark.and_then(ReadMark::valid);
        let target = valid.map(|mark| mark.target(last)).unwrap_or_default();
        let goes_on = self.active.moves.is_some();
        let gives = target
            .iter()
            .any(|(name, wanted)| *wanted > replicas_on(last, name).map_or(0, i64::from));
        if goes_on
            && gives
            && let Some(job) = self.question(candidate, placement, answers)
        {
            return Outcome::new(Next::Ask(Box::new(job)));
        }
        let policy = match goes_on {
            true => candidate.written_allowances(),
            false => Ok(WrittenAllowances::default()),
        };
        let terms = policy.and_then(|policy| self.terms(candidate, &policy, OnExclusion::Steps, moment));
        let terms = match terms {
            Ok(terms) => terms,
            Err(failure) => return self.stuck(candidate, failure, None, moment),
        };
        let wish = if goes_on { Wish::Continue } else { Wish::Cancel };
        let stepped = self.judge(candidate, mark, wish, Some(&terms), answers, moment);
        let is_anew = |stepped: &Stepped| matches!(stepped.verdict, Verdict::DecideAnew(_));
        if stepped.as_ref().is_ok_and(is_anew) {
            return self.decide(candidate, placement, Reason::MoveInterrupted, answers, moment);
        }
        let footprint = candidate.record().footprint();
        let kept = Kept::of_last(candidate, &footprint);
        let mut found = Outcome::default();
        found.holds_until(kept.valid_until, moment);
        let outcome = self.follow_verdict(candidate, mark, stepped, &kept, moment);
        let outcome = outcome.unwrap_or_else(|()| {
            let forgotten = self.forget_move(key);
            self.satisfied(candidate, moment).after(forgotten)
        });
        outcome.after(found)
    }

    /// Plans the write of a decided result: in steps, or as a whole.
    pub(in crate::engine) fn resulting(
        &mut self,
        candidate: &Candidate,
        (placement, answers): (&Placement, Option<&Answers>),
        decision: &LiveDecision,
        result: &[TargetCluster],
        reason: Reason,
        moment: &Moment,
    ) -> Outcome {
        if self.active.moves.is_none() {
            return self.scheduled(candidate, decision, result, reason, moment);
        }
        let policy = candidate.written_allowances();
        // An annotation that cannot be read may ask for steps.
        let words = policy.as_ref().cloned().unwrap_or_else(|_| WrittenAllowances {
            include: Some(vec![IncludedKind::StatefulSet, IncludedKind::WithoutReadiness]),
            ..WrittenAllowances::default()
        });
        let mark = self.read_mark(candidate, moment);
        let has_bounds = mark.as_ref().is_some_and(|read| read.mark.is_some());
        let profile = self.active.moves.as_deref();
        let (total, workload) = (self.total(candidate, placement), self.workload(candidate));
        let course = course(candidate.last(), result, total, &workload, profile, &words);
        let hindrance = hindrance(result, total, &workload, profile, &words);
        let is_paced = match course {
            Course::Steps => true,
            // One that is not moved in steps, such as a duplicated one, may have a sum that no step reaches.
            Course::Unchanged | Course::AtOnce(AtOnce::OnlyGives) if has_bounds => hindrance.is_none(),
            // The mark keeps what such a report shows from being believed.
            Course::AtOnce(AtOnce::FirstResult | AtOnce::OnlyGives) if self.is_shown(candidate, result) => {
                hindrance.is_none()
            }
            Course::Unchanged | Course::AtOnce(_) => false,
        };
        if !is_paced {
            let forgotten = self.forget_move(&candidate.key);
            // Of every result but the first, before which nothing is reported, so that what is said does not depend on the last change.
            let is_first = course == Course::AtOnce(AtOnce::FirstResult);
            let hindrance = hindrance.filter(|hindrance| !is_first && *hindrance != AtOnce::NotDivided);
            let mut outcome = self.scheduled(candidate, decision, result, reason, moment);
            if let Some(hindrance) = hindrance {
                let shown = format!("{NOT_IN_STEPS}{hindrance}");
                outcome.effects.show(&candidate.key, Some(shown));
            }
            return outcome.after(forgotten);
        }
        let exclusion = self.active.moves.as_ref().map(|moves| moves.exclusion(&words));
        let exclusion = exclusion.unwrap_or_default();
        let terms = policy.and_then(|policy| self.terms(candidate, &policy, exclusion, moment));
        let terms = match terms {
            Ok(terms) => terms,
            Err(failure) => return self.stuck(candidate, failure, Some(reason), moment),
        };
        let wish = Wish::Decided(result);
        let stepped = self.judge(candidate, mark.as_ref(), wish, Some(&terms), answers, moment);
        let kept = Kept {
            affinity: decision.affinity(),
            valid_until: decision.decision.valid_until,
            footprint: &decision.footprint,
            reason: Some(reason),
        };
        let outcome = self.follow_verdict(candidate, mark.as_ref(), stepped, &kept, moment);
        outcome.unwrap_or_else(|()| {
            let forgotten = self.forget_move(&candidate.key);
            let outcome = self.scheduled(candidate, decision, result, reason, moment);
            outcome.after(forgotten)
        })
    }

    /// True if a cluster that a result gives replicas reports some that it was given before, and that may be on their way out: Karmada has
    /// evicted them, or someone else has moved them.
    fn is_shown(&self, candidate: &Candidate, result: &[TargetCluster]) -> bool {
        let mut reports = reports(&candidate.record().aggregated).into_iter();
        let count = |targets: &[TargetCluster], name: &str| replicas_on(targets, name).map_or(0, i64::from);
        reports.any(|report| {
            let before = count(candidate.last(), report.cluster);
            count(result, report.cluster) > before && report.ready_replicas.is_some_and(|ready| ready > before)
        })
    }

    /// The way in which a result is written over a present one.
    pub(super) fn course_of(
        &self,
        candidate: &Candidate,
        placement: &Placement,
        policy: &WrittenAllowances,
        (present, result): (&[TargetCluster], &[TargetCluster]),
    ) -> Course {
        let profile = self.active.moves.as_deref();
        let (total, workload) = (self.total(candidate, placement), self.workload(candidate));
        course(present, result, total, &workload, profile, policy)
    }

    /// The replicas that a binding asks for, and what its result adds up to.
    fn total(&self, candidate: &Candidate, placement: &Placement) -> (i64, Sum) {
        (candidate.replicas(), self.sum(candidate, placement))
    }

    fn workload(&self, candidate: &Candidate) -> Workload {
        let record = candidate.record();
        let reporting = Reporting::new(record.kind(), &reports(&record.aggregated));
        // The labels of the workload are not on its binding.
        Workload::new(record.kind(), record.footprint().is_component_set(), None, reporting)
    }

    /// The outcome of a verdict. `Err` if there is nothing to move.
    pub(super) fn follow_verdict(
        &mut self,
        candidate: &Candidate,
        mark: Option<&ReadMark>,
        stepped: Result<Stepped, Failure>,
        kept: &Kept<'_>,
        moment: &Moment,
    ) -> Result<Outcome, ()> {
        let key = &candidate.key;
        let mut found = Outcome::default();
        let Stepped {
            verdict,
            claim,
            valid_until,
        } = match stepped {
            Ok(stepped) => stepped,
            Err(failure) => return Ok(self.stuck(candidate, failure, kept.reason, moment)),
        };
        match verdict {
            Verdict::AtTarget | Verdict::DecideAnew(_) => Err(()),
            Verdict::Wait(wait) => {
                found.effects.announce(self.announced_wait(candidate, &wait));
                let target = claim.as_ref().map_or(&[][..], |claim| &claim.target);
                // At its target, nothing but reports is waited for.
                let shown = match target == candidate.last() {
                    true => format!("it is at its target, and waits for {wait}"),
                    false => format!(
                        "it is moved in steps from {} to {}, and waits for {wait}",
                        described(candidate.last()),
                        described(target)
                    ),
                };
                found.effects.show(key, Some(shown));
                let times = [
                    self.report_due(mark, moment),
                    self.hours_due(&wait, moment),
                    valid_until.filter(|until| *until > moment.milliseconds),
                    (wait == Wait::Quota).then(|| moment.milliseconds.saturating_add(milliseconds(QUOTA_TIME))),
                ];
                let due = times.into_iter().flatten().min();
                let due = due.map(|due| due.saturating_sub(moment.milliseconds));
                found.look_after(Why::Step, due);
                if let Some(claim) = claim {
                    found
                        .effects
                        .append(self.keep_claim(candidate, claim, Some(&wait), moment));
                }
                if mark.and_then(ReadMark::valid).is_none() {
                    return Ok(self.waits_to_begin(candidate, moment).after(found));
                }
                let evicts = !candidate.record().evictions().is_empty();
                let sum: i64 = candidate.last().iter().map(|target| i64::from(target.replicas)).sum();
                let observes = !evicts || sum >= candidate.replicas();
                Ok(self.stays(candidate, observes, moment).after(found))
            }
            Verdict::Write(write) => {
                let text = match write.mark.as_ref().map(Mark::write).transpose() {
                    Ok(text) => text,
                    Err(error) => {
                        let failure = Failure::invalid_binding(error.to_string());
                        return Ok(self.stuck(candidate, failure, kept.reason, moment));
                    }
                };
                let due = text.is_some().then(|| milliseconds(REPORT_TIME));
                // A move that ends is forgotten once its mark is removed.
                found.effects.append(match claim {
                    Some(claim) => self.keep_claim(candidate, claim, None, moment),
                    None => self.forget_move(key),
                });
                found.look_after(Why::Step, due);
                let message = message(&write);
                found.effects.show(key, text.is_some().then(|| message.clone()));
                found.effects.count(Count::MoveWrite(write.occasion));
                let chosen = Chosen {
                    result: &write.result,
                    affinity: kept.affinity,
                    valid_until: kept.valid_until,
                    partial_of: None,
                    missing: None,
                    message,
                    footprint: kept.footprint,
                    reason: kept.reason,
                    mark: text,
                    is_step: write.occasion == Occasion::Step,
                    observes: write.observes,
                };
                Ok(self.chosen(candidate, &chosen, moment).after(found))
            }
        }
    }

    /// A move that has not begun: the binding is decided again when it is looked at. Its condition may still be that of a failure which is over.
    fn waits_to_begin(&mut self, candidate: &Candidate, moment: &Moment) -> Outcome {
        let known = candidate.record().scheduled();
        if known.is_none_or(|condition| condition.status() != "False") {
            return Outcome::default();
        }
        let wanted = StatusWanted::condition_alone(ScheduledReason::Success, SUCCESS_MESSAGE.to_owned(), moment.wall);
        let in_flight = InFlight {
            last: candidate.last().to_vec(),
            ..InFlight::new(None, moment)
        };
        self.write(candidate, None, wanted, in_flight, moment)
    }

    /// The failure of a move: nothing is written but the condition. What it uses of the budgets stays as it was seen last.
    pub(super) fn stuck(
        &mut self,
        candidate: &Candidate,
        failure: Failure,
        reason: Option<Reason>,
        moment: &Moment,
    ) -> Outcome {
        let message = failure.message.clone();
        let mut outcome = self.report_failure(candidate, None, failure, reason, moment);
        outcome.effects.show(&candidate.key, Some(message));
        outcome
    }

    /// Has a binding that cannot be decided looked at when the bounds of its mark end, unless it is looked at for its move before: until then,
    /// what the move gave uses budgets, whatever reports show.
    pub(in crate::engine) fn look_once_settled(&self, candidate: &Candidate, outcome: &mut Outcome, moment: &Moment) {
        let life = self.lives.get(&candidate.key);
        if life.is_none_or(|life| life.moving.is_none() || life.is_due(Why::Step)) {
            return;
        }
        let mark = self.read_mark(candidate, moment);
        if let Some(due) = self.report_due(mark.as_ref(), moment) {
            outcome.look_after(Why::Step, Some(due.saturating_sub(moment.milliseconds)));
        }
    }

    /// The time at which the bounds of a mark end, in milliseconds since 1970.
    fn report_due(&self, mark: Option<&ReadMark>, moment: &Moment) -> Option<i64> {
        let mark = mark.and_then(|read| read.mark.as_ref())?;
        Some(mark.at.saturating_add(milliseconds(REPORT_TIME))).filter(|due| *due > moment.milliseconds)
    }

    /// The time at which the hours for moves begin, in milliseconds since 1970, if a move waits for them.
    fn hours_due(&self, wait: &Wait, moment: &Moment) -> Option<i64> {
        let moves = self.active.moves.as_ref().filter(|_| *wait == Wait::Hours)?;
        moves.opens_after(moment.milliseconds)
    }

    /// The event that tells people once what a move waits for, if they can end the wait.
    fn announced_wait(&self, candidate: &Candidate, wait: &Wait) -> Option<Announcement> {
        let known = self.known_move(&candidate.key);
        let before = known.and_then(|known| known.wait.as_ref());
        let is_known = before.is_some_and(|(before, _)| before.word() == wait.word());
        let message = || format!("its move waits for {wait}");
        (is_news(wait) && !is_known).then(|| candidate.announcement(News::Warning, message()))
    }

    /// A quota has refused a step. If it is the surge that was refused, the binding is looked at again without one, which is returned.
    pub(in crate::engine) fn surge_refused(&mut self, key: &Arc<BindingKey>) -> Option<Turn> {
        if !self.refuse_surge(key) {
            return None;
        }
        self.note_refused(key);
        Some(Turn::Again(IncomingEvent::BindingUpdate))
    }
}

/// The condition's message of a result on the way.
fn message(write: &Write) -> String {
    let Some(mark) = &write.mark else {
        return SUCCESS_MESSAGE.to_owned();
    };
    let target = mark
        .target(&write.result)
        .into_iter()
        .filter(|(_, replicas)| *replicas > 0);
    let target = target.map(|(name, replicas)| TargetCluster {
        name,
        replicas: i32::try_from(replicas).unwrap_or(i32::MAX),
        components: Vec::new(),
    });
    let target: Vec<TargetCluster> = target.collect();
    match target == write.result {
        true => SUCCESS_MESSAGE.to_owned(),
        false => format!(
            "Binding has been scheduled, and is moved in steps to {}.",
            described(&target)
        ),
    }
}

pub(in crate::engine) fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
