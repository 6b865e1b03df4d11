//! Improving an assignment by taking a few replicas out and placing them anew.
//!
//! Chains move one group for another. What rounding leaves in small fleets is a puzzle of several at once: two small ones out of a cluster and
//! one out of another, so that a large one fits. Here, some replicas of one or two clusters are taken out, and are placed again in another
//! order, together with what waits. What is worse than before is undone. The choices come from a generator with a fixed beginning, so equal
//! fleets give equal plans.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::assignment::{Assignment, Mark};
use crate::bound::Bound;
use crate::chains::Order;

/// Attempts for each choice of a class.
const ATTEMPTS: usize = 50;
/// Most attempts, whatever the size of the fleet.
const ATTEMPTS_MAX: usize = 20_000;
/// An assignment that is at most this part above the bound is good enough.
const ENOUGH: f64 = 1e-4;
/// Groups that are taken out of one cluster, at most.
const TAKEN: u64 = 6;
/// Classes that wait and are tried in one attempt, at most.
const TRIED: usize = 12;

/// A generator of numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit above 0.
    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.below(number) == 0
    }
}

/// How the classes of an attempt are ordered.
#[derive(Clone, Copy)]
enum Sequence {
    /// The highest priority first, then what is worth most for its size.
    Worth,
    /// The highest priority first, then the largest replicas.
    Size,
    /// Any order.
    Any,
}

/// An assignment that is being improved.
struct Refinement<'r, 'a> {
    assignment: &'r mut Assignment<'a>,
    order: &'r Order,
    random: Random,
    /// Classes of which replicas wait.
    waiting: BTreeSet<usize>,
    /// Classes that this attempt has changed, with what waited of them before.
    changed: Vec<(usize, u64)>,
    /// What this attempt has made dearer so far.
    more: f64,
    /// What rounding may add to an equal cost.
    nothing: f64,
}

/// Improves an assignment that no other costs less than the bound. No replica is left out for one of a lower priority.
pub(crate) fn refine(assignment: &mut Assignment<'_>, order: &Order, bound: Bound) {
    let classes = assignment.classes;
    let cost = assignment.cost();
    let mut above = cost - bound.cost();
    if classes.cluster.is_empty() {
        return;
    }
    let waiting = (0..classes.list.len()).filter(|number| assignment.waiting(*number) > 0);
    let mut refinement = Refinement {
        waiting: waiting.collect(),
        assignment,
        order,
        random: Random(1),
        changed: Vec::new(),
        more: 0.0,
        nothing: 1e-13 * cost,
    };
    for _ in 0..ATTEMPTS_MAX.min(ATTEMPTS * classes.cluster.len()) {
        if above <= ENOUGH * bound.cost() {
            break;
        }
        above += refinement.attempt();
    }
    refinement.assignment.forget_changes();
}

impl Refinement<'_, '_> {
    /// Tries one change, and returns what it costs more, less than 0 if it saves something.
    fn attempt(&mut self) -> f64 {
        let mark = self.assignment.mark();
        (self.more, self.changed) = (0.0, Vec::new());
        let Some((class, edge)) = self.begin() else { return 0.0 };
        self.change(class);
        self.take_out(edge);
        if self.random.one_in(2)
            && let Some(other) = self.related()
        {
            self.take_out(other);
        }
        self.add_waiting(edge);
        for class in self.sequence() {
            self.place(class);
        }
        if self.ends(mark) { self.more } else { 0.0 }
    }

    /// The class that this attempt is for, and the edge in whose cluster it begins.
    fn begin(&mut self) -> Option<(usize, usize)> {
        let classes = self.assignment.classes;
        let class = match self.waiting.len() {
            waiting @ 1.. if self.random.one_in(2) => {
                let position = self.random.index(waiting);
                *self.waiting.iter().nth(position)?
            }
            _ => self.random.index(classes.list.len()),
        };
        let edges = classes.list[class].edges.clone();
        if edges.is_empty() {
            return None;
        }
        // Cheap choices more often than dear ones.
        let most = 1 + self.random.index(edges.len());
        let position = self.random.index(most);
        let edge = self.order.edges(classes, class).nth(position)?;
        Some((class, edge))
    }

    /// Notes what waits of a class before it is changed.
    fn change(&mut self, class: usize) {
        if self.changed.iter().all(|(other, _)| *other != class) {
            self.changed.push((class, self.assignment.waiting(class)));
        }
    }

    /// Takes some groups out of the cluster of an edge, each wholly or in part.
    fn take_out(&mut self, edge: usize) {
        let here = self.order.of_cluster(self.assignment.classes, edge);
        let mut placed: Vec<(u32, u32)> = here
            .iter()
            .copied()
            .filter(|(other, _)| self.assignment.placed(*other as usize) > 0)
            .collect();
        for _ in 0..1 + self.random.below(TAKEN) {
            if placed.is_empty() {
                return;
            }
            let (other, class) = placed.swap_remove(self.random.index(placed.len()));
            let (other, class) = (other as usize, class as usize);
            let all = self.assignment.placed(other);
            let count = match self.random.one_in(2) {
                true => all,
                false => 1 + self.random.below(all),
            };
            self.change(class);
            self.more -= self.assignment.saved_by(other, count);
            self.more += self.unplaced_cost(class) * count as f64;
            self.assignment.take(class, other, count);
        }
    }

    /// Another edge of a class that was taken out.
    fn related(&mut self) -> Option<usize> {
        let classes = self.assignment.classes;
        let (class, _) = self.changed[self.random.index(self.changed.len())];
        let edges = classes.list[class].edges.clone();
        (!edges.is_empty()).then(|| edges.start + self.random.index(edges.len()))
    }

    /// Adds classes that wait to those that are placed anew.
    fn add_waiting(&mut self, edge: usize) {
        let classes = self.assignment.classes;
        let cluster = classes.cluster[edge];
        let start = self.random.index(classes.list.len());
        let waiting = self.waiting.range(start..).chain(self.waiting.range(..start));
        let is_here = |class: &&usize| {
            let clusters = &classes.cluster[classes.list[**class].edges.clone()];
            clusters.binary_search(&cluster).is_ok()
        };
        let found: Vec<usize> = waiting.take(4 * TRIED).filter(is_here).take(TRIED).copied().collect();
        for class in found {
            self.change(class);
        }
    }

    /// The changed classes in the order in which they are placed.
    fn sequence(&mut self) -> Vec<usize> {
        let classes = self.assignment.classes;
        let sequence = [Sequence::Worth, Sequence::Size, Sequence::Any][self.random.index(3)];
        let mut numbers: Vec<(i64, Reverse<u64>, usize)> = Vec::new();
        for position in 0..self.changed.len() {
            let number = self.changed[position].0;
            let class = &classes.list[number];
            let size = class.size.max(f64::MIN_POSITIVE);
            let key = match sequence {
                // Positive numbers are ordered as their bits.
                Sequence::Worth => (self.unplaced_cost(number) / size).to_bits(),
                Sequence::Size => size.to_bits(),
                Sequence::Any => self.random.next(),
            };
            let priority = match sequence {
                Sequence::Any => 0,
                _ => class.priority.saturating_neg(),
            };
            numbers.push((priority, Reverse(key), number));
        }
        numbers.sort_unstable();
        numbers.into_iter().map(|(.., number)| number).collect()
    }

    /// Places what waits of a class where it is cheapest and fits. Now and then, a choice is left out.
    fn place(&mut self, class: usize) {
        let classes = self.assignment.classes;
        let unplaced = self.unplaced_cost(class);
        let mut edges: Vec<usize> = classes.list[class].edges.clone().collect();
        edges.retain(|_| !self.random.one_in(12));
        while self.assignment.waiting(class) > 0 {
            let fitting = edges
                .iter()
                .filter(|edge| self.assignment.fits(class, **edge) > 0)
                .map(|edge| (self.assignment.cost_of(*edge, 1), *edge));
            let cheapest = fitting.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            let Some((cost, edge)) = cheapest.filter(|(cost, _)| *cost < unplaced) else {
                return;
            };
            let missing = classes.home[edge].saturating_sub(self.assignment.placed(edge));
            let together = if missing > 0 { missing } else { u64::MAX };
            let fits = self.assignment.fits(class, edge);
            let count = self.assignment.waiting(class).min(fits).min(together);
            self.more += (cost - unplaced) * count as f64;
            self.assignment.put(class, edge, count);
        }
    }

    fn unplaced_cost(&self, class: usize) -> f64 {
        let classes = self.assignment.classes;
        classes.unplaced_cost(&classes.list[class])
    }

    /// Keeps what the attempt has changed, or undoes it. Whether it is kept.
    fn ends(&mut self, mark: Mark) -> bool {
        let is_kept = self.more <= self.nothing && !self.leaves_out_the_urgent();
        if !is_kept {
            self.assignment.undo(mark);
            return false;
        }
        self.assignment.forget_changes();
        for (class, _) in &self.changed {
            match self.assignment.waiting(*class) > 0 {
                true => self.waiting.insert(*class),
                false => self.waiting.remove(class),
            };
        }
        true
    }

    /// Whether replicas of a higher priority wait now for those of a lower one: of the highest priority that has changed, what waits is worth
    /// more than before.
    fn leaves_out_the_urgent(&self) -> bool {
        let classes = self.assignment.classes;
        let mut sums: Vec<(i64, f64)> = Vec::new();
        for (class, before) in &self.changed {
            let (priority, worth) = (classes.list[*class].priority, self.unplaced_cost(*class));
            let more = worth * (self.assignment.waiting(*class) as f64 - *before as f64);
            match sums.iter_mut().find(|(other, _)| *other == priority) {
                Some((_, sum)) => *sum += more,
                None => sums.push((priority, more)),
            }
        }
        let changed = sums.into_iter().filter(|(_, sum)| *sum != 0.0);
        changed
            .max_by_key(|(priority, _)| *priority)
            .is_some_and(|(_, sum)| sum > 0.0)
    }
}
