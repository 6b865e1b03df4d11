//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::prelude::*;

use crate::Aggregated;
use crate::configuration::{AggregatedConfiguration, Fill, Method};

/// Explains `counts`, the result of the configured rule in this context.
pub(crate) fn explain(context: &AssignContext<'_, Aggregated>, configuration: AggregatedConfiguration, counts: &[i64]) {
    let request = context.division_request();
    let shrinks = request.shrinks();
    // A growing cycle divides only the extra replicas, so only these are explained.
    let grows = !context.is_fresh() && !shrinks;
    let counts: Column<'_, Candidate, i64> = Column::new(counts);
    let gain = |candidate| counts[candidate] - if grows { context.last()[candidate] } else { 0 };
    let used = context.candidates().filter(|&candidate| gain(candidate) > 0).count();
    let used_count = i64::try_from(used).unwrap_or(i64::MAX);
    let cause = match (configuration.fill, configuration.method) {
        (Fill::Pack, _) => Cause::Packed,
        (Fill::Proportional, Method::EvenRemainder) => Cause::Proportion,
        (Fill::Proportional, Method::Webster) => Cause::HighestAverages,
    };
    for (candidate, count) in counts.iter() {
        context.explain(candidate, || {
            if grows && used == 0 {
                return Reason::of(Cause::Unchanged);
            }
            let (last, fits_now) = (context.last()[candidate], context.fits_now()[candidate]);
            let gain = gain(candidate);
            let reason = Reason::of(if gain == 0 { Cause::NotNeeded } else { cause });
            // The reason, and the room that the rule considers, to find out if the candidate takes all of it.
            let (reason, room) = match (grows, shrinks) {
                (true, _) => (reason.figure("keeps", last).figure("fitsNow", fits_now), fits_now),
                (false, true) => (reason.figure("last", last), last),
                (false, false) => {
                    let capacity = context.capacity()[candidate];
                    (reason.figure("capacity", capacity), capacity)
                }
            };
            let reason = match gain {
                0 => reason.figure("candidates", i64::try_from(context.len()).unwrap_or(i64::MAX)),
                gain if grows => reason.figure("change", gain),
                _ => reason.figure("share", count),
            };
            let reason = reason.figure("clusters", used_count);
            match gain == room && gain > 0 && !shrinks {
                true => reason.bound(Bound::Capacity),
                false => reason,
            }
        });
    }
}
