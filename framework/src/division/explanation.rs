//! Why a candidate got its share, in words, worked out from the result.
//!
//! The divisions keep no record of their reasons: that would cost every cycle something, and hardly any is asked about. A
//! rule that is a pure function of its columns can be retraced from them: [`Remainder`] finds which part of the ranks told
//! those who got one more from those who did not, [`ProportionalShares`] puts a proportional share into a line.

use super::ranking::Rank;
use super::rounding::Rounding;

/// Who got one of the remainder and who did not.
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
    /// From the rank of each candidate that took part, larger ranks served first, and whether it was served.
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

    /// The rule that decided for a candidate: the name of the first part of the ranks in which it differs from the nearest
    /// one that fared otherwise, `tie` if there is none. Nothing if all fared alike.
    pub fn rule(&self, rank: Rank, served: bool, names: &[&'static str]) -> Option<&'static str> {
        let (worst, best) = (self.worst_served?, self.best_passed_over?);
        let other = if served { best } else { worst };
        let part = rank.iter().zip(&other).position(|(own, other)| own != other);
        Some(part.and_then(|part| names.get(part).copied()).unwrap_or("tie"))
    }
}

/// Shares in proportion to weights, as they came out.
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
    /// From what `rounding` was given and what it made of it; one entry a candidate in each column.
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

    /// One line on a candidate's share. `noun` says what the weights are.
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
