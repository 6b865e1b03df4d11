//! Explains the weight and the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::division::explanation::ProportionalShares;
use divvy_framework::prelude::*;

use crate::StaticWeight;
use crate::static_weight::Method;

/// Explains `shares`, the result of `method` for `weights`.
pub(crate) fn explain(context: &AssignContext<'_, StaticWeight>, method: Method, weights: &[i64], shares: &[i64]) {
    if context.binding().spread_constraints().next().is_some() {
        context.note(|| "spread constraints are ignored: static weights decide where replicas go".to_owned());
    }
    let last = context.last().as_slice();
    let explanation = ProportionalShares::new(context.replicas(), weights, last, shares, method.rounding());
    for (candidate, &weight) in context.candidates().zip(weights) {
        context.explain(candidate, || match weight {
            0 => Reason::of(Cause::NoShare)
                .bound(Bound::Rule)
                .text("no rule gives it a positive weight"),
            _ => explanation.reason(candidate.index(), "weight"),
        });
    }
}
