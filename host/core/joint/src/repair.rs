//! Mending an assignment of whole replicas: what waits is placed by chains, and what is dearer than it need be goes where it is cheaper.

use crate::assignment::Assignment;
use crate::chains::{Chains, Order};
use crate::rounding;

/// Clusters that are tried for one group of replicas.
const BUDGET: usize = 200;
/// Clusters that are tried with chains of two moves, for all groups together.
const DEEP_BUDGET: usize = 3_000;
/// Clusters that are tried so that replicas that have moved stay at home after all.
const HOME_BUDGET: usize = 20_000;
/// How often a group that finds no place is halved.
const HALVINGS: usize = 8;

/// Mends an assignment. Replicas of a lower priority may be left out for those of a higher one.
pub(crate) fn repair(assignment: &mut Assignment<'_>, order: &Order) {
    let mut budget = usize::MAX;
    for class in by_urgency(assignment) {
        place_by_chains(assignment, order, class, 1, &mut budget);
    }
    improve(assignment, order);
    rounding::fill(assignment, order);
    budget = DEEP_BUDGET;
    for class in by_urgency(assignment) {
        place_by_chains(assignment, order, class, 2, &mut budget);
    }
    improve(assignment, order);
    bring_home(assignment, order);
    assignment.forget_changes();
}

/// The classes of which replicas wait: the highest priority first, then what is worth most for the room that it takes.
fn by_urgency(assignment: &Assignment<'_>) -> Vec<usize> {
    let classes = assignment.classes;
    let worth = |number: usize| {
        let class = &classes.list[number];
        classes.unplaced_cost(class) / class.size.max(f64::MIN_POSITIVE)
    };
    let mut waiting: Vec<usize> = (0..classes.list.len())
        .filter(|number| assignment.waiting(*number) > 0)
        .collect();
    waiting.sort_by(|left, right| {
        let priority = classes.list[*right].priority.cmp(&classes.list[*left].priority);
        priority
            .then(worth(*right).total_cmp(&worth(*left)))
            .then(left.cmp(right))
    });
    waiting
}

/// Places waiting replicas of a class, in groups that find a place together.
fn place_by_chains(assignment: &mut Assignment<'_>, order: &Order, class: usize, depth: usize, budget: &mut usize) {
    let unplaced = assignment.classes.unplaced_cost(&assignment.classes.list[class]);
    let mut group = assignment.waiting(class);
    let mut halvings = 0;
    while group > 0 && *budget > 0 {
        let mut chains = Chains::new(assignment, order, true);
        let allowed = BUDGET.min(*budget);
        chains.budget = allowed;
        let is_placed = chains.place(class, group, depth, unplaced * group as f64).is_some();
        *budget -= allowed - chains.budget;
        if is_placed {
            group = group.min(assignment.waiting(class));
        } else {
            halvings += 1;
            group = if halvings > HALVINGS { 0 } else { group / 2 };
        }
    }
}

/// Moves replicas that are dearer than they need be to where they fit and are cheaper, home above all.
pub(crate) fn improve(assignment: &mut Assignment<'_>, order: &Order) {
    let classes = assignment.classes;
    for number in 0..classes.list.len() {
        for from in order.edges(classes, number) {
            // What is beyond its home goes first, and may go alone.
            let home = classes.home[from].min(assignment.placed(from));
            let beyond = assignment.placed(from) - home;
            move_cheaper(assignment, number, from, beyond);
            move_cheaper(assignment, number, from, home);
        }
    }
}

/// Lets replicas stay at home that have moved, where others can make room for them by fewer moves.
pub(crate) fn bring_home(assignment: &mut Assignment<'_>, order: &Order) {
    let classes = assignment.classes;
    let mut budget = HOME_BUDGET;
    for number in 0..classes.list.len() {
        for from in classes.list[number].edges.clone() {
            let mut group = assignment.placed(from).saturating_sub(classes.home[from]);
            while group > 0 && budget > 0 {
                let missing = |edge: usize| classes.home[edge].saturating_sub(assignment.placed(edge));
                let away = classes.list[number].edges.clone().map(missing).max().unwrap_or(0);
                group = group.min(away);
                if group == 0 {
                    break;
                }
                let mark = assignment.mark();
                let saved = assignment.saved_by(from, group);
                assignment.take(number, from, group);
                let mut chains = Chains::new(assignment, order, false);
                let allowed = BUDGET.min(budget);
                chains.budget = allowed;
                // Rounding may make an equal cost a little less.
                let is_home = chains.place(number, group, 1, saved * (1.0 - 1e-9)).is_some();
                budget -= allowed - chains.budget;
                if is_home {
                    group = assignment.placed(from).saturating_sub(classes.home[from]);
                } else {
                    assignment.undo(mark);
                    group /= 2;
                }
            }
        }
    }
}

/// Moves up to so many replicas of a class from an edge to the ones where they cost less, as far as they fit.
fn move_cheaper(assignment: &mut Assignment<'_>, class: usize, from: usize, replicas: u64) {
    let classes = assignment.classes;
    let mut left = replicas.min(assignment.placed(from));
    while left > 0 {
        let saved = assignment.saved_by(from, 1);
        let cheapest = classes.list[class]
            .edges
            .clone()
            .filter(|edge| *edge != from && assignment.fits(class, *edge) > 0);
        let cheapest = cheapest.map(|edge| (edge, assignment.cost_of(edge, 1)));
        let Some((to, cost)) = cheapest.min_by(|left, right| left.1.total_cmp(&right.1)) else {
            return;
        };
        if cost >= saved {
            return;
        }
        let missing = classes.home[to].saturating_sub(assignment.placed(to));
        let together = if missing > 0 { missing } else { u64::MAX };
        let moved = left.min(assignment.fits(class, to)).min(together);
        assignment.take(class, from, moved);
        assignment.put(class, to, moved);
        left -= moved;
    }
}

/// Places what waits by moving others, at most two in a chain. Nothing is left out for it. If `whole`, a class is placed as a whole or not
/// at all.
pub(crate) fn place_waiting(assignment: &mut Assignment<'_>, order: &Order, whole: bool) {
    for class in by_urgency(assignment) {
        let mark = assignment.mark();
        place_class(assignment, order, class);
        if whole && assignment.waiting(class) > 0 {
            assignment.undo(mark);
        }
    }
    improve(assignment, order);
    bring_home(assignment, order);
    assignment.forget_changes();
}

/// Places what waits of a class, at no one's expense: where it fits, then by one move, then by two.
pub(crate) fn place_class(assignment: &mut Assignment<'_>, order: &Order, class: usize) {
    rounding::place_directly(assignment, order, class);
    for depth in 1..=2 {
        place_without_dropping(assignment, order, class, depth);
    }
}

/// Like [`place_by_chains`], at no one's expense.
fn place_without_dropping(assignment: &mut Assignment<'_>, order: &Order, class: usize, depth: usize) {
    let unplaced = assignment.classes.unplaced_cost(&assignment.classes.list[class]);
    let mut group = assignment.waiting(class);
    while group > 0 {
        let mut chains = Chains::new(assignment, order, false);
        chains.budget = BUDGET;
        if chains.place(class, group, depth, unplaced * group as f64).is_some() {
            group = group.min(assignment.waiting(class));
        } else {
            group /= 2;
        }
    }
}
