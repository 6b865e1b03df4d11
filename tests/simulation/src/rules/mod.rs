//! The rules, and the books by which they are checked.
//!
//! - `write`: rule a, at each write.
//! - `decision`: rules b and c, at each decision.
//! - `rest`: rules d and e, at rest.
//! - `leftovers`: rule e, of what a process does not decide.
//! - `eviction`: rule f, when Karmada removes an old copy.
//! - `moves`: rule g, at each step.
//! - `plans`: rule h, at each write for a plan, and at rest.

mod decision;
mod effort;
mod eviction;
mod leftovers;
mod moves;
mod plans;
mod rest;
mod write;

pub(crate) use self::rest::is_ours;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use divvy_controller::objects::ObjectKey;
use divvy_judge::MoveRule;
use divvy_scheduler::moves::planned::PLANNED_ANNOTATION;
use divvy_world::agenda::Millis;
use serde_json::Value;

use crate::oracle::{Targets, targets_of};
use crate::world::Seen;

/// A rule, by its letter in the project's issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    /// Nothing is written by one who does not hold the lease.
    A,
    /// What is reported plus what is held is at most what is allocatable.
    B,
    /// Replicas are taken only for a reason, and no more than the offline decision takes.
    C,
    /// At rest, every binding is as the offline decision would have it.
    D,
    /// Nothing is decided again and again, nothing waits for ever, and memory is flat.
    E,
    /// An eviction that ends because it is replaced leaves as many ready replicas as there were.
    F,
    /// No step takes ready replicas below what is allowed, gives more than a surge, or exceeds a budget.
    G,
    /// A plan is carried out as it says, of the version of which it was made, and ends.
    H,
}

/// A breach of a rule, which ends a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The rule.
    pub(crate) rule: Rule,
    /// What was seen.
    pub(crate) text: String,
}

/// What the rules remember.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Time from which nothing may be written.
    pub(crate) quiet_since: Option<Millis>,
    /// Time at which replicas were last taken away from each cluster, by whomever, or pods replaced there.
    shrunk: BTreeMap<String, Millis>,
    /// The last decision on each binding, written or not, with the version that it was made of.
    pub(super) decided: BTreeMap<ObjectKey, (Arc<Value>, Targets)>,
    /// Time at which a process last began to lead.
    pub(crate) led_at: Millis,
    /// Decisions of each binding: the second, and how many were made in it.
    pub(super) hurry: BTreeMap<ObjectKey, (Millis, u32)>,
    /// Results that took replicas away, by binding.
    pub(crate) moves: MoveRule,
    /// Versions at which the specification of a cluster, or what else a decision reads of it beside its reports, changed.
    offers: Vec<u64>,
    /// Versions whose clusters the last decision on each binding knew, and the last one that was written.
    pub(super) known: BTreeMap<ObjectKey, Seen>,
    pub(super) known_when_written: BTreeMap<ObjectKey, Seen>,
    /// The process that last took replicas of each binding away.
    pub(super) movers: BTreeMap<ObjectKey, u64>,
    /// Decisions of each binding since all troubles ended.
    pub(super) decisions_at_rest: BTreeMap<ObjectKey, u32>,
    /// Decisions that were checked, for figures about coverage.
    pub(crate) decisions: u64,
    /// Decisions on an open fleet after which a cluster has more reported and held than allocatable.
    pub(crate) overcommitted: u64,
    /// Decisions that took replicas away.
    pub(crate) takings: u64,
    /// Writes that were carried out.
    pub(crate) writes: u64,
    /// Evictions that ended because they were replaced.
    pub(crate) evictions: u64,
    /// Time at which the scheduler last changed the result of each binding.
    pub(super) results_at: BTreeMap<ObjectKey, Millis>,
    /// The clusters that were Ready for the process that decided each binding last.
    pub(super) ready_seen: BTreeMap<ObjectKey, BTreeSet<String>>,
    /// The clusters whose deletion it had seen.
    pub(super) leaving_seen: BTreeMap<ObjectKey, BTreeSet<String>>,
    /// Time at which the profile was last exchanged; 0 if never.
    pub(crate) exchanged_at: Millis,
    /// Results that were written on the way of a move.
    pub(crate) steps: u64,
    /// Targets of the plan that was made once all troubles had ended; none if nothing was planned then.
    pub(crate) planned: BTreeMap<ObjectKey, Targets>,
    /// By binding, how many results had been decided before its last one.
    pub(crate) turns: BTreeMap<ObjectKey, u64>,
    /// Targets that plans gave bindings.
    pub(crate) targets: u64,
    /// Bursts that the processes which were alive at rest had decided as one plan.
    pub(crate) bursts: u64,
}

impl Rule {
    /// All rules.
    pub(crate) const ALL: [Self; 8] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G, Self::H];
}

impl Books {
    /// Notes a write by another controller.
    pub(crate) fn note_foreign_write(
        &mut self,
        key: &ObjectKey,
        before: Option<&Value>,
        after: Option<&Value>,
        now: Millis,
    ) {
        let part = |object: Option<&Value>, field: &str| object.map(|object| object["spec"][field].clone());
        let differs = |field| part(before, field) != part(after, field);
        let fields = [
            "clusters",
            "placement",
            "replicas",
            "replicaRequirements",
            "rescheduleTriggeredAt",
        ];
        let planned =
            |object: Option<&Value>| object.map(|object| object["metadata"]["annotations"][PLANNED_ANNOTATION].clone());
        if planned(before) != planned(after) {
            self.decisions_at_rest.remove(key);
        }
        if fields.into_iter().any(differs) {
            self.decisions_at_rest.remove(key);
            self.moves.ask(&key.to_string(), 0);
        }
        let targets = |object: Option<&Value>| object.map(targets_of).unwrap_or_default();
        match differs("replicaRequirements") {
            true => self.note_shrinking(&targets(before), &Targets::new(), now),
            false => self.note_shrinking(&targets(before), &targets(after), now),
        }
    }

    /// Notes that a result changes: pods that end hide the growth that settles holdings.
    pub(crate) fn note_shrinking(&mut self, before: &Targets, after: &Targets, now: Millis) {
        let clusters = before.iter().filter(|(cluster, replicas)| {
            let left = after.iter().find(|(name, _)| name == cluster);
            left.is_none_or(|(_, left)| left < replicas)
        });
        for (cluster, _) in clusters {
            self.note_end(cluster, now);
        }
    }

    /// Notes that pods end on a cluster, which may be long after the result has changed: an eviction is graceful, a member is cut off.
    pub(crate) fn note_end(&mut self, cluster: &str, now: Millis) {
        self.shrunk.insert(cluster.to_owned(), now);
    }

    /// Notes that what a cluster offers changes with a version.
    pub(crate) fn note_offer(&mut self, version: u64) {
        self.offers.push(version);
    }

    /// True if what clusters offer differs between what two decisions knew.
    pub(super) fn has_other_offer(&self, one: Seen, other: Seen) -> bool {
        let differs = |one: u64, other: u64| {
            let between = one.min(other) + 1..=one.max(other);
            self.offers.iter().any(|version| between.contains(version))
        };
        differs(one.last, other.last) || differs(one.newest, other.newest)
    }

    /// Notes that something is held on a cluster since a time. Growth that was hidden there is missing from what is reported as long as
    /// anything is held that was taken meanwhile: the growth of what follows settles that first.
    pub(super) fn note_held(&mut self, cluster: &str, since: Millis, now: Millis, time: Millis) {
        if let Some(shrunk) = self.shrunk.get_mut(cluster).filter(|shrunk| since <= **shrunk + time) {
            *shrunk = (*shrunk).max(now.saturating_sub(time));
        }
    }

    /// True if nothing was taken away from a cluster for this long.
    pub(super) fn is_calm(&self, cluster: &str, now: Millis, time: Millis) -> bool {
        self.shrunk.get(cluster).is_none_or(|shrunk| now > shrunk + time)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::D => "d",
            Self::E => "e",
            Self::F => "f",
            Self::G => "g",
            Self::H => "h",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rule {}: {}", self.rule, self.text)
    }
}
