//! Tree through the real loader: the host's part of the rule, and the values that are kept between decisions.

use divvy_scheduler::fleet::Fleet;
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, list, priorities};
use crate::scheduling::{Host, read, told};

/// Two regions with room for 30 replicas each.
fn fleet() -> Vec<Value> {
    [("a", "eu", 10), ("b", "eu", 20), ("c", "us", 30)]
        .map(|(name, region, fits)| cluster(name, fits).region(region).into())
        .to_vec()
}

fn by_region(eu: Value) -> Value {
    json!({ "by": "region", "children": [eu, { "match": "*" }] })
}

fn asked(replicas: i64, preferences: &Value) -> Binding {
    binding("web", replicas).strategy("Tree").preferences(preferences)
}

#[track_caller]
fn check(binding: Binding, expected: &str) {
    let objects = fleet().into_iter().chain([binding.into()]);
    assert_eq!(Host::built_in().told(objects), expected);
}

/// A refusal of the preferences of the binding.
fn error(message: &str) -> String {
    format!("Error: the binding's `divvy.io/preferences`: plugin `tree`: {message}")
}

#[test]
fn a_mistake_in_a_policy_is_an_error_with_its_location() {
    let unknown = json!({ "match": "eu", "children": [{ "match": "*", "wieght": 1 }] });
    check(
        asked(9, &by_region(unknown)),
        &error("children[0].children[0]: unknown key `wieght`"),
    );
    check(
        asked(9, &by_region(json!({ "match": "asia" }))),
        &error("children[0].match: no cluster is in region `asia`"),
    );
    let twice = json!({ "by": "region", "children": [
        { "match": "us" }, { "match": { "clusterNames": ["c"] } },
    ] });
    check(
        asked(9, &twice),
        &error("children[1].match: cluster `c` is already in children[0]"),
    );
}

/// The lines are those of the annotation, because the manifest's are not known there.
#[test]
fn a_key_that_is_given_twice_is_an_error_with_its_line() {
    let annotated = |text: &str| {
        let asked = binding("web", 9).strategy("Tree");
        asked.annotation("divvy.io/preferences", text)
    };
    let error = |location: &str, message: &str| {
        format!("Error: the binding's `divvy.io/preferences`{location} of the annotation: {message}")
    };
    check(
        annotated(
            "{\"by\": \"region\", \"children\": [\n  {\"match\": \"eu\",\n   \"weight\": 1,\n   \"weight\": 3},\n  {\"match\": \"*\"}]}",
        ),
        &error(
            ".children[0], line 4",
            "the key `weight` is given twice, first on line 3",
        ),
    );
    check(
        annotated("{\"by\": \"region\",\n \"children\": [}"),
        &error(".children[0], line 2", "not valid JSON: expected a value, got '}'"),
    );
    let levels = |levels: usize| {
        let (open, close) = (r#""by":"name","children":[{"match":"a","#, "}]");
        format!(
            r#"{{{}"divide":"evenly"{}}}"#,
            open.repeat(levels),
            close.repeat(levels)
        )
    };
    check(annotated(&levels(63)), "a=9");
    check(
        annotated(&levels(64)),
        &error(", line 1", "nested deeper than 127 levels of objects and lists"),
    );
}

#[test]
fn contradictions_leave_the_last_result() {
    check(
        asked(40, &by_region(json!({ "match": "eu", "max": 5 }))).last([("c", 4)]),
        "Unschedulable: 40 replicas cannot be divided so that all of these hold: eu gets at most 5; * has room for 34",
    );
}

/// Spread constraints and filters act before the tree.
#[test]
fn a_bound_that_spread_constraints_make_unreachable_is_named() {
    let one_region = json!([{ "spreadByField": "region", "minGroups": 1, "maxGroups": 1 }]);
    let preferences = by_region(json!({ "match": "eu", "min": 1 }));
    // Without them, the rest gets nothing that Europe could take.
    check(asked(25, &preferences), "a=8 b=17");
    let (spread, us) = (
        asked(25, &preferences).placement("spreadConstraints", one_region),
        json!({ "clusterNames": ["c"] }),
    );
    let spread = spread.placement("clusterAffinity", us);
    check(
        spread,
        "Unschedulable: 25 replicas cannot be divided so that all of these hold: eu gets at least 1; \
         none of the 2 clusters of eu is a candidate, by spread constraints or filters",
    );
}

#[test]
fn priorities_are_refused_and_overflow_tiers_are_not_considered() {
    let mut preferences = by_region(json!({ "match": "eu", "weight": 1 }));
    let overflow = json!([{
        "affinityName": "first", "clusterNames": ["c"],
        "overflowAffinities": [{ "affinityName": "second", "clusterNames": ["a", "b"] }],
    }]);
    // The host divides one tier after the other, each by a tree over its own clusters.
    let spilling = |replicas| asked(replicas, &preferences).placement("clusterAffinities", overflow.clone());
    check(spilling(18), "c=18");
    check(spilling(36), "a=2 b=4 c=30");
    preferences["clusterPriority"] = priorities([("a", 2), ("b", 1)]);
    let objects = fleet().into_iter().chain([asked(9, &preferences).into()]);
    let told = Host::built_in().told(objects);
    assert!(told.starts_with("Error: ") && told.contains("riorit"), "{told}");
}

#[test]
fn components_are_refused_with_the_reason() {
    let components = json!([{ "name": "jobmanager", "replicas": 1 }, { "name": "taskmanager", "replicas": 3 }]);
    let whole = asked(4, &json!({ "divide": "evenly" })).spec("components", components);
    check(
        whole,
        &error(
            "a tree divides the replicas of one pod template, and this workload has several components, which stay together: \
             jobmanager, taskmanager",
        ),
    );
}

/// The plan of a binding is kept, and the clusters of its nodes as long as they are the same.
#[test]
fn clusters_that_change_are_found_again() {
    let labelled = |name: &str, region: &str, tier: &str| -> Value {
        let mut cluster: Value = cluster(name, 50).region(region).into();
        cluster["metadata"]["labels"] = json!({ "tier": tier });
        cluster
    };
    let by = |key: Value, value: &str| {
        asked(
            9,
            &json!({ "by": key, "children": [{ "match": value, "count": 8, "divide": "fewest" }, { "match": "*" }] }),
        )
    };
    for (binding, change) in [
        (by(json!("region"), "eu"), labelled("b", "eu", "silver")),
        (by(json!({ "label": "tier" }), "gold"), labelled("b", "us", "gold")),
        (by(json!("region"), "eu"), labelled("b", "us", "gold")),
    ] {
        let objects = [
            labelled("a", "eu", "gold"),
            labelled("b", "us", "silver"),
            binding.clone().into(),
        ];
        let (bindings, _) = read(&list(objects));
        let mut kept = Host::built_in().scheduler();
        let mut clusters = Fleet::new(false);
        let read_cluster = |cluster: &Value| serde_json::from_value(cluster.clone()).expect("it is a cluster");
        clusters.upsert(&read_cluster(&labelled("a", "eu", "gold")));
        clusters.upsert(&read_cluster(&labelled("b", "us", "silver")));
        assert_eq!(told(&kept.schedule(&bindings[0], &clusters.snapshot())), "a=8 b=1");
        clusters.upsert(&read_cluster(&change));
        let changed = clusters.snapshot();
        let afresh = Host::built_in().scheduler().schedule(&bindings[0], &changed);
        assert_eq!(told(&kept.schedule(&bindings[0], &changed)), told(&afresh));
        // A cluster that joins is in the tree, too.
        clusters.upsert(&read_cluster(&labelled("0", "eu", "gold")));
        let joined = clusters.snapshot();
        let afresh = Host::built_in().scheduler().schedule(&bindings[0], &joined);
        assert_eq!(told(&kept.schedule(&bindings[0], &joined)), told(&afresh));
    }
}
