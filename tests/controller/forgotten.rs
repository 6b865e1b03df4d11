//! What is known of a binding that is not decided here any more: nothing that a gauge counts.

use std::time::Duration;

use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters, divided};

/// Bindings whose last decision failed, as a scrape shows them.
pub(super) fn unscheduled(simulation: &Simulation) -> u64 {
    simulation.publish();
    let lines = simulation.scraped("divvy_unscheduled_bindings{");
    let counts = lines.iter().map(|line| line.rsplit_once(' ').expect("a metric").1);
    counts.map(|count| count.parse::<u64>().expect("a count")).sum()
}

/// A scheduler with a binding that does not fit.
fn failing() -> Simulation {
    let mut simulation = Simulation::new(&[cluster("a", 1)]);
    simulation.create("web", divided(5));
    assert_eq!(unscheduled(&simulation), 1);
    simulation
}

fn suspension(is_suspended: bool) -> Value {
    json!({"spec": {"suspension": {"scheduling": is_suspended}}})
}

#[test]
fn a_binding_that_is_suspended_does_not_count_as_unscheduled() {
    let mut simulation = failing();
    simulation.patch("web", &suspension(true));
    assert_eq!(unscheduled(&simulation), 0);
    simulation.patch("web", &suspension(false));
    assert_eq!(unscheduled(&simulation), 1, "it is decided again");
}

#[test]
fn a_binding_of_another_scheduler_does_not_count_as_unscheduled() {
    let mut simulation = failing();
    simulation.patch("web", &json!({"spec": {"schedulerName": "other"}}));
    assert_eq!(unscheduled(&simulation), 0);
}

#[test]
fn a_process_that_lost_the_lease_counts_no_bindings() {
    let mut simulation = failing();
    simulation.stop_leading();
    assert_eq!(unscheduled(&simulation), 0);
    let depth = simulation.engine().depth();
    assert_eq!((depth.active, depth.backoff, depth.parked), (0, 0, 0));
    simulation.lead(2);
    assert_eq!(unscheduled(&simulation), 1, "the new term finds it");
    simulation.cluster(&cluster("a", 9));
    // It was decided in both terms, so it backs off.
    simulation.pass(Duration::from_secs(30));
    assert_eq!(simulation.result("web"), clusters(&[("a", 5)]));
    assert_eq!(unscheduled(&simulation), 0);
}

/// The failure is reported when its write ends, and the binding has gone to another scheduler by then.
#[test]
fn a_write_that_fails_late_is_not_counted_for_a_binding_of_another_scheduler() {
    let mut simulation = Simulation::new(&[cluster("a", 9)]);
    simulation.hold_writes();
    simulation.create("web", divided(5));
    simulation.patch("web", &suspension(true));
    let held = simulation.take_held();
    assert_eq!(held.len(), 1);
    simulation.fail_held(held, "timed out");
    assert_eq!(unscheduled(&simulation), 0);
}

/// The same write, of a binding that is still decided here.
#[test]
fn a_write_that_fails_counts_its_binding_as_unscheduled() {
    let mut simulation = Simulation::new(&[cluster("a", 9)]);
    simulation.hold_writes();
    simulation.create("web", divided(5));
    let held = simulation.take_held();
    simulation.fail_held(held, "timed out");
    assert_eq!(unscheduled(&simulation), 1);
}
