//! Finds the counts that a node can have, one at a time: whether a count is possible, and the nearest one below or above.
//!
//! Where percentages of a count bound the children of a node, its counts follow no simple pattern: two children of at
//! most 40 percent each can share 2 or 8 replicas, but not 5 or 10. Each attempt also finds how far away the next one
//! may be, so no loop runs once per replica. The cost of a search is bounded; a search that would cost more gives up.

use std::collections::HashMap;

use divvy_framework::division::tree::Amount;

use super::counts::{Counts, Possible};
use super::growth::{Growth, WHOLE, first_with_most, last_with_least, parts};
use super::nearest::{Variable, nearest};
use super::node::Tree;

/// Maximum number of attempts of a search.
const BUDGET: u32 = 100_000;

/// The bounds leave so many gaps that a search for a division gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooIntricate;

/// The result of a search.
pub(super) type Searched<T> = Result<T, TooIntricate>;

/// Known answers, by node, count and direction.
pub(super) type Found = HashMap<(usize, i64, Direction), Option<i64>>;

/// The direction of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    /// To larger counts.
    Up,
    /// To smaller counts.
    Down,
}

/// A search over the nodes of a tree.
pub(super) struct Search<'a> {
    tree: &'a Tree,
    possible: &'a Possible,
    found: &'a mut Found,
    /// The largest count that matters.
    largest: i64,
    budget: u32,
}

/// The outcome of an attempt.
enum Attempt {
    /// The count is possible.
    Fits,
    /// The count is not possible; the next one that may be.
    Next(i64),
    /// Neither this nor any further one is possible.
    Never,
}

impl<'a> Search<'a> {
    /// A search among the counts up to `largest`.
    pub(super) fn new(tree: &'a Tree, possible: &'a Possible, found: &'a mut Found, largest: i64) -> Self {
        found.clear();
        Self {
            tree,
            possible,
            found,
            largest,
            budget: BUDGET,
        }
    }

    /// Counts an attempt.
    pub(super) fn step(&mut self) -> Searched<()> {
        self.budget = self.budget.checked_sub(1).ok_or(TooIntricate)?;
        Ok(())
    }

    pub(super) fn may_have_gaps(&self, node: usize) -> bool {
        self.possible.may_have_gaps(node)
    }

    /// True if a node can have a count.
    pub(super) fn contains(&mut self, node: usize, count: i64) -> Searched<bool> {
        Ok(self.next(node, count)? == Some(count))
    }

    /// The smallest possible count of a node, from this one on.
    #[inline]
    pub(super) fn next(&mut self, node: usize, from: i64) -> Searched<Option<i64>> {
        match self.possible.counts(node) {
            Counts::Nothing => Ok(None),
            Counts::Range(first, last) => Ok((from <= last).then(|| from.max(first))),
            Counts::Steps { floor, start, length } => {
                let sums = self.possible.sums(start, length);
                let candidates = sums.partition_point(|&sum| sum < from);
                Ok((candidates < length).then(|| from.max(floor.saturating_mul(candidates as i64))))
            }
            Counts::Searched => self.remembered(node, from.max(0), Direction::Up),
        }
    }

    /// The largest possible count of a node, up to this one.
    #[inline]
    pub(super) fn previous(&mut self, node: usize, from: i64) -> Searched<Option<i64>> {
        match self.possible.counts(node) {
            _ if from < 0 => Ok(None),
            Counts::Nothing => Ok(None),
            Counts::Range(first, last) => Ok((from >= first).then(|| from.min(last))),
            Counts::Steps { floor, start, length } => {
                let sums = self.possible.sums(start, length);
                let candidates = sums.partition_point(|&sum| sum < from);
                let fits = candidates < length && floor.saturating_mul(candidates as i64) <= from;
                Ok(match fits {
                    true => Some(from),
                    false => candidates.checked_sub(1).and_then(|fewer| sums.get(fewer)).copied(),
                })
            }
            Counts::Searched => self.remembered(node, from.min(self.largest), Direction::Down),
        }
    }

    fn remembered(&mut self, node: usize, from: i64, direction: Direction) -> Searched<Option<i64>> {
        if let Some(&known) = self.found.get(&(node, from, direction)) {
            return Ok(known);
        }
        let mut count = from;
        let found = loop {
            if !(0..=self.largest).contains(&count) {
                break None;
            }
            self.step()?;
            let attempt = match direction {
                Direction::Up => self.attempt_up(node, count)?,
                Direction::Down => self.attempt_down(node, count)?,
            };
            match attempt {
                Attempt::Fits => break Some(count),
                Attempt::Next(next) => count = next,
                Attempt::Never => break None,
            }
        };
        self.found.insert((node, from, direction), found);
        Ok(found)
    }

    /// Minimum and maximum of a child if its parent gets `count`; `None` if no count is between its bounds.
    pub(super) fn domain(&mut self, child: usize, count: i64) -> Searched<Option<(i64, i64)>> {
        let bounds = self.tree.nodes()[child];
        let low = self.next(child, bounds.least_of(count))?;
        let high = self.previous(child, bounds.most_of(count))?;
        Ok(low.zip(high).filter(|(low, high)| low <= high))
    }

    /// Tries a count on the way to larger ones. Bounds only grow on the way.
    fn attempt_up(&mut self, node: usize, count: i64) -> Searched<Attempt> {
        let (mut fewest, mut most) = (0_i128, 0_i128);
        let mut growth = Growth::default();
        // The first count at which a child can leave the gap that holds it.
        let mut event: Option<i64> = None;
        for child in self.tree.children(node) {
            let bounds = self.tree.nodes()[child];
            let Some(low) = self.next(child, bounds.least_of(count))? else {
                return Ok(Attempt::Never);
            };
            let limit = bounds.most_of(count);
            let high = self.previous(child, limit)?.filter(|&high| high >= low);
            let Some(high) = high else {
                return Ok(
                    first_with_most(bounds.most, low).map_or(Attempt::Never, |next| Attempt::Next(next.max(count + 1)))
                );
            };
            (fewest, most) = (fewest + i128::from(low), most + i128::from(high));
            let above = self.next(child, limit.saturating_add(1))?;
            match (bounds.most, above) {
                (Some(Amount::Percent(percent)), Some(_)) if high == limit => growth.add(parts(percent)),
                (_, above) => {
                    growth.add_constant(high);
                    let leaves = above.and_then(|above| first_with_most(bounds.most, above));
                    event = event.into_iter().chain(leaves).min();
                }
            }
        }
        if fewest > i128::from(count) {
            return Ok(i64::try_from(fewest).map_or(Attempt::Never, Attempt::Next));
        }
        if most < i128::from(count) {
            let stays_short = growth.relative == 0 || growth.at(count) + growth.noise() <= i128::from(count) * WHOLE;
            return Ok(match event {
                _ if !stays_short || growth.parts > WHOLE => Attempt::Next(count + 1),
                Some(event) => Attempt::Next(event.max(count + 1)),
                None => Attempt::Never,
            });
        }
        self.attempt_sum(node, count, Direction::Up)
    }

    /// Tries a count on the way to smaller ones. Bounds only shrink on the way.
    fn attempt_down(&mut self, node: usize, count: i64) -> Searched<Attempt> {
        let (mut fewest, mut most) = (0_i128, 0_i128);
        let mut growth = Growth::default();
        let mut event: Option<i64> = None;
        for child in self.tree.children(node) {
            let bounds = self.tree.nodes()[child];
            let Some(high) = self.previous(child, bounds.most_of(count))? else {
                return Ok(Attempt::Never);
            };
            let limit = bounds.least_of(count);
            let low = self.next(child, limit)?.filter(|&low| low <= high);
            let Some(low) = low else {
                return Ok(last_with_least(bounds.least, high)
                    .map_or(Attempt::Never, |next| Attempt::Next(next.min(count - 1))));
            };
            (fewest, most) = (fewest + i128::from(low), most + i128::from(high));
            let below = self.previous(child, limit - 1)?;
            match (bounds.least, below) {
                (Some(Amount::Percent(percent)), Some(_)) if low == limit => growth.add(parts(percent)),
                (_, below) => {
                    growth.add_constant(low);
                    let leaves = below.and_then(|below| last_with_least(bounds.least, below));
                    event = event.into_iter().chain(leaves).max();
                }
            }
        }
        if most < i128::from(count) {
            return Ok(i64::try_from(most).map_or(Attempt::Never, Attempt::Next));
        }
        if fewest > i128::from(count) {
            let stays_above = growth.relative == 0 || growth.at(count) - growth.noise() >= i128::from(count) * WHOLE;
            return Ok(match event {
                _ if !stays_above || growth.parts > WHOLE => Attempt::Next(count - 1),
                Some(event) => Attempt::Next(event.min(count - 1)),
                None => Attempt::Never,
            });
        }
        self.attempt_sum(node, count, Direction::Down)
    }

    /// Looks for counts of the children that add up to a count, which lies between their sums.
    fn attempt_sum(&mut self, node: usize, count: i64, direction: Direction) -> Searched<Attempt> {
        if !self.tree.children(node).any(|child| self.may_have_gaps(child)) {
            return Ok(Attempt::Fits);
        }
        let exact = self.nearest_sum(node, count, direction, count)?;
        if exact == Some(count) {
            return Ok(Attempt::Fits);
        }
        // These bounds are those of the last count on the way, the widest.
        let (end, further) = match direction {
            Direction::Up => (self.largest, count + 1),
            Direction::Down => (0, count - 1),
        };
        let widest = self.nearest_sum(node, count, direction, end)?;
        Ok(widest.map_or(Attempt::Never, |sum| match direction {
            Direction::Up => Attempt::Next(sum.max(further)),
            Direction::Down => Attempt::Next(sum.min(further)),
        }))
    }

    /// The sum of the children's counts that is nearest to a count in a direction. The bounds that widen in that direction are those
    /// of `widened`, the others those of the count.
    fn nearest_sum(&mut self, node: usize, count: i64, direction: Direction, widened: i64) -> Searched<Option<i64>> {
        let mut variables = Vec::new();
        for child in self.tree.children(node) {
            let bounds = self.tree.nodes()[child];
            let (for_least, for_most) = match direction {
                Direction::Up => (count, widened),
                Direction::Down => (widened, count),
            };
            let low = self.next(child, bounds.least_of(for_least))?;
            let high = self.previous(child, bounds.most_of(for_most))?;
            let Some((low, high)) = low.zip(high).filter(|(low, high)| low <= high) else {
                return Ok(None);
            };
            variables.push(Variable {
                node: Some(child),
                low,
                high,
                target: None,
                last: 0,
                tie: 0,
            });
        }
        // The distance of the sum from the count is one more variable, which is best at its end.
        let (target, total) = match direction {
            Direction::Up => (self.largest, i128::from(count) + i128::from(self.largest)),
            Direction::Down => (0, i128::from(count)),
        };
        variables.push(Variable {
            node: None,
            low: 0,
            high: self.largest,
            target: Some(target),
            last: target,
            tie: 0,
        });
        let counts = nearest(self, &variables, total)?;
        let away = counts.and_then(|counts| counts.last().copied());
        Ok(away.map(|value| match direction {
            Direction::Up => count.saturating_add(self.largest - value),
            Direction::Down => count - value,
        }))
    }
}
