//! What is seen of a binding, and the one pass over it, its terms and the world.

use divvy_profile::{Allowances, MOVES_ANNOTATION, MoveBudgets, OnExclusion, WrittenAllowances};
use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, Moving, PaceAnswer};
use divvy_scheduler::decide::stored_hash::{asked_hash, standard_asked_hash};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::moves::budgets::ClaimedCluster;
use divvy_scheduler::moves::change::is_dispatching_suspended;
use divvy_scheduler::moves::claim::Claim;
use divvy_scheduler::moves::look::{Seen, Wish};
use divvy_scheduler::moves::mark::ReadMark;
use divvy_scheduler::moves::readiness::{Health, Report, Reporting, has_counted_health};
use divvy_scheduler::moves::step::{StepError, Stepped, Terms, Verdict, claim, step};
use divvy_scheduler::plan::{AffinityGroup, Decidable, Plan};

use super::known::Known;
use super::surroundings::Surroundings;
use super::{Candidate, Engine, Group, Moment};
use crate::condition::{Cause, Failure, Retry};
use crate::estimates::Answers;
use crate::objects::{AggregatedStatus, Health as ReportedHealth};
use crate::takings::Current;

impl Candidate {
    /// Hash of what is asked for.
    pub(in crate::engine) fn asked(&self) -> u64 {
        asked_hash(&self.placement.text, &self.request, &self.own, self.move_words())
    }

    /// The same as 0.1.0 hashed it, for its marks.
    pub(in crate::engine) fn standard_asked(&self) -> u64 {
        standard_asked_hash(&self.placement.text, &self.request, &self.own, self.move_words())
    }

    /// The policy's annotation about moves.
    fn move_words(&self) -> Option<&str> {
        let policy = self.policy.as_ref()?;
        policy.annotations.get(MOVES_ANNOTATION).map(String::as_str)
    }

    /// What the policy says about moves.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that says what is wrong with its annotation.
    pub(super) fn written_allowances(&self) -> Result<WrittenAllowances, Failure> {
        let Some(text) = self.move_words() else {
            return Ok(WrittenAllowances::default());
        };
        WrittenAllowances::parse(text).map_err(|error| {
            Failure::invalid_binding(format!("annotation `{MOVES_ANNOTATION}` of its policy: {error}"))
        })
    }
}

impl Engine {
    /// The terms of a binding's moves. Without a profile for moves, nothing is allowed but to bring the sum back.
    ///
    /// # Errors
    ///
    /// The allowances permit no move.
    pub(super) fn terms(
        &self,
        candidate: &Candidate,
        policy: &WrittenAllowances,
        exclusion: OnExclusion,
        moment: &Moment,
    ) -> Result<Terms, Failure> {
        let moves = self.active.moves.as_deref();
        let allowances = match moves {
            None => Ok(Allowances {
                max_surge: 0,
                max_unavailable: 0,
            }),
            Some(moves) => moves.allowances(policy, candidate.replicas()),
        };
        Ok(Terms {
            allowances: allowances.map_err(|error| Failure::invalid_binding(format!("its move: {error}")))?,
            is_open: moves.is_none_or(|moves| moves.is_open(moment.milliseconds)),
            is_scaled_by_federated_hpa: moves.is_some_and(|moves| moves.may_be_scaled(policy)),
            is_surge_refused: self.lives.get(&candidate.key).is_some_and(|life| life.is_surge_refused),
            exclusion,
        })
    }

    /// What the move of a binding uses of the budgets. If it has no valid mark, that depends on the target that was decided last.
    pub(super) fn claim_of(
        &mut self,
        candidate: &Candidate,
        mark: Option<&ReadMark>,
        moment: &Moment,
    ) -> Option<Claim> {
        let is_valid = mark.is_some_and(|mark| mark.valid().is_some());
        let target = self.known_move(&candidate.key).map(|known| known.claim.target.clone());
        let wish = match is_valid {
            true => Wish::Continue,
            false => Wish::Decided(target.as_deref().unwrap_or(candidate.last())),
        };
        self.judge(candidate, mark, wish, None, None, moment).ok()?.claim
    }

    /// The next step of a binding's move, in one pass over what is seen of it, its terms, and the world around it. Without terms, only what the
    /// move uses is found out.
    ///
    /// # Errors
    ///
    /// There is no step: the pace failed or broke a rule, or the move is too large to be marked.
    pub(super) fn judge(
        &mut self,
        candidate: &Candidate,
        mark: Option<&ReadMark>,
        wish: Wish<'_>,
        terms: Option<&Terms>,
        answers: Option<&Answers>,
        moment: &Moment,
    ) -> Result<Stepped, Failure> {
        let reports = reports(&candidate.record().aggregated);
        let key = candidate.key.to_string();
        let seen = seen(candidate, (&key, mark, wish), &reports, moment);
        let budgets = self.budgets();
        let others: Vec<(&Known, Vec<ClaimedCluster<'_>>)> = match budgets == MoveBudgets::default() {
            true => Vec::new(),
            false => {
                let others = self
                    .lives
                    .of(Group::Moving)
                    .filter_map(|(key, life)| Some((key, life.moving.as_deref()?)));
                let others = others.filter(|(key, _)| **key != candidate.key);
                others.map(|(_, known)| (known, known.claim.claimed())).collect()
            }
        };
        let profile = &*self.active.profile;
        let plan = Plan::under(profile, &candidate.binding.input());
        let plan = plan.as_ref().ok();
        let (snapshot, set) = self.fleet.snapshot();
        let world = Surroundings {
            columns: snapshot.snapshot().clusters(),
            clusters: &self.clusters,
            held: self.capacity.holdings.ledger(&snapshot, set),
            answers: answers.map(|answers| Current::new(answers, &self.capacity.takings)),
            profile,
            plan,
            placement: candidate.record().readable_placement(),
            budgets,
            others,
            misses_clusters: self.guard.is_on(),
        };
        let cycle = &mut self.cycle;
        let pace = |moving: &Moving<'_>| ask(cycle, &world, &snapshot, candidate, moving, moment);
        let stepped = match terms {
            Some(terms) => step(seen, terms, &world, pace).map_err(failure),
            None => Ok(Stepped {
                verdict: Verdict::AtTarget,
                claim: claim(seen, &world),
                valid_until: None,
            }),
        };
        self.panel.watchdog.decided();
        stepped
    }
}

/// A binding as the rules of moves see it.
fn seen<'a>(
    candidate: &'a Candidate,
    (key, mark, wish): (&'a str, Option<&'a ReadMark>, Wish<'a>),
    reports: &'a [Report<'a>],
    moment: &Moment,
) -> Seen<'a> {
    let record = candidate.record();
    let decided = match wish {
        Wish::Decided(result) => result,
        Wish::Continue | Wish::Cancel => &[][..],
    };
    let results = candidate.last().iter().chain(decided);
    let marked = mark.and_then(ReadMark::valid).into_iter();
    let marked = marked.flat_map(|mark| mark.clusters.keys().map(String::as_str));
    let names = results.map(|target| target.name.as_str()).chain(marked);
    Seen {
        key,
        priority: record.priority,
        wish,
        generation: record.generation,
        asked: candidate.asked(),
        present: candidate.last(),
        total: candidate.replicas(),
        evicted: record.evictions(),
        is_dispatching_suspended: is_dispatching_suspended(record.suspension(), names),
        mark,
        reports,
        reporting: Reporting::new(record.kind(), reports),
        has_counted_health: has_counted_health(record.kind()),
        now: moment.milliseconds,
    }
}

/// Asks the pace of the profile for the next step.
fn ask(
    cycle: &mut Cycle,
    world: &Surroundings<'_>,
    snapshot: &FleetSnapshot,
    candidate: &Candidate,
    moving: &Moving<'_>,
    moment: &Moment,
) -> Result<PaceAnswer, PaceFailure> {
    let (Some(plan), Some(pace)) = (world.plan, world.profile.pace()) else {
        return Err(PaceFailure::NoPlan);
    };
    let group = group(plan, candidate).ok_or(PaceFailure::NoPlan)?;
    let input = CycleInput {
        time: Some(moment.milliseconds),
        ..CycleInput::new(world.profile, snapshot, plan, group)
    };
    cycle.pace(pace, &input, moving, false).map_err(PaceFailure::Cycle)
}

/// The failure of a pace.
enum PaceFailure {
    /// The plugin failed, or broke a rule.
    Cycle(CycleError),
    /// The binding has no plan any more.
    NoPlan,
}

/// The failure of a look.
fn failure(error: StepError<PaceFailure>) -> Failure {
    match error {
        StepError::Mark(error) => Failure::invalid_binding(error.to_string()),
        StepError::Pace(PaceFailure::Cycle(error)) => {
            let failure = Failure::from_cycle(&error);
            // No cluster and no room is the cause, so that only time and a change of the binding or the profile help.
            let retry = match failure.retry {
                Retry::After(Cause::Filters | Cause::Capacity) => Retry::Backoff,
                retry => retry,
            };
            Failure {
                message: format!("no step of its move: {}", failure.message),
                retry,
                ..failure
            }
        }
        StepError::Pace(PaceFailure::NoPlan) => Failure::unwritten("no step of its move: the binding has no plan"),
    }
}

/// The affinity group in use.
pub(super) fn group<'a>(plan: &'a Plan, candidate: &Candidate) -> Option<&'a AffinityGroup> {
    let applied = candidate
        .applied
        .as_ref()
        .and_then(|applied| applied.affinity.as_deref());
    let named = plan.groups.iter().find(|group| applied == Some(group.name.as_str()));
    named.or_else(|| plan.groups.first())
}

/// The states of a resource, as readiness reads them.
pub(in crate::engine) fn reports(aggregated: &[AggregatedStatus]) -> Vec<Report<'_>> {
    let reports = aggregated.iter().map(|state| Report {
        cluster: &state.cluster,
        applied: state.applied,
        health: match state.health {
            ReportedHealth::Healthy => Health::Healthy,
            ReportedHealth::Unhealthy => Health::Unhealthy,
            ReportedHealth::Unknown => Health::Unknown,
        },
        replicas: state.replicas,
        ready_replicas: state.ready_replicas,
        is_rolling_out: state.is_rolling_out,
        // 0 stands for no entry.
        fingerprint: short(state.fingerprint).max(1),
    });
    reports.collect()
}

/// The upper and the lower half of a hash in one.
fn short(hash: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = hash.to_be_bytes();
    u32::from_be_bytes([a, b, c, d]) ^ u32::from_be_bytes([e, f, g, h])
}
