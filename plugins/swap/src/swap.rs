//! The rule: as if no surge were allowed. The SDK's arithmetic of moves does the rest.

use divvy_framework::pace::Situation;

/// A situation in which no step exceeds the total.
pub fn within_total(situation: Situation<'_>) -> Situation<'_> {
    Situation {
        max_surge: 0,
        ..situation
    }
}
