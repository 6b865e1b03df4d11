//! Held capacity of workloads that begin and end all the time: it ends with the first report that is known to contain their pods.

use std::time::Duration;

use super::holding::by_room;
use super::members::{CPU, Fleet};

/// A fleet that is full of Jobs is what capacity is held for, and what growth of its sums cannot show: as many pods end as begin.
/// karmada-scheduler has given 35 of these 40 Jobs a result after 42 seconds, and pods of it wait for nodes.
#[test]
fn short_jobs_that_begin_while_others_end_are_not_held_twice() {
    for has_models in [false, true] {
        let mut fleet = Fleet::new("", has_models);
        for number in 0..42 {
            if number < 40 {
                fleet.create_job(&format!("job-{number:02}"), by_room(10), Duration::from_secs(15));
            }
            fleet.pass(Duration::from_secs(1));
        }
        let scheduled = fleet.scheduled();
        assert!(scheduled >= 35, "models: {has_models}: {scheduled}");
        assert_eq!(fleet.without_room, 0, "models: {has_models}");
    }
}

#[test]
fn a_burst_of_more_than_there_is_room_for_leaves_no_pod_without_room() {
    for has_models in [false, true] {
        let mut fleet = Fleet::new("", has_models);
        for number in 0..45 {
            fleet.create_deployment(&format!("web-{number:02}"), by_room(6));
        }
        fleet.pass(Duration::from_secs(60));
        assert_eq!((fleet.assigned(), fleet.without_room), (CPU, 0), "models: {has_models}");
    }
}
