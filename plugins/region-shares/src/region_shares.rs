//! The arithmetic of RegionShares: percentages as bounds in replicas. [`divvy_framework::division::groups`] divides under them.

use divvy_framework::division::groups::Bounds;

/// The bounds of a group that gets at least `minimum` and at most `maximum` percent of `replicas`: the minimum rounded
/// down, and the maximum rounded up. Percentages are from 0 to 100. `None` if the minimum is above the maximum.
#[must_use]
pub fn bounds(replicas: i64, minimum: i64, maximum: i64) -> Option<Bounds> {
    let hundredths = |percent| i128::from(replicas) * i128::from(percent);
    // A percentage of at most 100 of a 64-bit number fits into 64 bits.
    let whole = |count: i128| i64::try_from(count).unwrap_or(i64::MAX);
    (minimum <= maximum).then(|| Bounds {
        least: whole(hundredths(minimum) / 100),
        most: whole((hundredths(maximum) + 99) / 100),
    })
}
