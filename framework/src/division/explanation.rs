//! Explains a candidate's share in words, reconstructed from the result.
//!
//! The divisions do not record their reasons: that would slow down every cycle, and few explanations are ever
//! requested. A rule that is a pure function of its columns can be retraced from them. [`Remainder`] finds the part of
//! the ranks that decided who got one more; [`ProportionalShares`] describes a proportional share in one line.

use super::ranking::Rank;
use super::rounding::Rounding;

/// The candidates that got one replica of the remainder, and those that did not.
///
/// ```
/// use divvy_framework::division::explanation::Remainder;
///
/// // By weight, then last replicas. The first was served, and one of the two that weigh 1.
/// let ranks = [([2, 0, 0], true), ([1, 4, 0], true), ([1, 0, 0], false)];
/// let remainder = Remainder::of(ranks.into_iter());
/// let rules = ["weight", "last replicas"];
/// assert_eq!(remainder.rule([2, 0, 0], true, &rules), Some("weight"));
/// assert_eq!(remainder.rule([1, 0, 0], false, &rules), Some("last replicas"));
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

    /// The rule that decided for a candidate: the name of the first part of the ranks in which it differs from the
    /// nearest candidate with the opposite outcome; `tie` if they do not differ. `None` if all candidates had the same
    /// outcome.
    pub fn rule(&self, rank: Rank, served: bool, names: &[&'static str]) -> Option<&'static str> {
        let (worst, best) = (self.worst_served?, self.best_passed_over?);
        let other = if served { best } else { worst };
        let part = rank.iter().zip(&other).position(|(own, other)| own != other);
        Some(part.and_then(|part| names.get(part).copied()).unwrap_or("tie"))
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
    /// assert_eq!(shares.text(0, "weight"), "weight 2 of 5: 2.8 → 2, +1 of the remainder (weight)");
    /// assert_eq!(shares.text(2, "weight"), "weight 1 of 5: 1.4 → 1, none of the remainder (tie)");
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

    /// Explains a candidate's share in one line. `noun` names the weights.
    pub fn text(&self, index: usize, noun: &str) -> String {
        let (weight, share, tenths) = (
            Self::at(self.weights, index),
            Self::at(self.shares, index),
            self.tenths(index),
        );
        let (floor, tenth) = (tenths / 10, tenths % 10);
        let head = format!("{noun} {weight} of {}: {floor}.{tenth}", self.sum);
        if self.rounding != Rounding::FloorThenRank {
            return format!("{head} → {share} by highest averages");
        }
        let served = self.is_served(index);
        let rule = self
            .remainder
            .rule(self.rank(index), served, &["weight", "last replicas"]);
        match rule.filter(|_| weight > 0) {
            Some(rule) if served => format!("{head} → {floor}, +1 of the remainder ({rule})"),
            Some(rule) => format!("{head} → {floor}, none of the remainder ({rule})"),
            None => format!("{head} → {share}"),
        }
    }
}
