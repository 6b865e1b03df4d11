//! The choice among the ways to make proportional shares whole.
//!
//! Strategies that divide in proportion take a [`Rounding`], so that a profile that promises parity with Karmada picks
//! Karmada's without another strategy being written. It names methods and dispatches; it holds no arithmetic.

use super::apportionment::{floor_and_rank, largest_remainder};
use super::error::DivisionError;
use super::scratch::Scratch;
use super::webster::{Quotients, divide_by_webster};

/// How proportional shares become whole replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rounding {
    /// Floors, the remainder by weight, last, tie: [`floor_and_rank`], Divvy's default.
    #[default]
    FloorThenRank,
    /// Floors, the remainder by fractional part: [`largest_remainder`].
    LargestRemainder,
    /// Webster's method with exact fractions: [`divide_by_webster`].
    Webster,
    /// Webster's method as Karmada 1.16 and later compute it, in doubles: [`Quotients::Doubles`]. The last replicas
    /// play no part; pass Karmada's tie order for parity. [`dynamic`](super::dynamic) and [`aggregate`](super::aggregate)
    /// then also refuse what Karmada's 32-bit sums make it refuse: two clusters or more, fresh, at 0 replicas.
    Karmada,
}

impl Rounding {
    /// Divides `replicas` in proportion to `weights` by this method; shapes and errors as [`floor_and_rank`].
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
    /// As [`floor_and_rank`].
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
