//! Pods that are known to exist: the reports that contain them, and growth that is theirs.

use std::num::NonZeroU32;

use serde_json::json;

use super::{Story, cpu, entry, key, reporting, targets};
use crate::objects::AggregatedStatus;

#[test]
fn a_report_contains_the_pods_that_a_status_showed_some_time_before_whatever_its_sums_are() {
    let mut story = Story::new();
    story.report("a", 10);
    story.take("web", &[("a", 5)], &[], &cpu());
    story.take("other", &[("a", 2)], &[], &cpu());
    story.pass(1);
    story.shows("web", 3);
    story.pass(1);
    // This report may have been made before.
    story.report("a", 9);
    assert_eq!(story.on_a(), (7000, 7000, 7));
    story.pass(1);
    story.shows("web", 5);
    assert!(story.report("a", 8));
    assert_eq!(story.on_a(), (4000, 4000, 4));
    story.pass(2);
    // What Karmada writes if it cannot list pods contains none.
    story.report("a", 0);
    assert_eq!(story.on_a(), (4000, 4000, 4));
    assert!(story.report("a", 7));
    assert_eq!(
        (story.on_a(), story.holders()),
        ((2000, 2000, 2), vec!["other".to_owned()])
    );
}

/// A taint or a label of a cluster comes with the report of before.
#[test]
fn a_version_with_the_sums_of_the_last_one_is_no_report() {
    let mut story = Story::new();
    story.report("a", 10);
    story.take("web", &[("a", 5)], &[], &cpu());
    story.pass(1);
    story.shows("web", 5);
    story.pass(3);
    assert!(!story.report("a", 10));
    assert_eq!(story.on_a(), (5000, 5000, 5));
    assert!(story.report("a", 15));
    assert_eq!(story.on_a(), (0, 0, 0));
}

/// A report that is equal to the last is not written.
#[test]
fn a_report_that_does_not_come_is_as_good_as_one() {
    let mut story = Story::new();
    story.report("a", 10);
    story.take("web", &[("a", 5)], &[], &cpu());
    story.pass(1);
    story.shows("web", 4);
    story.pass(14);
    assert!(story.holdings.expire(story.now).clusters.is_empty());
    story.pass(1);
    let ended = story.holdings.expire(story.now);
    assert_eq!((ended.given_up.len(), ended.clusters.len()), (0, 1));
    assert_eq!(story.on_a(), (1000, 1000, 1));
}

#[test]
fn by_models_pods_that_wait_for_a_node_are_held_although_they_exist() {
    let report = |bound: i64, waiting: i64| {
        let list = |count: i64| json!({"cpu": count.to_string(), "pods": count.to_string()});
        reporting(list(bound), list(waiting), true)
    };
    let mut story = Story::new();
    story.report_of("a", &report(20, 0));
    story.take("old", &[("a", 5)], &[], &cpu());
    story.take("new", &[("a", 4)], &[], &cpu());
    story.shows("old", 5);
    story.shows("new", 4);
    story.pass(2);
    // Fifteen others have ended, and six pods wait.
    assert!(story.report_of("a", &report(8, 6)));
    assert_eq!(story.on_a(), (0, 6000, 0));
    assert!(story.report_of("a", &report(8, 1)));
    assert_eq!((story.on_a(), story.holders()), ((0, 1000, 0), vec!["new".to_owned()]));
    assert!(story.report_of("a", &report(9, 0)));
    assert!(story.holdings.is_empty());
}

#[test]
fn growth_that_was_that_of_pods_that_exist_settles_nothing_else() {
    let mut story = Story::new();
    story.report("a", 10);
    story.take("late", &[("a", 5)], &[], &cpu());
    story.take("web", &[("a", 5)], &[], &cpu());
    assert!(story.report("a", 15));
    assert_eq!(story.holders(), ["web"]);
    story.shows("web", 5);
    story.pass(2);
    // The five of the growth are those of `web`, and those of `late` are still missing.
    story.report("a", 14);
    assert_eq!(
        (story.on_a(), story.holders()),
        ((5000, 5000, 5), vec!["late".to_owned()])
    );
    // The next five are not new either.
    story.take("next", &[("a", 3)], &[], &cpu());
    story.shows("next", 3);
    story.pass(2);
    story.report("a", 18);
    assert_eq!(story.holders(), ["late"]);
    assert_eq!(story.on_a(), (5000, 5000, 5));
    story.report("a", 23);
    assert!(story.holdings.is_empty());
}

#[test]
fn a_result_that_shrinks_is_not_held_again() {
    let mut story = Story::new();
    story.report("a", 10);
    story.take("late", &[("a", 5)], &[], &cpu());
    story.take("web", &[("a", 5)], &[], &cpu());
    story.report("a", 15);
    story.holdings.shrink(&key("late"), &targets(&[("a", 1)]), &cpu());
    story.shows("web", 5);
    story.pass(2);
    story.report("a", 14);
    assert_eq!(story.on_a(), (1000, 1000, 1));
    story.holdings.shrink(&key("late"), &[], &cpu());
    assert!(story.holdings.is_empty());
}

#[test]
fn what_has_ended_is_not_held() {
    let mut story = Story::new();
    let over = AggregatedStatus {
        started: NonZeroU32::new(5),
        has_ended: true,
        ..entry("a", None, 2)
    };
    story.take("job", &[("a", 5), ("b", 2)], &[], &cpu());
    // The state before the decision is that of another run.
    story.take_seeing("again", &[("a", 1)], &[], &cpu(), std::slice::from_ref(&over));
    for name in ["job", "again"] {
        let ended = story
            .holdings
            .observe(&key(name), std::slice::from_ref(&over), story.now);
        assert_eq!(ended.len(), usize::from(name == "job"), "{name}");
    }
    assert_eq!(story.deducted(), [(1000, 1000, 1), (2000, 2000, 2)]);
}

/// Five pods of the seven have succeeded, and two run.
#[test]
fn pods_of_a_job_that_ended_before_it_grew_are_not_those_that_it_takes() {
    let shown = AggregatedStatus {
        started: NonZeroU32::new(7),
        ..entry("a", None, 2)
    };
    for (last, expected) in [(0, 0), (2, 4000)] {
        let mut story = Story::new();
        story.report("a", 10);
        story.take("job", &[("a", 6)], &[("a", last)], &cpu());
        story
            .holdings
            .observe(&key("job"), std::slice::from_ref(&shown), story.now);
        story.pass(2);
        story.report("a", 9);
        assert_eq!(story.on_a().0, expected, "of {last}");
    }
}
