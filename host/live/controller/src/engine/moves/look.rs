//! What is seen of a binding, and the verdict on it.

use std::time::Instant;

use divvy_karmada::api::TargetCluster;
use divvy_profile::{Allowances, MOVES_ANNOTATION, MoveBudgets, OnExclusion, WrittenAllowances};
use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, Moving, MovingCluster, PaceAnswer};
use divvy_scheduler::decide::stored_hash::{asked_hash, standard_asked_hash};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::moves::budgets::{Admission, Claim, ClaimedCluster, Ledger};
use divvy_scheduler::moves::change::is_dispatching_suspended;
use divvy_scheduler::moves::mark::ReadMark;
use divvy_scheduler::moves::readiness::{Health, Report, Reporting, has_counted_health};
use divvy_scheduler::moves::step::{Look, Places, Reason as Wait, Seen, StepError, Terms, Verdict, Wish, Write, look};
use divvy_scheduler::plan::{AffinityGroup, Decidable, Plan};

use super::known::{Known, KnownCluster, Want};
use super::surroundings::Surroundings;
use super::{Candidate, Engine, Group, Moment, REPORT_TIME};
use crate::condition::{Cause, Failure, Retry};
use crate::decision::replicas_on;
use crate::estimates::Answers;
use crate::guard::takes_away;
use crate::objects::{AggregatedStatus, Health as ReportedHealth};
use crate::takings::Current;

/// The verdict on a binding, and what its move uses of the budgets if it is carried out.
pub(super) struct Judged {
    /// The verdict.
    pub(super) verdict: Result<Verdict, Failure>,
    /// What it uses; `None` if there is no move.
    pub(super) known: Option<Known>,
    /// Time until which the pace's answer holds, in milliseconds since 1970.
    pub(super) valid_until: Option<i64>,
}

/// What is wanted of a binding, and under which terms.
pub(super) struct Wanted<'a> {
    /// The result.
    pub(super) wish: Wish<'a>,
    /// The terms; `None` to find out only what the move uses.
    pub(super) terms: Option<Terms>,
    /// Treatment of replicas in clusters that are excluded.
    pub(super) exclusion: OnExclusion,
}

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
            max_clusters: None,
            is_open: moves.is_none_or(|moves| moves.is_open(moment.milliseconds)),
            is_scaled_by_federated_hpa: moves.is_some_and(|moves| moves.may_be_scaled(policy)),
            is_surge_refused: self.lives.get(&candidate.key).is_some_and(|life| life.is_surge_refused),
        })
    }

    /// What the move of a binding uses of the budgets. If it has no valid mark, that depends on the target that was decided last.
    pub(super) fn claim_of(
        &mut self,
        candidate: &Candidate,
        mark: Option<&ReadMark>,
        moment: &Moment,
    ) -> Option<Known> {
        let is_valid = mark.is_some_and(|mark| mark.valid().is_some());
        let target = self.known_move(&candidate.key).map(|known| known.target.clone());
        let wanted = Wanted {
            wish: match is_valid {
                true => Wish::Continue,
                false => Wish::Decided(target.as_deref().unwrap_or(candidate.last())),
            },
            terms: None,
            exclusion: OnExclusion::Steps,
        };
        self.judge(candidate, mark, &wanted, None, moment).known
    }

    /// The verdict on a binding.
    pub(super) fn judge(
        &mut self,
        candidate: &Candidate,
        mark: Option<&ReadMark>,
        wanted: &Wanted<'_>,
        answers: Option<&Answers>,
        moment: &Moment,
    ) -> Judged {
        let record = self.bindings.get(&candidate.key);
        let reports = reports(record.map_or(&[], |record| &record.aggregated));
        let seen = seen(candidate, mark, &wanted.wish, &reports, moment);
        let budgets = self.budgets();
        let others: Vec<(&Known, Vec<ClaimedCluster<'_>>)> = match budgets == MoveBudgets::default() {
            true => Vec::new(),
            false => {
                let others = self
                    .lives
                    .of(Group::Moving)
                    .filter_map(|(key, life)| Some((key, life.moving.as_deref()?)));
                let others = others.filter(|(key, _)| **key != candidate.key);
                others.map(|(_, known)| (known, known.claimed())).collect()
            }
        };
        let text = candidate.key.to_string();
        let profile = &*self.active.profile;
        let plan = Plan::under(profile, &candidate.binding.input());
        let plan = plan.as_ref().ok();
        let (snapshot, set) = self.fleet.snapshot();
        let around = Surroundings {
            columns: snapshot.snapshot().clusters(),
            clusters: &self.clusters,
            held: self.capacity.holdings.ledger(&snapshot, set),
            answers: answers.map(|answers| Current::new(answers, &self.capacity.takings)),
            profile,
            plan,
            placement: candidate.record().readable_placement(),
            exclusion: wanted.exclusion,
        };
        let region = |name: &str| around.region(name);
        let places = Places {
            exists: &|name| around.exists(name),
            is_ready: &|name| around.is_ready(name),
            room: &|name| around.room(name),
            region: &region,
            is_deleting: &|name| around.is_deleting(name),
            leaves_at_once: &|name| around.leaves_at_once(name),
            report_time: i64::try_from(REPORT_TIME.as_millis()).unwrap_or(i64::MAX),
        };
        let look = match look(seen, wanted.wish, &places) {
            Ok(look) => look,
            Err(verdict) => {
                return Judged {
                    verdict: Ok(verdict),
                    known: None,
                    valid_until: None,
                };
            }
        };
        let own = look.claimed(region);
        let is_under_way = look.is_under_way();
        let priority = record.map_or(0, |record| record.priority);
        let mut claims: Vec<Claim<'_>> = others.iter().map(|(known, clusters)| known.claim(clusters)).collect();
        claims.push(Claim {
            binding: &text,
            priority,
            is_under_way,
            is_blocked: false,
            clusters: &own,
        });
        let (mut admissions, ledger) = Ledger::admit(budgets, &claims);
        let admission = admissions.pop().unwrap_or(Admission::Blocked);
        let cycle = &mut self.cycle;
        let mut valid_until = None;
        let pace = |moving: &Moving<'_>| {
            let answer = ask(cycle, &around, &snapshot, candidate, moving, moment)?;
            valid_until = answer.valid_until;
            Ok(answer.step)
        };
        let verdict = match wanted.terms {
            None => Ok(Verdict::AtTarget),
            Some(terms) => {
                let terms = Terms {
                    max_clusters: around.max_clusters(),
                    ..terms
                };
                look.step(&terms, &admission, &ledger, &places, pace).map_err(failure)
            }
        };
        self.panel.watchdog.decided();
        let verdict = verdict.map(|verdict| match verdict {
            Verdict::Write(write) if self.guard.is_on() && takes_away(candidate.last(), &write.result) => {
                Verdict::Wait(Wait::MissingClusters)
            }
            verdict => verdict,
        });
        let earlier = self.lives.get(&candidate.key).and_then(|life| life.moving.as_deref());
        let is_asked = matches!(
            verdict,
            Ok(Verdict::Wait(Wait::Pace(_) | Wait::Budget(_) | Wait::Reports))
        );
        let wants = match is_asked && admission == Admission::Goes {
            true => Want::limited(&ledger, look.clusters(), region),
            false => Vec::new(),
        };
        let outlook = outlook(is_under_way, mark, verdict.as_ref().ok(), earlier, moment.instant);
        let known = Known {
            text: text.clone(),
            priority,
            // One that has its turn, and cannot give anything, leaves the turn to others.
            is_blocked: outlook.is_blocked || !outlook.is_under_way && !wants.is_empty(),
            lacks_room: look.clusters().iter().any(lacks_room),
            wants,
            target: target(&look),
            names: look.clusters().iter().map(|cluster| cluster.name.to_owned()).collect(),
            clusters: clusters_used(&look, &own, verdict.as_ref().ok(), region),
            ..outlook
        };
        Judged {
            verdict,
            known: Some(known),
            valid_until,
        }
    }
}

/// A binding as the rules of moves see it.
fn seen<'a>(
    candidate: &'a Candidate,
    mark: Option<&'a ReadMark>,
    wish: &Wish<'_>,
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
    around: &Surroundings<'_>,
    snapshot: &FleetSnapshot,
    candidate: &Candidate,
    moving: &Moving<'_>,
    moment: &Moment,
) -> Result<PaceAnswer, PaceFailure> {
    let (Some(plan), Some(pace)) = (around.plan, around.profile.pace()) else {
        return Err(PaceFailure::NoPlan);
    };
    let group = group(plan, candidate).ok_or(PaceFailure::NoPlan)?;
    let input = CycleInput {
        time: Some(moment.milliseconds),
        ..CycleInput::new(around.profile, snapshot, plan, group)
    };
    cycle.pace(pace, &input, moving, false).map_err(PaceFailure::Cycle)
}

/// The result that a move ends with, sorted by cluster.
fn target(look: &Look<'_>) -> Vec<TargetCluster> {
    let clusters = look.clusters().iter().filter(|cluster| cluster.target > 0);
    let target = clusters.map(|cluster| TargetCluster {
        name: cluster.name.to_owned(),
        replicas: i32::try_from(cluster.target).unwrap_or(i32::MAX),
        components: Vec::new(),
    });
    target.collect()
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
fn group<'a>(plan: &'a Plan, candidate: &Candidate) -> Option<&'a AffinityGroup> {
    let applied = candidate
        .applied
        .as_ref()
        .and_then(|applied| applied.affinity.as_deref());
    let named = plan.groups.iter().find(|group| applied == Some(group.name.as_str()));
    named.or_else(|| plan.groups.first())
}

/// The clusters of a move whose verdict is being carried out: whether it is, others must have place for it.
fn clusters_used<'a>(
    look: &Look<'a>,
    own: &[ClaimedCluster<'_>],
    verdict: Option<&Verdict>,
    region: impl Fn(&str) -> &'a str,
) -> Vec<KnownCluster> {
    let written = match verdict {
        Some(Verdict::Write(write)) => Some(write),
        _ => None,
    };
    let clusters = look.clusters().iter().filter_map(|cluster| {
        let next = written.map_or(cluster.current, |write| {
            replicas_on(&write.result, cluster.name).map_or(0, i64::from)
        });
        let before = own.iter().find(|own| own.name == cluster.name);
        // A change bounds what is ready, so that the rest counts as given once the cluster has no more than in the target.
        let after = match next == cluster.current || cluster.target < next {
            true => 0,
            false => next.saturating_sub(cluster.ready).max(0),
        };
        let unready = before.map_or(0, |before| before.unready).max(after);
        let is_concerned = before.is_some() || next != cluster.target || unready > 0;
        is_concerned.then(|| KnownCluster {
            name: cluster.name.to_owned(),
            region: region(cluster.name).to_owned(),
            unready,
        })
    });
    clusters.collect()
}

/// True if a cluster has no room for all that the target gives it.
fn lacks_room(cluster: &MovingCluster<'_>) -> bool {
    cluster.room < cluster.target.saturating_sub(cluster.current)
}

/// State and wait of a move once the verdict is carried out.
fn outlook(
    is_under_way: bool,
    mark: Option<&ReadMark>,
    verdict: Option<&Verdict>,
    earlier: Option<&Known>,
    now: Instant,
) -> Known {
    let has_mark = mark.is_some_and(|mark| mark.valid().is_some());
    let (is_under_way, has_mark, wait) = match verdict {
        // A claim is released by the mark, once that is written.
        Some(Verdict::Write(Write { mark: Some(mark), .. })) => (is_under_way || !mark.is_released, true, None),
        Some(Verdict::Wait(wait)) => (is_under_way, has_mark, Some(wait.clone())),
        _ => (is_under_way, has_mark, None),
    };
    let is_awaiting_budget = matches!(wait, Some(Wait::Budget(_) | Wait::Admission | Wait::Hours));
    let since = earlier.and_then(|earlier| earlier.wait.as_ref());
    let since = since.filter(|(before, _)| wait.as_ref().is_some_and(|wait| wait.word() == before.word()));
    let since = since.map_or(now, |(_, since)| *since);
    Known {
        text: String::new(),
        priority: 0,
        is_under_way,
        is_blocked: !is_under_way && !is_awaiting_budget,
        lacks_room: false,
        wants: Vec::new(),
        target: Vec::new(),
        has_mark,
        names: Vec::new(),
        clusters: Vec::new(),
        wait: wait.map(|wait| (wait, since)),
    }
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
