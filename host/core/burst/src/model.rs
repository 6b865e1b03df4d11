//! A burst as a problem of numbers.

use std::collections::BTreeSet;

use divvy_framework_view::clusters::Row;
use divvy_joint::{Demand, Fleet, Worths, largest_part};

use crate::Burst;
use crate::member::{Placeable, sum};

/// The members that a plan may place. What they get one after another may move; what runs of them stays, and so do all other bindings.
pub(crate) fn model(burst: &Burst<'_>, placeable: &[&Placeable]) -> Fleet {
    let named = placeable.iter().flat_map(|one| &one.requests);
    let resources: BTreeSet<&str> = named.map(|(resource, _)| resource.as_str()).collect();
    let resources: Vec<&str> = resources.into_iter().collect();
    let worths = Worths::new(placeable.iter().map(|one| one.priority.into()));
    let mut room = free(burst, &resources);
    let demands = placeable.iter().map(|one| {
        let request = request(one, &resources);
        for (row, replicas) in &one.alone {
            for (room, request) in room[*row as usize].iter_mut().zip(&request) {
                *room = room.saturating_add(request.saturating_mul(*replicas));
            }
        }
        let (least, most) = one.groups;
        let kept = u32::try_from(one.kept.len()).unwrap_or(u32::MAX);
        Demand {
            replicas: one.wanted,
            request,
            priority: one.priority.into(),
            worth: worths.of(one.priority.into()),
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
    let is_new = one.kept.is_empty() && sum(&one.alone) == 0;
    largest_part(one.wanted, least).filter(|_| is_new)
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
