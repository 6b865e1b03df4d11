//! Replicas that move, come or go between two states of one binding.
//!
//! Within one binding, as many replicas are *moved* as clusters gain and others lose. The rest of the gains is *added*. The
//! rest of the losses is *removed*, if that was decided; *lost*, if the decision failed; *stranded*, if the binding is not
//! scheduled at all. Of a duplicated binding, only whole copies move: those of clusters that leave, to clusters that join.
//!
//! A failed decision takes nothing away but what is on clusters that leave. What a pending decision would have placed elsewhere is
//! therefore not lost: it *waits*. So a loss counts the same replicas whether a binding runs already or is about to.

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
    /// Replicas on clusters that leave, or that a failed decision takes away, and that no cluster gains.
    pub lost: i64,
    /// Replicas that do not run yet and that a failed decision does not place, although nothing takes their cluster away.
    pub waiting: i64,
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
        self.waiting += other.waiting;
        self.stranded += other.stranded;
        self.clusters_added += other.clusters_added;
        self.clusters_removed += other.clusters_removed;
    }
}

impl Movement {
    /// The movement from one state of a binding to another.
    pub fn between(from: &Assignment, to: &Assignment, is_duplicated: bool, ending: Ending) -> Self {
        Self::with_waiting(from, to, is_duplicated, ending, |_, _| 0)
    }

    /// Like [`Self::between`], if `waits` says how many of the replicas that a cluster loses, which are its second argument, do not
    /// run yet and only wait. Only the losses of a failed decision wait.
    pub(crate) fn with_waiting(
        from: &Assignment,
        to: &Assignment,
        is_duplicated: bool,
        ending: Ending,
        waits: impl Fn(&str, i64) -> i64,
    ) -> Self {
        let waits = |cluster: &&str, loss| waits(cluster, loss);
        Self::between_sorted(entries(from), entries(to), is_duplicated, ending, waits)
    }

    /// Like [`Self::with_waiting`], for pairs of a cluster and its replicas, sorted by cluster, each of which occurs once.
    pub(crate) fn between_sorted<K: Ord>(
        from: impl Iterator<Item = (K, i64)>,
        to: impl Iterator<Item = (K, i64)>,
        is_duplicated: bool,
        ending: Ending,
        waits: impl Fn(&K, i64) -> i64,
    ) -> Self {
        let (mut gains, mut losses, mut waiting, mut movement) = (0, 0, 0, Self::default());
        let (mut joining, mut leaving) = (0, 0);
        for (cluster, before, after) in paired(from, to) {
            let change = after.unwrap_or(0) - before.unwrap_or(0);
            gains += change.max(0);
            losses += (-change).max(0);
            if change < 0 && ending == Ending::Failed {
                waiting += waits(&cluster, -change);
            }
            match (before, after) {
                (None, Some(0)) => movement.clusters_added += 1,
                (Some(0), None) => movement.clusters_removed += 1,
                (None, Some(replicas)) => joining += replicas,
                (Some(replicas), None) => leaving += replicas,
                _ => {}
            }
        }
        movement.moved = match is_duplicated {
            true => joining.min(leaving),
            false => gains.min(losses),
        };
        movement.added = gains - movement.moved;
        let rest = losses - movement.moved;
        match ending {
            Ending::Placed => movement.removed = rest,
            Ending::Failed => {
                movement.lost = (losses - waiting).min(rest);
                movement.waiting = rest - movement.lost;
            }
            Ending::Skipped => movement.stranded = rest,
        }
        movement
    }

    /// True if no replica moves, comes or goes.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The clusters of an assignment with their replicas, sorted.
pub(crate) fn entries(assignment: &Assignment) -> impl Iterator<Item = (&str, i64)> {
    let entries = assignment.iter();
    entries.map(|(cluster, replicas)| (cluster.as_str(), *replicas))
}

/// Every cluster of two states, each sorted by cluster, with its replicas in both.
pub(crate) fn paired<K: Ord>(
    from: impl Iterator<Item = (K, i64)>,
    to: impl Iterator<Item = (K, i64)>,
) -> impl Iterator<Item = (K, Option<i64>, Option<i64>)> {
    let (mut from, mut to) = (from.peekable(), to.peekable());
    std::iter::from_fn(move || {
        let order = match (from.peek(), to.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(before), Some(after)) => before.0.cmp(&after.0),
        };
        let before = from.next_if(|_| order.is_le());
        let after = to.next_if(|_| order.is_ge());
        let counts = |entry: &Option<(K, i64)>| entry.as_ref().map(|(_, replicas)| *replicas);
        let (earlier, later) = (counts(&before), counts(&after));
        let (cluster, _) = before.or(after)?;
        Some((cluster, earlier, later))
    })
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
    fn only_whole_copies_of_a_duplicated_binding_move() {
        let from = assignment(&[("a", 3), ("b", 3)]);
        let cases = [
            // A copy changes its cluster.
            (&[("b", 3), ("c", 3)][..], (3, 0, 0)),
            // It is larger there.
            (&[("b", 5), ("c", 5)], (3, 4, 0)),
            // All copies shrink, and a cluster joins: nothing moves there.
            (&[("a", 2), ("b", 2), ("c", 2)], (0, 2, 2)),
            (&[("a", 3)], (0, 0, 3)),
            (&[("a", 3), ("b", 3), ("c", 3)], (0, 3, 0)),
        ];
        for (to, expected) in cases {
            let Movement {
                moved, added, removed, ..
            } = Movement::between(&from, &assignment(to), true, Ending::Placed);
            assert_eq!((moved, added, removed), expected, "{to:?}");
        }
    }

    #[test]
    fn what_does_not_run_yet_and_is_not_taken_away_waits() {
        // Both would be placed; the decision fails, and only `a` leaves.
        let (from, nothing) = (assignment(&[("a", 10), ("b", 10)]), assignment(&[]));
        let waits = |cluster: &str, loss: i64| if cluster == "b" { loss } else { 0 };
        let failed = Movement::with_waiting(&from, &nothing, false, Ending::Failed, waits);
        assert_eq!((failed.lost, failed.waiting), (10, 10));
        // What another cluster keeps is moved, and only the rest is lost or waits.
        let kept = Movement::with_waiting(&from, &assignment(&[("c", 12)]), false, Ending::Failed, waits);
        assert_eq!((kept.moved, kept.lost, kept.waiting), (12, 8, 0));
        let skipped = Movement::with_waiting(&from, &nothing, false, Ending::Skipped, waits);
        assert_eq!((skipped.stranded, skipped.waiting), (20, 0));
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
