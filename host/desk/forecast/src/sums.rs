//! Moves summed up by namespace or policy, for forecasts with thousands of lines.

use std::collections::BTreeMap;

use crate::document::{BindingRow, SumRow};
use crate::movement::Movement;

/// Sums of the rows with the same name. Those that lose the most come first, then those that move the most.
pub fn sums<'a>(rows: impl Iterator<Item = &'a BindingRow>, name: impl Fn(&BindingRow) -> String) -> Vec<SumRow> {
    let mut by_name: BTreeMap<String, SumRow> = BTreeMap::new();
    for row in rows {
        let name = name(row);
        let sum = by_name.entry(name).or_default();
        sum.changed += usize::from(!row.movement.is_nothing());
        sum.movement += row.movement;
        sum.newly_missing += row.newly_missing;
        sum.newly_unschedulable += usize::from(row.newly_unschedulable);
        sum.newly_schedulable += usize::from(row.newly_schedulable);
        sum.errors += usize::from(row.result == "Error");
    }
    let mut sums: Vec<SumRow> = by_name.into_iter().map(|(name, sum)| SumRow { name, ..sum }).collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(severity(sum)));
    sums
}

fn severity(sum: &SumRow) -> (i64, i64, usize, i64, usize) {
    let failing = sum.newly_unschedulable + sum.errors;
    (
        lost(&sum.movement),
        sum.newly_missing,
        failing,
        moved(&sum.movement),
        sum.changed,
    )
}

/// Replicas that nothing runs any more.
fn lost(movement: &Movement) -> i64 {
    movement.lost + movement.stranded
}

/// Replicas that change their place without being lost.
fn moved(movement: &Movement) -> i64 {
    movement.moved + movement.added + movement.removed
}

/// The rows that lose the most, then those that move the most; at most this many.
pub fn top(rows: &mut Vec<BindingRow>, most: usize) {
    rows.sort_by_key(|row| {
        let fails = row.newly_unschedulable || row.result == "Error";
        let clusters = row.movement.clusters_added + row.movement.clusters_removed;
        std::cmp::Reverse((
            lost(&row.movement),
            row.newly_missing,
            fails,
            moved(&row.movement),
            clusters,
        ))
    });
    rows.truncate(most);
}
