//! Every candidate gets the full count (Karmada v1.19-rc, `assignByDuplicatedStrategy`).
//!
//! It looks at nothing else: not at capacity, not at the last result.

use divvy_framework::division::DivisionError;

/// Writes `replicas` to every entry of `out`, one entry a candidate.
///
/// # Errors
/// [`Negative`](DivisionError::Negative) if `replicas` is.
pub fn divide(replicas: i64, out: &mut [i64]) -> Result<(), DivisionError> {
    if replicas < 0 {
        return Err(DivisionError::Negative {
            column: "replicas",
            index: 0,
            value: replicas,
        });
    }
    out.fill(replicas);
    Ok(())
}
