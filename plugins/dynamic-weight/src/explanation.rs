//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::division::explanation::ProportionalShares;
use divvy_framework::prelude::*;

use crate::DynamicWeight;
use crate::dynamic_weight::Method;

/// Explains `counts`, the result of `method` in this context. Each kind of cycle divides by different weights.
pub(crate) fn explain(context: &AssignContext<'_, DynamicWeight>, method: Method, counts: &[i64]) {
    let (replicas, last) = (context.replicas(), context.last());
    let extra = i128::from(replicas) - last.iter().map(|&last| i128::from(last)).sum::<i128>();
    let rounding = method.rounding();
    let say = |place: usize, text: &dyn Fn() -> String| context.explain(place, text);
    if context.is_fresh() {
        let capacities: Vec<i64> = (0..context.len()).map(|place| context.capacity(place)).collect();
        let shares = ProportionalShares::new(replicas, &capacities, last, counts, rounding);
        (0..context.len()).for_each(|place| say(place, &|| shares.text(place, "capacity")));
    } else if extra > 0 {
        let gains: Vec<i64> = counts.iter().zip(last).map(|(count, last)| count - last).collect();
        let extra = i64::try_from(extra).unwrap_or(i64::MAX);
        let shares = ProportionalShares::new(extra, context.fits_now(), last, &gains, rounding);
        for (place, last) in last.iter().enumerate() {
            say(place, &|| format!("keeps {last}; {}", shares.text(place, "fits")));
        }
    } else if extra < 0 {
        let shares = ProportionalShares::new(replicas, last, last, counts, rounding);
        (0..context.len()).for_each(|place| say(place, &|| shares.text(place, "last")));
    } else {
        (0..context.len()).for_each(|place| say(place, &|| "nothing changes".to_owned()));
    }
}
