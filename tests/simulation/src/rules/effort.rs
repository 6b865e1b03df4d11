//! Rule e: no binding is decided over and over.

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_world::agenda::Millis;

use super::Rule;
use super::moves::is_marked;
use crate::world::World;

/// Decisions of one binding within a second.
const HURRY_MAX: u32 = 12;

/// Decisions of one binding from the end of all troubles until rest, without a change of it: two flushes, and one for each report
/// that may give it room.
const REST_MAX: u32 = 24;

impl World<'_> {
    /// Decisions of a binding in this second.
    pub(super) fn decisions_within_the_second(&self, key: &ObjectKey) -> u32 {
        let hurry = self.books.hurry.get(key);
        hurry.map_or(0, |(second, count)| if *second == self.now / 1000 { *count } else { 0 })
    }

    /// Counts a decision.
    pub(super) fn judge_effort(&mut self, key: &ObjectKey) {
        let second: Millis = self.now / 1000;
        let (of, count) = self.books.hurry.entry(key.clone()).or_default();
        if *of != second {
            (*of, *count) = (second, 0);
        }
        *count += 1;
        let count = *count;
        if count > HURRY_MAX {
            self.breach(Rule::E, format!("{key} was decided {count} times within a second"));
        }
        if self.is_healed {
            // The steps of a move are counted by its end: at rest, there is none.
            let binding = self.plane.server.get(Kind::Binding, key);
            if binding.is_some_and(|binding| is_marked(binding)) {
                return;
            }
            let count = self.books.decisions_at_rest.entry(key.clone()).or_default();
            *count += 1;
            let count = *count;
            if count > REST_MAX {
                self.breach(Rule::E, format!("{key} was decided {count} times without a change"));
            }
        }
    }
}
