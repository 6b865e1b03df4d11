//! A burst as a problem of numbers.

use std::collections::{BTreeMap, BTreeSet};

use divvy_framework_view::clusters::Row;
use divvy_joint::{Demand, Fleet};

use crate::Burst;
use crate::member::{Placeable, sum};

/// What a replica that is not placed costs, in results that change, for the lowest priority. The next one costs three times as much.
const WORTH: f64 = 20.0;
/// Priorities beyond which none is worth more, so that sums stay exact.
const RANKS: i32 = 8;

/// The members that a plan may place. What they get one after another may move; what runs of them stays, and so do all other bindings.
pub(crate) fn model(burst: &Burst<'_>, placeable: &[&Placeable]) -> Fleet {
    let named = placeable.iter().flat_map(|one| &one.requests);
    let resources: BTreeSet<&str> = named.map(|(resource, _)| resource.as_str()).collect();
    let resources: Vec<&str> = resources.into_iter().collect();
    let priorities: BTreeSet<i32> = placeable.iter().map(|one| one.priority).collect();
    let ranks: BTreeMap<i32, i32> = priorities.into_iter().zip(0..).collect();
    let mut room = free(burst, &resources);
    let demands = placeable.iter().map(|one| {
        let request = request(one, &resources);
        for (row, replicas) in &one.alone {
            for (room, request) in room[*row as usize].iter_mut().zip(&request) {
                *room = room.saturating_add(request.saturating_mul(*replicas));
            }
        }
        let rank = ranks.get(&one.priority).copied().unwrap_or(0).min(RANKS);
        let (least, most) = one.groups;
        let kept = u32::try_from(one.kept.len()).unwrap_or(u32::MAX);
        Demand {
            replicas: one.wanted,
            request,
            priority: one.priority.into(),
            worth: WORTH * 3.0_f64.powi(rank),
            choices: one.choices.clone(),
            running: one.alone.clone(),
            largest: largest(one, least),
            clusters: most.map(|most| most.saturating_sub(kept)),
        }
    });
    let demands = demands.collect();
    Fleet {
        demands,
        room,
        move_price: 1.0,
    }
}

/// Most replicas in one cluster, so that fewer clusters than a binding must be spread by cannot hold all of them. A result that exists
/// already has been checked for that, and may be larger somewhere.
fn largest(one: &Placeable, least: u64) -> Option<u64> {
    let others = least.checked_sub(1).filter(|others| *others > 0)?;
    let is_new = one.kept.is_empty() && sum(&one.alone) == 0;
    is_new.then(|| one.wanted.saturating_sub(1) / others)
}

/// By resource, what a replica takes.
fn request(one: &Placeable, resources: &[&str]) -> Vec<u64> {
    let mut request = vec![0; resources.len()];
    for (name, quantity) in &one.requests {
        if let Ok(position) = resources.binary_search(&name.as_str()) {
            request[position] = *quantity;
        }
    }
    request
}

/// By row and resource, what is free once all members are decided one after another.
fn free(burst: &Burst<'_>, resources: &[&str]) -> Vec<Vec<u64>> {
    let clusters = burst.fleet.snapshot().clusters();
    let mut room = vec![vec![0; resources.len()]; burst.fleet.len()];
    for (position, name) in resources.iter().enumerate() {
        let Some(columns) = clusters.resource(name) else {
            continue;
        };
        for (row, room) in room.iter_mut().enumerate() {
            let remaining = columns.remaining.get(Row::from_index(row)).unwrap_or(0);
            let free = remaining.saturating_sub(burst.ledger.taken(name, row));
            room[position] = u64::try_from(free).unwrap_or(0);
        }
    }
    room
}
