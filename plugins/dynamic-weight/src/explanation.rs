//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::division::explanation::ProportionalShares;
use divvy_framework::prelude::*;

use crate::DynamicWeight;
use crate::dynamic_weight::Method;

/// Explains `counts`, the result of `method` in this context. Each kind of cycle divides by different weights.
pub(crate) fn explain(context: &AssignContext<'_, DynamicWeight>, method: Method, counts: &[i64]) {
    let (replicas, last) = (context.replicas(), context.last().as_slice());
    let extra = i128::from(replicas) - last.iter().map(|&last| i128::from(last)).sum::<i128>();
    let rounding = method.rounding();
    let each = |reason: &dyn Fn(Candidate) -> Reason| {
        for candidate in context.candidates() {
            context.explain(candidate, || reason(candidate));
        }
    };
    if context.is_fresh() {
        let shares = ProportionalShares::new(replicas, context.capacity().as_slice(), last, counts, rounding);
        each(&|candidate| shares.reason(candidate.index(), "capacity"));
    } else if extra > 0 {
        let gains: Vec<i64> = counts.iter().zip(last).map(|(count, last)| count - last).collect();
        let extra = i64::try_from(extra).unwrap_or(i64::MAX);
        let shares = ProportionalShares::new(extra, context.fits_now().as_slice(), last, &gains, rounding);
        each(&|candidate| shares.reason_of_gain(candidate.index(), "fitsNow", context.last()[candidate]));
    } else if extra < 0 {
        let shares = ProportionalShares::new(replicas, last, last, counts, rounding);
        each(&|candidate| shares.reason(candidate.index(), "last"));
    } else {
        each(&|_| Reason::of(Cause::Unchanged));
    }
}
