//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::division::explanation::Remainder;
use divvy_framework::prelude::*;

use crate::Average;

/// Explains `counts`, the most even division that capacity allows.
pub(crate) fn explain(context: &AssignContext<'_, Average>, counts: &[i64]) {
    // Every candidate that is not full has the level, or one replica more.
    let has_room = |place: usize| counts[place] < context.capacity(place);
    let Some(level) = (0..context.len())
        .filter(|&place| has_room(place))
        .map(|place| counts[place])
        .min()
    else {
        (0..context.len()).for_each(|place| context.explain(place, || format!("capacity {}, full", counts[place])));
        return;
    };
    // Flipping the sign bit makes unsigned comparison order signed scores.
    let rank = |place: usize| {
        let score = context.scores()[place].cast_unsigned() ^ (1 << 63);
        [score, context.last()[place].cast_unsigned(), 0]
    };
    let contends = |&place: &usize| context.capacity(place) > level;
    let contenders = (0..context.len()).filter(contends);
    let remainder = Remainder::of(contenders.map(|place| (rank(place), counts[place] > level)));
    for (place, &count) in counts.iter().enumerate() {
        context.explain(place, || {
            let capacity = context.capacity(place);
            if !contends(&place) {
                return format!("capacity {capacity}, full");
            }
            let served = count > level;
            match remainder.rule(rank(place), served, &["score", "last replicas"]) {
                Some(rule) if served => format!("capacity {capacity}: {level} each, +1 of the remainder ({rule})"),
                Some(rule) => format!("capacity {capacity}: {level} each, none of the remainder ({rule})"),
                None => format!("capacity {capacity}: {count} each"),
            }
        });
    }
}
