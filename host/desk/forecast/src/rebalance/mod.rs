//! The fewest moves that place everything that waits, and a bound that says how many there must be.
//!
//! A live scheduler decides one binding after another, so what came first keeps room that only later ones could use. Here, all bindings that
//! run or wait are one problem ([`divvy_joint`]). Whatever the plan changes is decided by the binding's own plugins, as if it had exactly
//! the room that the plan gives it; what these refuse stays as it is, and the rest is planned again.
//!
//! The bound counts parts of replicas and knows neither limits of spread constraints nor a plugin's rules beside its filters. Both could only
//! make it higher, so it holds for every plan.

mod bound;
mod check;
pub mod document;
mod room;
mod standing;

use std::collections::BTreeMap;

use divvy_joint::{Plan, Settings, plan_whole};
use divvy_scheduler::profile::ConfiguredProfile;

use crate::future::{Entry, Future, Options};
use bound::bound;
use check::Check;
use document::{MoveRow, MovedCluster, RebalanceTotals, Rebalanced, StayRow, WaitingRow};
use room::{Model, Surveyed, model, running, standings, survey};
use standing::{Standing, Stay, waits};

/// Plans after which what plugins refuse is no longer planned without.
const ROUNDS: usize = 12;

/// Why a binding waits for which there is room in some plans, as far as is known.
const NO_PLAN: &str = "no plan was found that places it whole";

/// Places what waits in a future with the fewest moves.
pub fn rebalance(future: &Future, side: &ConfiguredProfile, options: Options) -> Rebalanced {
    let surveyed = survey(future, side, options);
    let mut standings = standings(future, &surveyed, side);
    let first = model(future, &standings, &surveyed);
    let planned = match first.waits.contains(&true) {
        true => accepted(future, (side, options), &mut standings, &surveyed),
        false => None,
    };
    let mut rebalanced = Rebalanced {
        bound: bound(
            &first,
            future,
            options,
            planned.as_ref().map(|(model, plan)| (model, plan)),
        ),
        ..Rebalanced::default()
    };
    let placed = planned
        .as_ref()
        .map(|(model, plan)| by_entry(model, plan))
        .unwrap_or_default();
    for (index, (entry, standing)) in future.entries.iter().zip(standings).enumerate() {
        let part = placed.get(&index).map(Vec::as_slice);
        rebalanced.add(entry, (&surveyed[index].strategy, standing), part, future);
    }
    rebalanced.name_the_hopeless();
    rebalanced.totals.count(&rebalanced.waiting, &rebalanced.moves);
    rebalanced
}

/// A plan whose every part the plugins of its binding accept. `None` if there is none after some rounds.
fn accepted(
    future: &Future,
    (side, options): (&ConfiguredProfile, Options),
    standings: &mut [Standing],
    surveyed: &[Surveyed],
) -> Option<(Model, Plan)> {
    for _ in 0..ROUNDS {
        let model = model(future, standings, surveyed);
        let settings = Settings::new(options.threads);
        // The numbers of a snapshot are within what a plan supports, unless a manifest has absurd ones: nothing can be planned then.
        let (plan, _) = plan_whole(&model.fleet, &settings).ok()?;
        let is_changed = |number: &usize| plan.placed[*number] != model.fleet.demands[*number].running;
        let changed: Vec<usize> = (0..model.entries.len()).filter(is_changed).collect();
        let parts: Vec<Vec<(u32, u64)>> = changed
            .iter()
            .map(|number| model.part(*number, &plan.placed[*number]))
            .collect();
        let entries = changed.iter().map(|number| &future.entries[model.entries[*number]]);
        let parts: Vec<check::Part<'_>> = entries.zip(parts.iter().map(Vec::as_slice)).collect();
        let mut check = Check::new(future, side, options, &parts);
        let verdicts: Vec<bool> = parts.iter().map(|part| check.accepts(*part)).collect();
        let refused: Vec<usize> = changed
            .iter()
            .zip(verdicts)
            .filter(|(_, accepted)| !accepted)
            .map(|(number, _)| model.entries[*number])
            .collect();
        if refused.is_empty() {
            return Some((model, plan));
        }
        for index in refused {
            standings[index] = Standing::Stays(Stay::Refused);
        }
    }
    None
}

/// What each entry has under a plan, as far as that is another number of replicas somewhere.
fn by_entry(model: &Model, plan: &Plan) -> BTreeMap<usize, Vec<(u32, u64)>> {
    let placed = plan.placed.iter().zip(&model.fleet.demands).enumerate();
    let changed = placed.filter(|(_, (placed, demand))| **placed != demand.running);
    changed
        .map(|(number, (placed, _))| (model.entries[number], model.part(number, placed)))
        .collect()
}

impl Rebalanced {
    /// Says of bindings that no plan can place that this is so.
    fn name_the_hopeless(&mut self) {
        let alone = &self.bound.alone;
        for row in self.waiting.iter_mut().filter(|row| row.reason == NO_PLAN) {
            if alone
                .iter()
                .any(|other| (&other.binding, &other.kind) == (&row.binding, &row.kind))
            {
                row.reason = "there is no room for all of it in any plan".to_owned();
            }
        }
    }

    fn add(
        &mut self,
        entry: &Entry,
        (strategy, standing): (&str, Standing),
        part: Option<&[(u32, u64)]>,
        future: &Future,
    ) {
        let before = running(entry, future);
        let after = part.unwrap_or(&before);
        let placed: u64 = after.iter().map(|(_, replicas)| replicas).sum();
        let missing = entry
            .binding
            .replicas()
            .saturating_sub(i64::try_from(placed).unwrap_or(i64::MAX))
            .max(0);
        let kind = || entry.binding.object.scope().kind().to_owned();
        if waits(entry) {
            let was_placed: u64 = before.iter().map(|(_, replicas)| replicas).sum();
            let was_missing = entry
                .binding
                .replicas()
                .saturating_sub(i64::try_from(was_placed).unwrap_or(i64::MAX))
                .max(0);
            self.waiting.push(WaitingRow {
                binding: entry.binding.key(),
                kind: kind(),
                generation: entry.binding.object.metadata.generation,
                strategy: strategy.to_owned(),
                priority: entry.binding.priority(),
                replicas: entry.binding.replicas(),
                missing: was_missing,
                is_placed: missing == 0 && after != before,
                clusters: if after == before {
                    Vec::new()
                } else {
                    clusters(&before, after, future)
                },
                reason: match standing {
                    Standing::Stays(stay) => stay.text().to_owned(),
                    _ if missing == 0 && after != before => String::new(),
                    _ => NO_PLAN.to_owned(),
                },
            });
        } else if after != before {
            let left = |(row, replicas): &(u32, u64)| {
                let now = after.iter().find(|(other, _)| other == row).map_or(0, |(_, now)| *now);
                replicas.saturating_sub(now)
            };
            self.moves.push(MoveRow {
                binding: entry.binding.key(),
                kind: kind(),
                generation: entry.binding.object.metadata.generation,
                strategy: strategy.to_owned(),
                replicas: entry.binding.replicas(),
                moved: i64::try_from(before.iter().map(left).sum::<u64>()).unwrap_or(i64::MAX),
                clusters: clusters(&before, after, future),
            });
        }
        if let (Standing::Stays(stay), false) = (standing, waits(entry)) {
            let reason = stay.text();
            match self.stays.iter_mut().find(|row| row.reason == reason) {
                Some(row) => row.bindings += 1,
                None => self.stays.push(StayRow {
                    reason: reason.to_owned(),
                    bindings: 1,
                }),
            }
        }
    }
}

/// The clusters in which a binding has another number of replicas.
fn clusters(before: &[(u32, u64)], after: &[(u32, u64)], future: &Future) -> Vec<MovedCluster> {
    let mut both: BTreeMap<u32, (u64, u64)> = before.iter().map(|(row, replicas)| (*row, (*replicas, 0))).collect();
    for (row, replicas) in after {
        both.entry(*row).or_insert((0, 0)).1 = *replicas;
    }
    let count = |replicas: u64| i64::try_from(replicas).unwrap_or(i64::MAX);
    let changed = both.into_iter().filter(|(_, (before, after))| before != after);
    changed
        .map(|(row, (before, after))| MovedCluster {
            name: future.fleet.name(row).to_owned(),
            before: count(before),
            after: count(after),
        })
        .collect()
}

impl RebalanceTotals {
    fn count(&mut self, waiting: &[WaitingRow], moves: &[MoveRow]) {
        self.waiting = waiting.len();
        self.placed = waiting.iter().filter(|row| row.is_placed).count();
        self.missing = waiting.iter().map(|row| row.missing).sum();
        self.moved = moves.iter().map(|row| row.moved).sum();
        self.moved_bindings = moves.len();
    }
}
