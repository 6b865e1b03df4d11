//! Waits after failures of isolated plugins, with real workers.

use std::time::Duration;

use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters, divided};
use crate::c_interface::hostile::HOSTILE;

fn profile(more: &str) -> String {
    format!(
        "filters = ['cluster-affinity', 'hostile']\n[profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\n\
         isolation = 'process'\ndeadline = '1s'\n{more}",
        HOSTILE.display()
    )
}

fn fault(fault: &str) -> Value {
    json!({"metadata": {"annotations": {"hostile.example/fault": fault, "hostile.example/point": "filter"}}})
}

/// A scheduler with one cluster and a binding that is scheduled.
fn placed(more: &str) -> Simulation {
    let mut simulation = Simulation::with_profile(&profile(more), &[cluster("a", 90)]);
    simulation.create("web", divided(3));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    simulation
}

/// A binding with a fault that has more replicas now, so that it must be decided again.
fn scaled(simulation: &mut Simulation, replicas: i32, with: &str) {
    let mut patch = fault(with);
    patch["spec"] = json!({"replicas": replicas});
    simulation.patch("web", &patch);
}

/// The annotation of a binding's wait.
fn failure(simulation: &Simulation) -> Option<Value> {
    let text = &simulation.binding("web")["metadata"]["annotations"]["divvy.io/plugin-failure"];
    text.as_str().map(|text| serde_json::from_str(text).expect("JSON"))
}

fn failures(simulation: &Simulation) -> Option<i64> {
    failure(simulation)?["failures"].as_i64()
}

#[test]
fn a_binding_on_which_a_worker_died_waits_longer_each_time_whatever_happens_around_it() {
    let mut simulation = placed("");
    scaled(&mut simulation, 4, "abort");
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]), "it keeps its result");
    assert_eq!(failures(&simulation), Some(1));
    let message = simulation.message("web");
    assert!(
        message.starts_with("plugin `hostile` failed in Filter: its worker was ended by SIGABRT"),
        "{message}"
    );
    assert!(message.contains("; tried again at 20"), "{message}");
    let writes = simulation.writes("web");
    simulation.pass(Duration::from_secs(59));
    // New room, and a new cluster: it is the plugin that fails.
    simulation.cluster(&cluster("a", 99));
    simulation.cluster(&cluster("b", 9));
    assert_eq!((failures(&simulation), simulation.writes("web")), (Some(1), writes));
    for (wait, count) in [(1, 2), (119, 2), (1, 3), (239, 3), (1, 4)] {
        simulation.pass(Duration::from_secs(wait));
        assert_eq!(failures(&simulation), Some(count), "after {wait} more seconds");
    }
}

#[test]
fn a_change_to_the_binding_ends_the_wait_at_once() {
    let mut simulation = placed("");
    scaled(&mut simulation, 4, "abort");
    assert_eq!(failures(&simulation), Some(1));
    // Another number of replicas, with the same fault: tried at once, and counted anew.
    simulation.patch("web", &json!({"spec": {"replicas": 5}}));
    assert_eq!(failures(&simulation), Some(1));
    simulation.patch("web", &fault("none"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 5)]));
    assert_eq!(failure(&simulation), None, "the annotation is gone");
}

#[test]
fn the_wait_survives_a_restart() {
    let mut simulation = placed("");
    scaled(&mut simulation, 4, "abort");
    simulation.pass(Duration::from_secs(60));
    assert_eq!(failures(&simulation), Some(2));
    let writes = simulation.writes("web");
    simulation.lead(2);
    assert_eq!((failures(&simulation), simulation.writes("web")), (Some(2), writes));
    simulation.pass(Duration::from_secs(119));
    assert_eq!(failures(&simulation), Some(2));
    simulation.pass(Duration::from_secs(1));
    assert_eq!(failures(&simulation), Some(3));
    // Anything else in the annotation means nothing.
    simulation.patch(
        "web",
        &json!({"metadata": {"annotations": {"divvy.io/plugin-failure": "soon"}}}),
    );
    simulation.lead(3);
    assert_eq!(failures(&simulation), Some(1));
}

#[test]
fn a_plugin_whose_worker_fails_for_several_bindings_is_called_again_after_a_minute() {
    let mut simulation = placed("");
    for name in ["x", "y", "z"] {
        simulation.create(name, divided(2));
    }
    for name in ["x", "y", "z"] {
        let mut patch = fault("abort");
        patch["spec"] = json!({"replicas": 1});
        simulation.patch(name, &patch);
    }
    simulation.patch("web", &json!({"spec": {"replicas": 4}}));
    let message = simulation.message("web");
    assert!(
        message.starts_with("plugin `hostile` is not called after its worker failed for 3 bindings in a row"),
        "{message}"
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 3)]));
    // The clock of the plugin's wait begins with the next look, and the deadly bindings are tried again as well.
    for name in ["x", "y", "z"] {
        simulation.patch(name, &fault("none"));
    }
    simulation.pass(Duration::from_secs(2));
    simulation.pass(Duration::from_secs(60));
    assert_eq!(simulation.result("web"), clusters(&[("a", 4)]));
    assert_eq!(simulation.result("x"), clusters(&[("a", 1)]));
}

#[test]
fn a_result_that_a_plugin_had_no_part_in_is_decided_again() {
    let mut simulation = placed("on-error = 'skip'");
    scaled(&mut simulation, 4, "abort");
    assert_eq!(
        simulation.result("web"),
        clusters(&[("a", 4)]),
        "it goes on without the plugin"
    );
    assert_eq!(failure(&simulation), None);
    let warned = |simulation: &Simulation| {
        let announced = simulation.announcements().iter();
        announced
            .filter(|announcement| announcement.message.starts_with("decided without plugin `hostile`: "))
            .count()
    };
    assert_eq!(warned(&simulation), 1);
    let valid_until = |simulation: &Simulation| {
        let applied = &simulation.binding("web")["metadata"]["annotations"]["divvy.io/applied-policy"];
        let applied: Value = applied
            .as_str()
            .map_or(Value::Null, |text| serde_json::from_str(text).expect("JSON"));
        applied["validUntil"].as_i64()
    };
    let first = valid_until(&simulation).expect("it is decided again");
    simulation.pass(Duration::from_secs(60));
    let second = valid_until(&simulation).expect("it is decided again");
    assert_eq!(second - first, 120_000, "the wait has doubled");
    simulation.patch("web", &fault("none"));
    simulation.pass(Duration::from_secs(120));
    assert_eq!(valid_until(&simulation), None, "the plugin has had its part");
}
