//! What strategies that look at capacity are asked.
//!
//! Dynamic weight, aggregation and the tier walk see the same four things, and the same three cases follow from them.
//! Keeping the case distinction here means that "equal totals change nothing" and the figures of an `Unschedulable` are
//! written down once.

use super::columns::{ColumnSummary, check_column, check_replicas};
use super::error::DivisionError;

/// Whether a cycle keeps what is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cycle {
    /// The usual cycle: what is placed stays, and only the change is divided.
    #[default]
    Steady,
    /// The binding was asked to be rescheduled after its last scheduling: divided from scratch, by capacity.
    Fresh,
}

/// Replicas to divide over candidates, one entry a candidate in each column.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The new total, 0 or more.
    pub replicas: i64,
    /// What the estimators say each candidate can take *beyond* what it has, 0 or more.
    pub fits_now: &'a [i64],
    /// What each candidate has now, 0 or more, with a sum of at most 64 bits.
    pub last: &'a [i64],
    /// Steady or fresh.
    pub cycle: Cycle,
}

/// What a request amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Steady, equal totals: the last result stands.
    Nothing,
    /// Steady: so many more than last.
    Growth(i64),
    /// Steady: fewer than last, divided anew within last.
    Shrinkage,
    /// Fresh: divided anew within fits now plus last.
    Anew,
}

impl Request<'_> {
    /// Whether the cycle is steady and `last` holds more than the new total: the new total is then divided within `last`.
    #[must_use]
    #[inline]
    pub fn shrinks(&self) -> bool {
        let present: i128 = self.last.iter().map(|&last| i128::from(last)).sum();
        self.cycle == Cycle::Steady && present > i128::from(self.replicas)
    }

    /// Checks the columns, finds the case and refuses what does not fit.
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

    /// Checks the columns, finds the case and what the candidates hold together (stopping at `i64::MAX`).
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

    /// The sum of the capacities in Karmada's 32 bits, which wrap.
    ///
    /// Scaled to zero, every cluster fits `i32::MAX` there, and a fresh cycle over two of them is refused for a negative
    /// sum (v1.19-rc, `pkg/scheduler/core/division_algorithm.go`). Imitated for that case alone: elsewhere a sum
    /// beyond 32 bits takes a fleet that no recorded decision has, and refusing it would help nobody.
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

    /// What a candidate can hold in all: fits now plus last.
    #[inline]
    pub(super) fn capacity(&self, index: usize) -> i64 {
        self.fits_now[index].saturating_add(self.last[index])
    }
}
