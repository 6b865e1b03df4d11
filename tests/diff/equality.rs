//! A forecast of a change equals one of the edited input; sums, threads and the order of changes.

use std::collections::BTreeSet;

use divvy_forecast::capacity::too_full;
use divvy_forecast::change::Changes;
use divvy_forecast::document::FailureRow;
use divvy_forecast::failures::{Each, Failures, failures};
use divvy_forecast::forecast::{Comparison, compare, is_unschedulable};
use divvy_forecast::future::{Future, Options};
use divvy_forecast::latent::latent;
use divvy_forecast::load::tightest;
use divvy_forecast::situation::Situation;
use divvy_forecast::violations::violations;
use divvy_scheduler::profile::ConfiguredProfile;
use serde_json::Value;

use crate::scheduling::{Host, filters_with};

use super::fleets::{FleetManifests, Numbers};
use super::{changed, comparison, comparison_with, edits, forecast, side, situation, threads};

/// Random fleets per property.
fn fleets() -> u64 {
    divvy_built::cases(250, 1000)
}

/// A random fleet whose future without changes is known.
struct Case {
    fleet: FleetManifests,
    original: Situation,
    base: Future,
}

impl Case {
    fn numbered(number: u64) -> Self {
        let fleet = FleetManifests::numbered(number);
        let original = situation(&fleet.objects());
        let base = Future::decide(&original, &side(), threads(1));
        Self { fleet, original, base }
    }

    /// Checks that a change gives what the edit gives, and that the rows add up to the clusters. Returns the number of
    /// replicas that move.
    #[track_caller]
    fn check(&self, changes: &Changes, edit: impl FnOnce(&mut FleetManifests)) -> i64 {
        let after = changed(&self.original, changes);
        let mut edited = self.fleet.clone();
        edit(&mut edited);
        // A removed cluster is gone in the forecast, and missing in the edited input.
        let by_hand: Situation = situation(&edited.objects()).losing_missing();
        let forecast = comparison_with(&self.original, &self.base, &after, threads(1));
        let expected = comparison_with(&self.original, &self.base, &by_hand, threads(1));
        assert_eq!(forecast, expected, "{changes:?}");
        check_sums(&forecast);
        forecast.totals.movement.moved
    }
}

/// The change of every cluster is the sum over the rows, in every state.
#[track_caller]
fn check_sums(comparison: &Comparison) {
    for cluster in &comparison.clusters {
        let counts = || {
            let rows = comparison.bindings.iter().flat_map(|row| &row.clusters);
            rows.filter(|counts| counts.name == cluster.name)
        };
        let before: i64 = counts().filter_map(|counts| counts.before).sum();
        let base: i64 = counts().filter_map(|counts| counts.base).sum();
        let after: i64 = counts().filter_map(|counts| counts.after).sum();
        assert_eq!(cluster.after - cluster.before, after - before, "{}", cluster.name);
        assert_eq!(
            cluster.base.map(|base| base - cluster.before),
            Some(base - before),
            "{}",
            cluster.name
        );
    }
    let movement = comparison.totals.movement;
    let from: i64 = comparison.clusters.iter().filter_map(|cluster| cluster.base).sum();
    let to: i64 = comparison.clusters.iter().map(|cluster| cluster.after).sum();
    assert_eq!(
        to - from,
        movement.added - movement.removed - movement.lost - movement.waiting - movement.stranded
    );
    let totals = &comparison.totals;
    assert!(totals.missing >= totals.newly_missing && totals.newly_missing >= totals.missing_copies);
    for row in &comparison.bindings {
        // What a binding asks for and does not run is missing, whatever the reason has been called.
        let gone = row.movement.lost + row.movement.waiting + row.movement.stranded;
        assert!(row.missing >= row.newly_missing, "{row:?}");
        let is_smaller = row.replicas < row.clusters.iter().filter_map(|counts| counts.base).sum::<i64>();
        assert!(row.newly_missing >= gone || is_smaller, "{row:?}");
    }
}

fn changes(change: impl FnOnce(&mut Changes)) -> Changes {
    let mut changes = Changes::default();
    change(&mut changes);
    changes
}

#[test]
fn each_change_equals_the_edit_by_hand() {
    let mut moved = 0;
    for number in 0..fleets() {
        let case = Case::numbered(number);
        let fleet = &case.fleet;
        let numbers = &mut Numbers::new(number.wrapping_mul(31));
        let cluster = fleet.cluster_name(numbers);
        let name = |list: &[Value]| list[0]["metadata"]["name"].as_str().map(str::to_owned);
        let binding = name(&fleet.bindings).expect("a fleet has bindings");
        let chosen = || vec![cluster.parse().expect("a name")];
        case.check(&changes(|changes| changes.cordon = chosen()), |fleet| {
            edits::cordon(fleet, &cluster)
        });
        moved += case.check(&changes(|changes| changes.drain = chosen()), |fleet| {
            edits::drain(fleet, &cluster)
        });
        case.check(&changes(|changes| changes.without = chosen()), |fleet| {
            edits::remove(fleet, &cluster)
        });
        let pattern = || binding.parse().expect("a pattern");
        case.check(&changes(|changes| changes.reschedule = vec![pattern()]), |fleet| {
            edits::reschedule(fleet, &binding);
        });
        if fleet.bindings[0]["spec"]["replicas"].is_null() {
            continue;
        }
        // One notation per fleet, in turn.
        let (count, by_hand): (&str, fn(i64) -> i64) = match number % 4 {
            0 => ("7", |_| 7),
            1 => ("+3", |present| present + 3),
            2 => ("+10%", |present| present + (present + 9) / 10),
            _ => ("x1.5", |present| (3 * present + 1) / 2),
        };
        let count = count.parse().expect("a count");
        case.check(
            &changes(|changes| changes.replicas = vec![(pattern(), count)]),
            |fleet| {
                edits::scale(fleet, &binding, by_hand);
            },
        );
    }
    // The fleets are of use only if drains move replicas in most of them.
    assert!(moved > fleets() as i64, "drains move {moved} replicas");
}

#[test]
fn changes_combine_in_any_order() {
    for number in 0..fleets() / 4 {
        let case = Case::numbered(number);
        let fleet = &case.fleet;
        if fleet.clusters.len() < 3 || fleet.bindings[0]["spec"]["replicas"].is_null() {
            continue;
        }
        let all = changes(|changes| {
            changes.drain = vec!["m0".parse().expect("a name"), "m1".parse().expect("a name")];
            changes.cordon = vec!["m1".parse().expect("a name")];
            changes.without = vec!["m2".parse().expect("a name")];
            changes.replicas = vec![("w0".parse().expect("a pattern"), "+2".parse().expect("a count"))];
            changes.reschedule = vec!["*".parse().expect("a pattern")];
        });
        case.check(&all, |fleet| {
            let names: Vec<String> = fleet
                .bindings
                .iter()
                .filter_map(|binding| binding["metadata"]["name"].as_str().map(str::to_owned))
                .collect();
            for name in names {
                edits::reschedule(fleet, &name);
            }
            edits::remove(fleet, "m2");
            edits::cordon(fleet, "m1");
            edits::scale(fleet, "w0", |present| present + 2);
            edits::drain(fleet, "m1");
            edits::drain(fleet, "m0");
        });
        let mut reversed = all.clone();
        reversed.drain.reverse();
        assert_eq!(forecast(&fleet.objects(), &reversed), forecast(&fleet.objects(), &all));
    }
}

#[test]
fn no_change_changes_nothing() {
    for number in 0..fleets() / 4 {
        let comparison = forecast(&FleetManifests::numbered(number).objects(), &Changes::default());
        assert_eq!(comparison.totals.changed, 0, "fleet {number}");
        assert!(comparison.totals.movement.is_nothing(), "fleet {number}");
        assert_eq!(comparison.totals.newly_unschedulable, 0, "fleet {number}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for number in 0..fleets() / 10 {
        let fleet = FleetManifests::numbered(number);
        let original = situation(&fleet.objects());
        let change = changes(|changes| changes.drain = vec!["m0".parse().expect("a name")]);
        let after = changed(&original, &change);
        for assumes in [true, false] {
            let results = |count: usize| {
                let options = Options {
                    assumes,
                    ..threads(count)
                };
                let side = side();
                let future = Future::decide(&original, &side, options);
                (
                    comparison(&original, &after, options),
                    latent(&future, &side, options, true),
                    violations(&original, &future, &side, options, true).expect("no filter fails"),
                    failures(&original, &side, Each::Cluster, options, Some(MAX_FULL), None),
                )
            };
            assert_eq!(results(1), results(4), "fleet {number}");
        }
    }
}

#[test]
fn each_loss_is_the_forecast_without_its_clusters() {
    let small = (0..fleets() / 10).map(FleetManifests::numbered);
    let wide = (0..fleets() / 10).map(FleetManifests::wide);
    let mut totals = (0, 0, 0);
    for (number, fleet) in small.chain(wide).enumerate() {
        let assumes = number % 4 != 0;
        for row in check_losses(&fleet, &side(), Options { assumes, ..threads(1) }) {
            totals.0 += row.displaced;
            totals.1 += row.rehomed;
            totals.2 += row.lost;
        }
    }
    // The fleets are of use only if losses do all of it in many of them.
    assert!(totals.0 > 5000 && totals.1 > 1000 && totals.2 > 1000, "{totals:?}");
}

#[test]
fn each_loss_sees_how_peers_are_placed() {
    let filters = filters_with(&["workload-affinity", "workload-anti-affinity"]);
    let side = ConfiguredProfile {
        profile: Host::extending(&filters).shared(),
        ..side()
    };
    for number in 0..fleets() / 20 {
        check_losses(&FleetManifests::wide(number), &side, threads(1));
    }
}

/// Share of a resource beyond which a cluster counts as too full, in percent.
const MAX_FULL: i64 = 90;

/// Checks the rows of all losses of a fleet, and returns them.
#[track_caller]
pub(super) fn check_losses(fleet: &FleetManifests, side: &ConfiguredProfile, options: Options) -> Vec<FailureRow> {
    let original = situation(&fleet.objects());
    let base = Future::decide(&original, side, options);
    let mut all = Vec::new();
    for each in [Each::Cluster, Each::Region, Each::Zone, Each::Provider] {
        let Failures { rows, errors } = failures(&original, side, each, options, Some(MAX_FULL), None);
        assert_eq!((errors.counted, errors.others), (count_errors(&base), 0));
        let losses = each.losses(&original);
        assert_eq!(rows.len(), losses.len());
        let is_sorted = rows.is_sorted_by_key(|row| {
            let failing = row.newly_unschedulable + row.newly_in_error;
            let missing = row.missing - row.missing_copies;
            std::cmp::Reverse((row.lost, failing, missing, row.beyond_capacity, row.displaced))
        });
        assert!(is_sorted, "{rows:?}");
        for row in rows {
            let lost = &losses[&row.name];
            let change = changes(|changes| {
                let names = lost.iter().map(|name| name.parse().expect("a name"));
                changes.without = names.collect();
            });
            let after = changed(&original, &change);
            let future = Future::decide(&after, side, options);
            let comparison = compare(&original, Some(&base), (&after, &future), &side.profile);
            assert_eq!(
                row.displaced + row.lost_elsewhere,
                row.rehomed + row.removed + row.lost,
                "each displaced replica is rehomed, removed or lost: {row:?}"
            );
            assert_eq!(row, expected_row(&row.name, lost, &comparison), "{each:?} {options:?}");
            all.push(row);
        }
    }
    all
}

/// The row of a loss by a forecast of `--without` its clusters.
fn expected_row(name: &str, lost: &BTreeSet<String>, comparison: &Comparison) -> FailureRow {
    let (mut displaced, mut rehomed, mut removed, mut lost_elsewhere) = (0, 0, 0, 0);
    for row in &comparison.bindings {
        let on_lost = row.clusters.iter().filter(|counts| lost.contains(&counts.name));
        let of_binding: i64 = on_lost.filter_map(|counts| counts.base).sum();
        let gone = row.movement.removed + row.movement.lost + row.movement.stranded;
        displaced += of_binding;
        rehomed += (of_binding - gone).max(0);
        removed += row.movement.removed.min(of_binding);
        lost_elsewhere += (row.movement.lost + row.movement.stranded - of_binding).max(0);
    }
    let movement = comparison.totals.movement;
    FailureRow {
        name: name.to_owned(),
        clusters: lost.len(),
        displaced,
        rehomed,
        removed,
        lost: movement.lost + movement.stranded,
        lost_elsewhere,
        missing: comparison.totals.newly_missing,
        missing_copies: comparison.totals.missing_copies,
        newly_unschedulable: comparison.totals.newly_unschedulable,
        newly_in_error: comparison.totals.newly_in_error,
        beyond_capacity: comparison.totals.beyond_capacity,
        newly_full: comparison.totals.newly_full,
        too_full: !too_full(&comparison.clusters, MAX_FULL).is_empty(),
        tightest: tightest(&comparison.clusters),
    }
}

/// Bindings of a side that are in error.
fn count_errors(future: &Future) -> usize {
    let errors = future.entries.iter().filter_map(|entry| entry.error());
    errors.filter(|error| !is_unschedulable(error)).count()
}
