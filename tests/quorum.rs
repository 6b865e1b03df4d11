//! `divvy.io/quorum`: fewer replicas than requested, where not all of them fit.

use divvy_scheduler::decision::{Decision, decide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, priorities};
use crate::scheduling::{Host, read, scheduled, told};

const QUORUM: &str = "divvy.io/quorum";

/// A binding with a strategy and a quorum.
fn partly(strategy: &str, replicas: i64, quorum: &str) -> Binding {
    binding("web", replicas).strategy(strategy).annotation(QUORUM, quorum)
}

/// The decision on a binding, against clusters with room.
#[track_caller]
fn decided(binding: Binding, clusters: &[(&str, i64)]) -> Decision {
    let clusters = clusters.iter().map(|&(name, fits)| Value::from(cluster(name, fits)));
    let objects: Vec<Value> = clusters.chain([Value::from(binding)]).collect();
    let mut decisions = Host::built_in().decide(objects);
    assert_eq!(decisions.len(), 1);
    decisions.remove(0)
}

/// The result, and the replicas of the requested ones if not all are in it.
fn outcome(decision: &Decision) -> String {
    let partial = decision.partial.as_ref();
    let partial = partial.map(|partial| format!(" ({} of {})", partial.replicas, partial.requested));
    told(decision) + &partial.unwrap_or_default()
}

#[test]
fn fewer_replicas_are_divided_from_the_quorum_up() {
    for strategy in ["DynamicWeight", "Aggregated", "Average", "PriorityAggregated"] {
        for quorum in ["60", "60%", "1", "1%", "59"] {
            let decision = decided(partly(strategy, 100, quorum), &[("m1", 40), ("m2", 20)]);
            assert_eq!(outcome(&decision), "m1=40 m2=20 (60 of 100)", "{strategy} {quorum}");
            let message = decision.message();
            let expected = "60 of 100 replicas, 40 missing; 61 were refused: ";
            assert!(
                message.starts_with(expected) && message.contains("60 fit"),
                "{strategy}: {message}"
            );
        }
        let refused = outcome(&decided(partly(strategy, 100, "61%"), &[("m1", 40), ("m2", 20)]));
        let ends = "; the quorum of 61 does not fit either";
        assert!(
            refused.starts_with("Unschedulable: 100 replicas requested") && refused.ends_with(ends),
            "{refused}"
        );
        // All of them fit.
        let all = decided(partly(strategy, 60, "50%"), &[("m1", 40), ("m2", 20)]);
        assert_eq!((outcome(&all).as_str(), all.message()), ("m1=40 m2=20", String::new()));
    }
}

/// A tree refuses counts below its lower bounds, and counts above its room.
#[test]
fn a_quorum_below_a_bound_of_the_policy_finds_the_counts_that_fit() {
    let tree = json!({ "by": "region", "children": [{ "match": "eu", "count": 20 }, { "match": "us", "weight": 1 }] });
    let decide = |quorum: &str, room: i64| {
        let clusters = [("a", "eu", 30), ("b", "us", room), ("c", "ap", 50)];
        let clusters = clusters.map(|(name, region, fits)| Value::from(cluster(name, fits).region(region)));
        let asked = partly("Tree", 100, quorum).preferences(&tree);
        let mut decisions = Host::built_in().decide(clusters.into_iter().chain([asked.into()]));
        decisions.remove(0)
    };
    for quorum in ["10%", "20", "59", "60%"] {
        let decision = decide(quorum, 40);
        assert_eq!(outcome(&decision), "a=20 b=40 (60 of 100)", "{quorum}");
        let refused = "60 of 100 replicas, 40 missing; 61 were refused: 61 replicas cannot be divided so that all of these hold: \
                       eu gets exactly 20; us has room for 40";
        assert_eq!(decision.message(), refused);
    }
    assert_eq!(outcome(&decide("10%", 0)), "a=20 (20 of 100)");
    let below = outcome(&decide("61", 40));
    assert!(
        below.ends_with("us has room for 40; the quorum of 61 does not fit either"),
        "{below}"
    );
}

/// A quorum of all replicas, or of more, is as none.
#[test]
fn a_quorum_of_all_replicas_has_no_effect() {
    let without = outcome(&decided(binding("web", 100).strategy("Aggregated"), &[("m1", 60)]));
    for quorum in ["100", "100%", "250"] {
        assert_eq!(
            outcome(&decided(partly("Aggregated", 100, quorum), &[("m1", 60)])),
            without
        );
    }
    let nothing = binding("map", 0).annotation(QUORUM, "60%").strategy("Aggregated");
    assert_eq!(outcome(&decided(nothing, &[("m1", 60)])), "m1=0");
}

#[test]
fn a_quorum_is_refused_where_nothing_promises_to_respect_capacity() {
    for strategy in ["Duplicated", "StaticWeight", "Specified"] {
        let refused = outcome(&decided(partly(strategy, 10, "60%"), &[("m1", 6)]));
        let expected = format!(
            "Error: the binding's `divvy.io/quorum`: a quorum cannot be combined with the strategy `{strategy}`, which divides all \
             replicas whether they fit or not"
        );
        assert_eq!(refused, expected);
    }
    let component = |name: &str| json!({"name": name, "replicas": 1});
    let components = partly("Aggregated", 10, "60%").spec("components", json!([component("a"), component("b")]));
    assert_eq!(
        outcome(&decided(components, &[("m1", 6)])),
        "Error: the binding's `divvy.io/quorum`: a quorum cannot be combined with several components, whose replicas are not divided"
    );
    for quorum in ["0", "0%", "101%", "-1", "half", ""] {
        let refused = outcome(&decided(partly("Aggregated", 10, quorum), &[("m1", 6)]));
        let expected = format!(
            "Error: the binding's `divvy.io/quorum`: expected a count of at least 1, or a percentage from `1%` to `100%`, got `{quorum}`"
        );
        assert_eq!(refused, expected);
    }
}

#[test]
fn a_top_up_takes_the_largest_count_that_takes_nothing_away() {
    for strategy in ["DynamicWeight", "Aggregated"] {
        let last = [("m1", 40), ("m2", 20)];
        let top_up =
            |quorum: &str, room: &[(&str, i64)]| outcome(&decided(partly(strategy, 100, quorum).last(last), room));
        assert_eq!(
            top_up("60%", &[("m1", 0), ("m2", 0)]),
            "m1=40 m2=20 (60 of 100)",
            "{strategy}"
        );
        assert_eq!(
            top_up("60%", &[("m1", 10), ("m2", 5)]),
            "m1=50 m2=25 (75 of 100)",
            "{strategy}"
        );
        assert_eq!(
            top_up("60%", &[("m1", 0), ("m2", 0), ("m3", 7)]),
            "m1=40 m2=20 m3=7 (67 of 100)"
        );
        assert_eq!(top_up("60%", &[("m1", 40), ("m2", 0)]), "m1=80 m2=20", "{strategy}");
        // Below the quorum, what runs stays: a failure keeps the last result.
        let below = top_up("80%", &[("m1", 10), ("m2", 5)]);
        assert!(below.ends_with("; the quorum of 80 does not fit either"), "{below}");
        assert_eq!(
            top_up("80%", &[("m1", 10), ("m2", 10)]),
            "m1=50 m2=30 (80 of 100)",
            "{strategy}"
        );
        // A cluster that is gone cannot keep its replicas.
        assert_eq!(top_up("30%", &[("m2", 15)]), "m2=35 (35 of 100)", "{strategy}");
    }
}

/// Average would even out 30 replicas of one cluster over both.
#[test]
fn a_top_up_that_would_take_replicas_away_waits_and_says_so() {
    let room = [("m1", 0), ("m2", 25)];
    let web = || partly("Average", 60, "50%").last([("m1", 30)]);
    let grown = decided(web(), &room);
    assert_eq!(outcome(&grown), "m1=30 m2=25 (55 of 60)");
    let uneven = || partly("Average", 60, "30%").last([("m1", 40)]);
    let waits = decided(uneven(), &[("m1", 0), ("m2", 10)]);
    assert_eq!(outcome(&waits), "m1=40 m2=10 (50 of 60)");
    let waits = decided(uneven(), &[("m1", 0), ("m2", 60)]);
    let message = waits.message();
    assert_eq!(outcome(&waits), "m1=40 (40 of 60)", "{message}");
    assert_eq!(
        message,
        "40 of 60 replicas, 20 missing; 41 were refused: 41 replicas would leave 21 of 40 on cluster `m1`; only a reschedule takes \
         replicas away"
    );
    // A reschedule does.
    assert_eq!(
        outcome(&decided(uneven().fresh(), &[("m1", 0), ("m2", 60)])),
        "m1=30 m2=30"
    );
}

/// All groups are tried for all replicas before any is tried for fewer.
#[test]
fn affinity_groups_are_first_tried_for_all_replicas_and_then_from_the_quorum() {
    let group = |name: &str, clusters: &[&str]| json!({"affinityName": name, "clusterNames": clusters});
    let grouped = |quorum: &str| {
        let groups = json!([group("near", &["m1"]), group("far", &["m2"])]);
        partly("Aggregated", 100, quorum).placement("clusterAffinities", groups)
    };
    let in_group = |decision: &Decision| format!("{}: {}", decision.affinity, outcome(decision));
    let room = |near: i64, far: i64| [("m1", near), ("m2", far)];
    let cases = [
        (70, 100, "far: m2=100"),
        (70, 90, "near: m1=70 (70 of 100)"),
        (50, 90, "far: m2=90 (90 of 100)"),
    ];
    for (near, far, expected) in cases {
        assert_eq!(in_group(&decided(grouped("60%"), &room(near, far))), expected);
    }
    let failed = decided(grouped("95%"), &room(70, 90));
    assert_eq!(failed.failures().count(), 2);
    assert!(
        failed
            .failures()
            .all(|(_, error)| error.to_string().ends_with("the quorum of 95 does not fit either"))
    );
    // The group that fits is not among those that failed.
    assert_eq!(decided(grouped("60%"), &room(70, 90)).failed_groups.len(), 1);
    // Another group would take away what runs in this one.
    let runs = || {
        grouped("60%")
            .last([("m1", 70)])
            .spec("rescheduleTriggeredAt", Value::Null)
    };
    assert_eq!(in_group(&decided(runs(), &room(5, 200))), "near: m1=75 (75 of 100)");
}

#[test]
fn tiers_count_together() {
    let prioritised = |strategy: &str| {
        let priorities = json!({"clusterPriority": priorities([("m1", 2), ("m2", 1)])});
        partly(strategy, 100, "60%").preferences(&priorities)
    };
    for strategy in ["DynamicWeight", "Aggregated", "Average"] {
        let decision = decided(prioritised(strategy), &[("m1", 40), ("m2", 25)]);
        assert_eq!(outcome(&decision), "m1=40 m2=25 (65 of 100)", "{strategy}");
    }
    let overflow = json!([{"affinityName": "near", "clusterNames": ["m1"],
        "overflowAffinities": [{"affinityName": "far", "clusterNames": ["m2"]}]}]);
    let decision = decided(
        partly("DynamicWeight", 100, "60%").placement("clusterAffinities", overflow),
        &[("m1", 40), ("m2", 25)],
    );
    assert_eq!(outcome(&decision), "m1=40 m2=25 (65 of 100)");
}

/// With `--assume`, bindings with a higher priority take the room first, and each result takes what it divides.
#[test]
fn later_bindings_find_the_room_that_a_part_leaves() {
    let named = |name: &str, replicas: i64, priority: i64| {
        let binding = binding(name, replicas).strategy("Aggregated").annotation(QUORUM, "10%");
        Value::from(binding.spec("schedulePriority", json!({"priority": priority})))
    };
    let objects = [Value::from(cluster("m1", 50)), named("a", 100, 1), named("b", 30, 2)];
    let (bindings, fleet) = read(&crate::manifests::list(objects));
    let decisions = decide(&mut Host::built_in().scheduler().assuming(true), &bindings, &fleet);
    let told: Vec<String> = decisions.iter().map(outcome).collect();
    assert_eq!(told, ["m1=20 (20 of 100)", "m1=30"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The count found is accepted on its own, and the next one is not.
    #[test]
    fn the_count_found_was_accepted_and_the_next_one_refused(
        strategy in prop::sample::select(vec!["DynamicWeight", "Aggregated", "Average", "PriorityAggregated"]),
        room in prop::collection::vec(0_i64..40, 1..6),
        replicas in 2_i64..120,
        percent in 1_u32..100,
        fresh in any::<bool>(),
    ) {
        let names: Vec<String> = (0..room.len()).map(|number| format!("m{number}")).collect();
        let clusters: Vec<(&str, i64)> = names.iter().map(String::as_str).zip(room.iter().copied()).collect();
        let steady = |binding: Binding| if fresh { binding.fresh() } else { binding };
        let decision = decided(steady(partly(strategy, replicas, &format!("{percent}%"))), &clusters);
        let alone = |count: i64| decided(steady(binding("web", count).strategy(strategy)), &clusters);
        let quorum = (replicas * i64::from(percent) + 99) / 100;
        match &decision.partial {
            Some(partial) => {
                let found = scheduled(&decision);
                prop_assert_eq!(found.values().sum::<i64>(), partial.replicas);
                prop_assert!((quorum..replicas).contains(&partial.replicas));
                let accepted = alone(partial.replicas);
                prop_assert_eq!(found, scheduled(&accepted));
                prop_assert!(told(&alone(partial.replicas + 1)).starts_with("Unschedulable"));
            }
            None => {
                prop_assert_eq!(told(&alone(replicas)).starts_with("Unschedulable"), told(&decision).starts_with("Unschedulable"));
                if told(&decision).starts_with("Unschedulable") {
                    prop_assert!(quorum == replicas || told(&alone(quorum)).starts_with("Unschedulable"));
                }
            }
        }
    }
}
