//! Average's arithmetic: as even as capacity allows.
//!
//! The rule is `proposals/average-replicas.md`, "Assign", with the remainder counted as pending from the start
//! (README, "Rule"). Steady and fresh cycles are alike: what is placed counts as capacity and breaks ties, and
//! nothing more. Spread constraints are Select's affair; the candidates here already satisfy them.

use divvy_framework::division::level_fill::fill_evenly;
use divvy_framework::division::{DivisionError, Scratch};

/// The columns that Average looks at, one entry a candidate each.
#[derive(Debug, Clone, Copy)]
pub struct AverageColumns<'a> {
    /// What the estimators say each candidate can take beyond what it has, 0 or more.
    pub fits_now: &'a [i64],
    /// What each candidate has now, 0 or more.
    pub last: &'a [i64],
    /// The sum of the score plugins, larger is better.
    pub scores: &'a [i64],
}

/// Memory reused from call to call.
#[derive(Debug, Default)]
pub struct AverageScratch {
    division: Scratch,
    capacities: Vec<i64>,
}

/// Divides `replicas` evenly within fits now plus last. The incomplete round goes by score, last, tie.
///
/// * `ties`: the tie order, smaller keys first. `out` is overwritten and sums to `replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together hold too little; lengths that differ;
/// negative counts.
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
