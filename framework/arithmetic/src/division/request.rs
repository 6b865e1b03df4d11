//! The request to a strategy that considers capacity.
//!
//! Dynamic weight, aggregation and the tier walk take the same four inputs and distinguish the same cases. Because the
//! distinction is made here, the rule "equal totals change nothing" and the figures of an `Unschedulable` exist only
//! once.

use super::columns::{ColumnSummary, check_column, check_replicas};
use super::error::DivisionError;

/// The treatment of existing replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cycle {
    /// The usual cycle: existing replicas stay, and only the change is divided.
    #[default]
    Steady,
    /// A reschedule was requested since the last scheduling: the replicas are divided from scratch, by capacity.
    Fresh,
}

/// Replicas to divide over candidates. Each column has one entry per candidate.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The new total, 0 or more.
    pub replicas: i64,
    /// Replicas that each candidate can take *beyond* its existing ones according to the estimators, 0 or more.
    pub fits_now: &'a [i64],
    /// Existing replicas of each candidate, 0 or more, with a sum of at most 64 bits.
    pub last: &'a [i64],
    /// Steady or fresh.
    pub cycle: Cycle,
}

/// The case that a request falls under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Steady, with equal totals: the last result stays as it is.
    Nothing,
    /// Steady, with this many more replicas than last.
    Growth(i64),
    /// Steady, with fewer replicas than last: the new total is divided within the last result.
    Shrinkage,
    /// Fresh: the total is divided within the capacities, fits now plus last.
    Anew,
}

impl<'a> Request<'a> {
    /// A request for `replicas` over candidates with these columns.
    #[must_use]
    #[inline]
    pub const fn new(replicas: i64, fits_now: &'a [i64], last: &'a [i64], cycle: Cycle) -> Self {
        Self {
            replicas,
            fits_now,
            last,
            cycle,
        }
    }
}

impl Request<'_> {
    /// True if the cycle is steady and `last` exceeds the new total, which is then divided within `last`.
    #[must_use]
    #[inline]
    pub fn shrinks(&self) -> bool {
        let present: i128 = self.last.iter().map(|&last| i128::from(last)).sum();
        self.cycle == Cycle::Steady && present > i128::from(self.replicas)
    }

    /// Checks the columns, determines the case and rejects a request that does not fit.
    #[inline]
    pub(super) fn change(&self, imitates_karmada: bool) -> Result<Change, DivisionError> {
        let (change, available) = self.change_and_available()?;
        if imitates_karmada && self.replicas == 0 && change == Change::Anew {
            let wrapped = self.available_as_karmada_sums();
            if wrapped < 0 {
                return Err(self.unschedulable(wrapped.into()));
            }
        }
        if available < self.replicas {
            return Err(self.unschedulable(available));
        }
        Ok(change)
    }

    /// Checks the columns, and determines the case and the total capacity (saturating at `i64::MAX`).
    #[inline]
    pub(super) fn change_and_available(&self) -> Result<(Change, i64), DivisionError> {
        check_replicas(self.replicas)?;
        let fits: ColumnSummary = check_column("fits_now", self.fits_now, self.fits_now.len())?;
        let last = check_column("last", self.last, self.fits_now.len())?.exact_sum("last")?;
        let available = last.saturating_add(fits.saturating_sum());
        let change = match self.cycle {
            Cycle::Fresh => Change::Anew,
            Cycle::Steady if self.replicas > last => Change::Growth(self.replicas - last),
            Cycle::Steady if self.replicas < last => Change::Shrinkage,
            Cycle::Steady => Change::Nothing,
        };
        Ok((change, available))
    }

    /// The sum of the capacities in Karmada's wrapping 32-bit arithmetic.
    ///
    /// With 0 replicas, every cluster fits `i32::MAX` in Karmada, and a fresh cycle over two of them fails because the
    /// sum wraps to a negative number (v1.19-rc, `pkg/scheduler/core/division_algorithm.go`). Divvy imitates only this
    /// case: any other sum beyond 32 bits takes a fleet larger than in any recorded decision, and failing there would
    /// help no one.
    #[inline]
    fn available_as_karmada_sums(&self) -> i32 {
        let mut sum = 0_i32;
        for (&fits_now, &last) in self.fits_now.iter().zip(self.last) {
            sum = sum.wrapping_add(fits_now as i32).wrapping_add(last as i32);
        }
        sum
    }

    #[inline]
    pub(super) fn unschedulable(&self, available: i64) -> DivisionError {
        DivisionError::Unschedulable {
            requested: self.replicas,
            available,
        }
    }

    /// Total capacity of a candidate: fits now plus last.
    #[inline]
    pub(super) fn capacity(&self, index: usize) -> i64 {
        self.fits_now[index].saturating_add(self.last[index])
    }
}
