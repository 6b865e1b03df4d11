//! The next result of a move, or the reason why there is none.
//!
//! One pass: a binding is [looked](look) at, its move is admitted to the budgets beside those of others, and the terms and the pace say what to
//! write. The same pass says what the move then uses of the budgets, and what may end its wait.

use std::collections::BTreeMap;

use divvy_framework_arithmetic::pace::Wait;
use divvy_karmada::api::TargetCluster;
use divvy_profile::{Allowances, OnExclusion};

use super::budgets::{Admission, Applicant, Ledger, Scope};
use super::claim::{Claim, Want};
use super::look::{Look, Seen, look};
use super::mark::{Mark, UnwritableMark, Void, Waypoint};
use super::readiness::{Bound, Report};
use super::shortcut::{Reach, held, least, replace, shed};
use super::world::World;
use crate::cycle::{Moving, MovingCluster, PaceAnswer, Step};
use crate::decide::stored_hash::{StoredHash, result_hash};

/// The terms of a binding's moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What its policy and the profile allow.
    pub allowances: Allowances,
    /// True during the hours of the profile.
    pub is_open: bool,
    /// True if a FederatedHPA scales the workload: a surge of its tolerance or more would make it compute a smaller total.
    pub is_scaled_by_federated_hpa: bool,
    /// True if a quota has refused the surge of this step.
    pub is_surge_refused: bool,
    /// Treatment of replicas in clusters that are excluded.
    pub exclusion: OnExclusion,
}

/// What to do with a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Write this.
    Write(Write),
    /// Nothing, for this reason.
    Wait(Reason),
    /// Nothing: its result is what is wanted, and it has no mark.
    AtTarget,
    /// Decide it anew: its mark is void.
    DecideAnew(Void),
}

/// A result and a mark to write in one request, which must fail if the binding has another version by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The result, sorted by cluster. It may be the present one.
    pub result: Vec<TargetCluster>,
    /// The mark; the annotation is removed if there is none.
    pub mark: Option<Mark>,
    /// True if the observed generation may be brought up to date. It may not while Karmada evicts and the result does not have everything
    /// that was evicted: Karmada would take what still runs there for superfluous.
    pub observes: bool,
    /// The occasion.
    pub occasion: Occasion,
}

/// The occasion of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// Replicas beyond the total go, or missing ones are replaced, or clusters are left that must be left at once. Budgets and hours do
    /// not count.
    AtOnce,
    /// A step.
    Step,
    /// The move waits, and releases its claim on budgets.
    Released,
    /// The move has ended.
    Ended,
    /// The move is cancelled.
    Cancelled,
}

/// Reason for which nothing is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The pace says so.
    Pace(Wait),
    /// A budget is used up.
    Budget(Scope),
    /// It is to be admitted to the budgets again.
    Admission,
    /// The hours of the profile have not begun.
    Hours,
    /// Dispatching is suspended.
    Dispatching,
    /// A quota refuses a surge, and nothing may be unavailable.
    Quota,
    /// A FederatedHPA would take any surge for less need, and nothing may be unavailable.
    Autoscaler,
    /// Clusters still have to report: the target is reached, or what is to leave them may be ready.
    Reports,
    /// Clusters vanished without having been deleted, so that nothing is taken away.
    MissingClusters,
}

/// Reason why a look has no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError<E> {
    /// The pace failed or broke a rule.
    #[error(transparent)]
    Pace(E),
    /// The mark cannot be written.
    #[error(transparent)]
    Mark(UnwritableMark),
}

/// What follows from a look at a binding.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// What to do.
    pub verdict: Verdict,
    /// What its move uses once that is done; `None` if there is nothing to look at.
    pub claim: Option<Claim>,
    /// Time until which the pace's answer holds, in milliseconds since 1970.
    pub valid_until: Option<i64>,
}

/// The next step of a move, from what is seen of its binding, its terms, and the world. `pace` is asked if there may be a step.
///
/// # Errors
///
/// The pace failed or broke a rule, or the move is too large to be marked. Nothing may be written.
pub fn step<'w, E>(
    seen: Seen<'w>,
    terms: &Terms,
    world: &'w impl World,
    pace: impl FnOnce(&Moving<'_>) -> Result<PaceAnswer, E>,
) -> Result<Stepped, StepError<E>> {
    let look = match look(seen, terms.exclusion, world) {
        Ok(look) => look,
        Err(verdict) => {
            return Ok(Stepped {
                verdict,
                claim: None,
                valid_until: None,
            });
        }
    };
    let own = look.claimed(|name| world.region(name));
    let mut applicants = world.others();
    applicants.push(Applicant {
        binding: seen.key,
        priority: seen.priority,
        is_under_way: look.is_under_way(),
        is_blocked: false,
        clusters: &own,
    });
    let (mut admissions, ledger) = Ledger::admit(world.budgets(), &applicants);
    let admission = admissions.pop().unwrap_or(Admission::Blocked);
    let mut valid_until = None;
    let pace = |moving: &Moving<'_>| {
        pace(moving).map(|answer| {
            valid_until = answer.valid_until;
            answer.step
        })
    };
    let verdict = match look.verdict(terms, &admission, &ledger, world, pace)? {
        Verdict::Write(write) if world.holds_back(seen.present, &write.result) => {
            Verdict::Wait(Reason::MissingClusters)
        }
        verdict => verdict,
    };
    let is_asked = matches!(
        verdict,
        Verdict::Wait(Reason::Pace(_) | Reason::Budget(_) | Reason::Reports)
    );
    let wants = match is_asked && admission == Admission::Goes {
        true => Want::limited(&ledger, look.clusters(), |name| world.region(name)),
        false => Vec::new(),
    };
    let claim = Claim::new(&look, &own, Some(&verdict), wants, world);
    Ok(Stepped {
        verdict,
        claim: Some(claim),
        valid_until,
    })
}

/// What a move uses of the budgets, whatever its next step; `None` if there is nothing to look at.
pub fn claim<'w>(seen: Seen<'w>, world: &'w impl World) -> Option<Claim> {
    let look = look(seen, OnExclusion::Steps, world).ok()?;
    let own = look.claimed(|name| world.region(name));
    Some(Claim::new(&look, &own, None, Vec::new(), world))
}

impl<'a> Look<'a> {
    /// The verdict. `pace` is asked for the next step, if there may be one.
    ///
    /// # Errors
    ///
    /// The pace failed or broke a rule, or the move is too large to be marked. Nothing may be written.
    pub(super) fn verdict<'w, E>(
        &self,
        terms: &Terms,
        admission: &Admission,
        ledger: &Ledger<'w>,
        world: &'w impl World,
        pace: impl FnOnce(&Moving<'_>) -> Result<Step, E>,
    ) -> Result<Verdict, StepError<E>> {
        let current: Vec<i64> = self.clusters.iter().map(|cluster| cluster.current).collect();
        if self.is_cancelled {
            return self.cancel(&current).map_err(StepError::Mark);
        }
        let sum: i64 = current.iter().sum();
        let at_once = if sum < self.seen.total {
            replace(&self.clusters, self.seen.total)
        } else if self.is_decided {
            // What an autoscaler would take for a surge goes at once, from anywhere: the ready replicas that are asked for stay.
            let misleads = terms.is_scaled_by_federated_hpa && sum - self.seen.total > tolerated(self.seen.total);
            let reach = if misleads { Reach::Known } else { Reach::Target };
            let bounds = (self.seen.total, terms.allowances.max_unavailable);
            shed(&self.clusters, &self.shown, bounds, reach)
        } else {
            current.clone()
        };
        if self.leaves || at_once != current {
            return self.advance(&at_once, Occasion::AtOnce).map_err(StepError::Mark);
        }
        if self.clusters.iter().all(|cluster| cluster.current == cluster.target) {
            return Ok(self.end(&current));
        }
        if self.seen.is_dispatching_suspended {
            return Ok(Verdict::Wait(Reason::Dispatching));
        }
        if !terms.is_open {
            return Ok(Verdict::Wait(Reason::Hours));
        }
        match admission {
            Admission::Goes => {}
            Admission::Waits(scope) => return Ok(Verdict::Wait(Reason::Budget(scope.clone()))),
            Admission::Blocked => return Ok(Verdict::Wait(Reason::Admission)),
        }
        let (max_surge, obstacle) = surge(terms, self.seen.total);
        if max_surge == 0 && terms.allowances.max_unavailable == 0 {
            return Ok(self.release(&current, obstacle.unwrap_or(Reason::Pace(Wait::Allowance))));
        }
        let mut clusters = self.clusters.clone();
        let is_held = self.hold(&mut clusters, terms.allowances.max_unavailable);
        if is_held && clusters.iter().all(|cluster| cluster.current == cluster.target) {
            return Ok(Verdict::Wait(Reason::Reports));
        }
        let is_unanswered = self.await_answers(&mut clusters);
        let limit = ledger.limit_room(&mut clusters, |name| world.region(name));
        let moving = Moving {
            clusters: &clusters,
            total: self.seen.total,
            max_surge,
            max_unavailable: terms.allowances.max_unavailable,
            max_clusters: world.max_clusters(),
        };
        match pace(&moving).map_err(StepError::Pace)? {
            Step::Next(next) => self.advance(&next, Occasion::Step).map_err(StepError::Mark),
            Step::Waits(wait) => {
                let reason = match (wait, limit) {
                    (Wait::Room, _) if is_unanswered => Reason::Reports,
                    (Wait::Room, Some(scope)) => Reason::Budget(scope),
                    (Wait::Readiness | Wait::Allowance, _) if is_held => Reason::Reports,
                    (wait, _) => Reason::Pace(wait),
                };
                Ok(self.release(&current, reason))
            }
        }
    }

    /// Keeps replicas where they are that may be ready and would be missed. Returns true if some of them are on their way out.
    fn hold(&self, clusters: &mut [MovingCluster<'_>], max_unavailable: i64) -> bool {
        let held = held(clusters, &self.shown, least(self.seen.total, max_unavailable));
        let mut is_any_held = false;
        for (cluster, held) in clusters.iter_mut().zip(held) {
            if held > cluster.ready && held > cluster.target && cluster.current > cluster.target {
                cluster.target = held;
                is_any_held = true;
            }
        }
        is_any_held
    }

    /// Gives nothing to clusters that are about to answer for a step that took replicas. Once they have, what is given there ends its wait by
    /// the next report; before, only time would. Returns true if some of them want more.
    fn await_answers(&self, clusters: &mut [MovingCluster<'_>]) -> bool {
        let mut is_any_awaited = false;
        for cluster in clusters {
            let counting = self.bounds.get(cluster.name).filter(|(_, counts)| *counts);
            let report = self.report(cluster.name);
            let is_awaited = counting.is_some_and(|(bound, _)| bound.is_about_to_be_answered(cluster.current, report));
            if is_awaited && cluster.target > cluster.current {
                cluster.room = 0;
                is_any_awaited = true;
            }
        }
        is_any_awaited
    }

    fn report(&self, name: &str) -> Option<&'a Report<'a>> {
        self.seen.reports.iter().find(|report| report.cluster == name)
    }

    /// Brings the sum back. The mark stays until its bounds have ended.
    fn cancel(&self, current: &[i64]) -> Result<Verdict, UnwritableMark> {
        let result = shed(&self.clusters, &self.shown, (self.seen.total, 0), Reach::Held);
        let is_there = |cluster: &MovingCluster<'_>| {
            let waypoint = self.mark.and_then(|mark| mark.clusters.get(cluster.name));
            waypoint.is_none_or(|waypoint| waypoint.target == cluster.current)
        };
        if result == current && self.mark.is_some() && self.clusters.iter().all(is_there) {
            return Ok(self.end(current));
        }
        self.advance(&result, Occasion::Cancelled)
    }

    /// Writes a result on the way, with its mark.
    fn advance(&self, next: &[i64], occasion: Occasion) -> Result<Verdict, UnwritableMark> {
        let mut clusters = BTreeMap::new();
        for (cluster, &next) in self.clusters.iter().zip(next) {
            let known = self.bounds.get(cluster.name);
            let counting = known.filter(|(_, counts)| *counts).map(|(bound, _)| *bound);
            let bound = if next > cluster.current {
                Some(Bound::raised(cluster.current, self.report(cluster.name), counting))
            } else if next < cluster.current {
                let report = self.report(cluster.name).filter(|_| self.seen.has_counted_health);
                Some(Bound::lowered(next, report, counting))
            } else {
                counting.or_else(|| self.is_given(cluster).then_some(Bound::GIVEN))
            };
            let target = if self.is_cancelled { next } else { cluster.target };
            if next != target || bound.is_some() {
                clusters.insert(cluster.name.to_owned(), Waypoint { target, bound });
            }
        }
        let mark = (!clusters.is_empty()).then(|| Mark {
            asked: StoredHash::Promised(self.seen.asked),
            at: self.seen.now,
            clusters,
            ..Mark::default()
        });
        let write = self.write(next, mark, occasion);
        if let Some(mark) = &write.mark {
            mark.write()?;
        }
        Ok(Verdict::Write(write))
    }

    /// The end of a move whose result is its target.
    fn end(&self, current: &[i64]) -> Verdict {
        if self.seen.mark.is_none() {
            return Verdict::AtTarget;
        }
        if self.bounds.values().any(|(_, counts)| *counts) {
            return Verdict::Wait(Reason::Reports);
        }
        Verdict::Write(self.write(current, None, Occasion::Ended))
    }

    /// Waits for a reason. A move under way that waits for something else than its own replicas releases its claim.
    fn release(&self, current: &[i64], reason: Reason) -> Verdict {
        match self.mark {
            Some(mark) if reason.releases() && !mark.is_released => {
                let mark = Mark {
                    is_released: true,
                    asked: StoredHash::Promised(self.seen.asked),
                    ..mark.clone()
                };
                Verdict::Write(self.write(current, Some(mark), Occasion::Released))
            }
            _ => Verdict::Wait(reason),
        }
    }

    /// A write of these counts. The mark gets the generation and the result that the binding has with it.
    fn write(&self, counts: &[i64], mark: Option<Mark>, occasion: Occasion) -> Write {
        let targets = self.clusters.iter().zip(counts).filter(|(_, count)| **count > 0);
        let result: Vec<TargetCluster> = targets
            .map(|(cluster, count)| TargetCluster {
                name: cluster.name.to_owned(),
                replicas: i32::try_from(*count).unwrap_or(i32::MAX),
                components: Vec::new(),
            })
            .collect();
        let hash = result_hash(&result);
        let changes = hash != result_hash(self.seen.present);
        let sum: i64 = counts.iter().sum();
        Write {
            mark: mark.map(|mark| Mark {
                generation: self.seen.generation.saturating_add(i64::from(changes)),
                result: hash,
                ..mark
            }),
            result,
            observes: self.seen.evicted.is_empty() || sum >= self.seen.total,
            occasion,
        }
    }
}

/// The surge that a step may have, and the reason if there is none.
fn surge(terms: &Terms, total: i64) -> (i64, Option<Reason>) {
    if terms.is_surge_refused {
        return (0, Some(Reason::Quota));
    }
    let surge = terms.allowances.max_surge;
    if !terms.is_scaled_by_federated_hpa {
        return (surge, None);
    }
    (surge.min(tolerated(total)), Some(Reason::Autoscaler))
}

/// Replicas beyond the total that a FederatedHPA tolerates: less than a tenth (`replica_calculator.go`).
fn tolerated(total: i64) -> i64 {
    total.saturating_sub(1).max(0) / 10
}
