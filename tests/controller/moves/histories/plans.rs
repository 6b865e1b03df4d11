//! Plans for the workloads, made, applied and given up amid everything else as `divvy rebalance` does it, and one that nothing disturbs.
//!
//! The targets are random. Whether a plan is a good one is no matter here: only that it is carried out, or left with a reason.

use std::collections::BTreeMap;

use divvy_karmada::api::{ReadJson, ResourceBinding};
use divvy_scheduler::moves::planned::{PLANNED_ANNOTATION, PlannedTarget, give_up};
use divvy_world::random::Random;
use serde_json::json;

use super::retained::RETAINED;
use super::{KEYS, NAMES, World};

/// What a plan wants of a binding.
struct Row {
    key: &'static str,
    generation: i64,
    from: [i64; 4],
    target: [i64; 4],
}

/// A plan.
struct Plan {
    name: String,
    rows: Vec<Row>,
    /// Time after which it counts no more, in seconds.
    until: i64,
    is_applied: bool,
}

/// The plans of a history.
pub(super) struct Plans {
    random: Random,
    number: usize,
    /// The last plan that was made.
    last: Option<Plan>,
    is_undisturbed: bool,
    /// Replicas that have left a cluster of each binding since the last plan was made.
    moved: BTreeMap<&'static str, i64>,
    /// Targets that were given, and taken back or turned round.
    pub(super) given: usize,
    pub(super) given_up: usize,
    /// Targets that were reached undisturbed.
    pub(super) reached: usize,
}

impl Plans {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed, "plans"),
            number: 0,
            last: None,
            is_undisturbed: false,
            moved: BTreeMap::new(),
            given: 0,
            given_up: 0,
            reached: 0,
        }
    }
}

fn by_name(counts: [i64; 4]) -> BTreeMap<String, i64> {
    NAMES.iter().map(|name| (*name).to_owned()).zip(counts).collect()
}

impl World {
    /// A person plans, carries out, or gives up.
    pub(super) fn plan(&mut self) {
        if self.plans.random.chance(3) {
            self.make_plan();
        }
        match self.plans.last.as_ref().map(|plan| plan.is_applied) {
            Some(false) if self.plans.random.chance(40) => self.apply_plan(),
            // The same command once more, and later another.
            Some(true) if self.plans.random.chance(3) => self.apply_plan(),
            Some(true) if self.plans.random.chance(4) => self.give_up_plan(),
            _ => {}
        }
    }

    /// Plans other clusters for what runs, and some for what is missing.
    fn make_plan(&mut self) {
        let mut rows = Vec::new();
        for key in KEYS {
            let from = self.result(key);
            let missing = self.total(key) - from.iter().sum::<i64>();
            if missing < 0 || self.evicted(key).contains(&true) {
                continue;
            }
            let random = &mut self.plans.random;
            let mut target = from;
            for _ in 0..missing {
                target[random.index(4)] += 1;
            }
            for _ in 0..random.count(4) {
                let (from, to) = (random.index(4), random.index(4));
                let moved = random.count(target[from] + 1);
                target[from] -= moved;
                target[to] += moved;
            }
            rows.push(Row {
                key,
                generation: self.generation(key),
                from,
                target,
            });
        }
        self.plans.number += 1;
        self.plans.moved.clear();
        self.plans.last = Some(Plan {
            name: format!("p{}", self.plans.number),
            rows,
            until: self.now + 60 + self.plans.random.count(240),
            is_applied: false,
        });
    }

    /// Gives each binding its target that is as the plan found it.
    fn apply_plan(&mut self) {
        let Some(mut plan) = self.plans.last.take() else { return };
        plan.is_applied = true;
        for row in &plan.rows {
            let is_as_found = self.generation(row.key) == row.generation && self.result(row.key) == row.from;
            if !is_as_found || row.target == row.from || self.planned(row.key, &plan.name).is_some() {
                continue;
            }
            let (from, target) = (by_name(row.from), by_name(row.target));
            let planned = PlannedTarget::new(plan.name.clone(), row.generation, from, target, self.at(plan.until));
            self.plans.given += 1;
            self.annotate(row.key, Some(&planned));
        }
        self.plans.last = Some(plan);
    }

    /// Takes the targets of what has not begun, and turns round what is on its way.
    fn give_up_plan(&mut self) {
        let Some(plan) = self.plans.last.take() else { return };
        for row in &plan.rows {
            let stored = self.simulation.binding(row.key).to_string();
            let binding = ResourceBinding::from_json(&stored).expect("a binding");
            if let Some(back) = give_up(&binding, &plan.name, self.at(plan.until)) {
                self.plans.given_up += 1;
                self.annotate(row.key, back.as_ref());
            }
        }
    }

    /// Makes and applies a plan when everything is at rest, and nothing disturbs it. Returns true if it was carried out before.
    pub(super) fn has_planned_at_rest(&mut self) -> bool {
        if self.plans.is_undisturbed {
            self.check_undisturbed();
            return true;
        }
        self.plans.is_undisturbed = true;
        self.make_plan();
        if let Some(plan) = &mut self.plans.last {
            plan.until = self.now + 100_000;
        }
        self.apply_plan();
        // What is not moved in steps leaves the plan.
        let from = by_name(self.result(RETAINED));
        let target = by_name([self.total(RETAINED), 0, 0, 0]);
        let generation = self.generation(RETAINED);
        let planned = PlannedTarget::new("p".to_owned(), generation, from, target, self.at(self.now + 100_000));
        let text = planned.write().expect("a short target");
        let annotations = json!({"metadata": {"annotations": {PLANNED_ANNOTATION: text}}});
        self.simulation.patch(RETAINED, &annotations);
        self.pump();
        false
    }

    /// Everything is at its target, by the moves of the plan alone. What goes back to where it was evicted from has changed meanwhile.
    fn check_undisturbed(&mut self) {
        if self.setting.allowances.failback.is_some() {
            return;
        }
        let Some(plan) = self.plans.last.take() else { return };
        for row in &plan.rows {
            if !self.may_use(row) {
                continue;
            }
            let left = row
                .from
                .iter()
                .zip(row.target)
                .map(|(from, target)| (from - target).max(0));
            let found = (
                self.result(row.key),
                self.plans.moved.get(row.key).copied().unwrap_or(0),
            );
            assert_eq!(
                found,
                (row.target, left.sum()),
                "seed {}, second {}: the result of `{}`, which had {:?}, and its moves\n{}",
                self.seed,
                self.now,
                row.key,
                row.from,
                self.story()
            );
            self.plans.reached += 1;
        }
    }

    /// True if the placement of a binding lets it use the clusters of its target.
    fn may_use(&self, row: &Row) -> bool {
        let affinity = &self.simulation.binding(row.key)["spec"]["placement"]["clusterAffinity"]["clusterNames"];
        let Some(names) = affinity.as_array() else { return true };
        let gains = (0..4).filter(|cluster| row.target[*cluster] > row.from[*cluster]);
        gains
            .into_iter()
            .all(|cluster| names.iter().any(|name| name == NAMES[cluster]))
    }

    /// Notes what has left clusters of a binding.
    pub(super) fn note_moved(&mut self, key: &'static str, before: [i64; 4]) {
        let after = self.result(key);
        let left = before.iter().zip(after).map(|(before, after)| (before - after).max(0));
        *self.plans.moved.entry(key).or_default() += left.sum::<i64>();
    }

    /// True if a plan has a target for a binding.
    pub(super) fn is_planned(&self, key: &str) -> bool {
        self.simulation.binding(key)["metadata"]["annotations"][PLANNED_ANNOTATION].is_string()
    }

    /// The target that a plan has for a binding that has all its replicas, if it is of its present version.
    pub(super) fn planned_in_force(&self, key: &str) -> Option<[i64; 4]> {
        let text = self.simulation.binding(key)["metadata"]["annotations"][PLANNED_ANNOTATION].as_str()?;
        let planned = PlannedTarget::parse(text).ok()?;
        let is_in_force = planned.generation == self.generation(key) && planned.until >= self.at(self.now);
        let has_all = self.result(key).iter().sum::<i64>() >= self.total(key);
        (is_in_force && has_all).then(|| NAMES.map(|name| planned.target.get(name).copied().unwrap_or(0)))
    }

    fn planned(&self, key: &str, plan: &str) -> Option<PlannedTarget> {
        let text = self.simulation.binding(key)["metadata"]["annotations"][PLANNED_ANNOTATION].as_str()?;
        PlannedTarget::parse(text).ok().filter(|planned| planned.plan == plan)
    }

    fn annotate(&mut self, key: &'static str, planned: Option<&PlannedTarget>) {
        let text = planned.map(|planned| planned.write().expect("a short target"));
        self.act(key, &json!({"metadata": {"annotations": {PLANNED_ANNOTATION: text}}}));
    }

    fn generation(&self, key: &str) -> i64 {
        let generation = &self.simulation.binding(key)["metadata"]["generation"];
        generation.as_i64().expect("a binding has a generation")
    }

    /// A second of this history in milliseconds since 1970.
    fn at(&self, second: i64) -> i64 {
        (self.simulation.seconds() + second - self.now) * 1_000
    }
}
