//! A division among given candidates: Assign alone, as the cycle calls it. It serves to check a strategy's promises about other
//! orders and other last results, which a whole cycle would mix with the decisions of other plugins.

use super::error::CycleError;
use super::run::{Cycle, CycleInput, Target};

/// A candidate of a division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenCandidate {
    /// Row of the cluster in the snapshot.
    pub row: u32,
    /// Weighted sum of its scores.
    pub score: i64,
    /// Replicas that fit now, in addition to those of the last result.
    pub fits_now: i64,
}

impl Cycle {
    /// The candidates of the last cycle, in the order of its last selector; empty if it did not get that far.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = GivenCandidate> {
        let feasible = &self.feasible;
        let value = |column: &[i64], index: u32| column.get(index as usize).copied().unwrap_or(0);
        self.selected.iter().map(move |&index| GivenCandidate {
            row: feasible.rows.get(index as usize).copied().unwrap_or(0),
            score: value(&feasible.scores, index),
            fits_now: value(&feasible.fits_now, index),
        })
    }

    /// Divides the replicas of the plan among these candidates, in this order, by the strategy's plugin alone, and returns the
    /// targets sorted by cluster name. The result is checked as in a whole cycle.
    ///
    /// The rows must be distinct rows of the snapshot.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::run`].
    pub fn divide_among(
        &mut self,
        input: &CycleInput<'_>,
        candidates: &[GivenCandidate],
    ) -> Result<&[Target], CycleError> {
        self.begin_without_texts(input);
        let mut sorted = candidates.to_vec();
        sorted.sort_unstable_by_key(|candidate| candidate.row);
        self.feasible.rows.extend(sorted.iter().map(|candidate| candidate.row));
        self.feasible
            .scores
            .extend(sorted.iter().map(|candidate| candidate.score));
        let indices = candidates.iter().filter_map(|candidate| {
            let index = sorted.binary_search_by_key(&candidate.row, |known| known.row).ok()?;
            u32::try_from(index).ok()
        });
        self.selected.extend(indices);
        self.with_view(input, |cycle, strategy, views, resolution| {
            cycle.last_of_feasible(input, resolution);
            cycle.room_of_feasible(|_, fits_now| {
                for (fits, candidate) in fits_now.iter_mut().zip(&sorted) {
                    *fits = candidate.fits_now;
                }
            });
            cycle.tier_of_feasible(input);
            cycle.assign(input, strategy, views)
        })?;
        Ok(&self.targets)
    }
}
