//! Growth of the bounds of a node's children with its count, if they are percentages of it.

use divvy_framework::division::tree::{Amount, Percent};

/// Parts that are one hundred percent: a [`Percent`] has six decimal places.
pub(super) const WHOLE: i128 = 100_000_000;

/// A percentage in parts of [`WHOLE`].
pub(super) fn parts(percent: Percent) -> i128 {
    percent.floor_of(WHOLE as i64).into()
}

/// Sums over the children of a node that change with the node's count: constants, and shares of the count, each of
/// which rounding changes by less than one.
#[derive(Default)]
pub(super) struct Growth {
    constant: i128,
    /// Sum of the shares, in parts of [`WHOLE`].
    pub(super) parts: i128,
    /// Number of the shares.
    pub(super) relative: i128,
}

impl Growth {
    pub(super) fn add(&mut self, parts: i128) {
        self.parts += parts;
        self.relative += 1;
    }

    pub(super) fn add_constant(&mut self, count: i64) {
        self.constant += i128::from(count);
    }

    /// The sum for a count without rounding, in parts of [`WHOLE`].
    pub(super) fn at(&self, count: i64) -> i128 {
        self.constant * WHOLE + self.parts * i128::from(count)
    }

    /// More than all rounding together, in parts of [`WHOLE`].
    pub(super) fn noise(&self) -> i128 {
        self.relative * WHOLE
    }
}

/// The smallest count of the parent at which an upper bound is at least `most`; `None` if it never is.
pub(super) fn first_with_most(bound: Option<Amount>, most: i64) -> Option<i64> {
    match bound {
        None => Some(0),
        Some(Amount::Count(count)) => (count >= most).then_some(0),
        Some(Amount::Percent(percent)) if parts(percent) > 0 => {
            let before = i128::from(most.max(1) - 1) * WHOLE / parts(percent);
            i64::try_from(before + 1).ok()
        }
        Some(Amount::Percent(_)) => (most <= 0).then_some(0),
    }
}

/// The largest count of the parent at which a lower bound is at most `least`; `None` if it never is.
pub(super) fn last_with_least(bound: Option<Amount>, least: i64) -> Option<i64> {
    match bound {
        None => Some(i64::MAX),
        Some(Amount::Count(count)) => (count <= least).then_some(i64::MAX),
        Some(Amount::Percent(percent)) if parts(percent) > 0 && least >= 0 => {
            let last = (i128::from(least) + 1) * WHOLE - 1;
            Some(i64::try_from(last / parts(percent)).unwrap_or(i64::MAX))
        }
        Some(Amount::Percent(_)) => (least >= 0).then_some(i64::MAX),
    }
}
