//! Checks the tables of a profile against the clusters that were read.

use std::collections::BTreeSet;

use divvy_karmada::api::Cluster;
use divvy_profile::table::{TableKey, row_key};
use divvy_scheduler::profile::Profile;

use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure, headline, remark};
use crate::report::style;

/// Refuses rows for clusters that do not exist, with exit code 2: such a row has a misspelt name or belongs to the
/// table of another fleet. A region, a provider or the value of a label that no cluster has is a warning, because a table may
/// cover more than the clusters of the input; without a console, nothing is printed. Only tables that plugins or `[profile.cost]` read
/// are checked.
pub(super) fn check_clusters<'a, 'p>(
    profiles: impl IntoIterator<Item = &'p Profile>,
    clusters: impl Iterator<Item = &'a Cluster> + Clone,
    console: Option<&Console>,
) -> Result<(), Failure> {
    let names: BTreeSet<&str> = clusters.clone().map(|cluster| cluster.metadata.name.as_str()).collect();
    let values = |property: &TableKey| {
        clusters
            .clone()
            .filter_map(|cluster| row_key(property, cluster))
            .collect()
    };
    let (mut refused, mut unknown): (Vec<Diagnostic>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for profile in profiles {
        let tables = profile.tables();
        let prices = profile.pricing().map(|pricing| pricing.table());
        for (of_plugins, of_costs, diagnostics) in [
            (
                tables.map(|tables| tables.unknown_clusters(&names)),
                prices.map(|prices| prices.unknown_clusters(&names)),
                &mut refused,
            ),
            (
                tables.map(|tables| tables.unknown_values(values)),
                prices.map(|prices| prices.unknown_values(values)),
                &mut unknown,
            ),
        ] {
            for error in of_plugins.into_iter().chain(of_costs).flatten() {
                let diagnostic = Diagnostic {
                    hint: error.hint(),
                    ..Diagnostic::new(error.to_string())
                };
                // Two profiles, or a plugin and the costs, can share a table.
                if !diagnostics.iter().any(|known| known.message == diagnostic.message) {
                    diagnostics.push(diagnostic);
                }
            }
        }
    }
    if !refused.is_empty() {
        return Err(Failure::usage_errors(refused));
    }
    if let Some(console) = console {
        for Diagnostic { message, hint, .. } in &unknown {
            console.message(|out| {
                headline(out, "warning", style::WARNING, message)?;
                hint.as_deref().map_or(Ok(()), |hint| remark(out, "hint", hint))
            });
        }
    }
    Ok(())
}
