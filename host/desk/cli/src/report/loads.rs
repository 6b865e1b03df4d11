//! Replicas of all bindings by cluster, before and after a run, and those that run nowhere after it.
//!
//! A fleet has thousands of clusters, and every duplicated binding is on all of them, but few bindings differ in the requests of a
//! replica. Bindings with the same requests are summed by row, before rows become names. A binding with components is on its own: its
//! results have no replicas to sum.

use std::collections::HashMap;

use divvy_forecast::capacity::Overflow;
use divvy_forecast::gone::Gone;
use divvy_forecast::movement::{Ending, Movement};
use divvy_forecast::situation::{Assignment, assigned};
use divvy_karmada::api::ResourceList;
use divvy_karmada::detector::Binding;
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::profile::Profile;

use super::clusters::sums::Counts;
use super::entry::{Entry, Report};

/// Replicas of bindings with the same requests: one of the bindings, and the counts of all of them before and after.
pub(crate) fn loads<'a>(report: &'a Report<'_>) -> impl Iterator<Item = (&'a Binding, Assignment, Assignment)> {
    groups(report).filter_map(|entries| {
        let first = entries.first()?.binding;
        let (mut before, mut after) = (Counts::new(&report.names), Counts::new(&report.names));
        for entry in entries {
            // A new binding has none, and most have few.
            let had = assigned(entry.binding);
            if let Outcome::Scheduled(_) = &entry.decision.outcome {
                after.add(entry.targets);
            } else {
                had.iter()
                    .for_each(|(cluster, replicas)| after.add_named(cluster, *replicas));
            }
            had.iter()
                .for_each(|(cluster, replicas)| before.add_named(cluster, *replicas));
        }
        Some((first, before.by_name(), after.by_name()))
    })
}

/// Adds what full clusters gain by a report. A binding that is not scheduled gains nothing.
pub(crate) fn add_gains(report: &Report<'_>, overflow: &mut Overflow) {
    let rows = 0..u32::try_from(report.names.len()).unwrap_or(u32::MAX);
    let positions: Vec<Option<usize>> = rows.map(|row| overflow.position(report.names.name(row))).collect();
    for entries in groups(report) {
        let mut gains = vec![0_i64; overflow.len()];
        for entry in entries.iter().filter(|entry| entry.is_scheduled()) {
            let had = assigned(entry.binding);
            for target in entry.targets {
                let Some(position) = positions.get(target.row as usize).copied().flatten() else {
                    continue;
                };
                // Most bindings have no last result, and no name is looked up then.
                let had = if had.is_empty() {
                    None
                } else {
                    had.get(report.names.name(target.row))
                };
                let gain = target.replicas.saturating_sub(had.copied().unwrap_or(0)).max(0);
                gains[position] = gains[position].saturating_add(gain);
            }
        }
        let Some(first) = entries.first() else { continue };
        for (position, gain) in gains.into_iter().enumerate() {
            overflow.add_at(position, first.binding, gain);
        }
    }
}

/// The entries by the requests of a replica, in any order.
fn groups<'a, 'r>(report: &'a Report<'r>) -> impl Iterator<Item = Vec<&'a Entry<'r>>> + use<'a, 'r> {
    /// The requests of a replica, and the index of a binding with components.
    type Key<'a> = (Option<&'a ResourceList>, Option<usize>);
    let mut groups: HashMap<Key<'_>, Vec<&Entry<'_>>> = HashMap::new();
    for (index, entry) in report.entries.iter().enumerate() {
        let specification = &entry.binding.object.spec;
        let needs = specification.replica_requirements.as_ref();
        let requests = needs.map(|needs| &needs.resource_request);
        let alone = (!specification.components.is_empty()).then_some(index);
        groups.entry((requests, alone)).or_default().push(entry);
    }
    // The sums do not depend on the order of the groups.
    groups.into_values()
}

/// Replicas that run nowhere after a report. A binding that is not scheduled keeps all of them.
pub(crate) fn gone(report: &Report<'_>, profile: &Profile) -> Gone {
    let mut gone = Gone::new(profile.pricing());
    if profile.pricing().is_none() {
        return gone;
    }
    let entries = report.entries.iter();
    for entry in entries.filter(|entry| entry.is_scheduled() && entry.has_last()) {
        let (from, to) = (assigned(entry.binding), entry.after(&report.names));
        let movement = movement(entry, (&from, &to), profile);
        gone.add(entry.binding, &from, &to, &movement, ending(entry));
    }
    gone
}

fn ending(entry: &Entry<'_>) -> Ending {
    match &entry.decision.outcome {
        Outcome::Scheduled(_) => Ending::Placed,
        Outcome::Failed(_) => Ending::Failed,
        Outcome::Skipped(_) => Ending::Skipped,
    }
}

/// Replicas of a binding that move, come or go.
pub(crate) fn movement(entry: &Entry<'_>, (from, to): (&Assignment, &Assignment), profile: &Profile) -> Movement {
    let strategy = profile.strategy(entry.decision.strategy());
    let is_duplicated = strategy.is_ok_and(|strategy| strategy.duplicates());
    Movement::between(from, to, is_duplicated, ending(entry))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::report::tests::Case;

    #[test]
    fn sums_by_cluster_are_those_of_each_binding() {
        let case = Case::new();
        let report = case.report();
        let mut expected = BTreeMap::<String, (i64, i64)>::new();
        for entry in &report.entries {
            for (cluster, replicas) in assigned(entry.binding) {
                expected.entry(cluster).or_default().0 += replicas;
            }
            for (cluster, replicas) in entry.after(&report.names) {
                expected.entry(cluster).or_default().1 += replicas;
            }
        }
        let mut found = BTreeMap::<String, (i64, i64)>::new();
        for (_, before, after) in loads(&report) {
            for (cluster, replicas) in before {
                found.entry(cluster).or_default().0 += replicas;
            }
            for (cluster, replicas) in after {
                found.entry(cluster).or_default().1 += replicas;
            }
        }
        assert_eq!(found, expected);
        assert_eq!(found.get("m3"), Some(&(1, 2)));
    }
}
