//! What no plan can be below: how many must wait, and how many replicas must move.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use divvy_joint::{Choice, Demand, Fleet, Malformed, Plan, Relaxation, Settings, least_incomplete};

use super::room::Model;
use crate::future::{Future, Options};
use crate::planned::{Bound, MustWait, PriorityBound};

/// Steps of each relaxation. A bound holds after any number of them.
pub(super) const STEPS: usize = 600;

/// Priorities of bindings that wait up to which each is looked at.
const PRIORITIES_MAX: usize = 8;

/// What it costs, in moves, not to place a replica that another plan places.
const LEFT_OUT: f64 = 20.0;

/// The bound on what waits in a model, and on the moves of plans that place the same bindings as the one given.
pub(super) fn bound(model: &Model, future: &Future, options: Options, planned: Option<(&Model, &Plan)>) -> Bound {
    let with_models = model.clusters_with_models(future);
    if with_models > 0 {
        return Bound {
            left_out: Some(format!(
                "clusters with resource models ({with_models}) have room by node, which the bound does not know"
            )),
            ..Bound::default()
        };
    }
    if !model.waits.contains(&true) {
        return Bound {
            waiting: Some(0),
            moves: Some(0),
            ..Bound::default()
        };
    }
    let settings = Settings {
        steps: STEPS,
        gap: 1e-4,
        ..Settings::new(options.threads)
    };
    let (alone, texts) = alone(model, future);
    let waiting = match must_wait(model, i64::MIN, &settings) {
        Ok(waiting) => waiting,
        // Numbers of a manifest may be beyond all that a cluster has.
        Err(error) => {
            return Bound {
                left_out: Some(error.to_string()),
                ..Bound::default()
            };
        }
    };
    let moves = planned.and_then(|planned| {
        // The less the numbers differ, the sooner the bound is near the least.
        let demands = of_same(model, Some(planned)).into_iter().map(|number| Demand {
            worth: LEFT_OUT,
            ..model.fleet.demands[number].clone()
        });
        let same = relaxed(demands.collect(), model);
        let solved = Relaxation::solve(&same, &settings).ok()?;
        i64::try_from(least(solved.bound.cost())).ok()
    });
    Bound {
        waiting: Some(waiting.max(alone)),
        by_priority: by_priority(model, &texts, &settings),
        moves,
        alone: texts,
        left_out: None,
    }
}

/// The least whole number that is not below a bound.
fn least(bound: f64) -> u64 {
    (bound - 1e-6).ceil().max(0.0) as u64
}

/// The demands of a model that a plan places, by number: what it does not place takes no room in any plan that places the same.
pub(super) fn of_same(model: &Model, planned: Option<(&Model, &Plan)>) -> Vec<usize> {
    let is_placed = |number: &usize| {
        let unplaced = planned.and_then(|(planned, plan)| {
            let position = planned.entries.binary_search(&model.entries[*number]).ok()?;
            Some(plan.unplaced[position])
        });
        !model.waits[*number] || unplaced == Some(0)
    };
    (0..model.entries.len()).filter(is_placed).collect()
}

/// How many bindings of at least this priority wait in any plan, by the room of all clusters together.
fn must_wait(model: &Model, priority: i64, settings: &Settings) -> Result<usize, Malformed> {
    let solved = Relaxation::solve(&waiting_alone(model, priority), settings)?;
    let demands = model.fleet.demands.iter().zip(&model.waits);
    let waiting = demands.filter(|(demand, waits)| **waits && demand.priority >= priority);
    let sizes = waiting.map(|(demand, _)| demand.replicas);
    Ok(least_incomplete(sizes, least(solved.bound.cost())))
}

/// The problem in which only replicas that wait cost something: its bound is their least number. Whatever runs has to stay placed, and what
/// is less urgent takes no room.
fn waiting_alone(model: &Model, priority: i64) -> Fleet {
    let demands = model.fleet.demands.iter().zip(&model.waits);
    let demands = demands.filter(|(demand, waits)| !**waits || demand.priority >= priority);
    let demands = demands.map(|(demand, waits)| Demand {
        worth: if *waits { 1.0 } else { 100.0 },
        ..demand.clone()
    });
    Fleet {
        move_price: 0.0,
        ..relaxed(demands.collect(), model)
    }
}

/// How many must wait of each priority and those above it, the highest first. Empty if all that wait have one priority, or more than can be
/// looked at.
fn by_priority(model: &Model, alone: &[MustWait], settings: &Settings) -> Vec<PriorityBound> {
    let waiting = || {
        let demands = model.fleet.demands.iter().zip(&model.waits);
        demands.filter(|(_, waits)| **waits).map(|(demand, _)| demand.priority)
    };
    let priorities: BTreeSet<Reverse<i64>> = waiting().map(Reverse).collect();
    if priorities.len() < 2 || priorities.len() > PRIORITIES_MAX {
        return Vec::new();
    }
    let rows = priorities.into_iter().filter_map(|Reverse(priority)| {
        let together = must_wait(model, priority, settings).ok()?;
        let alone = alone.iter().filter(|row| i64::from(row.priority) >= priority).count();
        Some(PriorityBound {
            priority: i32::try_from(priority).ok()?,
            waiting: waiting().filter(|other| *other >= priority).count(),
            must_wait: together.max(alone),
        })
    });
    rows.collect()
}

/// These demands without the limits that only help a plan to be accepted: spread constraints are the plugins' own.
fn relaxed(demands: Vec<Demand>, model: &Model) -> Fleet {
    let demands = demands.into_iter().map(|demand| Demand {
        largest: None,
        clusters: None,
        ..demand
    });
    Fleet {
        demands: demands.collect(),
        room: model.fleet.room.clone(),
        move_price: model.fleet.move_price,
    }
}

/// How many bindings would wait even if no other one were there that may move, and why.
fn alone(model: &Model, future: &Future) -> (usize, Vec<MustWait>) {
    let mut rows = Vec::new();
    let waiting = model
        .entries
        .iter()
        .zip(&model.fleet.demands)
        .zip(&model.waits)
        .filter(|(_, waits)| **waits);
    for ((entry, demand), _) in waiting {
        let fits = |choice: &Choice| -> (u64, Option<usize>) {
            let room = model.fleet.room[choice.cluster as usize]
                .iter()
                .zip(&demand.request)
                .enumerate();
            let bounded = room
                .filter(|(_, (_, request))| **request > 0)
                .map(|(position, (room, request))| (room / request, position));
            bounded
                .min()
                .map_or((u64::MAX, None), |(fits, position)| (fits, Some(position)))
        };
        let fits: Vec<(u64, Option<usize>)> = demand.choices.iter().map(fits).collect();
        let all = fits.iter().fold(0_u64, |sum, (fits, _)| sum.saturating_add(*fits));
        if all >= demand.replicas {
            continue;
        }
        // The resource that stops most clusters.
        let mut stopped = vec![0; model.resources.len()];
        fits.iter()
            .filter_map(|(_, position)| *position)
            .for_each(|position| stopped[position] += 1);
        let most = stopped
            .iter()
            .enumerate()
            .max_by_key(|(position, count)| (**count, std::cmp::Reverse(*position)));
        rows.push(MustWait {
            binding: future.entries[*entry].binding.key(),
            kind: future.entries[*entry].binding.object.scope().kind().to_owned(),
            priority: future.entries[*entry].binding.priority(),
            fits: i64::try_from(all).unwrap_or(i64::MAX),
            replicas: i64::try_from(demand.replicas).unwrap_or(i64::MAX),
            resource: most
                .filter(|(_, count)| **count > 0)
                .map(|(position, _)| model.resources[position].clone()),
        });
    }
    (rows.len(), rows)
}
