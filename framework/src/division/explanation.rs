//! Explains a candidate's share, reconstructed from the result.
//!
//! The divisions do not record their reasons: that would slow down every cycle, although few explanations are
//! requested. A rule that is a pure function of its columns can be retraced from them. [`Remainder`] finds the part of
//! the ranks that decided which candidates got one more; [`ProportionalShares`] describes a proportional share.

use divvy_framework_arithmetic::division::Rounding;
use divvy_framework_arithmetic::division::ranking::Rank;

use crate::reason::{Cause, Decider, Reason};

/// The candidates that got one replica of the remainder, and those that did not.
///
/// ```
/// use divvy_framework::division::explanation::Remainder;
///
/// // By weight, then last replicas. The first was served, and one of the two that weigh 1.
/// let ranks = [([2, 0, 0], true), ([1, 4, 0], true), ([1, 0, 0], false)];
/// let remainder = Remainder::of(ranks.into_iter());
/// use divvy_framework::reason::Decider;
/// let parts = [Decider::Weight, Decider::Last];
/// assert_eq!(remainder.decider([2, 0, 0], true, &parts), Some(Decider::Weight));
/// assert_eq!(remainder.decider([1, 0, 0], false, &parts), Some(Decider::Last));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Remainder {
    worst_served: Option<Rank>,
    best_passed_over: Option<Rank>,
}

impl Remainder {
    /// Builds the summary from each participating candidate's rank and a flag that is true if it was served. Larger
    /// ranks are served first.
    pub fn of(candidates: impl Iterator<Item = (Rank, bool)>) -> Self {
        let mut remainder = Self::default();
        for (rank, served) in candidates {
            if served {
                let worst = remainder.worst_served.get_or_insert(rank);
                *worst = rank.min(*worst);
            } else {
                remainder.best_passed_over = remainder.best_passed_over.max(Some(rank));
            }
        }
        remainder
    }

    /// The criterion that decided about a candidate: the first of the ranks' `parts` in which it differs from the nearest candidate with the
    /// opposite outcome; [`Decider::Tie`] if they do not differ. `None` if all candidates had the same outcome.
    pub fn decider(&self, rank: Rank, served: bool, parts: &[Decider]) -> Option<Decider> {
        let (worst, best) = (self.worst_served?, self.best_passed_over?);
        let other = if served { best } else { worst };
        let part = rank.iter().zip(&other).position(|(own, other)| own != other);
        Some(part.and_then(|part| parts.get(part).copied()).unwrap_or(Decider::Tie))
    }

    /// Adds the candidate's outcome and the deciding criterion to its reason, unless all candidates had the same
    /// outcome.
    #[must_use]
    pub fn explain(&self, reason: Reason, rank: Rank, served: bool, parts: &[Decider]) -> Reason {
        match self.decider(rank, served, parts) {
            Some(decider) => reason.remainder(served, decider),
            None => reason,
        }
    }
}

/// A finished division in proportion to weights.
#[derive(Debug, Clone, Copy)]
pub struct ProportionalShares<'a> {
    replicas: i64,
    weights: &'a [i64],
    last: &'a [i64],
    shares: &'a [i64],
    sum: i128,
    rounding: Rounding,
    remainder: Remainder,
}

impl<'a> ProportionalShares<'a> {
    /// The input of `rounding` and the resulting `shares`. Each column has one entry per candidate.
    ///
    /// ```
    /// use divvy_framework::division::{Rounding, explanation::ProportionalShares};
    ///
    /// let shares = ProportionalShares::new(7, &[2, 1, 1, 1], &[0; 4], &[3, 2, 1, 1], Rounding::FloorThenRank);
    /// let line = |index| shares.reason(index, "weight").to_string();
    /// assert_eq!(line(0), "weight 2 of 5: 2.8 → 2, +1 of the remainder (weight)");
    /// assert_eq!(line(2), "weight 1 of 5: 1.4 → 1, none of the remainder (tie)");
    /// ```
    pub fn new(replicas: i64, weights: &'a [i64], last: &'a [i64], shares: &'a [i64], rounding: Rounding) -> Self {
        let mut result = Self {
            replicas,
            weights,
            last,
            shares,
            sum: weights.iter().map(|&weight| i128::from(weight)).sum(),
            rounding,
            remainder: Remainder::default(),
        };
        let weighing = (0..weights.len()).filter(|&index| weights[index] > 0);
        result.remainder = Remainder::of(weighing.map(|index| (result.rank(index), result.is_served(index))));
        result
    }

    fn at(column: &[i64], index: usize) -> i64 {
        column.get(index).copied().unwrap_or(0)
    }

    fn rank(&self, index: usize) -> Rank {
        let part = |column| Self::at(column, index).max(0).cast_unsigned();
        [part(self.weights), part(self.last), 0]
    }

    /// The exact share in tenths, rounded down.
    fn tenths(&self, index: usize) -> i128 {
        let product = 10 * i128::from(self.replicas) * i128::from(Self::at(self.weights, index));
        product.checked_div(self.sum).unwrap_or(0)
    }

    fn is_served(&self, index: usize) -> bool {
        i128::from(Self::at(self.shares, index)) > self.tenths(index) / 10
    }

    /// The reason for a candidate's share. `figure` is the name of the weights: `weight`, `capacity`, `fitsNow`, `last`.
    pub fn reason(&self, index: usize, figure: &'static str) -> Reason {
        self.add_to(Reason::of, index, figure)
    }

    /// As [`Self::reason`], for shares that are added to the replicas that the candidate keeps.
    pub fn reason_of_gain(&self, index: usize, figure: &'static str, kept: i64) -> Reason {
        self.add_to(|cause| Reason::of(cause).figure("keeps", kept), index, figure)
    }

    fn add_to(&self, start: impl Fn(Cause) -> Reason, index: usize, figure: &'static str) -> Reason {
        let (weight, share) = (Self::at(self.weights, index), Self::at(self.shares, index));
        let figures = |reason: Reason| {
            let sum = i64::try_from(self.sum).unwrap_or(i64::MAX);
            let reason = reason.figure(figure, weight).figure("sum", sum);
            reason.figure("replicas", self.replicas).figure("share", share)
        };
        if self.rounding != Rounding::FloorThenRank {
            return figures(start(Cause::HighestAverages));
        }
        let reason = figures(start(Cause::Proportion));
        if weight <= 0 {
            return reason;
        }
        let parts = [Decider::Weight, Decider::Last];
        self.remainder
            .explain(reason, self.rank(index), self.is_served(index), &parts)
    }
}
