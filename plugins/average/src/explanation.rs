//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::division::explanation::Remainder;
use divvy_framework::prelude::*;

use crate::Average;

/// Explains `counts`, the most even division that capacity allows.
pub(crate) fn explain(context: &AssignContext<'_, Average>, counts: &[i64]) {
    // Every candidate that is not full has the level, or one replica more.
    let counts: Column<'_, Candidate, i64> = Column::new(counts);
    let capacity = context.capacity();
    let unfilled = counts.iter().filter(|&(candidate, count)| count < capacity[candidate]);
    let Some(level) = unfilled.map(|(_, count)| count).min() else {
        for (candidate, count) in counts.iter() {
            context.explain(candidate, || full(count));
        }
        return;
    };
    // Flipping the sign bit makes unsigned comparison order signed scores.
    let rank = |candidate| {
        let score = context.scores()[candidate].cast_unsigned() ^ (1 << 63);
        [score, context.last()[candidate].cast_unsigned(), 0]
    };
    let contenders = counts.iter().filter(|&(candidate, _)| capacity[candidate] > level);
    let remainder = Remainder::of(contenders.map(|(candidate, count)| (rank(candidate), count > level)));
    for (candidate, count) in counts.iter() {
        context.explain(candidate, || {
            let capacity = capacity[candidate];
            if capacity <= level {
                return full(capacity);
            }
            let reason = Reason::of(Cause::Even)
                .figure("capacity", capacity)
                .figure("each", level);
            let parts = [Decider::Score, Decider::Last];
            remainder.explain(reason, rank(candidate), count > level, &parts)
        });
    }
}

/// The reason for a candidate that has as many replicas as fit.
fn full(capacity: i64) -> Reason {
    Reason::of(Cause::Even)
        .figure("capacity", capacity)
        .bound(Bound::Capacity)
}
