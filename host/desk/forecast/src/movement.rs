//! Replicas that move, come or go between two states of one binding.
//!
//! Within one binding, as many replicas are *moved* as clusters gain and others lose. The rest of the gains is *added*. The
//! rest of the losses is *removed*, if that was decided; *lost*, if the decision failed; *stranded*, if the binding is not
//! scheduled at all. A duplicated binding only adds and removes.

use std::cmp::Ordering;
use std::ops::AddAssign;

use serde::Serialize;

use crate::situation::Assignment;

/// The way in which a binding reached its later state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By a decision, or because it was satisfied.
    Placed,
    /// The decision failed.
    Failed,
    /// The binding is not scheduled.
    Skipped,
}

/// Replicas that move, come or go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// Replicas that leave one cluster for another.
    pub moved: i64,
    /// Replicas that no cluster loses.
    pub added: i64,
    /// Replicas that no cluster gains, by decision.
    pub removed: i64,
    /// Replicas that no cluster gains because the decision failed.
    pub lost: i64,
    /// Replicas that no cluster gains because the binding is not scheduled.
    pub stranded: i64,
    /// Clusters that a resource without replicas is added to.
    pub clusters_added: i64,
    /// Clusters that a resource without replicas is removed from.
    pub clusters_removed: i64,
}

impl AddAssign for Movement {
    fn add_assign(&mut self, other: Self) {
        self.moved += other.moved;
        self.added += other.added;
        self.removed += other.removed;
        self.lost += other.lost;
        self.stranded += other.stranded;
        self.clusters_added += other.clusters_added;
        self.clusters_removed += other.clusters_removed;
    }
}

impl Movement {
    /// The movement from one state of a binding to another.
    pub fn between(from: &Assignment, to: &Assignment, is_duplicated: bool, ending: Ending) -> Self {
        fn entries(assignment: &Assignment) -> impl Iterator<Item = (&String, i64)> {
            assignment.iter().map(|(cluster, replicas)| (cluster, *replicas))
        }
        Self::between_sorted(entries(from), entries(to), is_duplicated, ending)
    }

    /// Like [`Self::between`], for pairs of a cluster and its replicas, sorted by cluster, each of which occurs once.
    pub(crate) fn between_sorted<K: Ord>(
        from: impl Iterator<Item = (K, i64)>,
        to: impl Iterator<Item = (K, i64)>,
        is_duplicated: bool,
        ending: Ending,
    ) -> Self {
        let (mut from, mut to) = (from.peekable(), to.peekable());
        let (mut gains, mut losses, mut movement) = (0, 0, Self::default());
        loop {
            let order = match (from.peek(), to.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(before), Some(after)) => before.0.cmp(&after.0),
            };
            let before = from.next_if(|_| order.is_le()).map(|(_, replicas)| replicas);
            let after = to.next_if(|_| order.is_ge()).map(|(_, replicas)| replicas);
            let change = after.unwrap_or(0) - before.unwrap_or(0);
            gains += change.max(0);
            losses += (-change).max(0);
            match (before, after) {
                (None, Some(0)) => movement.clusters_added += 1,
                (Some(0), None) => movement.clusters_removed += 1,
                _ => {}
            }
        }
        movement.moved = if is_duplicated { 0 } else { gains.min(losses) };
        movement.added = gains - movement.moved;
        let rest = losses - movement.moved;
        match ending {
            Ending::Placed => movement.removed = rest,
            Ending::Failed => movement.lost = rest,
            Ending::Skipped => movement.stranded = rest,
        }
        movement
    }

    /// True if no replica moves, comes or goes.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(counts: &[(&str, i64)]) -> Assignment {
        counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn the_smaller_of_gains_and_losses_is_moved() {
        let from = assignment(&[("a", 10), ("b", 5)]);
        let cases = [
            (assignment(&[("a", 10), ("b", 5)]), (0, 0, 0)),
            (assignment(&[("b", 11), ("c", 4)]), (10, 0, 0)),
            (assignment(&[("a", 4), ("b", 5)]), (0, 0, 6)),
            (assignment(&[("a", 12), ("b", 9)]), (0, 6, 0)),
            (assignment(&[("a", 4), ("b", 8)]), (3, 0, 3)),
            (assignment(&[("b", 6), ("c", 20)]), (10, 11, 0)),
            (assignment(&[]), (0, 0, 15)),
        ];
        for (to, (moved, added, removed)) in cases {
            let movement = Movement::between(&from, &to, false, Ending::Placed);
            assert_eq!(
                (movement.moved, movement.added, movement.removed),
                (moved, added, removed),
                "{to:?}"
            );
            let total = |assignment: &Assignment| assignment.values().sum::<i64>();
            assert_eq!(total(&to) - total(&from), added - removed);
        }
    }

    #[test]
    fn duplicated_replicas_are_added_and_removed_but_not_moved() {
        let movement = Movement::between(&assignment(&[("a", 3)]), &assignment(&[("b", 3)]), true, Ending::Placed);
        assert_eq!((movement.moved, movement.added, movement.removed), (0, 3, 3));
    }

    #[test]
    fn what_a_failed_or_skipped_binding_loses_has_its_own_names() {
        let (from, to) = (assignment(&[("a", 3), ("b", 2)]), assignment(&[("b", 2)]));
        let failed = Movement::between(&from, &to, false, Ending::Failed);
        assert_eq!((failed.lost, failed.removed, failed.stranded), (3, 0, 0));
        let skipped = Movement::between(&from, &to, false, Ending::Skipped);
        assert_eq!((skipped.lost, skipped.removed, skipped.stranded), (0, 0, 3));
    }

    #[test]
    fn clusters_of_resources_without_replicas_are_counted() {
        let (from, to) = (assignment(&[("a", 0), ("b", 0)]), assignment(&[("b", 0), ("c", 0)]));
        let movement = Movement::between(&from, &to, true, Ending::Placed);
        assert_eq!((movement.clusters_added, movement.clusters_removed), (1, 1));
        assert_eq!(movement.moved + movement.added + movement.removed, 0);
    }
}
