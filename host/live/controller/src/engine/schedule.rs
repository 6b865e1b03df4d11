//! Takes the next binding, decides it if a rule applies, and plans the write.

use std::sync::Arc;
use std::time::Duration;

use divvy_karmada::api::{Placement, TargetCluster};
use divvy_scheduler::cycle::Detail;
use divvy_scheduler::decision::{Circumstances, Estimates};
use divvy_scheduler::moves::mark::ReadMark;
use divvy_scheduler::plan::{Decidable, Plan, UNENFORCED_HINT};
use serde_json::json;

use super::apply::{Next, Outcome};
use super::candidate::Candidate;
use super::effects::{Count, Effects, Turn};
use super::held::{may_depend_on_holding, must_wait};
use super::jointly::Part;
use super::life::{InFlight, Life, Why};
use super::moves::{Planned, reason_to_interrupt};
use super::{Announcement, Engine, Moment, News, Task};
use crate::condition::{Cause, Failure, Retry, ScheduledReason};
use crate::decision::LiveDecision;
use crate::estimates::Answers;
use crate::explanations::describe;
use crate::guard::takes_away;
use crate::objects::BindingKey;
use crate::observe::CYCLE;
use crate::takings::Current;
use crate::write::execute::described;
use crate::write::{SpecificationPatch, StatusWanted};
use divvy_scheduler::decide::rules::{Reason, Standing, Sum, reason_to_decide};

/// Time that a binding waits once for its policy, whose watch may be behind.
const POLICY_WAIT: Duration = Duration::from_millis(250);

/// Label of bindings that have no policy, because another controller than the detector made them: MultiClusterService's.
const MANAGED_BY: &str = "binding.karmada.io/managed-by";

/// Clusters up to which each decision is explained in full.
const EXPLAINED_CLUSTERS: usize = 200;

/// Clusters without replicas that an explanation lists in a larger fleet, per plugin and reason.
const EXPLAINED_PER_REASON: usize = 20;

/// Bindings that may wait while decisions are explained in a larger fleet.
const EXPLAINED_BACKLOG: usize = 16;

impl Engine {
    /// Takes bindings out of the queue until one needs a write or estimates, which is returned; `None` if no binding is
    /// ready.
    ///
    /// That binding is not taken again until [`Self::complete`] or [`Self::estimated`] reports the outcome.
    pub fn next(&mut self, moment: &Moment) -> Option<Task> {
        if let Some(task) = self.next_of_burst(moment) {
            return Some(task);
        }
        if !self.is_deciding() {
            return None;
        }
        let effects = self.load_moves(moment);
        self.carry_out(effects, moment.instant);
        self.decide_burst(moment);
        if let Some(task) = self.next_of_burst(moment) {
            return Some(task);
        }
        loop {
            let taken = self.lives.queue.take(moment.instant)?;
            let mut effects = Effects::default();
            effects.count(Count::QueueWait(taken.waited));
            self.carry_out(effects, moment.instant);
            if let Some(task) = self.look_at(&taken.key, None, moment) {
                return Some(task);
            }
        }
    }

    /// Decides a binding with the estimators' answers.
    pub fn estimated(&mut self, key: &Arc<BindingKey>, answers: &Answers, moment: &Moment) -> Option<Task> {
        let is_outdated = self.lives.take_estimating(key)?;
        if !self.is_deciding() {
            return None;
        }
        let task = self.look_at(key, Some(answers), moment);
        if is_outdated {
            let effects = self.unsettle_outdated(key);
            self.carry_out(effects, moment.instant);
        }
        task
    }

    pub(super) fn look_at(
        &mut self,
        key: &Arc<BindingKey>,
        answers: Option<&Answers>,
        moment: &Moment,
    ) -> Option<Task> {
        let span = tracing::info_span!(target: CYCLE, "schedule", binding = %key);
        let _inside = span.entered();
        let effects = self.refresh_claims(moment);
        self.carry_out(effects, moment.instant);
        let outcome = self.look(key, answers, moment);
        self.apply(key, outcome, moment)
    }

    fn look(&mut self, key: &Arc<BindingKey>, answers: Option<&Answers>, moment: &Moment) -> Outcome {
        let record = self.bindings.shared(key).filter(|record| record.is_ours);
        let Some(mut candidate) = record.and_then(|record| Candidate::new(key, record, self)) else {
            return Outcome::default();
        };
        if self.lives.get(key).is_some_and(Life::is_completable) {
            candidate.expires_at(moment.milliseconds);
        }
        let is_awaited = self.awaits_policy(&candidate);
        let mut waits_first = || {
            self.lives
                .change(key, |life| !std::mem::replace(&mut life.has_awaited_policy, true))
        };
        if is_awaited && waits_first() {
            return Outcome::new(Next::Turn(Turn::Later(POLICY_WAIT)));
        }
        let placement = match &candidate.placement.placement {
            Ok(placement) => placement,
            Err(error) => {
                let failure = Failure::invalid_binding(format!("the placement cannot be read: {error}"));
                return self.failed(&candidate, None, failure, None, moment);
            }
        };
        if let Some(failure) = self.unenforced(&candidate, placement) {
            return self.failed(&candidate, None, failure, None, moment);
        }
        self.lives.knows_quorums |= candidate.own.quorum.is_some() || candidate.request.quorum.is_some();
        let mark = self.read_mark(&candidate, moment);
        let is_moving = mark.as_ref().is_some_and(|mark| mark.valid().is_some());
        let planned = match self.read_planned(&candidate, mark.as_ref(), moment).transpose() {
            Ok(planned) => planned,
            Err(left) => return self.leave_plan(&candidate, None, Some(&left), moment),
        };
        if let Some(planned) = planned.as_ref().filter(|planned: &&Planned| planned.is_reached()) {
            return self.leave_plan(&candidate, Some(&planned.target.plan), None, moment);
        }
        let reason = self.reason_to_decide(&candidate, placement, mark.as_ref(), moment);
        let mut found = Outcome::default();
        let until = planned.as_ref().map(|planned| planned.target.until);
        found.look_after(
            Why::Plan,
            until.map(|until| until.saturating_sub(moment.milliseconds).saturating_add(1)),
        );
        let outcome = match (reason, planned) {
            (None, Some(planned)) if planned.is_to_begin() => {
                self.follow_plan(&candidate, (placement, answers), mark.as_ref(), &planned, moment)
            }
            (None, _) if is_moving => self.go_on(&candidate, placement, mark.as_ref(), answers, moment),
            (None, _) => {
                let mut found = Outcome::default();
                let taken_back = self.take_back(&candidate, placement, answers, &mut found, moment);
                let outcome = taken_back.unwrap_or_else(|| {
                    let forgotten = self.forget_waiting(key);
                    self.satisfied(&candidate, moment).after(forgotten)
                });
                outcome.after(found)
            }
            (Some(reason), _) if self.is_half_written(&candidate, reason) => Outcome::default(),
            (Some(reason), _) => match self.paused_for(&candidate, moment) {
                Some(wait) => Outcome::new(Next::Turn(Turn::Pause(wait))),
                None => match self.question(&candidate, placement, answers) {
                    Some(job) => Outcome::new(Next::Ask(Box::new(job))),
                    None => self.decide(&candidate, placement, reason, answers, moment),
                },
            },
        };
        outcome.after(found)
    }

    /// True if a binding that was never decided has no known policy. One that another controller manages has none to wait for.
    pub(super) fn awaits_policy(&self, candidate: &Candidate) -> bool {
        let is_unknown = self.policies.of(candidate.claim()).is_err() && candidate.record().label(MANAGED_BY).is_none();
        is_unknown && candidate.applied.is_none()
    }

    /// The rule by which a binding is decided now; `None` if its result stays.
    pub(super) fn reason_to_decide(
        &self,
        candidate: &Candidate,
        placement: &Placement,
        mark: Option<&ReadMark>,
        moment: &Moment,
    ) -> Option<Reason> {
        let is_moving = mark.is_some_and(|mark| mark.valid().is_some());
        let record = candidate.record();
        let standing = Standing {
            replicas: candidate.replicas(),
            last: candidate.last(),
            observed_affinity: candidate.binding.observed_affinity(),
            own: &candidate.own,
            placement,
            placement_text: &candidate.placement.text,
            applied_placement: record.applied_placement.as_deref(),
            sum: self.sum(candidate, placement),
            policy: &candidate.request,
            applied: candidate.applied.as_ref(),
            is_reschedule_pending: record.is_reschedule_pending,
            is_moved_by_clusters: record.is_moved_by_clusters,
            has_room_grown: self.lives.get(&candidate.key).and_then(Life::settled).is_none(),
            time: Some(moment.milliseconds),
            is_moving,
        };
        let reason = reason_to_decide(&standing, |name| self.clusters.is_deleting(name));
        let reason = self.reason_beside_confirmation(candidate, reason);
        reason_to_interrupt(reason, mark, candidate, |name| self.clusters.is_deleting(name))
    }

    /// The sum of a binding's results. A strategy that an annotation names overrides the placement.
    pub(super) fn sum(&self, candidate: &Candidate, placement: &Placement) -> Sum {
        Sum::under(&self.active.profile, placement, &candidate.own, &candidate.request)
    }

    pub(super) fn decide(
        &mut self,
        candidate: &Candidate,
        placement: &Arc<Placement>,
        reason: Reason,
        answers: Option<&Answers>,
        moment: &Moment,
    ) -> Outcome {
        let binding = &*candidate.binding;
        let detail = if self.clusters.len() <= EXPLAINED_CLUSTERS {
            Some(Detail::Full)
        } else {
            // Plugins give a reason for each cluster, which takes time. In a burst, decisions come first.
            (self.lives.queue.depth().active <= EXPLAINED_BACKLOG).then_some(Detail::Short(EXPLAINED_PER_REASON))
        };
        let peers = self.peers(binding);
        let (snapshot, set) = self.fleet.snapshot();
        self.lines.stray_rows.report(&self.active.profile, &snapshot, set);
        let current = answers.map(|answers| Current::new(answers, &self.capacity.takings));
        let untaken = answers.map(Current::untaken);
        let planned = self.planned_wait(candidate, moment);
        let part = self.outbox.part(&candidate.key).cloned();
        let given = part.as_ref().and_then(|part| part.room.as_ref());
        let estimates = current.as_ref().map(|current| current as &dyn Estimates);
        let room = planned
            .as_ref()
            .map(|planned| planned.room(candidate.last(), estimates));
        let estimates = room.as_ref().map(|room| room as &dyn Estimates).or(estimates);
        let estimates = given.map(|given| given as &dyn Estimates).or(estimates);
        let is_empty = self.capacity.holdings.is_empty() && self.capacity.takings.is_empty();
        let last = candidate.last();
        let deciding = tracing::info_span!(target: CYCLE, "decide").entered();
        let plan = Arc::new(Plan::under(&self.active.profile, &binding.input()));
        let circumstances = Circumstances {
            profile: &self.active.profile,
            fleet: &snapshot,
            ledger: Some(self.capacity.holdings.ledger(&snapshot, set)),
            estimates,
            fresh: candidate.record().is_reschedule_pending,
            time: Some(moment.milliseconds),
            peers: peers.as_ref(),
            detail,
            without: &[],
        };
        let mut decision = LiveDecision::make(&mut self.cycle, binding, &plan, &circumstances);
        if given.is_some() && !Part::accepts(&decision) {
            // Another decision of the burst has changed what the plan was made of.
            self.outbox.forget_part(&candidate.key);
            return self.decide(candidate, placement, reason, answers, moment);
        }
        // In shadow mode, the other scheduler may have decided without the capacity that is held here.
        let may_wait = self.active.holds() && given.is_none() && may_depend_on_holding(&decision, last);
        let is_compared = !is_empty && (self.shadow.is_some() || may_wait);
        let unheld = is_compared.then(|| {
            let circumstances = Circumstances {
                ledger: None,
                estimates: untaken.as_ref().map(|untaken| untaken as &dyn Estimates),
                detail: None,
                // The second decision answers for the same plugins as the first.
                without: &decision.decision.without,
                ..circumstances
            };
            LiveDecision::make(&mut self.cycle, binding, &plan, &circumstances)
        });
        drop(deciding);
        drop(snapshot);
        let waits = may_wait && unheld.as_ref().is_some_and(|unheld| must_wait(&decision, unheld, last));
        self.panel.watchdog.decided();
        let mut found = Outcome::from(self.note_failures(candidate, &mut decision, moment));
        self.recent.push(
            Arc::clone(&candidate.binding),
            candidate.record().is_reschedule_pending,
            moment.milliseconds,
        );
        let decided_at = moment.wall.to_string();
        let warnings = decision.warnings();
        let clears = !last.is_empty() && !waits && self.clears(&decision);
        let explanation = describe(
            &decision,
            &warnings,
            reason,
            last,
            candidate.record().applied_placement.is_some(),
            &decided_at,
        )
        .clearing(clears);
        let explanation = match unheld.is_some() || detail == Some(Detail::Full) {
            true => explanation.holding(self.held_there(placement).described(waits)),
            false => explanation,
        };
        self.panel.explained(&candidate.key, &explanation);
        let shown = self.shadow.is_some().then(|| json!(explanation));
        found.effects.announce(self.warn(candidate, &warnings));
        if let Some(explanation) = shown {
            let compared = self.wait_for_other(candidate, &decision, unheld, explanation, moment);
            found.effects.append(compared);
            return found;
        }
        found.holds_until(decision.decision.valid_until, moment);
        for (group, error) in decision.decision.failures().filter(|(group, _)| !group.is_empty()) {
            let message = format!("affinity group `{group}`: {error}");
            found.effects.announce([candidate.announcement(News::Failed, message)]);
        }
        if waits {
            let failure = self.waits_for_reports(&candidate.key, &decision, placement);
            let outcome = self.report_failure(candidate, None, failure, Some(reason), moment);
            return outcome.after(found);
        }
        if let Some(planned) = &planned
            && let Ok(outcome) = self.unplanned(candidate, planned, &decision, reason, moment)
        {
            return outcome.after(found);
        }
        self.lives.update(&candidate.key, |life| {
            life.held_message = None;
            life.failure.take_if(|_| decision.result.is_ok());
        });
        let result = match &decision.result {
            Ok(result) => result,
            Err(failure) => {
                found.effects.append(self.forget_waiting(&candidate.key));
                let outcome = self.failed(candidate, Some(&decision), failure.clone(), Some(reason), moment);
                return outcome.after(found);
            }
        };
        if self.guard.is_on() && takes_away(last, result) {
            return self.held_back(candidate, reason, moment).after(found);
        }
        let outcome = self.resulting(candidate, (placement, answers), &decision, result, reason, moment);
        outcome.after(found)
    }

    /// Reports warnings about a binding in the log, unless they were reported before. Returns their events.
    fn warn(&mut self, candidate: &Candidate, warnings: &[String]) -> Vec<Announcement> {
        let mut events = Vec::new();
        let key = &candidate.key;
        let known = self.lives.get(key).map_or(&[][..], |life| &life.warned);
        for warning in warnings.iter().filter(|warning| !known.contains(warning)) {
            tracing::warn!(binding = %key, warning, "a mistake in the binding or its policy is tolerated");
            if self.shadow.is_none() {
                events.push(candidate.announcement(News::Warning, warning.clone()));
            }
        }
        if known != warnings {
            self.lives.change(key, |life| life.warned = warnings.to_vec());
        }
        events
    }

    /// Plans the write of a failure: the condition, and the removal of the result if no cluster fits.
    pub(super) fn failed(
        &mut self,
        candidate: &Candidate,
        decision: Option<&LiveDecision>,
        failure: Failure,
        reason: Option<Reason>,
        moment: &Moment,
    ) -> Outcome {
        let last = candidate.last();
        let clears = decision.is_some_and(|decision| self.clears(decision));
        if clears && self.guard.is_on() && takes_away(last, &[]) {
            return self.held_back(candidate, reason.unwrap_or(Reason::ReplicasChanged), moment);
        }
        let specification = match (clears, decision) {
            (true, Some(decision)) => {
                candidate.specification(&[], last.is_empty(), "", (decision.decision.valid_until, None))
            }
            _ => None,
        };
        let cleared = (specification.is_some() && !last.is_empty()).then(|| last.to_vec());
        let mut effects = Effects::default();
        if let Some(cleared) = &cleared {
            let result = described(cleared);
            tracing::warn!(binding = %candidate.key, result, "the result is removed: no cluster fits");
            effects = self.assume_placement(&candidate.key, &[]);
        }
        let change = specification.map(|patch| (patch, cleared));
        let outcome = self.report_failure(candidate, change, failure, reason, moment);
        outcome.after(effects)
    }

    /// True if a decision that failed removes the previous result.
    fn clears(&self, decision: &LiveDecision) -> bool {
        decision.clears(self.active.when_no_cluster_fits)
    }

    /// Plans the condition and the event of a failure, and the change of the result that goes with it.
    pub(super) fn report_failure(
        &mut self,
        candidate: &Candidate,
        change: Option<(SpecificationPatch, Option<Vec<TargetCluster>>)>,
        failure: Failure,
        reason: Option<Reason>,
        moment: &Moment,
    ) -> Outcome {
        let share = self.outbox.part(&candidate.key).and_then(Part::failure);
        let failure = match share {
            Some(share) => Failure {
                message: format!("{}; {share}", failure.message),
                ..failure
            },
            None => failure,
        };
        let mut effects = Effects::default();
        effects.report(&candidate.key, failure.clone());
        effects.show(&candidate.key, None);
        let (specification, cleared) = change.unzip();
        let cleared = cleared.flatten();
        self.lives.update(&candidate.key, Life::fail_confirmation);
        effects.append(self.pass_over(&candidate.key));
        let specification = self.with_pause(candidate, specification);
        let wanted = StatusWanted::condition_alone(failure.reason, failure.message.clone(), moment.wall);
        let announced = match &cleared {
            Some(cleared) => format!("{}; its result is removed: {}", failure.message, described(cleared)),
            None => failure.message.clone(),
        };
        let in_flight = InFlight {
            // The failure itself keeps the placement; only the removal of the result changes it.
            placed: cleared.is_some().then(Vec::new),
            last: candidate.last().to_vec(),
            announcements: vec![candidate.announcement(News::Failed, announced)],
            failure: Some(failure),
            ..InFlight::new(reason, moment)
        };
        let mut found = Outcome::from(effects);
        self.look_once_settled(candidate, &mut found, moment);
        let outcome = self.dispatch(candidate, specification, wanted, in_flight, moment);
        outcome.after(found)
    }

    /// Holds back a result that would take replicas away while clusters are missing. Only the condition is written.
    fn held_back(&mut self, candidate: &Candidate, reason: Reason, moment: &Moment) -> Outcome {
        let missing: Vec<&str> = self.guard.missing().take(5).collect();
        let failure = Failure {
            reason: ScheduledReason::SchedulerError,
            message: format!(
                "clusters vanished without having been deleted ({}); no replicas are taken away until they are back or confirmed to be gone",
                missing.join(", ")
            ),
            retry: Retry::After(Cause::MissingClusters),
        };
        let mut outcome = self.report_failure(candidate, None, failure, Some(reason), moment);
        outcome.effects.count(Count::HeldBack);
        outcome
    }
}

impl Engine {
    /// The failure of a binding with workload affinity that no filter enforces. Ignoring the affinity would place
    /// replicas where they must not be.
    pub(super) fn unenforced(&self, candidate: &Candidate, placement: &Placement) -> Option<Failure> {
        let profile = &self.active.profile;
        let groups = candidate.record().groups();
        let field = profile.enforced_affinity().unenforced(groups, Some(placement))?;
        Some(Failure::invalid_binding(format!(
            "`{field}` is not enforced by any filter of the profile `{}`: {UNENFORCED_HINT}, or name another scheduler in the policy",
            profile.name()
        )))
    }
}
