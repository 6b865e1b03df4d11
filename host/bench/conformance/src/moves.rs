//! Moves to the result of a case, on which a pace is asked for its steps.
//!
//! The target of each is what the profile decides. Where the replicas are now, which of them are ready, and what the allowances are is made
//! up from the number of the move, so that a case has the same moves each time it is read.

use std::collections::BTreeMap;

use divvy_framework_arithmetic::random::Generator;
use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, Moving, MovingCluster, Step, Wait};
use divvy_scheduler::decision::{Decision, Outcome};
use divvy_scheduler::plugin::PluginInstance;
use divvy_scheduler::profile::Profile;

use crate::case::Situation;

/// Moves per case.
const MOVES: u64 = 8;

/// Steps after which a move is no longer followed: those of most moves are far fewer.
const STEPS: usize = 16;

/// A cluster that no fleet has.
const GONE: &str = "zz-gone";

/// A cluster of a move. All counts are replicas.
#[derive(Debug, Clone, Default)]
struct Member {
    current: i64,
    ready: i64,
    target: i64,
    room: i64,
    /// True if no further replica becomes ready.
    is_broken: bool,
}

/// A move to the result of a case.
#[derive(Debug, Clone)]
pub(crate) struct CaseMove {
    members: BTreeMap<String, Member>,
    total: i64,
    max_surge: i64,
    max_unavailable: i64,
    max_clusters: Option<u32>,
    /// True if nothing hinders the move: every replica becomes ready, there is room for all of them, and all may be surge or unavailable.
    pub(crate) is_free: bool,
}

impl CaseMove {
    /// Asks the plugin for the next step.
    pub(crate) fn step(&self, asked: &Asked<'_>, explain: bool) -> Result<Step, CycleError> {
        let clusters: Vec<MovingCluster<'_>> = self
            .members
            .iter()
            .map(|(name, member)| MovingCluster {
                name,
                current: member.current,
                present: member.current,
                ready: member.ready,
                target: member.target,
                room: member.room,
            })
            .collect();
        let moving = Moving {
            clusters: &clusters,
            total: self.total,
            max_surge: self.max_surge,
            max_unavailable: self.max_unavailable,
            max_clusters: self.max_clusters,
        };
        let answer = Cycle::new().pace(asked.plugin, &asked.input, &moving, explain)?;
        Ok(answer.step)
    }

    /// Makes a step. Replicas that a cluster loses are unready first.
    fn advance(&mut self, next: &[i64]) {
        for (member, &replicas) in self.members.values_mut().zip(next) {
            member.room = member.room.saturating_sub(replicas.saturating_sub(member.current));
            member.ready = member.ready.min(replicas);
            member.current = replicas;
        }
    }

    /// Makes everything ready that can become so. False if it is already.
    fn settle(&mut self) -> bool {
        let mut has_changed = false;
        for member in self.members.values_mut().filter(|member| !member.is_broken) {
            has_changed |= member.ready != member.current;
            member.ready = member.current;
        }
        has_changed
    }

    /// Follows the move to its end, or to a wait that nothing ends; returns the reason of the latter.
    ///
    /// # Errors
    ///
    /// The first error of a step.
    pub(crate) fn walk(mut self, asked: &Asked<'_>) -> Result<Option<Wait>, CycleError> {
        for _ in 0..STEPS {
            if self.members.values().all(|member| member.current == member.target) {
                return Ok(None);
            }
            match self.step(asked, false)? {
                // Some steps are made before the one before is ready.
                Step::Next(next) => self.advance(&next),
                Step::Waits(wait) => {
                    if !self.settle() {
                        return Ok(Some(wait));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// A pace with the input that it is asked on.
pub(crate) struct Asked<'a> {
    plugin: &'a PluginInstance,
    input: CycleInput<'a>,
}

impl<'a> Asked<'a> {
    /// The pace of a profile; `None` if it has none, or if the binding has no plan.
    pub(crate) fn new(profile: &'a Profile, situation: &'a Situation, decision: &'a Decision) -> Option<Self> {
        let plan = decision.plan.as_ref().as_ref().ok()?;
        let input = CycleInput {
            time: Some(situation.time),
            peers: situation.peers.as_ref(),
            ..CycleInput::new(profile, &situation.fleet, plan, plan.groups.first()?)
        };
        Some(Self {
            plugin: profile.pace()?,
            input,
        })
    }
}

/// Asks the pace of a profile, if it has one, for the steps of so many moves to the result of a decision.
///
/// # Errors
///
/// The first error of a step.
pub(crate) fn follow(
    profile: &Profile,
    situation: &Situation,
    decision: &Decision,
    moves: usize,
) -> Result<(), CycleError> {
    let Some(asked) = Asked::new(profile, situation, decision) else {
        return Ok(());
    };
    for moving in moves_to(situation, decision).into_iter().take(moves) {
        moving.walk(&asked)?;
    }
    Ok(())
}

/// Moves to the result of a decision; none if it has no replicas.
pub(crate) fn moves_to(situation: &Situation, decision: &Decision) -> Vec<CaseMove> {
    let Outcome::Scheduled(targets) = &decision.outcome else {
        return Vec::new();
    };
    let target: BTreeMap<&str, i64> = targets
        .iter()
        .map(|(name, replicas)| (name.as_ref(), *replicas))
        .collect();
    let total: i64 = target
        .values()
        .fold(0, |sum: i64, replicas| sum.saturating_add(*replicas));
    // A duplicated binding of many replicas has more than any divided one.
    if total == 0 || total > i64::from(i32::MAX) {
        return Vec::new();
    }
    (0..MOVES)
        .map(|number| made_up(number, situation, &target, total))
        .collect()
}

fn made_up(number: u64, situation: &Situation, target: &BTreeMap<&str, i64>, total: i64) -> CaseMove {
    let random = &mut Generator::new(number, "moves");
    let mut members: BTreeMap<String, Member> = target
        .iter()
        .map(|(name, replicas)| {
            let member = Member {
                target: *replicas,
                ..Member::default()
            };
            ((*name).to_owned(), member)
        })
        .collect();
    let is_free = number < 2;
    for (name, replicas) in origin(number, situation, target, total) {
        let member = members.entry(name).or_default();
        member.current = replicas;
        member.ready = match number % 4 {
            2 => up_to(random, replicas),
            _ => replicas,
        };
    }
    let quarter = total.div_euclid(4).max(1);
    let (max_surge, max_unavailable) = match number {
        // A pace may use only one of the two, so a move that nothing hinders has both.
        0 | 1 => (total, total),
        2 | 3 => (quarter, 0),
        4 | 5 => (0, quarter),
        6 => (1, 1),
        _ => (total, total),
    };
    for member in members.values_mut() {
        member.room = match is_free || number.is_multiple_of(3) {
            true => i64::MAX,
            false => up_to(random, total),
        };
        member.is_broken = !is_free && random.below(4) == 0;
    }
    CaseMove {
        max_clusters: (number % 4 == 3).then(|| u32::try_from(target.len()).unwrap_or(u32::MAX)),
        members,
        total,
        max_surge,
        max_unavailable,
        is_free,
    }
}

/// Clusters in which the replicas are now.
fn origin(number: u64, situation: &Situation, target: &BTreeMap<&str, i64>, total: i64) -> Vec<(String, i64)> {
    let fleet = &situation.fleet;
    let names: Vec<&str> = (0..fleet.len())
        .filter_map(|row| Some(fleet.name(u32::try_from(row).ok()?)))
        .collect();
    let last = situation.binding.object.spec.clusters.iter();
    let last: Vec<(String, i64)> = last
        .map(|cluster| (cluster.name.clone(), cluster.replicas.into()))
        .collect();
    match number % 4 {
        1 if !last.is_empty() => last,
        // All are in a cluster that is gone.
        3 => vec![(GONE.to_owned(), total)],
        // Each cluster's replicas are in the next one.
        2 => {
            let position = |name: &str| names.iter().position(|known| *known == name).unwrap_or(0);
            let moved = target
                .iter()
                .map(|(name, replicas)| (names[(position(name) + 1) % names.len()], *replicas));
            let mut sums: BTreeMap<String, i64> = BTreeMap::new();
            for (name, replicas) in moved {
                *sums.entry(name.to_owned()).or_default() += replicas;
            }
            sums.into_iter().collect()
        }
        _ => {
            let free = names.iter().find(|name| !target.contains_key(**name)).or(names.first());
            free.map(|name| ((*name).to_owned(), total)).into_iter().collect()
        }
    }
}

/// A number from 0 to `most`.
fn up_to(random: &mut Generator, most: i64) -> i64 {
    let bound = most.max(0).unsigned_abs().saturating_add(1);
    i64::try_from(random.below(bound)).unwrap_or(0)
}
