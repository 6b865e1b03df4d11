//! Held capacity of workloads that begin and end all the time: it ends with the first report that is known to contain their pods.

use std::time::Duration;

use super::holding::by_room;
use super::members::{CPU, Fleet, REPORT_PERIOD};

/// Seeds of this number, or of all, each without models and with them.
fn cases(gate: u64, all: u64) -> impl Iterator<Item = (u64, bool)> {
    (0..divvy_built::cases(gate, all)).flat_map(|seed| [(seed, false), (seed, true)])
}

/// A fleet that is full of Jobs is what capacity is held for, and what growth of its sums cannot show: as many pods end as begin.
/// karmada-scheduler has given 35 of these 40 Jobs a result after 42 seconds, and pods of it wait for nodes.
#[test]
fn short_jobs_that_begin_while_others_end_are_not_held_twice() {
    for (seed, has_models) in cases(2, 10) {
        let mut fleet = Fleet::new("", has_models, seed);
        for number in 0..42 {
            if number < 40 {
                fleet.create_job(&format!("job-{number:02}"), by_room(10), Duration::from_secs(15));
            }
            fleet.pass(Duration::from_secs(1));
        }
        let scheduled = fleet.scheduled();
        assert!(scheduled >= 35, "seed {seed}, models: {has_models}: {scheduled}");
        assert_eq!(fleet.without_room, 0, "seed {seed}, models: {has_models}");
    }
}

/// Jobs of all lengths and sizes among workloads that stay, in a fleet that is nearly full.
#[test]
fn nothing_waits_for_a_hold_longer_than_two_report_periods_beyond_the_report_that_contains_it() {
    for (seed, has_models) in cases(2, 10) {
        let mut fleet = Fleet::new("", has_models, seed);
        for number in 0..90 {
            let mixed = number * 13 + seed * 7;
            let name = format!("workload-{number:02}");
            let pods = by_room(1 + i32::try_from(mixed % 17).expect("few pods"));
            match mixed % 8 {
                0 => fleet.create_deployment(&name, pods),
                _ => fleet.create_job(&name, pods, Duration::from_millis(500 * (1 + mixed * mixed % 80))),
            }
            fleet.pass(Duration::from_millis(400 + mixed * 29 % 1_200 / 100 * 100));
        }
        let case = format!("seed {seed}, models: {has_models}");
        assert!(
            !fleet.longest_hold.is_zero(),
            "{case}: nothing was held beyond its report"
        );
        assert!(
            fleet.longest_hold <= 2 * REPORT_PERIOD,
            "{case}: {:?}",
            fleet.longest_hold
        );
        assert!(
            fleet.longest_wait <= 2 * REPORT_PERIOD,
            "{case}: {:?}",
            fleet.longest_wait
        );
        assert_eq!(fleet.without_room, 0, "{case}");
    }
}

#[test]
fn a_burst_of_more_than_there_is_room_for_leaves_no_pod_without_room() {
    for (seed, has_models) in cases(1, 3) {
        let mut fleet = Fleet::new("", has_models, seed);
        for number in 0..45 {
            fleet.create_deployment(&format!("web-{number:02}"), by_room(6));
        }
        fleet.pass(Duration::from_secs(60));
        let case = format!("seed {seed}, models: {has_models}");
        assert_eq!((fleet.assigned(), fleet.without_room), (CPU, 0), "{case}");
    }
}
