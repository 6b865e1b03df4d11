//! Preferences that contradict themselves or the fleet: the path, the cause and the remedy.

use divvy_framework::testing::ClusterBuilder;

use super::*;

/// Path, message and hint of the refusal of preferences.
fn refusal(preferences: &Value) -> (String, String, Option<String>) {
    match divided(&FLEET, 10, preferences) {
        Err(Failure::Preferences(error)) => (error.key_path(), error.to_string(), error.hint()),
        other => panic!("{preferences}: {other:?}"),
    }
}

#[track_caller]
fn check(preferences: Value, path: &str, message: &str) {
    let (at, said, _) = refusal(&preferences);
    let said = said.strip_prefix(&format!("{path}: ")).unwrap_or(&said);
    assert_eq!((at.as_str(), said), (path, message), "{preferences}");
}

fn by_region(child: Value) -> Value {
    json!({ "by": "region", "children": [child, { "match": "*" }] })
}

#[test]
fn an_unknown_key_is_named_at_any_depth_with_the_nearest_one() {
    let nested = json!({ "match": "eu", "by": "zone", "children": [{ "match": "a", "wieght": 2 }] });
    assert_eq!(
        refusal(&by_region(nested)),
        (
            "children[0].children[0].wieght".to_owned(),
            "children[0].children[0]: unknown key `wieght`".to_owned(),
            Some("did you mean `weight`?".to_owned())
        )
    );
    let (path, message, hint) = refusal(&json!({ "childs": [] }));
    assert_eq!((path.as_str(), message.as_str()), ("childs", "unknown key `childs`"));
    assert_eq!(hint.as_deref(), Some("did you mean `children`?"));
    let target = json!({ "match": { "clusterName": ["eu-1"] } });
    let (path, _, hint) = refusal(&by_region(target));
    assert_eq!(path, "children[0].match.clusterName");
    assert_eq!(hint.as_deref(), Some("did you mean `clusterNames`?"));
    let (path, _, hint) = refusal(&json!({ "divide": "evenley" }));
    assert_eq!(
        (path.as_str(), hint.as_deref()),
        ("divide", Some("did you mean `evenly`?"))
    );
}

#[test]
fn amounts_are_numbers_or_percentages() {
    let expected = "expected a number of replicas, or a percentage such as \"30%\"";
    for (amount, message) in [
        (json!(-1), format!("{expected}, got the number `-1`")),
        (json!("30"), format!("{expected}, got the string \"30\"")),
        (json!(2.5), format!("{expected}, got the number `2.5`")),
        (json!([]), format!("{expected}, got a list")),
        (
            json!("101%"),
            "expected a percentage from 0% to 100% with up to six decimal places, got \"101%\"".to_owned(),
        ),
    ] {
        check(
            by_region(json!({ "match": "eu", "min": amount })),
            "children[0].min",
            &message,
        );
    }
    // Both spellings of the same.
    let twelve = |amount: Value| divided(&FLEET, 40, &by_region(json!({ "match": "us", "max": amount })));
    assert_eq!(twelve(json!("12.5%")), twelve(json!(5)));
}

#[test]
fn keys_that_exclude_each_other() {
    let child = |key: &str, value: Value, other: &str, value_of_other: Value| {
        let mut child = json!({ "match": "eu" });
        (child[key], child[other]) = (value, value_of_other);
        by_region(child)
    };
    for key in ["weight", "min", "max"] {
        let message = format!("`count` is exact, so it excludes `{key}`");
        check(
            child("count", json!(1), key, json!(2)),
            &format!("children[0].{key}"),
            &message,
        );
    }
    check(
        child("min", json!("30%"), "max", json!("20%")),
        "children[0].min",
        "30% is above the `max` of 20%",
    );
    check(
        child("floor", json!(3), "cap", json!(2)),
        "children[0].floor",
        "3 is above the `cap` of 2",
    );
    check(
        child("floor", json!(3), "always", json!(2)),
        "children[0].always",
        "`floor` and `always` exclude each other: `always` is a floor for all",
    );
    check(
        child("divide", json!("fewest"), "always", json!(2)),
        "children[0].always",
        "gives replicas to every cluster, but `fewest` to as few as possible",
    );
    for (key, value) in [("divide", json!("evenly")), ("cap", json!(3)), ("weights", json!([]))] {
        let message = format!("a node with `children` cannot have `{key}`; only nodes without children can");
        check(
            child("children", json!([{ "match": "*" }]), key, value),
            &format!("children[0].{key}"),
            &message,
        );
    }
    check(
        by_region(json!({ "match": "eu", "weight": 0 })),
        "children[0].weight",
        "expected a whole number of at least 1, got the number `0`",
    );
    check(
        json!({ "by": "region", "children": [{ "match": "eu", "min": "60%" }, { "match": "us", "min": "40.5%" }] }),
        "children",
        "the minima up to children[1] add up to more than 100%: 40.5% on top of 60%",
    );
    check(
        json!({ "weights": [{ "match": "eu-1", "weight": 2 }] }),
        "weights",
        "only `\"divide\": \"byWeight\"` reads weights, but it is `byRoom`",
    );
    check(
        json!({ "divide": "byWeight" }),
        "weights",
        "expected weights for `byWeight`",
    );
    check(json!({ "children": [] }), "children", "expected at least one child");
    check(
        json!({ "by": "zone" }),
        "by",
        "`by` needs `children`, or `divide`, which makes each of its values a child",
    );
    check(
        json!({ "by": "zone", "divide": "fewest" }),
        "divide",
        "with `by` and without `children`, expected `evenly` or `byRoom`: all others divide over clusters",
    );
}

#[test]
fn a_match_must_mean_something() {
    for (matched, message) in [
        (json!(""), "expected a text that is not empty"),
        (json!([]), "expected a text that is not empty"),
        (
            json!(["eu", "*"]),
            "`*` cannot be in a list: it means the clusters that no sibling matches",
        ),
        (
            json!({}),
            "has no requirements, so it matches every cluster: expected `clusterNames`, a selector, or `\"*\"`",
        ),
        (json!("asia"), "no cluster is in region `asia`"),
    ] {
        check(by_region(json!({ "match": matched })), "children[0].match", message);
    }
    check(
        json!({ "children": [{ "match": "eu" }] }),
        "children[0].match",
        "a text needs `by` beside `children`: `region`, `zone`, `provider`, `name` or `{\"label\": …}`",
    );
    check(
        json!({ "by": "name", "children": [{ "match": ["eu-1", "eu-2"] }, { "match": "*" }, { "match": "*" }] }),
        "children[2].match",
        "`*` is already the match of children[1]",
    );
}

#[test]
fn a_match_without_clusters_is_refused_with_the_nearest_value() {
    let (_, message, hint) = refusal(&by_region(json!({ "match": "eur" })));
    assert_eq!(
        (message.as_str(), hint.as_deref()),
        (
            "children[0].match: no cluster is in region `eur`",
            Some("did you mean `eu`?")
        )
    );
    let zone = json!({ "match": "eu", "by": "zone", "children": [{ "match": "c" }] });
    check(
        by_region(zone),
        "children[0].children[0].match",
        "no cluster is in zone `c` among those of eu",
    );
    let (_, message, hint) = refusal(&json!({ "by": "name", "children": [{ "match": "eu1" }] }));
    assert_eq!(
        (message.as_str(), hint.as_deref()),
        (
            "children[0].match: no cluster is named `eu1`",
            Some("did you mean `eu-1`?")
        )
    );
    check(
        json!({ "by": { "label": "tier" }, "children": [{ "match": ["gold", "silver"] }] }),
        "children[0].match",
        "no cluster has label `tier` with value `gold` or `silver`",
    );
    check(
        json!({ "children": [{ "match": { "clusterNames": ["m9"] } }] }),
        "children[0].match",
        "no cluster is named `m9`",
    );
    check(
        json!({ "divide": "byWeight", "weights": [{ "match": "m9", "weight": 1 }] }),
        "weights[0].match",
        "no cluster is named `m9`",
    );
    // The rest may be empty, and so may what is below it.
    let all = json!({ "by": "region", "children": [
        { "match": ["ap", "eu", "us"] },
        { "match": "*", "by": "zone", "children": [{ "match": "a" }] },
    ] });
    assert!(divided(&FLEET, 10, &all).is_ok());
}

/// One value of a list that no cluster has is as much of a mistake as a list of such values.
#[test]
fn each_value_of_a_list_must_match_a_cluster() {
    let check_hint = |preferences: &Value, expected: &str, hinted: Option<&str>| {
        let (_, message, hint) = refusal(preferences);
        assert_eq!((message.as_str(), hint.as_deref()), (expected, hinted), "{preferences}");
    };
    check_hint(
        &by_region(json!({ "match": ["us", "eur"] })),
        "children[0].match: no cluster is in region `eur`",
        Some("did you mean `eu`?"),
    );
    check_hint(
        &json!({ "by": "zone", "children": [{ "match": ["a", "q"] }, { "match": "*" }] }),
        "children[0].match: no cluster is in zone `q`",
        None,
    );
    check_hint(
        &json!({ "by": "name", "children": [{ "match": ["eu-1", "us-11", "eu-2"] }, { "match": "*" }] }),
        "children[0].match: no cluster is named `us-11`",
        Some("did you mean `us-1`?"),
    );
    check_hint(
        &json!({ "children": [{ "match": { "clusterNames": ["eu-1", "us-11"] } }, { "match": "*" }] }),
        "children[0].match: no cluster is named `us-11`",
        Some("did you mean `us-1`?"),
    );
    check_hint(
        &json!({ "divide": "byWeight", "weights": [{ "match": ["eu-1", "us-11"], "weight": 1 }] }),
        "weights[0].match: no cluster is named `us-11`",
        Some("did you mean `us-1`?"),
    );
    let labelled =
        json!({ "by": { "label": "tier" }, "children": [{ "match": ["gold", "sliver"] }, { "match": "*" }] });
    let asked = ["gold", "silver"].iter().fold(Scenario::new(), |asked, tier| {
        asked.cluster(ClusterBuilder::new(tier).label("tier", tier).fits_now(9))
    });
    let error = asked
        .replicas(1)
        .preferences(&labelled)
        .assign(&Tree)
        .expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "children[0].match: no cluster has label `tier` with value `sliver`"
    );
    // A cluster in two zones has both.
    let zones = json!({ "by": "zone", "children": [{ "match": ["x", "y"] }] });
    let both = ClusterBuilder::new("m").zone("x").zone("y").fits_now(9);
    assert_eq!(
        Scenario::new()
            .cluster(both)
            .replicas(1)
            .preferences(&zones)
            .assign(&Tree),
        Ok(vec![1])
    );
}

#[test]
fn a_cluster_in_two_children_is_named_even_if_it_is_no_candidate() {
    let preferences = json!({ "by": "region", "children": [
        { "match": "us" },
        { "match": { "clusterNames": ["us-2", "eu-1"] } },
    ] });
    check(
        preferences.clone(),
        "children[1].match",
        "cluster `us-2` is already in children[0]",
    );
    let asked = scenario(&FLEET).replicas(1).preferences(&preferences);
    let error = asked.assign_in_tier(&Tree, &[0], (0, 1)).expect_err("it is refused");
    assert_eq!(
        error,
        Failure::preferences("children[1].match", "cluster `us-2` is already in children[0]")
    );
    // A cluster in two zones is in two children that name them. Groups by value have a group of just these zones.
    let zones = scenario(&FLEET).cluster(ClusterBuilder::new("eu-4").region("eu").zone("a").zone("b").fits_now(9));
    let by_zone = |preferences: Value| zones.clone().replicas(9).preferences(&preferences).assign(&Tree);
    assert_eq!(
        by_zone(json!({ "by": "zone", "divide": "evenly" })),
        // The zones a, b, c, d, x, y, and a+b. Only eu-1 and eu-2 share one.
        Ok(vec![1, 2, 1, 0, 1, 2, 1, 1])
    );
    assert_eq!(
        by_zone(json!({ "by": "zone", "children": [{ "match": "a" }, { "match": "b" }] })),
        Err(Failure::preferences(
            "children[1].match",
            "cluster `eu-4` is already in children[0]"
        ))
    );
}

/// The host divides nothing of such a binding, and calls no strategy for it.
#[test]
fn several_components_are_refused_by_name() {
    let asked = |names: &[&str], strategy: &str| {
        let asked = scenario(&FLEET)
            .preferences(&json!({ "divide": "evenly" }))
            .strategy(strategy);
        let asked = names
            .iter()
            .fold(asked, |asked, name| asked.component(name, 2, &[("cpu", 1_000)]));
        asked.rejections_checked(&Tree)
    };
    let message = "a tree divides the replicas of one pod template, and this workload has several components, which stay \
                   together: jobmanager, taskmanager";
    assert_eq!(
        asked(&["jobmanager", "taskmanager"], "Tree"),
        Err(Failure::preferences("", message))
    );
    assert_eq!(asked(&["worker"], "Tree"), Ok(vec![]));
    assert_eq!(asked(&["jobmanager", "taskmanager"], "Average"), Ok(vec![]));
}
