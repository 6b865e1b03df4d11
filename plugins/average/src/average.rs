//! The arithmetic of Average: as even as capacity allows.
//!
//! The rule is `proposals/average-replicas.md`, "Assign", with the remainder counted as pending from the start
//! (README, "Rule"). Steady and fresh cycles do not differ: existing replicas only add to capacity and break ties.
//! Select applies the spread constraints, so the candidates already satisfy them.

use divvy_framework::division::level_fill::fill_evenly;
use divvy_framework::division::{DivisionError, Scratch};

/// Columns that Average reads, with one entry per candidate.
#[derive(Debug, Clone, Copy)]
pub struct AverageColumns<'a> {
    /// Replicas that fit on each candidate in addition to its last replicas, according to the estimators; 0 or more.
    pub fits_now: &'a [i64],
    /// Last replicas of each candidate, 0 or more.
    pub last: &'a [i64],
    /// Weighted sum of the scores of each candidate; larger is better.
    pub scores: &'a [i64],
}

/// Buffers reused between calls.
#[derive(Debug, Default)]
pub struct AverageScratch {
    division: Scratch,
    capacities: Vec<i64>,
}

/// Divides `replicas` evenly within the capacity (fits now plus last). The remainder goes by score, last, tie.
///
/// * `ties`: tie order, smaller keys first.
/// * `out`: one entry per candidate, overwritten; sums to `replicas` on success.
///
/// # Errors
/// Returns [`Unschedulable`](DivisionError::Unschedulable) if the candidates together lack capacity. Other errors
/// report columns of different lengths or negative counts, which are bugs of the caller.
pub fn divide(
    replicas: i64,
    columns: AverageColumns<'_>,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut AverageScratch,
) -> Result<(), DivisionError> {
    let AverageColumns { fits_now, last, scores } = columns;
    let AverageScratch { division, capacities } = scratch;
    if let Some((index, &value)) = fits_now.iter().enumerate().find(|&(_, &fits)| fits < 0) {
        return Err(DivisionError::Negative {
            column: "fits_now",
            index,
            value,
        });
    }
    capacities.clear();
    capacities.extend(
        fits_now
            .iter()
            .zip(last)
            .map(|(&fits, &last)| fits.saturating_add(last.max(0))),
    );
    fill_evenly(replicas, capacities, scores, last, ties, out, division)
}
