//! The choice of a method for rounding proportional shares to whole replicas.
//!
//! Strategies that divide in proportion take a [`Rounding`], so a profile for parity with Karmada can pick Karmada's
//! method without a strategy of its own. This module only dispatches; the arithmetic is elsewhere.

use super::apportionment::{floor_and_rank, largest_remainder};
use super::error::DivisionError;
use super::scratch::Scratch;
use super::webster::{Quotients, divide_by_webster};

/// The method of rounding proportional shares to whole replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rounding {
    /// Floors, then the remainder by weight, last replicas and tie: [`floor_and_rank`], Divvy's default.
    #[default]
    FloorThenRank,
    /// Floors, then the remainder by fractional part: [`largest_remainder`].
    LargestRemainder,
    /// Webster's method with exact fractions: [`divide_by_webster`].
    Webster,
    /// Webster's method as Karmada 1.16 and later compute it, in doubles: [`Quotients::Doubles`]. It ignores the last
    /// replicas; pass Karmada's tie order for parity. [`dynamic`](super::dynamic) and [`aggregate`](super::aggregate)
    /// then also fail where Karmada's 32-bit sums overflow: in a fresh cycle with 0 replicas over two or more clusters.
    Karmada,
}

impl Rounding {
    /// Divides `replicas` in proportion to `weights` by this method. The columns are those of [`floor_and_rank`].
    ///
    /// ```
    /// use divvy_framework::division::{Rounding, Scratch};
    ///
    /// let (mut out, mut scratch) = ([0; 2], Scratch::default());
    /// Rounding::Webster.divide(10, &[2, 1], &[0, 0], |i| i as u64, &mut out, &mut scratch)?;
    /// assert_eq!(out, [7, 3]);
    /// # Ok::<(), divvy_framework::division::DivisionError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`floor_and_rank`].
    pub fn divide(
        self,
        replicas: i64,
        weights: &[i64],
        last: &[i64],
        ties: impl Fn(usize) -> u64,
        out: &mut [i64],
        scratch: &mut Scratch,
    ) -> Result<(), DivisionError> {
        let webster =
            |quotients, ties, out, scratch| divide_by_webster(replicas, weights, quotients, ties, out, scratch);
        match self {
            Self::FloorThenRank => floor_and_rank(replicas, weights, last, ties, out, scratch),
            Self::LargestRemainder => largest_remainder(replicas, weights, last, ties, out, scratch),
            Self::Webster => webster(Quotients::Exact, ties, out, scratch),
            Self::Karmada => webster(Quotients::Doubles, ties, out, scratch),
        }
    }
}
