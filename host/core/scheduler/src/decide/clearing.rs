//! The failures that remove a binding's result.

use divvy_profile::WhenNoClusterFits;

use crate::cycle::CycleError;

/// True if a failure removes the previous result. `error` is that of the first affinity group that was tried, and `fits_nowhere` is true
/// if the filters of every group reject all clusters.
///
/// Karmada (`pkg/scheduler/scheduler.go`, `scheduleResourceBindingWithClusterAffinities`) removes the result by the first error alone, even
/// if a later group only lacks room.
pub fn clears(rule: WhenNoClusterFits, error: &CycleError, fits_nowhere: bool) -> bool {
    match rule {
        WhenNoClusterFits::Clear => fits_nowhere,
        WhenNoClusterFits::ClearByFirstGroup => matches!(error, CycleError::NoClusterFit { .. }),
        WhenNoClusterFits::Keep => false,
    }
}
