//! The candidates that keep the most replicas together, under a floor and with room for a count.
//!
//! A candidate that takes part gets at least the floor. What it lacks to reach the floor, it gains at the expense of
//! others; what it has stays if the count allows. So the participants keep the smaller of two numbers: all that they
//! have, and the count less what they lack. Both are best for the candidates that have the most. So the best choice of
//! a given number of candidates is the first ones of an order, unless they have too little room for the count. Then
//! some must make way for roomier ones, which is a knapsack problem: branch and bound, with a limit after which the
//! best choice so far is used.

use std::cmp::Reverse;

use super::columns::{check_column, check_replicas};
use super::error::DivisionError;

/// Maximum number of further choices that are tried for one number of candidates.
const ATTEMPTS: u32 = 10_000;

/// The count that candidates are chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Replicas to divide over the candidates that are chosen.
    pub count: i64,
    /// Minimum replicas of each of them; a floor below 1 counts as 1.
    pub floor: i64,
    /// True to choose as few candidates as possible among the choices that keep equally many replicas; false to choose as many.
    pub as_few: bool,
}

/// The choice, and the memory for it.
///
/// ```
/// use divvy_framework::division::keeping::{Keeping, Wanted};
///
/// let (mut keeping, mut chosen) = (Keeping::default(), Vec::new());
/// let wanted = Wanted { count: 6, floor: 1, as_few: true };
/// // The first and the third have replicas already, and room for all six.
/// keeping.choose(wanted, &[4, 9, 3], &[3, 0, 1], |candidate| candidate as u64, &mut chosen)?;
/// assert_eq!(chosen, [0, 2]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
#[derive(Debug, Default)]
pub struct Keeping {
    /// Candidates with room for the floor, by what they keep and their room, larger first, and by tie.
    keyed: Vec<Keyed>,
    /// Room of the candidates, in their order.
    room: Vec<i64>,
    /// Sums over the first candidates, from none on.
    sums: Vec<Sums>,
    /// Numbers of candidates, each with the most replicas that this many may keep.
    numbers: Vec<(i128, usize)>,
    /// Positions in the order, for the choice that is being tried.
    path: Vec<usize>,
    best: Vec<usize>,
    sorted: Vec<i64>,
}

/// A candidate with what it keeps and its room, its tie key and its index, in the order of comparison.
type Keyed = (Reverse<(i64, i64)>, u64, u32);

/// Sums over candidates.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    room: i128,
    keeps: i128,
    lacks: i128,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            room: self.room + other.room,
            keeps: self.keeps + other.keeps,
            lacks: self.lacks + other.lacks,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            room: self.room - other.room,
            keeps: self.keeps - other.keeps,
            lacks: self.lacks - other.lacks,
        }
    }

    /// The replicas that they keep, of a count.
    fn kept(self, count: i64) -> i128 {
        self.keeps.min(i128::from(count) - self.lacks)
    }
}

impl Keeping {
    /// Writes the candidates that take part to `chosen`, ascending: of all choices that keep the most replicas, one with the fewest
    /// candidates, or with the most. None if the candidates have no room for the count.
    ///
    /// * `upper`: maximum replicas of each candidate; `last`: its last replicas. Both are 0 or more.
    ///
    /// # Errors
    ///
    /// [`Negative`](DivisionError::Negative) for negative numbers, and other errors for columns of different lengths.
    pub fn choose(
        &mut self,
        wanted: Wanted,
        upper: &[i64],
        last: &[i64],
        ties: impl Fn(usize) -> u64,
        chosen: &mut Vec<u32>,
    ) -> Result<(), DivisionError> {
        check_replicas(wanted.count)?;
        check_column("upper", upper, upper.len())?;
        check_column("last", last, upper.len())?;
        self.order(wanted.floor.max(1), upper, last, ties);
        self.choose_in_order(wanted);
        chosen.clear();
        chosen.extend(self.best.iter().map(|&position| self.keyed[position].2));
        chosen.sort_unstable();
        Ok(())
    }

    /// Puts the candidates in their order, and adds up what the first ones have.
    fn order(&mut self, floor: i64, upper: &[i64], last: &[i64], ties: impl Fn(usize) -> u64) {
        let Self {
            keyed,
            room,
            sums,
            best,
            ..
        } = self;
        keyed.clear();
        let with_room = (0_u32..)
            .zip(upper.iter().zip(last))
            .filter(|(_, (upper, _))| **upper >= floor);
        keyed.extend(
            with_room.map(|(index, (&upper, &last))| (Reverse((last.min(upper), upper)), ties(index as usize), index)),
        );
        keyed.sort_unstable();
        best.clear();
        room.clear();
        sums.clear();
        let mut sum = Sums::default();
        sums.push(sum);
        for &(Reverse((kept, upper)), ..) in keyed.iter() {
            room.push(upper);
            sum = sum.plus(Sums {
                room: upper.into(),
                keeps: kept.into(),
                lacks: (floor - kept).max(0).into(),
            });
            sums.push(sum);
        }
    }

    /// Chooses the best of the candidates, as positions in their order.
    fn choose_in_order(&mut self, Wanted { count, floor, as_few }: Wanted) {
        let most = usize::try_from(count / floor.max(1))
            .unwrap_or(usize::MAX)
            .min(self.keyed.len());
        let fewest = self.fewest_with_room(count);
        self.numbers.clear();
        let sums = self.sums.iter().enumerate().take(most + 1).skip(fewest);
        self.numbers
            .extend(sums.map(|(number, sums)| (sums.kept(count), number)));
        match as_few {
            true => self
                .numbers
                .sort_unstable_by_key(|&(kept, number)| (Reverse(kept), number)),
            false => self
                .numbers
                .sort_unstable_by_key(|&(kept, number)| Reverse((kept, number))),
        }
        let numbers = std::mem::take(&mut self.numbers);
        let mut best: Option<(i128, usize)> = None;
        for &(bound, number) in &numbers {
            // The number that a choice must exceed; a better number of candidates need only equal it.
            let known = best.map(|(kept, so_far)| match (number < so_far) == as_few {
                true => kept - 1,
                false => kept,
            });
            if known >= Some(bound) {
                continue;
            }
            if self.sums[number].room >= i128::from(count) {
                self.best.clear();
                self.best.extend(0..number);
                best = Some((bound, number));
            } else if let Some(kept) = self.improve(count, number, known) {
                best = Some((kept, number));
            }
        }
        self.numbers = numbers;
    }

    /// The smallest number of candidates that can have room for a count.
    fn fewest_with_room(&mut self, count: i64) -> usize {
        self.sorted.clone_from(&self.room);
        self.sorted.sort_unstable_by_key(|&room| Reverse(room));
        let mut left = i128::from(count);
        let enough = self.sorted.iter().position(|&room| {
            left -= i128::from(room);
            left <= 0
        });
        enough.map_or(usize::MAX, |position| position + 1)
    }

    /// The sums over one candidate.
    fn one(&self, position: usize) -> Sums {
        self.sums[position + 1].minus(self.sums[position])
    }

    /// Looks for `number` candidates with room for a count that keep more than `known`, and makes them the best choice.
    /// Returns what they keep; `None` if there are none.
    fn improve(&mut self, count: i64, number: usize, known: Option<i128>) -> Option<i128> {
        let mut best = None;
        let mut attempts = ATTEMPTS;
        let (mut chosen, mut next) = (Sums::default(), 0);
        self.path.clear();
        loop {
            let open = number - self.path.len();
            let goes_on = match open {
                0 => {
                    let kept = chosen.kept(count);
                    if chosen.room >= i128::from(count) && Some(kept) > best.max(known) {
                        best = Some(kept);
                        self.best.clone_from(&self.path);
                    }
                    false
                }
                _ if next + open > self.room.len() => false,
                // Those that follow keep less than the next ones.
                _ => {
                    let following = self.sums[next + open].minus(self.sums[next]);
                    Some(chosen.plus(following).kept(count)) > best.max(known)
                        && chosen.room + self.most_room(next, open) >= i128::from(count)
                }
            };
            if goes_on {
                chosen = chosen.plus(self.one(next));
                self.path.push(next);
                next += 1;
            } else if let Some(last) = self.path.pop() {
                chosen = chosen.minus(self.one(last));
                next = last + 1;
            } else {
                return best;
            }
            if best.is_some() {
                attempts -= 1;
                if attempts == 0 {
                    return best;
                }
            }
        }
    }

    /// The most room that `number` candidates have from a position on.
    fn most_room(&mut self, from: usize, number: usize) -> i128 {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.room[from..]);
        if number < self.sorted.len() {
            self.sorted.select_nth_unstable_by_key(number, |&room| Reverse(room));
        }
        self.sorted.iter().take(number).map(|&room| i128::from(room)).sum()
    }
}
