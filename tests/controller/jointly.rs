//! Bursts: bindings that are ready at the same time, decided as one plan.

use std::time::Duration;

use divvy_controller::engine::News;
use divvy_controller::write::WriteOutcome;
use serde_json::{Value, json};

use super::holding::plain;
use super::simulation::{Simulation, active_profile};
use super::{cluster, clusters, divided, is_scheduled};

/// Two bindings are a burst.
const JOINTLY: &str = "[profile.jointly]\nwaiting = 2\n";

/// A binding of these clusters alone.
fn within(replicas: i32, names: &[&str]) -> Value {
    let mut binding = divided(replicas);
    binding["placement"]["clusterAffinity"] = json!({"clusterNames": names});
    binding
}

/// `any` prefers the larger cluster, which `only` needs: both fit, but not one after another.
fn fleet() -> [Value; 2] {
    [cluster("a", 10), cluster("b", 8)]
}

/// Creates bindings while the scheduler does not lead, so that all are ready at once in a new term.
fn create(simulation: &mut Simulation, term: u64, bindings: &[(&str, Value)]) {
    simulation.stop_leading();
    for (name, binding) in bindings {
        simulation.create(name, binding.clone());
    }
    simulation.lead(term);
}

fn burst() -> [(&'static str, Value); 2] {
    [("any", within(8, &["a", "b"])), ("only", within(6, &["a"]))]
}

/// The last event about a binding.
fn event(simulation: &Simulation, name: &str) -> (News, String) {
    let mut announcements = simulation.announcements().iter().rev();
    let found = announcements.find(|announcement| announcement.key.name == name);
    let found = found.unwrap_or_else(|| panic!("no event about `{name}`"));
    (found.news, found.message.clone())
}

#[test]
fn a_burst_is_decided_as_one_plan_only_if_the_profile_says_so() {
    for lines in ["", "[profile.jointly]\n"] {
        let mut simulation = Simulation::with_profile(lines, &fleet());
        create(&mut simulation, 2, &burst());
        assert_eq!(simulation.result("any"), clusters(&[("a", 8)]), "{lines}");
        assert_eq!(simulation.condition("only").1, "Unschedulable", "{lines}");
        assert!(simulation.scraped("divvy_bursts_total").is_empty(), "{lines}");
    }
    let mut simulation = Simulation::with_profile(JOINTLY, &fleet());
    create(&mut simulation, 2, &burst());
    assert_eq!(simulation.result("any"), clusters(&[("a", 4), ("b", 4)]));
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]));
    assert_eq!(
        event(&simulation, "only"),
        (
            News::Scheduled,
            "Binding has been scheduled successfully. Result: {a:6}; decided as one plan of 2 bindings: room for 10, given 6: the \
             rest is kept for 1 binding of equal priority"
                .to_owned()
        )
    );
    assert_eq!(
        simulation.scraped("divvy_bursts_total"),
        [r#"divvy_bursts_total{end="planned"} 1"#]
    );
    // Two patches each, and nothing is decided again.
    for name in ["any", "only"] {
        assert!(is_scheduled(&simulation, name));
        assert_eq!(simulation.writes(name), (1, 1));
    }
    simulation.pass(Duration::from_secs(1000));
    assert_eq!(simulation.writes("any"), (1, 1));
    assert_eq!(simulation.engine().tasks_under_way(), 0);
}

#[test]
fn fewer_bindings_than_the_profile_says_are_decided_one_after_another() {
    let mut simulation = Simulation::with_profile("[profile.jointly]\nwaiting = 3\n", &fleet());
    create(&mut simulation, 2, &burst());
    assert_eq!(simulation.condition("only").1, "Unschedulable");
    assert!(simulation.scraped("divvy_bursts_total").is_empty());
}

#[test]
fn what_waits_says_for_whom_the_rest_is_kept() {
    let mut simulation = Simulation::with_profile(JOINTLY, &fleet());
    let mut late = within(7, &["a", "b"]);
    late["schedulePriority"] = json!({"priority": -1});
    let [any, only] = burst();
    create(&mut simulation, 2, &[any, ("late", late), only]);
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]));
    assert!(is_scheduled(&simulation, "any"));
    assert_eq!(simulation.condition("late").1, "Unschedulable");
    let message = simulation.message("late");
    let share =
        "; one of 3 bindings decided at once: room for 18, given 0: the rest is kept for 2 bindings of higher priority";
    assert!(message.contains(share), "{message}");
    assert_eq!(event(&simulation, "late").0, News::Failed);
    // It waits for nothing but room.
    simulation.pass(Duration::from_secs(5));
    simulation.cluster(&cluster("b", 30));
    assert!(is_scheduled(&simulation, "late"));
}

#[test]
fn what_a_deleted_cluster_leaves_is_a_burst_too() {
    let mut simulation = Simulation::with_profile(JOINTLY, &[cluster("c", 30)]);
    for (name, binding) in [("any", within(8, &["a", "b", "c"])), ("only", within(6, &["a", "c"]))] {
        simulation.create(name, binding);
        assert!(is_scheduled(&simulation, name));
    }
    for cluster in fleet() {
        simulation.cluster(&cluster);
    }
    let mut deleting = cluster("c", 30);
    deleting["metadata"]["deletionTimestamp"] = json!("2027-01-01T00:00:00Z");
    simulation.cluster(&deleting);
    assert_eq!(simulation.result("any"), clusters(&[("a", 4), ("b", 4)]));
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]));
}

#[test]
fn what_runs_stays_where_it_is() {
    // `runs` has taken the room that `only` needs, and clusters report that.
    let mut simulation = Simulation::with_profile(JOINTLY, &fleet());
    simulation.create("runs", within(6, &["a", "b"]));
    assert_eq!(simulation.result("runs"), clusters(&[("a", 6)]));
    simulation.cluster(&plain("a", 10, 6));
    simulation.pass(Duration::from_secs(120));
    create(
        &mut simulation,
        2,
        &[("any", within(4, &["a", "b"])), ("only", within(6, &["a"]))],
    );
    assert_eq!(simulation.result("runs"), clusters(&[("a", 6)]));
    assert_eq!(simulation.condition("only").1, "Unschedulable");
    assert!(is_scheduled(&simulation, "any"));
    assert_eq!(
        simulation.scraped("divvy_bursts_total"),
        [r#"divvy_bursts_total{end="one_by_one"} 1"#]
    );
}

#[test]
fn a_scheduler_that_is_killed_in_between_leaves_what_the_next_one_completes() {
    let active = active_profile(JOINTLY);
    let mut simulation = Simulation::with_active(active.clone(), &fleet());
    simulation.hold_writes();
    create(&mut simulation, 1, &burst());
    let held = simulation.take_held();
    assert_eq!(held.len(), 2);
    // Only the first write arrives.
    simulation.deliver_silently(&held[0]);
    let written = held[0].key.name.clone();
    simulation.kill(&active);
    simulation.release_writes();
    assert_eq!(simulation.result("any"), clusters(&[("a", 4), ("b", 4)]), "{written}");
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]), "{written}");
}

#[test]
fn a_write_that_fails_gives_back_its_room_and_is_decided_again() {
    let mut simulation = Simulation::with_profile(JOINTLY, &fleet());
    simulation.fail_next_write(WriteOutcome::Failed("lost".to_owned()));
    create(&mut simulation, 2, &burst());
    simulation.pass(Duration::from_secs(20));
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]));
    // Alone, it takes what it likes best of what is left.
    assert_eq!(simulation.result("any"), clusters(&[("b", 8)]));
    assert_eq!(simulation.engine().held().count(), 2);
}

#[test]
fn a_binding_that_changes_in_between_is_decided_again() {
    let mut simulation = Simulation::with_profile(JOINTLY, &fleet());
    simulation.hold_writes();
    create(&mut simulation, 2, &burst());
    simulation.patch("any", &json!({"spec": {"replicas": 3}}));
    let held = simulation.take_held();
    for job in &held {
        simulation.deliver(job);
    }
    simulation.release_writes();
    simulation.pass(Duration::from_secs(20));
    assert_eq!(simulation.result("any").values().sum::<i64>(), 3);
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]));
}

#[test]
fn writes_of_a_burst_that_nobody_has_asked_for_end_with_the_term() {
    let mut simulation = Simulation::with_profile(JOINTLY, &fleet());
    simulation.stop_leading();
    for (name, binding) in burst() {
        simulation.create(name, binding);
    }
    let asked = simulation.lead_to_the_first_task(2);
    assert_eq!(simulation.engine().tasks_under_way(), 1);
    assert!(simulation.engine().has_ready());
    simulation.stop_leading();
    // The write that was asked for ends by its answer, the other one has ended.
    assert!(!simulation.engine().has_ready());
    assert_eq!(simulation.engine().tasks_under_way(), 1);
    simulation.fail_held(vec![asked], "the lease is lost");
    assert_eq!(simulation.engine().tasks_under_way(), 0);
    assert_eq!(simulation.engine().held().count(), 0);
    simulation.lead(3);
    assert_eq!(simulation.result("any"), clusters(&[("a", 4), ("b", 4)]));
    assert_eq!(simulation.result("only"), clusters(&[("a", 6)]));
}

#[test]
fn a_write_that_waited_takes_nothing_away_by_clusters_as_they_were() {
    let mut simulation = Simulation::with_profile(JOINTLY, &[cluster("a", 10), cluster("b", 10)]);
    simulation.create("less", within(8, &["a"]));
    simulation.stop_leading();
    simulation.patch("less", &json!({"spec": {"replicas": 3}}));
    let mut urgent = within(2, &["b"]);
    urgent["schedulePriority"] = json!({"priority": 5});
    simulation.create("urgent", urgent);
    let asked = simulation.lead_to_the_first_task(2);
    assert_eq!(asked.key.name, "urgent");
    // While its write is under way, a cluster vanishes.
    simulation.remove_cluster("b");
    assert_eq!(simulation.result("less"), clusters(&[("a", 8)]));
    let message = simulation.message("less");
    assert!(message.contains("no replicas are taken away"), "{message}");
    simulation.cluster(&cluster("b", 10));
    simulation.pass(Duration::from_secs(5));
    assert_eq!(simulation.result("less"), clusters(&[("a", 3)]));
    simulation.deliver(&asked);
    assert_eq!(simulation.result("urgent"), clusters(&[("b", 2)]));
}

#[test]
fn a_plan_has_at_most_as_many_bindings_as_the_profile_says() {
    let lines = "[profile.jointly]\nwaiting = 2\nat-most = 2\n";
    let mut simulation = Simulation::with_profile(lines, &[cluster("a", 100)]);
    let names: Vec<String> = (0..5).map(|number| format!("w{number}")).collect();
    let bindings: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), within(2, &["a"]))).collect();
    create(&mut simulation, 2, &bindings);
    // Two and two; the fifth is alone.
    assert_eq!(
        simulation.scraped("divvy_bursts_total"),
        [r#"divvy_bursts_total{end="one_by_one"} 2"#]
    );
    assert!(names.iter().all(|name| is_scheduled(&simulation, name)));
}

#[test]
fn without_held_capacity_or_with_estimators_nothing_is_planned() {
    let ignoring = format!("while-capacity-is-unreported = 'ignore'\n{JOINTLY}");
    let mut simulation = Simulation::with_profile(&ignoring, &fleet());
    create(&mut simulation, 2, &burst());
    let mut asking = Simulation::with_profile(JOINTLY, &fleet()).asking_estimators(100);
    create(&mut asking, 2, &burst());
    for simulation in [simulation, asking] {
        assert!(simulation.scraped("divvy_bursts_total").is_empty());
    }
}
