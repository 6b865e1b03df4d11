//! The rule: a cluster has no peer of the anti-affinity group.

use divvy_framework::clusters::{Row, RowSet};

/// Replaces `taken` with the rows of the clusters that peers are on, in a fleet of `clusters` clusters. Returns false if
/// there are none, so that every cluster passes.
pub(crate) fn collect_taken(clusters: usize, rows: impl Iterator<Item = Row>, taken: &mut RowSet) -> bool {
    taken.reset(clusters);
    let mut is_any = false;
    for row in rows {
        taken.insert(row);
        is_any = true;
    }
    is_any
}
