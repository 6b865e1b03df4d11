//! The rule: ordinary functions, which know neither clusters nor Divvy.

use divvy_framework::pace::Situation;

/// Refuses a number with which nothing could move.
pub(crate) fn check(replicas: u32) -> Result<(), &'static str> {
    match replicas {
        0 => Err("`replicas` is 0: expected at least 1"),
        _ => Ok(()),
    }
}

/// A situation with smaller allowances, so that the largest step in it adds at most `most` replicas.
pub(crate) fn slowed(situation: Situation<'_>, most: u32) -> Situation<'_> {
    let max_surge = situation.max_surge.min(most.into());
    // What the surge leaves, so that both together are no more than `most`.
    let max_unavailable = situation.max_unavailable.min(i64::from(most) - max_surge);
    Situation {
        max_surge,
        max_unavailable,
        ..situation
    }
}
