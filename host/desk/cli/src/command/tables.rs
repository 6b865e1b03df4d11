//! Checks the tables of a profile against the clusters that were read.

use std::collections::{BTreeSet, HashSet};

use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, headline, remark};
use divvy_command::style;
use divvy_karmada::api::Cluster;
use divvy_profile::table::{TableKey, row_key};
use divvy_scheduler::profile::Profile;

/// Rows that are named before the rest is counted.
const NAMED_MAX: usize = 20;

/// Warns of rows that no cluster has the key of, with the nearest one: such a row is misspelt, or for a cluster that was retired or does
/// not exist yet, or the table covers more than the clusters of the input. Without a console, nothing is printed. Only tables that
/// plugins or `[profile.cost]` read are checked.
pub(super) fn check_clusters<'a, 'p>(
    profiles: impl IntoIterator<Item = &'p Profile>,
    clusters: impl Iterator<Item = &'a Cluster> + Clone,
    console: Option<&Console>,
) {
    let Some(console) = console else { return };
    let names: BTreeSet<&str> = clusters.clone().map(|cluster| cluster.metadata.name.as_str()).collect();
    let values = |property: &TableKey| {
        clusters
            .clone()
            .filter_map(|cluster| row_key(property, cluster))
            .collect()
    };
    let (mut unknown, mut seen) = (Vec::new(), HashSet::new());
    for profile in profiles {
        let tables = profile.tables();
        let prices = profile.pricing().map(|pricing| pricing.table());
        let of_plugins = tables.map(|tables| [tables.unknown_clusters(&names), tables.unknown_values(values)].concat());
        let of_costs = prices.map(|prices| [prices.unknown_clusters(&names), prices.unknown_values(values)].concat());
        for error in of_plugins.into_iter().chain(of_costs).flatten() {
            let diagnostic = Diagnostic {
                hint: error.hint(),
                ..Diagnostic::new(error.to_string())
            };
            // Two profiles, or a plugin and the costs, can share a table.
            if seen.insert(diagnostic.message.clone()) {
                unknown.push(diagnostic);
            }
        }
    }
    for Diagnostic { message, hint, .. } in unknown.iter().take(NAMED_MAX) {
        console.message(|out| {
            headline(out, "warning", style::WARNING, message)?;
            hint.as_deref().map_or(Ok(()), |hint| remark(out, "hint", hint))
        });
    }
    if let Some(more) = unknown.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        let message = format!("{more} more rows of tables are for no cluster");
        console.message(|out| headline(out, "warning", style::WARNING, &message));
    }
}
