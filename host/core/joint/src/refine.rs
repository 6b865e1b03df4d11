//! Improving an assignment by taking some replicas out and placing them anew.
//!
//! Chains move one group for another. What rounding leaves in small fleets is a puzzle of several at once: two small ones out of a cluster and
//! one out of another, so that a large one fits. Here, some replicas of a few clusters or classes are taken out, and are placed again in another
//! order, together with what waits, where they are cheapest with more or less of the price of room. What is worse than before is undone.
//!
//! Small fleets are then walked through in rounds: what is a little worse is kept for a while, ever less of it, and at last the round goes back
//! to the best that it has seen. So plans leave hollows out of which no single attempt leads.
//!
//! No replica is left out for one of a lower priority. The choices come from a generator with a fixed beginning, and their number from what is
//! looked at, so equal fleets give equal plans.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::assignment::Assignment;
use crate::bound::Bound;
use crate::chains::Order;

/// Attempts in a large fleet.
const ATTEMPTS: usize = 20_000;
/// Choices of all classes beyond which a fleet is large, and is not walked through.
const LARGE: usize = 4_000;
/// How many choices are looked at for each choice of a class, when a fleet is walked through.
const LOOKS: usize = 25_000;
/// Most choices that are looked at.
const LOOKS_MAX: usize = 12_000_000;
/// One in so many of them comes before the walk, while nothing is kept that is worse.
const FIRST: usize = 8;
/// Rounds of a walk.
const ROUNDS: usize = 3;
/// By how much an attempt may be worse at the beginning of a round, as a part of what a class costs on average.
const WARMTH: f64 = 0.2;
/// An assignment that is at most this part above the bound is good enough.
const ENOUGH: f64 = 1e-4;
/// Groups that are taken out of one cluster, at most, unless all are.
const TAKEN: u64 = 6;
/// Other classes that are taken out wholly, at most.
const CLASSES_TAKEN: u64 = 4;
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

    /// A number from 0 to below 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
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
    /// The priorities of all classes, from the highest.
    priorities: Vec<i64>,
    /// By priority, what the replicas that wait are worth.
    left_out: Vec<f64>,
    /// Classes of which replicas wait.
    waiting: BTreeSet<usize>,
    /// Classes that this attempt has changed, with what waited of them before.
    changed: Vec<(usize, u64)>,
    /// What this attempt has made dearer so far.
    more: f64,
    /// How much of the price of room counts in this attempt.
    weight: f64,
    /// What rounding may add to an equal cost.
    nothing: f64,
    /// How many choices have been looked at.
    looks: usize,
    /// Whether the fleet is large, so that an attempt changes little.
    is_large: bool,
    /// How far the assignment is above the bound.
    above: f64,
    /// How far above is good enough.
    enough: f64,
}

/// Improves an assignment that no other costs less than the bound.
pub(crate) fn refine(assignment: &mut Assignment<'_>, order: &Order, bound: Bound) {
    let edges = assignment.classes.cluster.len();
    if edges == 0 {
        return;
    }
    let mut refinement = Refinement::new(assignment, order, bound);
    if refinement.is_large {
        refinement.climb(ATTEMPTS, usize::MAX);
    } else {
        let looks = LOOKS_MAX.min(LOOKS * edges);
        let first = looks / FIRST;
        refinement.climb(usize::MAX, first);
        for _ in 0..ROUNDS {
            refinement.walk((looks - first) / ROUNDS);
        }
    }
    refinement.assignment.forget_changes();
}

impl<'r, 'a> Refinement<'r, 'a> {
    fn new(assignment: &'r mut Assignment<'a>, order: &'r Order, bound: Bound) -> Self {
        let cost = assignment.cost();
        let is_large = assignment.classes.cluster.len() > LARGE;
        let mut priorities: Vec<i64> = assignment.classes.list.iter().map(|class| class.priority).collect();
        priorities.sort_unstable_by_key(|priority| Reverse(*priority));
        priorities.dedup();
        let mut refinement = Self {
            assignment,
            order,
            random: Random(1),
            left_out: Vec::new(),
            priorities,
            waiting: BTreeSet::new(),
            changed: Vec::new(),
            more: 0.0,
            weight: 0.0,
            nothing: 1e-13 * cost,
            looks: 0,
            is_large,
            above: cost - bound.cost(),
            enough: ENOUGH * bound.cost(),
        };
        refinement.count_waiting();
        refinement
    }

    /// Counts anew what waits.
    fn count_waiting(&mut self) {
        let classes = self.assignment.classes;
        let numbers = 0..classes.list.len();
        self.waiting = numbers.filter(|number| self.assignment.waiting(*number) > 0).collect();
        self.left_out = vec![0.0; self.priorities.len()];
        for number in &self.waiting {
            let rank = self.rank(*number);
            self.left_out[rank] += self.unplaced_cost(*number) * self.assignment.waiting(*number) as f64;
        }
    }

    /// The position of a class's priority in the list of all.
    fn rank(&self, class: usize) -> usize {
        let priority = self.assignment.classes.list[class].priority;
        self.priorities.partition_point(|other| *other > priority)
    }

    /// Makes so many attempts, until so many choices have been looked at, and keeps none that is worse or leaves out what is more urgent.
    fn climb(&mut self, attempts: usize, looks: usize) {
        let start = self.looks;
        for _ in 0..attempts {
            if self.above <= self.enough || self.looks - start >= looks {
                return;
            }
            let mark = self.assignment.mark();
            let is_kept = self.attempt() && self.more <= self.nothing && !self.leaves_out_the_urgent();
            if is_kept {
                self.keep();
                self.above += self.more;
                self.assignment.forget_changes();
            } else {
                self.assignment.undo(mark);
            }
        }
    }

    /// Makes attempts until so many choices have been looked at, and keeps what is not much worse than before, ever less of it. Goes back to the
    /// cheapest that leaves out nothing more urgent than the last one did.
    fn walk(&mut self, looks: usize) {
        self.assignment.forget_changes();
        let start = self.assignment.mark();
        let cost = self.assignment.cost();
        let warmest = WARMTH * cost / self.assignment.classes.list.len() as f64;
        let (mut best, mut least) = (start, 0.0);
        let mut left_out = self.left_out.clone();
        let mut more = 0.0;
        let first = self.looks;
        while self.looks - first < looks && self.above + least > self.enough {
            let left = 1.0 - (self.looks - first) as f64 / looks as f64;
            let most = warmest * left * left * 2.0 * self.random.part();
            let mark = self.assignment.mark();
            if !self.attempt() || self.more > most.max(self.nothing) {
                self.assignment.undo(mark);
                continue;
            }
            self.keep();
            more += self.more;
            if more < least - self.nothing && !self.leaves_out_more(&left_out) {
                (best, least) = (self.assignment.mark(), more);
                left_out.clone_from(&self.left_out);
            }
        }
        self.assignment.undo(best);
        self.above += least;
        self.count_waiting();
    }

    /// Whether more is left out than in another assignment, of the highest priority in which they differ.
    fn leaves_out_more(&self, other: &[f64]) -> bool {
        for (now, then) in self.left_out.iter().zip(other) {
            // Sums of many differences are not exact.
            let difference = now - then;
            if difference.abs() > 1e-9 * (now + then).max(self.nothing) {
                return difference > 0.0;
            }
        }
        false
    }

    /// Takes some replicas out and places them anew. Whether there was any choice.
    fn attempt(&mut self) -> bool {
        (self.more, self.changed) = (0.0, Vec::new());
        self.looks += 1;
        self.weight = [0.0, 0.5, 1.0, 1.5][self.random.index(4)];
        let Some((class, edge)) = self.begin() else {
            return false;
        };
        self.change(class);
        self.make_room(class, edge);
        if !self.is_large && self.random.one_in(3) {
            self.place_first(class, edge);
        }
        self.add_waiting(edge);
        if !self.is_large && self.random.one_in(2) {
            self.place_by_regret();
        } else {
            for class in self.sequence() {
                self.place(class);
            }
        }
        true
    }

    /// Takes out everything in a cluster, some classes, or some groups.
    fn make_room(&mut self, class: usize, edge: usize) {
        // In a large fleet, most of that would be placed again as it was.
        let choice = if self.is_large { u64::MAX } else { self.random.below(8) };
        match choice {
            0 => self.take_all_out(edge),
            1 => {
                self.take_class(class);
                let here = self.order.of_cluster(self.assignment.classes, edge);
                for _ in 0..1 + self.random.below(CLASSES_TAKEN) {
                    let (_, other) = here[self.random.index(here.len())];
                    self.take_class(other as usize);
                }
            }
            2 => {
                self.take_class(class);
                self.take_out(edge);
            }
            _ => {
                self.take_out(edge);
                if self.random.one_in(2)
                    && let Some(other) = self.related()
                {
                    self.take_out(other);
                }
            }
        }
    }

    /// Places as much of a class on an edge as fits, before anything else is placed. What is elsewhere is taken from there if nothing waits.
    fn place_first(&mut self, class: usize, edge: usize) {
        if self.assignment.waiting(class) == 0 {
            self.take_class(class);
        }
        let count = self.assignment.waiting(class).min(self.assignment.fits(class, edge));
        if self.assignment.cost_of(edge, count) < self.unplaced_cost(class) * count as f64 {
            self.put(class, edge, count);
        }
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
            self.take(class, other, count);
        }
    }

    /// Takes everything out of the cluster of an edge.
    fn take_all_out(&mut self, edge: usize) {
        let order = self.order;
        for (other, class) in order.of_cluster(self.assignment.classes, edge) {
            self.take(*class as usize, *other as usize, u64::MAX);
        }
    }

    /// Takes out all replicas of a class.
    fn take_class(&mut self, class: usize) {
        for edge in self.assignment.classes.list[class].edges.clone() {
            self.take(class, edge, u64::MAX);
        }
    }

    /// Takes up to so many replicas from an edge.
    fn take(&mut self, class: usize, edge: usize, count: u64) {
        let count = count.min(self.assignment.placed(edge));
        if count > 0 {
            self.change(class);
            self.more -= self.assignment.saved_by(edge, count);
            self.more += self.unplaced_cost(class) * count as f64;
            self.assignment.take(class, edge, count);
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

    /// The choices of a class that are tried. Now and then, one is left out.
    fn tried(&mut self, class: usize) -> Vec<usize> {
        let classes = self.assignment.classes;
        let mut edges: Vec<usize> = classes.list[class].edges.clone().collect();
        edges.retain(|_| !self.random.one_in(12));
        if let Some(most) = classes.list[class].clusters {
            // With few clusters, the cheapest ones may not take all: the ones that take most, or any.
            match self.random.index(3) {
                0 => edges.sort_by_key(|edge| {
                    Reverse(self.assignment.fits(class, *edge).min(self.assignment.waiting(class)))
                }),
                1 => {
                    for position in 0..edges.len() {
                        let other = position + self.random.index(edges.len() - position);
                        edges.swap(position, other);
                    }
                }
                _ => return edges,
            }
            edges.truncate(most as usize);
        }
        edges
    }

    /// Places what waits of a class where it is cheapest and fits.
    fn place(&mut self, class: usize) {
        let edges = self.tried(class);
        while self.assignment.waiting(class) > 0 {
            let (cheapest, _) = self.cheapest(class, &edges);
            let Some((_, edge)) = cheapest else { return };
            self.put_together(class, edge);
        }
    }

    /// Places what waits of the changed classes, always the one next that loses most for its size if its cheapest place is taken.
    fn place_by_regret(&mut self) {
        let mut left: Vec<(usize, Vec<usize>)> = Vec::with_capacity(self.changed.len());
        for position in 0..self.changed.len() {
            let class = self.changed[position].0;
            let edges = self.tried(class);
            left.push((class, edges));
        }
        loop {
            left.retain(|(class, _)| self.assignment.waiting(*class) > 0);
            let mut first: Option<(f64, usize, usize)> = None;
            for (class, edges) in &left {
                if let (Some((cost, edge)), second) = self.cheapest(*class, edges) {
                    let loss = (second - cost) / self.assignment.classes.list[*class].size.max(f64::MIN_POSITIVE);
                    if first.is_none_or(|(most, ..)| loss > most) {
                        first = Some((loss, *class, edge));
                    }
                }
            }
            let Some((_, class, edge)) = first else { return };
            self.put_together(class, edge);
        }
    }

    /// What a replica of a class costs on the cheapest of some edges on which one fits, with this attempt's weight of the price of room, and the
    /// edge; and what it costs on the next, or if it is not placed.
    fn cheapest(&mut self, class: usize, edges: &[usize]) -> (Option<(f64, usize)>, f64) {
        let classes = self.assignment.classes;
        let unplaced = self.unplaced_cost(class);
        let (mut first, mut second) = (None, unplaced);
        self.looks += edges.len();
        for edge in edges {
            let cost = self.assignment.cost_of(*edge, 1);
            if cost >= unplaced || self.assignment.fits(class, *edge) == 0 {
                continue;
            }
            let cost = cost + self.weight * (self.order.reduced(*edge) - classes.cost[*edge]);
            match first {
                Some((least, _)) if cost >= least => second = second.min(cost),
                _ => {
                    second = first.map_or(second, |(least, _)| second.min(least));
                    first = Some((cost, *edge));
                }
            }
        }
        (first, second)
    }

    /// Places as many waiting replicas of a class on an edge as fit and cost the same.
    fn put_together(&mut self, class: usize, edge: usize) {
        let missing = self.assignment.classes.home[edge].saturating_sub(self.assignment.placed(edge));
        let together = if missing > 0 { missing } else { u64::MAX };
        let fits = self.assignment.fits(class, edge);
        self.put(class, edge, self.assignment.waiting(class).min(fits).min(together));
    }

    /// Places replicas of a class on an edge.
    fn put(&mut self, class: usize, edge: usize, count: u64) {
        self.more += self.assignment.cost_of(edge, count) - self.unplaced_cost(class) * count as f64;
        self.assignment.put(class, edge, count);
    }

    fn unplaced_cost(&self, class: usize) -> f64 {
        let classes = self.assignment.classes;
        classes.unplaced_cost(&classes.list[class])
    }

    /// Counts what the attempt has changed of what waits.
    fn keep(&mut self) {
        for position in 0..self.changed.len() {
            let (class, before) = self.changed[position];
            let waiting = self.assignment.waiting(class);
            let rank = self.rank(class);
            self.left_out[rank] += self.unplaced_cost(class) * (waiting as f64 - before as f64);
            match waiting > 0 {
                true => self.waiting.insert(class),
                false => self.waiting.remove(&class),
            };
        }
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
