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
    let each = |text: &dyn Fn(Candidate) -> String| {
        for candidate in context.candidates() {
            context.explain(candidate, || text(candidate));
        }
    };
    if context.is_fresh() {
        let shares = ProportionalShares::new(replicas, context.capacity().as_slice(), last, counts, rounding);
        each(&|candidate| shares.text(candidate.index(), "capacity"));
    } else if extra > 0 {
        let gains: Vec<i64> = counts.iter().zip(last).map(|(count, last)| count - last).collect();
        let extra = i64::try_from(extra).unwrap_or(i64::MAX);
        let shares = ProportionalShares::new(extra, context.fits_now().as_slice(), last, &gains, rounding);
        each(&|candidate| {
            let last = context.last()[candidate];
            format!("keeps {last}; {}", shares.text(candidate.index(), "fits"))
        });
    } else if extra < 0 {
        let shares = ProportionalShares::new(replicas, last, last, counts, rounding);
        each(&|candidate| shares.text(candidate.index(), "last"));
    } else {
        each(&|_| "nothing changes".to_owned());
    }
}
