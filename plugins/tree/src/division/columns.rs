//! Checks the columns of a request once, before any arithmetic relies on them.

use divvy_framework::division::{DivisionError, Request};

/// Rejects a column whose length is not `expected`.
pub(super) fn check_length(column: &'static str, actual: usize, expected: usize) -> Result<(), DivisionError> {
    match actual == expected {
        true => Ok(()),
        false => Err(DivisionError::LengthMismatch {
            column,
            expected,
            actual,
        }),
    }
}

/// Rejects a column of the wrong length or with a negative entry.
pub(super) fn check_column(column: &'static str, values: &[i64], expected: usize) -> Result<(), DivisionError> {
    check_length(column, values.len(), expected)?;
    match values.iter().copied().enumerate().find(|&(_, value)| value < 0) {
        None => Ok(()),
        Some((index, value)) => Err(DivisionError::Negative { column, index, value }),
    }
}

/// Rejects negative numbers, and last replicas beyond 64 bits.
pub(super) fn check_request(request: &Request<'_>) -> Result<(), DivisionError> {
    let candidates = request.fits_now.len();
    check_column("replicas", &[request.replicas], 1)?;
    check_column("fits_now", request.fits_now, candidates)?;
    check_column("last", request.last, candidates)?;
    let present: i128 = request.last.iter().map(|&last| i128::from(last)).sum();
    match i64::try_from(present) {
        Ok(_) => Ok(()),
        Err(_) => Err(DivisionError::SumTooLarge { column: "last" }),
    }
}

/// Total capacity of a candidate: fits now plus last.
pub(super) fn capacity(request: &Request<'_>, candidate: usize) -> i64 {
    request.fits_now[candidate].saturating_add(request.last[candidate])
}
