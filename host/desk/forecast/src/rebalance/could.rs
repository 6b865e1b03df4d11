//! What moves of others would place, for commands whose question is another one.

use divvy_scheduler::profile::ConfiguredProfile;

use super::planning::Planner;
use super::standing::{Standing, waits};
use crate::future::{Future, Options};
use crate::planned::CouldPlace;

/// Bindings times clusters up to which it is tried.
const PAIRS_MAX: usize = 1_000_000;
/// Bindings that wait up to which it is tried.
const WAITING_MAX: usize = 200;

/// Whether a fleet is small enough to try beside another question what moves of others would place.
pub fn could_be_tried(bindings: usize, clusters: usize) -> bool {
    bindings.saturating_mul(clusters) <= PAIRS_MAX
}

/// What moves of others would place; `None` if nothing waits that could be placed by them, or if the fleet is too large to try it beside
/// another question: more than 200 bindings wait, or there are more than a million pairs of a binding and a cluster.
pub fn could_place(future: &Future, side: &ConfiguredProfile, options: Options) -> Option<CouldPlace> {
    let waiting = future.entries.iter().filter(|entry| waits(entry)).count();
    let is_small = could_be_tried(future.entries.len(), future.fleet.len());
    // Without a ledger, what results take is not known.
    if waiting == 0 || waiting > WAITING_MAX || !is_small || future.ledger.is_none() {
        return None;
    }
    let planner = Planner::new(future, side, options);
    let waiting = planner
        .standings
        .iter()
        .filter(|standing| **standing == Standing::Waits)
        .count();
    if waiting == 0 {
        return None;
    }
    let repaired = planner.repaired();
    let (placed, _) = repaired.as_ref().map(|repaired| repaired.gained()).unwrap_or_default();
    let moves = repaired.map_or(0, |repaired| repaired.moves());
    Some(CouldPlace {
        waiting,
        placed,
        moves: i64::try_from(moves).unwrap_or(i64::MAX),
    })
}
