//! Chooses the candidates of a leaf that take part if a floor or the rule leaves some out.
//!
//! A floor means "none, or at least this many", so a count suffices for a limited number of candidates: as many as can
//! each get the floor. That many take part, except under the rule that wants as few as possible:
//!
//! | rule | those that take part |
//! |---|---|
//! | evenly | those with the most room, as far as it makes the counts more even; among equal ones, those that keep more |
//! | by weight | the heaviest, as far as they have room together; among equal ones, those that keep more |
//! | by room, fewest | those that keep the most replicas together: [`keeping`](divvy_framework::division::keeping) |

use std::cmp::Reverse;

use divvy_framework::division::DivisionError;
use divvy_framework::division::keeping::{Keeping, Wanted};
use divvy_framework::division::ranking::Rank;

use super::leaf::Candidates;
use super::node::LeafRule;

/// The candidates that take part, and the memory for choosing them.
#[derive(Debug, Default)]
pub(super) struct Choice {
    chosen: Vec<u32>,
    /// The candidates that could take part, in the order of the rule.
    order: Vec<u32>,
    /// The same with their keys, which are computed once per candidate.
    keyed: Vec<(Reverse<Rank>, u64, u32)>,
    capacities: Vec<i64>,
    keeping: Keeping,
}

impl Choice {
    /// The candidates that take part, ascending.
    pub(super) fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// Chooses candidates for a count that they can have with this floor; a floor of 0 or 1 limits nothing.
    pub(super) fn choose(
        &mut self,
        rule: LeafRule,
        count: i64,
        floor: i64,
        candidates: Candidates<'_>,
        ties: impl Fn(usize) -> u64,
    ) -> Result<(), DivisionError> {
        let floor = floor.max(1);
        if let LeafRule::ByRoom | LeafRule::Fewest = rule {
            let as_few = rule == LeafRule::Fewest;
            let wanted = Wanted { count, floor, as_few };
            let Candidates { upper, last, .. } = candidates;
            return self.keeping.choose(wanted, upper, last, ties, &mut self.chosen);
        }
        self.chosen.clear();
        self.order.clear();
        self.order.extend(
            (0_u32..)
                .zip(candidates.upper)
                .filter(|(_, upper)| **upper >= floor)
                .map(|(index, _)| index),
        );
        // A floor of one has room for as many candidates as there are replicas.
        let slots = usize::try_from(count / floor)
            .unwrap_or(usize::MAX)
            .min(self.order.len());
        match rule {
            LeafRule::ByWeight => self.choose_heaviest(count, slots, candidates, ties),
            _ => self.choose_even(count, slots, candidates, ties),
        }
        self.chosen.sort_unstable();
        Ok(())
    }

    /// Sorts the candidates: larger ranks, whose parts are 0 or more, come first; among equal ranks, smaller tie keys.
    fn sort(&mut self, ties: impl Fn(usize) -> u64, rank: impl Fn(usize) -> [i64; 3]) {
        let Self { order, keyed, .. } = self;
        keyed.clear();
        keyed.extend(order.iter().map(|&index| {
            let rank = rank(index as usize).map(i64::cast_unsigned);
            (Reverse(rank), ties(index as usize), index)
        }));
        keyed.sort_unstable();
        order.clear();
        order.extend(keyed.iter().map(|(.., index)| *index));
    }

    /// The counts are most even over the candidates with the most room. Candidates that have room for the level are
    /// equal.
    fn choose_even(&mut self, count: i64, slots: usize, candidates: Candidates<'_>, ties: impl Fn(usize) -> u64) {
        let Candidates { upper, last, .. } = candidates;
        let room = |index: u32| upper[index as usize];
        self.order.sort_unstable_by_key(|&index| Reverse(room(index)));
        let Some(smallest) = slots.checked_sub(1).and_then(|index| self.order.get(index)) else {
            return;
        };
        let smallest = room(*smallest);
        self.capacities.clear();
        self.capacities
            .extend(self.order[..slots].iter().map(|&index| room(index)));
        let (level, left) = level_of(&self.capacities, count);
        let level_and_one = level.saturating_add(1);
        self.order.retain(|&index| room(index) >= level.min(smallest));
        self.sort(ties, |index| {
            let (kept, room) = (candidates.kept(index).min(level_and_one), upper[index]);
            let is_needed = level >= smallest && room > smallest;
            // A needed candidate comes first; among those that keep as many replicas, one with room for one more.
            [
                kept.saturating_add(if is_needed { i64::MAX } else { 0 }),
                room.min(level_and_one),
                last[index],
            ]
        });
        let (first, others) = self.order.split_at(slots.min(self.order.len()));
        self.chosen.extend_from_slice(first);
        if level >= smallest {
            return;
        }
        // The candidates that get one more need room for it.
        let has_room = |index: u32| room(index) > level;
        let missing = left.saturating_sub(first.iter().filter(|&&index| has_room(index)).count());
        let mut roomy = others.iter().copied().filter(|&index| has_room(index));
        for slot in self
            .chosen
            .iter_mut()
            .rev()
            .filter(|index| !has_room(**index))
            .take(missing)
        {
            *slot = roomy.next().unwrap_or(*slot);
        }
    }

    /// Takes the candidates one after another by weight, each only if the roomiest of those after it have room for what
    /// is then left.
    fn choose_heaviest(&mut self, count: i64, slots: usize, candidates: Candidates<'_>, ties: impl Fn(usize) -> u64) {
        self.sort(ties, |index| [candidates.weight(index), candidates.kept(index), 0]);
        let room = |index: u32| i128::from(candidates.upper[index as usize]);
        let mut left = i128::from(count);
        let first = &self.order[..slots];
        if first.iter().map(|&index| room(index)).sum::<i128>() >= left {
            self.chosen.extend_from_slice(first);
            return;
        }
        for (number, &index) in self.order.iter().enumerate() {
            let Some(others) = (slots - self.chosen.len()).checked_sub(1) else {
                return;
            };
            self.capacities.clear();
            let after = self.order[number + 1..].iter();
            self.capacities
                .extend(after.map(|&index| candidates.upper[index as usize]));
            if self.capacities.len() < others {
                return;
            }
            self.capacities.sort_unstable_by_key(|&room| Reverse(room));
            let most: i128 = self.capacities[..others].iter().map(|&room| i128::from(room)).sum();
            if room(index) + most >= left {
                self.chosen.push(index);
                left -= room(index);
            }
        }
    }
}

/// The level at which vessels of these capacities, the largest first, hold at most `count`, and the number of vessels that get one
/// more.
fn level_of(capacities: &[i64], count: i64) -> (i64, usize) {
    let mut left = i128::from(count);
    for (index, &capacity) in capacities.iter().enumerate().rev() {
        let open = index as i128 + 1;
        if i128::from(capacity) * open > left {
            return ((left / open) as i64, (left % open) as usize);
        }
        left -= i128::from(capacity);
    }
    (capacities.first().copied().unwrap_or(0), 0)
}
