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

use divvy_framework::clusters::RowSet;
use divvy_framework::prelude::*;
use divvy_framework::table::RefusedRow;

use maintenance_windows::{Answer, MINUTE, Standing};
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

impl SnapshotValuePlugin for MaintenanceWindows {
    /// Clusters for which the table has rows.
    type SnapshotValue = Vec<Row>;

    const READS: ClusterColumns = ClusterColumns::NONE;

    fn snapshot_value(&self, context: &SnapshotValueContext<'_>, _: Option<&Vec<Row>>) -> Result<Vec<Row>, Failure> {
        let table = context.table(TABLE)?;
        let windows = Windows::of(&table)?;
        let mut listed = Vec::new();
        for row in context.clusters().rows().filter(|row| windows.count(*row) > 0) {
            for number in 0..windows.count(row) {
                // A row that makes no sense is an error of the profile, not of the first decision.
                windows.window(&table, row, number)?;
            }
            listed.push(row);
        }
        Ok(listed)
    }
}

impl FilterPlugin for MaintenanceWindows {
    const NEEDS: Needs = Needs::NONE.time().cordons().tables(&[WINDOWS]);
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let listed = context.snapshot_value()?;
        if listed.is_empty() {
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
            let mut answers: BTreeMap<(i64, bool), Answer<'_>> = BTreeMap::new();
            // A cluster that is rejected anyway must not limit the time for which the answer holds.
            for &row in listed.iter().filter(|row| feasible.contains(**row)) {
                let keeps = kept.contains(row);
                let answer = match answers.entry((windows.rows_key(row), keeps)) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(entry) => {
                        let numbers = 0..windows.count(row);
                        let all: Result<Vec<_>, RefusedRow> =
                            numbers.map(|number| windows.window(&table, row, number)).collect();
                        entry.insert(Answer::new(all?, self.lead, keeps, now))
                    }
                };
                if let Some(changes) = answer.changes {
                    context.valid_until(changes);
                }
                match &answer.standing {
                    Standing::Open => {}
                    Standing::Cordoned(window) => result.cordon(row, || window.cordoned())?,
                    Standing::Emptied(window) => result.reject(row, || window.emptied()),
                }
            }
            Ok(())
        })
    }
}

divvy_framework::export_plugin!(MaintenanceWindows: Filter, SnapshotValue);
