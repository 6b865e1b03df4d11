//! Targets that a plan gives bindings: what runs goes to its target in steps, and what waits is decided with exactly the planned room.
//!
//! A binding leaves its plan when it has reached its target, or when the plan does not fit it any more. Either way its annotation is removed, and
//! it is decided as any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_karmada::api::{Placement, TargetCluster};
use divvy_scheduler::cycle::CycleInput;
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::decision::Estimates;
use divvy_scheduler::fleet::estimate::Demand;
use divvy_scheduler::moves::change::{AtOnce, Course};
use divvy_scheduler::moves::look::Wish;
use divvy_scheduler::moves::mark::ReadMark;
use divvy_scheduler::moves::planned::{
    LeavesPlan, PLANNED_ANNOTATION, PlannedBinding, PlannedTarget, Progress, counts,
};
use divvy_scheduler::moves::step::{Stepped, Verdict};
use divvy_scheduler::plan::{Decidable, Plan};

use super::carry::Kept;
use super::look::group;
use super::{Candidate, Engine, Moment};
use crate::condition::{Cause, Failure, Retry, ScheduledReason};
use crate::decision::LiveDecision;
use crate::engine::News;
use crate::engine::apply::{Next, Outcome};
use crate::engine::effects::Count;
use crate::engine::life::{InFlight, Why};
use crate::estimates::Answers;
use crate::observe::PlanEnd;
use crate::write::execute::described;
use crate::write::{SpecificationPatch, StatusWanted};

/// A binding's place in its plan.
pub(in crate::engine) struct Planned {
    pub(in crate::engine) target: PlannedTarget,
    progress: Progress,
}

/// The room that a plan gives a binding beyond what it has, as far as estimators agree.
pub(in crate::engine) struct PlannedRoom<'a> {
    given: BTreeMap<&'a str, i64>,
    answers: Option<&'a dyn Estimates>,
}

impl Estimates for PlannedRoom<'_> {
    fn fits(&self, cluster: &str, demand: &Demand) -> Option<i64> {
        let given = self.given.get(cluster).copied().unwrap_or(0);
        let answered = self.answers.and_then(|answers| answers.fits(cluster, demand));
        Some(answered.map_or(given, |answered| answered.min(given)))
    }
}

impl Planned {
    /// True if the binding has its target.
    pub(in crate::engine) fn is_reached(&self) -> bool {
        self.progress == Progress::Reached
    }

    /// True if the binding is not on its way to its target yet.
    pub(in crate::engine) fn is_to_begin(&self) -> bool {
        self.progress == Progress::Before
    }

    /// The room that the plan gives the binding.
    pub(in crate::engine) fn room<'a>(
        &'a self,
        last: &[TargetCluster],
        answers: Option<&'a dyn Estimates>,
    ) -> PlannedRoom<'a> {
        PlannedRoom {
            given: self.target.gains(last),
            answers,
        }
    }
}

impl Engine {
    /// The place of a binding in its plan; `None` if it is in none, and in shadow mode, which takes no steps. `Err` if it leaves the plan.
    pub(in crate::engine) fn read_planned(
        &self,
        candidate: &Candidate,
        mark: Option<&ReadMark>,
        moment: &Moment,
    ) -> Option<Result<Planned, LeavesPlan>> {
        if self.shadow.is_some() {
            return None;
        }
        let text = candidate.record().annotation(PLANNED_ANNOTATION)?;
        let binding = PlannedBinding {
            generation: candidate.binding.generation(),
            result: candidate.last(),
            total: candidate.replicas(),
            mark: mark.and_then(ReadMark::valid),
            now: moment.milliseconds,
        };
        let is_there = |name: &str| self.clusters.contains(name) && !self.clusters.is_deleting(name);
        Some(PlannedTarget::parse(text).and_then(|target| {
            let progress = target.progress(&binding, is_there)?;
            Ok(Planned { target, progress })
        }))
    }

    /// The plan of a binding that waits for replicas: it is decided with the room of the plan. One that has all its replicas is not.
    pub(in crate::engine) fn planned_wait(&self, candidate: &Candidate, moment: &Moment) -> Option<Planned> {
        let mark = self.read_mark(candidate, moment);
        let placed: i64 = counts(candidate.last()).values().sum();
        let planned = self.read_planned(candidate, mark.as_ref(), moment)?.ok()?;
        (planned.is_to_begin() && placed < candidate.replicas()).then_some(planned)
    }

    /// The outcome of a decision with the room of a plan that is not the planned one: the binding waits for its room, or leaves the plan. `Err`
    /// if it is the planned one.
    pub(in crate::engine) fn unplanned(
        &mut self,
        candidate: &Candidate,
        planned: &Planned,
        decision: &LiveDecision,
        reason: Reason,
        moment: &Moment,
    ) -> Result<Outcome, ()> {
        let plan = &planned.target.plan;
        match &decision.result {
            Ok(result) if counts(result) == planned.target.target => return Err(()),
            Err(failure) if failure.retry != Retry::After(Cause::Capacity) => {
                let left = LeavesPlan::DecidedOtherwise {
                    decision: failure.message.clone(),
                };
                return Ok(self.leave_plan(candidate, Some(plan), Some(&left), moment));
            }
            _ => {}
        }
        let failure = Failure {
            reason: ScheduledReason::Unschedulable,
            message: format!(
                "it waits for the room that the plan `{plan}` gives it: {}",
                described(&planned.target.result())
            ),
            retry: Retry::After(Cause::Capacity),
        };
        Ok(self.report_failure(candidate, None, failure, Some(reason), moment))
    }

    /// Goes to the target of a plan, in steps.
    pub(in crate::engine) fn follow_plan(
        &mut self,
        candidate: &Candidate,
        (placement, answers): (&Arc<Placement>, Option<&Answers>),
        mark: Option<&ReadMark>,
        planned: &Planned,
        moment: &Moment,
    ) -> Outcome {
        let plan = &planned.target.plan;
        let target = planned.target.result();
        let leaves =
            |engine: &mut Self, left: &LeavesPlan| engine.leave_plan(candidate, Some(plan), Some(left), moment);
        let Some(moves) = self.active.moves.clone() else {
            return leaves(self, &LeavesPlan::NoMoves);
        };
        let words = match candidate.written_allowances() {
            Ok(words) => words,
            Err(failure) => return self.stuck(candidate, failure, None, moment),
        };
        let is_moving = mark.is_some_and(|mark| mark.valid().is_some());
        match self.course_of(candidate, placement, &words, (candidate.last(), &target)) {
            Course::Steps => {}
            // On its way, it goes to its target by the rules of its mark.
            Course::Unchanged | Course::AtOnce(AtOnce::OnlyGives) if is_moving => {}
            Course::Unchanged => return self.leave_plan(candidate, Some(plan), None, moment),
            Course::AtOnce(why) => return leaves(self, &LeavesPlan::NotInSteps(why)),
        }
        let gains = planned.target.gains(candidate.last());
        if let Some(job) = (!gains.is_empty())
            .then(|| self.question(candidate, placement, answers))
            .flatten()
        {
            return Outcome::new(Next::Ask(Box::new(job)));
        }
        if !is_moving {
            match self.refused_cluster(candidate, gains.keys().copied(), moment) {
                Ok(None) => {}
                Ok(Some(cluster)) => return leaves(self, &LeavesPlan::Refused { cluster }),
                Err(failure) => return self.stuck(candidate, failure, None, moment),
            }
        }
        let terms = match self.terms(candidate, &words, moves.exclusion(&words), moment) {
            Ok(terms) => terms,
            Err(failure) => return self.stuck(candidate, failure, None, moment),
        };
        let stepped = self.judge(candidate, mark, Wish::Decided(&target), Some(&terms), answers, moment);
        let is_anew = |stepped: &Stepped| matches!(stepped.verdict, Verdict::DecideAnew(_));
        if stepped.as_ref().is_ok_and(is_anew) {
            return self.decide(candidate, placement, Reason::MoveInterrupted, answers, moment);
        }
        let footprint = candidate.record().footprint();
        let kept = Kept::of_last(candidate, &footprint);
        let mut found = Outcome::default();
        found.holds_until(kept.valid_until, moment);
        let outcome = self.follow_verdict(candidate, mark, stepped, &kept, moment);
        let outcome = outcome.unwrap_or_else(|()| self.leave_plan(candidate, Some(plan), None, moment));
        outcome.after(found)
    }

    /// The first of these clusters that the binding's filters do not let it use.
    ///
    /// # Errors
    ///
    /// A filter failed, or the binding has no plan.
    fn refused_cluster<'a>(
        &mut self,
        candidate: &Candidate,
        mut clusters: impl Iterator<Item = &'a str>,
        moment: &Moment,
    ) -> Result<Option<String>, Failure> {
        let profile = Arc::clone(&self.active.profile);
        let plan = Plan::under(&profile, &candidate.binding.input());
        let no_plan = || Failure::unwritten("no step of its plan: the binding cannot be decided");
        let plan = plan.as_ref().map_err(|_| no_plan())?;
        let group = group(plan, candidate).ok_or_else(no_plan)?;
        let peers = self.peers(&candidate.binding);
        let (snapshot, _) = self.fleet.snapshot();
        let input = CycleInput {
            time: Some(moment.milliseconds),
            peers: peers.as_ref(),
            ..CycleInput::new(&profile, &snapshot, plan, group)
        };
        let rows = self
            .cycle
            .feasible(&input)
            .map_err(|error| Failure::from_cycle(&error))?;
        let refused = clusters.find(|name| !rows.iter().any(|row| snapshot.name(*row) == *name));
        self.panel.watchdog.decided();
        Ok(refused.map(str::to_owned))
    }

    /// Removes the annotation of a binding that has reached its target, or leaves its plan for a reason. It is looked at again then.
    pub(in crate::engine) fn leave_plan(
        &mut self,
        candidate: &Candidate,
        plan: Option<&str>,
        left: Option<&LeavesPlan>,
        moment: &Moment,
    ) -> Outcome {
        let named = plan.map_or_else(|| "its plan".to_owned(), |plan| format!("the plan `{plan}`"));
        let announcement = match left {
            None => candidate.announcement(News::Scheduled, format!("it has the result that {named} wants")),
            Some(left) => {
                tracing::info!(binding = %candidate.key, plan, cause = %left, "a binding leaves its plan");
                candidate.announcement(News::Warning, format!("it leaves {named}: {left}"))
            }
        };
        let wanted = StatusWanted {
            condition: None,
            observes: false,
            notes_generation: false,
            scheduled_at: None,
            stamps: false,
            affinity: None,
            now: moment.wall,
        };
        let patch = SpecificationPatch {
            ends_plan: true,
            ..SpecificationPatch::default()
        };
        let in_flight = InFlight {
            last: candidate.last().to_vec(),
            announcements: vec![announcement],
            looks_again: true,
            ..InFlight::new(None, moment)
        };
        let mut outcome = self.write(candidate, Some(patch), wanted, in_flight, moment);
        outcome.effects.count(Count::PlanEnd(match left {
            None => PlanEnd::Reached,
            Some(_) => PlanEnd::Left,
        }));
        outcome.look_after(Why::Plan, None);
        outcome
    }
}
