//! Plans of at most so many moves.
//!
//! Which workloads to place with a limited number of moves is a knapsack of chains that share room. Two ways are gone, and the better plan
//! counts: what waits is placed by the fewest moves each, the highest priority first; and the plan without a limit gives up what waits,
//! the lowest priority and the dearest first, until what had moved for it is home again and the rest is within the limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::assignment::Assignment;
use crate::chains::Order;
use crate::classes::Classes;
use crate::fleet::{Fleet, Malformed};
use crate::plan::Plan;
use crate::{repair, split};

/// Rounds in which moves that are saved are spent on what still waits.
const ROUNDS: usize = 3;

/// Replicas of each workload by cluster.
type Placed = Vec<Vec<(u32, u64)>>;

/// The plan of at most so many moves that places most workloads of the highest priority, then of the next, and of such plans one with few
/// moves. Each workload has all its replicas or stays as it is. `unlimited` is a plan of the same fleet without a limit.
///
/// # Errors
///
/// [`Malformed`] if the fleet is none.
pub fn plan_at_most(fleet: &Fleet, unlimited: &Plan, moves: u64) -> Result<Plan, Malformed> {
    fleet.check()?;
    let within = |plan: &Plan| plan.moved.iter().sum::<u64>() <= moves;
    let fits = |plan: &Plan| {
        let free = split::free(fleet, &plan.placed);
        free.iter().flatten().all(|free| *free >= 0)
    };
    let running: Placed = fleet.demands.iter().map(|demand| demand.running.clone()).collect();
    let as_it_is = Plan::new(fleet, running.clone());
    let mut plans = vec![Plan::new(fleet, filled(fleet, &running, moves))];
    if within(unlimited) {
        plans.push(unlimited.clone());
    } else {
        plans.extend(pruned(fleet, unlimited, moves).map(|placed| Plan::new(fleet, placed)));
    }
    let plans = plans.into_iter().filter(|plan| within(plan) && fits(plan));
    Ok(plans.fold(
        as_it_is,
        |best, plan| if is_better(fleet, &plan, &best) { plan } else { best },
    ))
}

/// Whether a plan places more than another, by priority, or the same with fewer moves.
fn is_better(fleet: &Fleet, one: &Plan, other: &Plan) -> bool {
    let mut priorities: Vec<i64> = fleet.demands.iter().map(|demand| demand.priority).collect();
    priorities.sort_unstable_by_key(|priority| Reverse(*priority));
    priorities.dedup();
    let placed = |plan: &Plan| -> Vec<usize> {
        let mut counts = vec![0; priorities.len()];
        for (demand, unplaced) in fleet.demands.iter().zip(&plan.unplaced) {
            let rank = priorities.partition_point(|priority| *priority > demand.priority);
            counts[rank] += usize::from(*unplaced == 0);
        }
        counts
    };
    let moved = |plan: &Plan| plan.moved.iter().sum::<u64>();
    let by_both = placed(one).cmp(&placed(other)).then(moved(other).cmp(&moved(one)));
    by_both.then(other.cost.total_cmp(&one.cost)).is_gt()
}

/// Whether some replicas of a demand run nowhere.
fn waits(fleet: &Fleet, number: usize) -> bool {
    let demand = &fleet.demands[number];
    demand.running.iter().map(|(_, replicas)| replicas).sum::<u64>() < demand.replicas
}

/// What waits, placed from where replicas are, as far as moves allow.
fn filled(fleet: &Fleet, present: &[Vec<(u32, u64)>], moves: u64) -> Placed {
    let classes = Classes::apart(fleet, |number, _| waits(fleet, number));
    let order = Order::new(&classes, &vec![0.0; classes.room.len()]);
    let mut assignment = Assignment::at(&classes, present);
    for _ in 0..ROUNDS {
        if !fill(&mut assignment, &order, moves) {
            break;
        }
        repair::bring_home(&mut assignment, &order);
        assignment.forget_changes();
    }
    let mut placed = split::split(&assignment, fleet);
    for (number, placed) in placed.iter_mut().enumerate() {
        let demand = &fleet.demands[number];
        if placed.iter().map(|(_, replicas)| replicas).sum::<u64>() < demand.replicas {
            placed.clone_from(&demand.running);
        }
    }
    placed
}

/// Places classes that wait while moves allow it: the highest priority first, and in it the one that needs the fewest moves. Whether any
/// was placed.
fn fill(assignment: &mut Assignment<'_>, order: &Order, moves: u64) -> bool {
    let classes = assignment.classes;
    let mut waiting: Vec<usize> = (0..classes.list.len())
        .filter(|number| assignment.waiting(*number) > 0)
        .collect();
    waiting.sort_by_key(|number| (Reverse(classes.list[*number].priority), *number));
    let (mut moved, mut is_any) = (assignment.moved(), false);
    for of_priority in waiting.chunk_by(|one, other| classes.list[*one].priority == classes.list[*other].priority) {
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for number in of_priority {
            let mark = assignment.mark();
            if let Some(after) = place(assignment, order, *number) {
                heap.push(Reverse((after.saturating_sub(moved), *number)));
            }
            assignment.undo(mark);
        }
        // What others have taken meanwhile counts: the first is tried again, and waits its turn if it needs more than the next.
        while let Some(Reverse((_, number))) = heap.pop() {
            let mark = assignment.mark();
            let next = heap.peek().map_or(u64::MAX, |Reverse((more, _))| *more);
            match place(assignment, order, number) {
                Some(after) if after.saturating_sub(moved) > next => {
                    assignment.undo(mark);
                    heap.push(Reverse((after.saturating_sub(moved), number)));
                }
                Some(after) if after <= moves => (moved, is_any) = (after, true),
                _ => assignment.undo(mark),
            }
        }
    }
    is_any
}

/// Places all that waits of a class, and returns the moves of everything then. `None` if that is not possible: some may be placed.
fn place(assignment: &mut Assignment<'_>, order: &Order, class: usize) -> Option<u64> {
    repair::place_class(assignment, order, class);
    (assignment.waiting(class) == 0).then(|| assignment.moved())
}

/// A plan without a limit that gives up what waits until it is within one. `None` if it is not, even so.
fn pruned(fleet: &Fleet, unlimited: &Plan, moves: u64) -> Option<Placed> {
    let mut given_up: Vec<usize> = (0..fleet.demands.len())
        .filter(|number| waits(fleet, *number) && unlimited.unplaced[*number] == 0)
        .collect();
    let size = |number: &usize| {
        let demand = &fleet.demands[*number];
        let request: u128 = demand.request.iter().map(|request| u128::from(*request)).sum();
        request * u128::from(demand.replicas)
    };
    given_up.sort_by_key(|number| (fleet.demands[*number].priority, Reverse(size(number)), *number));
    let without = |count: usize| -> Placed {
        let mut placed = unlimited.placed.clone();
        for number in &given_up[..count] {
            placed[*number].clone_from(&fleet.demands[*number].running);
        }
        brought_home(fleet, &placed)
    };
    let is_within = |placed: &Placed| Plan::new(fleet, placed.clone()).moved.iter().sum::<u64>() <= moves;
    // More that is given up never needs more moves, as far as chains bring everything home.
    let (mut too_few, mut enough) = (0, given_up.len());
    let mut best = without(enough);
    if !is_within(&best) {
        return None;
    }
    while too_few + 1 < enough {
        let middle = (too_few + enough) / 2;
        let placed = without(middle);
        if is_within(&placed) {
            (enough, best) = (middle, placed);
        } else {
            too_few = middle;
        }
    }
    Some(filled(fleet, &best, moves))
}

/// The same workloads placed, with those at home again that need not be away.
fn brought_home(fleet: &Fleet, present: &[Vec<(u32, u64)>]) -> Placed {
    // Each class keeps what it has: what waits stays apart.
    let classes = Classes::apart(fleet, |number, _| waits(fleet, number));
    let order = Order::new(&classes, &vec![0.0; classes.room.len()]);
    let mut assignment = Assignment::at(&classes, present);
    repair::improve(&mut assignment, &order);
    repair::bring_home(&mut assignment, &order);
    split::split(&assignment, fleet)
}
