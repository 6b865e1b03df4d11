//! The last answer of an estimator that is gone: what was assigned since is subtracted, under every profile, and what is gone is not.

use serde_json::json;

use super::holding::{HOLD, IGNORE, by_room, plain};
use super::simulation::Simulation;
use super::{clusters, is_scheduled};

#[test]
fn a_last_answer_lacks_what_was_assigned_since_whether_capacity_is_held_or_not() {
    for lines in [HOLD, IGNORE] {
        let mut simulation = Simulation::with_profile(lines, &[plain("a", 100, 0)]).asking_estimators(16);
        simulation.stop_estimators();
        for name in ["first", "second"] {
            simulation.create(name, by_room(8));
            assert_eq!(simulation.result(name), clusters(&[("a", 8)]), "{lines:?}");
        }
        simulation.create("third", by_room(8));
        assert_eq!(simulation.condition("third").1, "Unschedulable", "{lines:?}");
        let message = simulation.message("third");
        assert!(lines == HOLD || !message.contains("held"), "{message}");
        assert_eq!(simulation.result("third"), clusters(&[]));
    }
}

#[test]
fn a_last_answer_has_the_room_of_what_is_gone_since() {
    for lines in [HOLD, IGNORE] {
        let mut simulation = Simulation::with_profile(lines, &[plain("a", 100, 0)]).asking_estimators(16);
        simulation.stop_estimators();
        simulation.create("first", by_room(8));
        simulation.create("second", by_room(8));
        simulation.create("third", by_room(8));
        simulation.delete("first");
        simulation.pass(std::time::Duration::from_secs(2));
        assert!(
            is_scheduled(&simulation, "third"),
            "{lines:?}: {}",
            simulation.message("third")
        );
        simulation.patch("second", &json!({"spec": {"replicas": 3}}));
        assert_eq!(simulation.result("second"), clusters(&[("a", 3)]));
        simulation.create("late", by_room(6));
        assert_eq!(simulation.condition("late").1, "Unschedulable", "{lines:?}");
        simulation.create("small", by_room(5));
        assert_eq!(simulation.result("small"), clusters(&[("a", 5)]), "{lines:?}");
    }
}

#[test]
fn a_write_that_failed_takes_nothing_from_a_last_answer() {
    for lines in [HOLD, IGNORE] {
        let mut simulation = Simulation::with_profile(lines, &[plain("a", 100, 0)]).asking_estimators(16);
        simulation.stop_estimators();
        simulation.hold_writes();
        simulation.create("lost", by_room(8));
        let lost = simulation.take_held();
        simulation.release_writes();
        simulation.delete("lost");
        simulation.fail_held(lost, "the request is lost");
        simulation.create("web", by_room(16));
        assert_eq!(simulation.result("web"), clusters(&[("a", 16)]), "{lines:?}");
    }
}
