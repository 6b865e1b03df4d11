//! The rule: the largest step that the allowances permit, which the SDK's arithmetic of moves finds.

use divvy_framework::pace::{PaceResult, Situation};

/// Takes the largest step of a move, or waits for what hinders it. `ties` returns the tie-breaking key of a cluster.
pub fn advance(situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy, result: &mut PaceResult<'_>) {
    result.largest_step(situation, ties);
}
