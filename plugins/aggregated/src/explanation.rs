//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::prelude::*;

use crate::Aggregated;
use crate::configuration::{AggregatedConfiguration, Fill, Method};

/// Explains `counts`, the result of the configured rule in this context.
pub(crate) fn explain(context: &AssignContext<'_, Aggregated>, configuration: AggregatedConfiguration, counts: &[i64]) {
    let request = context.division_request();
    let shrinks = request.shrinks();
    // A growing cycle divides only the extra replicas, so they alone are explained.
    let grows = !context.is_fresh() && !shrinks;
    let counts: Column<'_, Candidate, i64> = Column::new(counts);
    let gain = |candidate| counts[candidate] - if grows { context.last()[candidate] } else { 0 };
    let used = context.candidates().filter(|&candidate| gain(candidate) > 0).count();
    let manner = match (configuration.fill, configuration.method) {
        (Fill::Pack, _) => "each filled before the next",
        (Fill::Proportional, Method::EvenRemainder) => "in proportion",
        (Fill::Proportional, Method::Webster) => "in proportion, by highest averages",
    };
    for (candidate, count) in counts.iter() {
        context.explain(candidate, || {
            let (last, fits_now) = (context.last()[candidate], context.fits_now()[candidate]);
            let known = match (grows, shrinks) {
                (true, _) if used == 0 => return "nothing changes".to_owned(),
                (true, _) => format!("keeps {last}, fits {fits_now}"),
                (false, true) => format!("last {last}"),
                (false, false) => format!("capacity {}", context.capacity()[candidate]),
            };
            match gain(candidate) {
                0 => format!("{known}: not needed, {used} of {} clusters are enough", context.len()),
                gain if grows => format!("{known}: +{gain} {manner} over {used} clusters"),
                _ => format!("{known}: {count} {manner} over {used} clusters"),
            }
        });
    }
}
