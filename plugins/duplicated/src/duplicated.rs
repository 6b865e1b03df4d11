//! Gives every candidate the full count (Karmada v1.19-rc, `assignByDuplicatedStrategy`).
//!
//! Considers neither capacity nor the last result.

use divvy_framework::division::DivisionError;

/// Writes `replicas` to every entry of `out`, which has one entry per candidate.
///
/// # Errors
/// Returns [`Negative`](DivisionError::Negative) if `replicas` is negative; `out` is then unchanged.
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
