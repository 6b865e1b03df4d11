//! The next result of a move, or the reason why there is none.
//!
//! A binding is [looked](look) at first: what its mark or its decision wants, and what is ready. The look says what the move claims of
//! the budgets. With the admission, [`Look::step`] says what to write. Both read the binding and nothing else that is remembered.

use std::collections::{BTreeMap, BTreeSet};

use divvy_framework_arithmetic::pace::Wait;
use divvy_karmada::api::{GracefulEvictionTask, TargetCluster};
use divvy_profile::Allowances;

use super::budgets::{Admission, ClaimedCluster, Ledger, Scope};
use super::mark::{Mark, ReadMark, UnwritableMark, Void, Waypoint};
use super::readiness::{Bound, Report, Reporting, ready};
use super::shortcut::{Reach, held, least, replace, shed};
use crate::cycle::{Moving, MovingCluster, Step};
use crate::decide::stored_hash::{StoredHash, is_hash_of_result, result_hash};

/// A binding as it is seen.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Its generation.
    pub generation: i64,
    /// Hash of what is asked for: [`asked_hash`](crate::decide::stored_hash::asked_hash).
    pub asked: u64,
    /// Its result.
    pub present: &'a [TargetCluster],
    /// Replicas that it asks for.
    pub total: i64,
    /// Clusters that Karmada evicts it from.
    pub evicted: &'a [GracefulEvictionTask],
    /// True if dispatching to its clusters is suspended.
    pub is_dispatching_suspended: bool,
    /// Its mark, [read](super::mark::read_mark).
    pub mark: Option<&'a ReadMark>,
    /// Its entries in `status.aggregatedStatus`.
    pub reports: &'a [Report<'a>],
    /// The form in which they show readiness.
    pub reporting: Reporting,
    /// True if their [health counts](super::readiness::has_counted_health).
    pub has_counted_health: bool,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
}

/// What is wanted of a binding.
#[derive(Debug, Clone, Copy)]
pub enum Wish<'a> {
    /// The target of its mark.
    Continue,
    /// The result of a decision.
    Decided(&'a [TargetCluster]),
    /// No further step, but the sum of its total.
    Cancel,
}

/// The terms of a binding's moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What its policy and the profile allow.
    pub allowances: Allowances,
    /// The greatest number of clusters that a result may have.
    pub max_clusters: Option<u32>,
    /// True during the hours of the profile.
    pub is_open: bool,
    /// True if a FederatedHPA scales the workload: a surge of its tolerance or more would make it compute a smaller total.
    pub is_scaled_by_federated_hpa: bool,
    /// True if a quota has refused the surge of this step.
    pub is_surge_refused: bool,
}

/// Clusters by name.
pub struct Places<'a> {
    /// True if there is such a cluster.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// True if it is Ready.
    pub is_ready: &'a dyn Fn(&str) -> bool,
    /// Further replicas that fit; `i64::MAX` if room does not limit them.
    pub room: &'a dyn Fn(&str) -> i64,
    /// Its region; empty if unknown.
    pub region: &'a dyn Fn(&str) -> &'a str,
    /// True if it is being deleted. Karmada removes what runs there first, so its replicas count as evicted.
    pub is_deleting: &'a dyn Fn(&str) -> bool,
    /// True if it is excluded, and the policy says that its replicas leave at once.
    pub leaves_at_once: &'a dyn Fn(&str) -> bool,
    /// Time that reports of a Ready cluster take, in milliseconds.
    pub report_time: i64,
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

/// A move as it is seen.
#[derive(Debug, Clone)]
pub struct Look<'a> {
    seen: Seen<'a>,
    /// The clusters, sorted by name.
    clusters: Vec<MovingCluster<'a>>,
    /// Replicas in each of them that a report shows as ready. Where a step may be newer than the report, they are more than are known
    /// to be ready.
    shown: Vec<i64>,
    /// Bounds by cluster, and whether they still count.
    bounds: BTreeMap<&'a str, (Bound, bool)>,
    /// The mark, if it is valid.
    mark: Option<&'a Mark>,
    is_decided: bool,
    is_cancelled: bool,
    /// True if clusters must be left at once.
    leaves: bool,
}

/// Looks at a binding.
///
/// # Errors
///
/// The verdict, if there is nothing to look at.
pub fn look<'a>(seen: Seen<'a>, wish: Wish<'a>, places: &Places<'_>) -> Result<Look<'a>, Verdict> {
    let valid = seen.mark.and_then(ReadMark::valid);
    let (mut current, mut target) = (by_name(seen.present), BTreeMap::new());
    match (wish, seen.mark) {
        (Wish::Continue | Wish::Cancel, None) => return Err(Verdict::AtTarget),
        (Wish::Continue, Some(ReadMark { void: Some(void), .. })) => return Err(Verdict::DecideAnew(void.clone())),
        (Wish::Continue, _) => {
            target.clone_from(&current);
            let waypoints = valid.into_iter().flat_map(|mark| &mark.clusters);
            target.extend(waypoints.map(|(name, waypoint)| (name.as_str(), waypoint.target)));
        }
        (Wish::Decided(decided), _) => target = by_name(decided),
        (Wish::Cancel, _) => {}
    }
    let is_cancelled = matches!(wish, Wish::Cancel);
    // A void mark still bounds what is ready, unless its time makes no sense: it only makes a move slower.
    let bounding = valid.or_else(|| seen.mark?.mark.as_ref().filter(|mark| mark.at <= seen.now));
    // Where someone else has changed the result, a cluster may have lost what it was given, and got it again: its next report may be of the
    // first time.
    let is_replaced = valid.is_none() && bounding.is_some_and(|mark| !is_hash_of_result(&mark.result, seen.present));
    let is_settled = |at: i64| seen.now.saturating_sub(at) >= places.report_time;
    let reports: BTreeMap<&str, &Report<'_>> = seen.reports.iter().map(|report| (report.cluster, report)).collect();
    let mut names: BTreeSet<&str> = current.keys().copied().collect();
    names.extend(seen.reports.iter().map(|report| report.cluster));
    names.extend(target.keys());
    names.extend(
        bounding
            .into_iter()
            .flat_map(|mark| mark.clusters.keys().map(String::as_str)),
    );
    let mut bounds = BTreeMap::new();
    let mut leaves = false;
    let mut clusters = Vec::with_capacity(names.len());
    let mut shown = Vec::with_capacity(names.len());
    for name in names {
        let before = current.remove(name).unwrap_or(0);
        let is_left = match wish {
            Wish::Decided(_) => (places.is_deleting)(name) || (places.leaves_at_once)(name),
            // Exclusions were judged when the target was decided, a deletion may have begun since.
            Wish::Continue => (places.is_deleting)(name),
            Wish::Cancel => false,
        };
        leaves |= is_left && before > 0;
        let current = if is_left { 0 } else { before };
        let report = reports.get(name).copied();
        let waypoint = bounding.and_then(|mark| mark.clusters.get(name));
        let bound = waypoint.and_then(|waypoint| waypoint.bound).map(|bound| Bound {
            entry: bound.entry.filter(|_| !is_replaced),
            ..bound
        });
        let counts = |bound: Bound| bound.counts(before, report, bounding.is_none_or(|mark| is_settled(mark.at)));
        if let Some(bound) = bound {
            bounds.insert(name, (bound, counts(bound)));
        }
        let exists = (places.exists)(name);
        let is_ready = exists && (places.is_ready)(name);
        let known = |bound| ready(seen.reporting, current, report, is_ready, bound);
        shown.push(known(None));
        clusters.push(MovingCluster {
            name,
            current,
            present: report.and_then(|report| report.replicas).unwrap_or(before).max(0),
            ready: known(bound.filter(|bound| counts(*bound))),
            target: if is_cancelled {
                current
            } else {
                target.get(name).copied().unwrap_or(0)
            },
            room: if exists { (places.room)(name).max(0) } else { 0 },
        });
    }
    Ok(Look {
        seen,
        clusters,
        shown,
        bounds,
        mark: valid,
        is_decided: matches!(wish, Wish::Decided(_)),
        is_cancelled,
        leaves,
    })
}

impl<'a> Look<'a> {
    /// The clusters, sorted by name.
    pub fn clusters(&self) -> &[MovingCluster<'a>] {
        &self.clusters
    }

    /// Replicas in each of the clusters that a report shows as ready.
    pub fn shown(&self) -> &[i64] {
        &self.shown
    }

    /// True if the move has begun, has something left to do, and has not released its claim on budgets.
    pub fn is_under_way(&self) -> bool {
        let has_rest = |cluster: &MovingCluster<'_>| cluster.current != cluster.target || self.is_given(cluster);
        self.mark.is_some_and(|mark| !mark.is_released) && self.clusters.iter().any(has_rest)
    }

    /// True if the move gave the cluster replicas that are not known to be ready.
    fn is_given(&self, cluster: &MovingCluster<'_>) -> bool {
        let is_bounded = self.bounds.contains_key(cluster.name);
        is_bounded && cluster.target >= cluster.current && cluster.ready < cluster.current
    }

    /// What the move claims of the budgets: the clusters that change, and those that it has given replicas which are not ready.
    pub fn claimed<'b>(&self, region: impl Fn(&str) -> &'b str) -> Vec<ClaimedCluster<'b>>
    where
        'a: 'b,
    {
        let clusters = self.clusters.iter().filter_map(|cluster| {
            let is_given = self.is_given(cluster);
            let unready = if is_given {
                cluster.current.saturating_sub(cluster.ready)
            } else {
                0
            };
            (cluster.current != cluster.target || unready > 0).then(|| ClaimedCluster {
                name: cluster.name,
                region: region(cluster.name),
                unready,
            })
        });
        clusters.collect()
    }

    /// The verdict. `pace` is asked for the next step, if there may be one.
    ///
    /// # Errors
    ///
    /// The pace failed or broke a rule, or the move is too large to be marked. Nothing may be written.
    pub fn step<E>(
        &self,
        terms: &Terms,
        admission: &Admission,
        ledger: &Ledger<'a>,
        places: &Places<'a>,
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
        let limit = ledger.limit_room(&mut clusters, places.region);
        let moving = Moving {
            clusters: &clusters,
            total: self.seen.total,
            max_surge,
            max_unavailable: terms.allowances.max_unavailable,
            max_clusters: terms.max_clusters,
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

/// Replicas by cluster. Negative ones, which Karmada refuses, count as none.
pub fn by_name(result: &[TargetCluster]) -> BTreeMap<&str, i64> {
    let mut counts = BTreeMap::new();
    for cluster in result {
        *counts.entry(cluster.name.as_str()).or_default() += i64::from(cluster.replicas.max(0));
    }
    counts
}
