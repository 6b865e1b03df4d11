//! Shares in proportion to weights, each between a lower and an upper bound, by largest remainder.
//!
//! All shares have one factor, chosen so that weight × factor, held within the bounds, adds up to the total. So
//! replicas that a bound keeps from one share go to the others in proportion to their weights. Shares between their
//! bounds are rounded down, and the replicas left over go one each to the largest fractions; among equal fractions, to
//! shares that would otherwise lose a replica, then to those with more last replicas, then by tie.
//!
//! The number of last replicas alone would not lead to a stable result: weights 5 and 1 share three replicas as 2½ and
//! ½. If the tie order gives 2 and 1, the heavier share has more last replicas and would take the third one in the next
//! cycle.

use super::columns::{check_column, check_replicas};
use super::error::DivisionError;
use super::ranking::{RankingScratch, first_by_rank};

/// Shares to divide, and the memory for it: [`clear`](Self::clear) keeps the memory from call to call.
///
/// ```
/// use divvy_framework::division::{ranking::RankingScratch, shares::Shares};
///
/// let mut shares = Shares::default();
/// // 50 : 30 : 20 of a hundred, but at most 20 for the first and at least 30 for the last.
/// shares.push(50, (0, 20), 0);
/// shares.push(30, (0, i64::MAX), 0);
/// shares.push(20, (30, i64::MAX), 0);
/// let counts = shares.divide(100, |share| share as u64, &mut RankingScratch::default())?;
/// assert_eq!(counts, [20, 48, 32]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
#[derive(Debug, Default)]
pub struct Shares {
    weights: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
    last: Vec<i64>,
    /// The result.
    out: Vec<i64>,
    /// Indices of the shares that are between their bounds.
    open: Vec<u32>,
    /// The fraction that rounding down cuts off each of these, in units of one over the sum of their weights.
    fractions: Vec<u64>,
    served: Vec<u32>,
}

/// The replicas left for the shares that are between their bounds, and the sum of their weights.
#[derive(Clone, Copy)]
struct Rest {
    replicas: i128,
    weight: i128,
}

/// The side of its bounds on which a share lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Between,
    Above,
}

impl Rest {
    /// The side of its bounds on which a share lies before it is rounded.
    #[inline]
    fn side(self, weight: i64, low: i64, high: i64) -> Side {
        let share = self.replicas * i128::from(weight);
        if share < i128::from(low) * self.weight {
            Side::Below
        } else if share > i128::from(high) * self.weight {
            Side::Above
        } else {
            Side::Between
        }
    }
}

impl Shares {
    /// Removes all shares.
    pub fn clear(&mut self) {
        self.weights.clear();
        self.low.clear();
        self.high.clear();
        self.last.clear();
    }

    /// Adds a share: its weight, its lower and upper bound, and its last replicas, all 0 or more. An upper bound below the lower one
    /// counts as the lower one.
    #[inline]
    pub fn push(&mut self, weight: i64, (low, high): (i64, i64), last: i64) {
        self.weights.push(weight);
        self.low.push(low);
        self.high.push(high.max(low));
        self.last.push(last);
    }

    /// Divides `total`, and returns the shares in the order in which they were added. They add up to `total` if it is between the sums
    /// of the bounds; otherwise, all are at their bounds. A share of weight 0 gets its lower bound.
    ///
    /// # Errors
    ///
    /// [`SumTooLarge`](DivisionError::SumTooLarge) if the weights or the lower bounds add up to more than 63 bits, and
    /// [`Negative`](DivisionError::Negative) for negative numbers.
    pub fn divide(
        &mut self,
        total: i64,
        ties: impl Fn(usize) -> u64,
        scratch: &mut RankingScratch,
    ) -> Result<&[i64], DivisionError> {
        check_replicas(total)?;
        check_column("weights", &self.weights, self.weights.len())?;
        check_column("last", &self.last, self.weights.len())?;
        // Then no product exceeds 128 bits.
        check_column("low", &self.low, self.weights.len())?.exact_sum("low")?;
        self.out.clear();
        self.out.extend_from_slice(&self.low);
        self.open.clear();
        let mut replicas = i128::from(total);
        for (position, (&weight, &low)) in (0_u32..).zip(self.weights.iter().zip(&self.low)) {
            match weight {
                1.. => self.open.push(position),
                _ => replicas -= i128::from(low),
            }
        }
        let rest = self.settle(replicas)?;
        if rest.weight > 0 {
            self.round(rest, ties, scratch);
        }
        Ok(&self.out)
    }

    /// Gives shares that are not between their bounds the bound, and leaves the others in `open`.
    ///
    /// If the shares below their bounds lack more than those above exceed, the former stay at their bounds in any case,
    /// and vice versa. Each pass settles at least one share.
    fn settle(&mut self, mut replicas: i128) -> Result<Rest, DivisionError> {
        let Self {
            weights,
            low,
            high,
            out,
            open,
            ..
        } = self;
        let too_large = || DivisionError::SumTooLarge { column: "weights" };
        loop {
            let weight: i128 = open
                .iter()
                .map(|&position| i128::from(weights[position as usize]))
                .sum();
            // Then its product with a number of 64 bits fits.
            if weight > i128::from(i64::MAX) {
                return Err(too_large());
            }
            let rest = Rest { replicas, weight };
            let side_of = |position: u32| {
                let position = position as usize;
                rest.side(weights[position], low[position], high[position])
            };
            let (mut held, mut between, mut any_held) = (0_i128, 0_i128, false);
            for &position in open.iter() {
                let bound = match side_of(position) {
                    Side::Below => low[position as usize],
                    Side::Above => high[position as usize],
                    Side::Between => {
                        between += i128::from(weights[position as usize]);
                        continue;
                    }
                };
                held += i128::from(bound);
                any_held = true;
            }
            if !any_held {
                return Ok(rest);
            }
            // By how much the sum of all shares, held within their bounds, exceeds the replicas.
            let excess = (held - replicas).checked_mul(weight);
            let excess = excess.and_then(|excess| excess.checked_add(replicas.checked_mul(between)?));
            let settles: &[Side] = match excess.ok_or_else(too_large)?.signum() {
                1 => &[Side::Below],
                -1 => &[Side::Above],
                _ => &[Side::Below, Side::Above],
            };
            open.retain(|&position| {
                let side = side_of(position);
                let stays_open = !settles.contains(&side);
                if !stays_open {
                    let bounds = if side == Side::Below { &low } else { &high };
                    out[position as usize] = bounds[position as usize];
                    replicas -= i128::from(out[position as usize]);
                }
                stays_open
            });
        }
    }

    fn round(&mut self, rest: Rest, ties: impl Fn(usize) -> u64, scratch: &mut RankingScratch) {
        let Self {
            weights,
            last,
            out,
            open,
            fractions,
            served,
            ..
        } = self;
        fractions.clear();
        served.clear();
        let mut left = rest.replicas;
        for &position in open.iter() {
            let product = rest.replicas * i128::from(weights[position as usize]);
            let share = product / rest.weight;
            // A share is between bounds of 64 bits, and a fraction is below the sum of the weights.
            out[position as usize] = share as i64;
            fractions.push((product % rest.weight) as u64);
            left -= share;
        }
        let rank = |index: usize| {
            let position = open[index] as usize;
            let keeps_one = u64::from(last[position] > out[position]);
            [fractions[index], keeps_one, last[position].cast_unsigned()]
        };
        let tie = |index: usize| ties(open[index] as usize);
        // Fewer than the number of shares.
        first_by_rank(left as usize, 0..open.len(), rank, tie, scratch, |index| {
            served.push(open[index])
        });
        for &position in served.iter() {
            out[position as usize] += 1;
        }
    }
}
