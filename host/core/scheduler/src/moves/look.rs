//! A binding as a move sees it: what its mark or its decision wants, and what is ready.
//!
//! A look reads the binding and the [world](World), and nothing else that is remembered. It says what the move claims of the budgets;
//! [`step`](super::step::step) says what to do next.

use std::collections::{BTreeMap, BTreeSet};

use divvy_karmada::api::{GracefulEvictionTask, TargetCluster};
use divvy_profile::OnExclusion;

use super::budgets::ClaimedCluster;
use super::mark::{Mark, ReadMark};
use super::readiness::{Bound, Report, Reporting, ready};
use super::step::Verdict;
use super::world::World;
use crate::cycle::MovingCluster;
use crate::decide::stored_hash::is_hash_of_result;

/// A binding as it is seen.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Its key, by which budgets order moves of the same priority.
    pub key: &'a str,
    /// Its priority.
    pub priority: i32,
    /// What is wanted of it.
    pub wish: Wish<'a>,
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

/// A move as it is seen.
#[derive(Debug, Clone)]
pub struct Look<'a> {
    pub(super) seen: Seen<'a>,
    /// The clusters, sorted by name.
    pub(super) clusters: Vec<MovingCluster<'a>>,
    /// Replicas in each of them that a report shows as ready. Where a step may be newer than the report, they are more than are known
    /// to be ready.
    pub(super) shown: Vec<i64>,
    /// Bounds by cluster, and whether they still count.
    pub(super) bounds: BTreeMap<&'a str, (Bound, bool)>,
    /// The mark, if it is valid.
    pub(super) mark: Option<&'a Mark>,
    pub(super) is_decided: bool,
    pub(super) is_cancelled: bool,
    /// True if clusters must be left at once.
    pub(super) leaves: bool,
}

/// Looks at a binding. `exclusion` is the treatment of its replicas in clusters that are excluded.
///
/// # Errors
///
/// The verdict, if there is nothing to look at.
pub fn look<'a>(seen: Seen<'a>, exclusion: OnExclusion, world: &impl World) -> Result<Look<'a>, Verdict> {
    let wish = seen.wish;
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
    let is_settled = |at: i64| seen.now.saturating_sub(at) >= world.report_time();
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
            Wish::Decided(_) => world.is_deleting(name) || exclusion == OnExclusion::Now && world.is_excluded(name),
            // Exclusions were judged when the target was decided, a deletion may have begun since.
            Wish::Continue => world.is_deleting(name),
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
        let exists = world.exists(name);
        let is_ready = exists && world.is_ready(name);
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
            room: if exists { world.room(name).max(0) } else { 0 },
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
        self.has_begun() && self.clusters.iter().any(has_rest)
    }

    /// True if the mark is of a move that has something left to do. One that is left by a move which has reached its target does not let
    /// another one begin.
    fn has_begun(&self) -> bool {
        let Some(mark) = self.mark.filter(|mark| !mark.is_released) else {
            return false;
        };
        let is_left = |cluster: &MovingCluster<'_>| {
            let waypoint = mark.clusters.get(cluster.name);
            waypoint.is_some_and(|waypoint| waypoint.target != cluster.current) || self.is_given(cluster)
        };
        self.clusters.iter().any(is_left)
    }

    /// True if the move gave the cluster replicas that are not known to be ready.
    pub(super) fn is_given(&self, cluster: &MovingCluster<'_>) -> bool {
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
}

/// Replicas by cluster. Negative ones, which Karmada refuses, count as none.
pub fn by_name(result: &[TargetCluster]) -> BTreeMap<&str, i64> {
    let mut counts = BTreeMap::new();
    for cluster in result {
        *counts.entry(cluster.name.as_str()).or_default() += i64::from(cluster.replicas.max(0));
    }
    counts
}
