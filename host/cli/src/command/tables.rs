//! Checks the tables of a profile against the clusters that were read.

use std::collections::BTreeSet;

use divvy_profile::table::TableError;
use divvy_scheduler::profile::Profile;

use crate::report::errors::{Diagnostic, Failure};

/// Refuses rows for clusters that do not exist, with exit code 2: such a row has a misspelt name or belongs to the
/// table of another fleet. Only tables that plugins or `[profile.cost]` read are checked.
pub(super) fn check_clusters<'a>(
    profiles: impl IntoIterator<Item = &'a Profile>,
    clusters: &BTreeSet<&str>,
) -> Result<(), Failure> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for profile in profiles {
        for error in unknown_clusters(profile, clusters) {
            let diagnostic = Diagnostic {
                hint: error.hint(),
                ..Diagnostic::new(error.to_string())
            };
            // Two profiles can share a table.
            if !diagnostics.iter().any(|known| known.message == diagnostic.message) {
                diagnostics.push(diagnostic);
            }
        }
    }
    match diagnostics.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage_errors(diagnostics)),
    }
}

/// Rows for clusters that do not exist, in the tables that a profile uses.
fn unknown_clusters(profile: &Profile, clusters: &BTreeSet<&str>) -> Vec<TableError> {
    let of_plugins = profile.tables().map(|tables| tables.unknown_clusters(clusters));
    let of_costs = profile
        .pricing()
        .map(|pricing| pricing.table().unknown_clusters(clusters));
    of_plugins.into_iter().chain(of_costs).flatten().collect()
}
