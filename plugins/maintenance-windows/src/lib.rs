//! The Filter plugin `maintenance-windows`: from a window's announcement to its end, a cluster takes no further replicas.
//!
//! This file connects the SDK to the rule in [`maintenance_windows`]. Clusters with the same rows, such as those of a region,
//! are judged once per decision, and clusters without rows cost nothing.

#![forbid(unsafe_code)]

mod maintenance_windows;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

use divvy_framework::clusters::RowSet;
use divvy_framework::prelude::*;
use divvy_framework::table::RefusedRow;

use maintenance_windows::{ActiveWindow, Answer, MINUTE, Standing, Window};
use table::{TABLE, WINDOWS, Windows};

/// Keeps replicas away from clusters in a maintenance window.
struct MaintenanceWindows {
    /// Milliseconds between the announcement of a window and its beginning.
    lead: i64,
}

#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
struct MaintenanceWindowsConfiguration {
    /// Minutes before its beginning from which a window counts as announced, if its row states no time. At most a year.
    #[schemars(range(max = 527_040))]
    lead_minutes: u32,
}

impl Plugin for MaintenanceWindows {
    const NAME: &'static str = "maintenance-windows";
    const DESCRIPTION: &'static str = "keeps replicas away from clusters in a maintenance window";
}

impl ConfiguredPlugin for MaintenanceWindows {
    type Configuration = MaintenanceWindowsConfiguration;

    fn new(configuration: MaintenanceWindowsConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            lead: i64::from(configuration.lead_minutes) * MINUTE,
        })
    }
}

/// Clusters for which the table has rows.
struct Listed {
    /// Each with the number of its group. Clusters of one group have the same rows.
    rows: Vec<(Row, usize)>,
    /// The last answer for each group, for bindings that have no replicas there and for those that do. Most decisions are made
    /// before another window changes, so a table of many rows is not read for each of them.
    answers: Mutex<Vec<[Option<Answer>; 2]>>,
}

impl SnapshotValuePlugin for MaintenanceWindows {
    type SnapshotValue = Listed;

    const READS: ClusterColumns = ClusterColumns::NONE;

    fn snapshot_value(&self, context: &SnapshotValueContext<'_>, _: Option<&Listed>) -> Result<Listed, Failure> {
        let table = context.table(TABLE)?;
        let windows = Windows::of(&table)?;
        let (mut rows, mut groups) = (Vec::new(), BTreeMap::new());
        for row in context.clusters().rows().filter(|row| windows.count(*row) > 0) {
            let next = groups.len();
            let group = *groups.entry(windows.rows_key(row)).or_insert(next);
            if group == next {
                // A row that makes no sense is an error of the profile, not of the first decision.
                for number in 0..windows.count(row) {
                    windows.window(&table, row, number)?;
                }
            }
            rows.push((row, group));
        }
        let answers = Mutex::new(vec![[None; 2]; groups.len()]);
        Ok(Listed { rows, answers })
    }
}

impl MaintenanceWindows {
    /// The answer for a cluster of a group, which is read from the table unless the last one still holds.
    fn answer(
        &self,
        (listed, group): (&Listed, usize),
        (table, windows): (&TableView<'_>, &Windows<'_>),
        row: Row,
        keeps: bool,
        now: i64,
    ) -> Result<Answer, RefusedRow> {
        // Each answer in the lock is complete, even if the thread that wrote it panicked.
        let lock = || listed.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(group).and_then(|known| known[usize::from(keeps)]);
        if let Some(known) = known.filter(|known| known.holds_at(now)) {
            return Ok(known);
        }
        let numbers = 0..windows.count(row);
        let all: Result<Vec<Window<'_>>, RefusedRow> =
            numbers.map(|number| windows.window(table, row, number)).collect();
        let answer = Answer::new(&all?, self.lead, keeps, now);
        if let Some(known) = lock().get_mut(group) {
            known[usize::from(keeps)] = Some(answer);
        }
        Ok(answer)
    }
}

impl FilterPlugin for MaintenanceWindows {
    const NEEDS: Needs = Needs::NONE.time().cordons().tables(&[WINDOWS]);
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let listed = context.snapshot_value()?;
        if listed.rows.is_empty() {
            return Ok(());
        }
        let now = context.time()?;
        let table = context.table(TABLE)?;
        let windows = Windows::of(&table)?;
        with_scratch(|(kept, feasible): &mut (RowSet, RowSet)| {
            context.binding().collect_last_rows(&context.clusters(), kept);
            feasible.reset(context.clusters().len());
            result.feasible().for_each(|row| feasible.insert(row));
            // Clusters with the same rows get the same answer.
            let mut answers: BTreeMap<(usize, bool), Answer> = BTreeMap::new();
            // A cluster that is rejected anyway must not limit the time for which the answer holds.
            for &(row, group) in listed.rows.iter().filter(|(row, _)| feasible.contains(*row)) {
                let keeps = kept.contains(row);
                let answer = match answers.entry((group, keeps)) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(entry) => {
                        let answer = self.answer((listed, group), (&table, &windows), row, keeps, now)?;
                        *entry.insert(answer)
                    }
                };
                if let Some(changes) = answer.changes {
                    context.valid_until(changes);
                }
                let announced_by = |window: ActiveWindow| windows.announced_by(row, window.number);
                match answer.standing {
                    Standing::Open => {}
                    Standing::Cordoned(window) => result.cordon(row, || window.cordoned(announced_by(window)))?,
                    Standing::Emptied(window) => result.reject(row, || window.emptied(announced_by(window))),
                }
            }
            Ok(())
        })
    }
}

divvy_framework::export_plugin!(MaintenanceWindows: Filter, SnapshotValue);
