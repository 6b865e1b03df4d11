//! Demands that cannot be met: the message names exactly the contradicting bounds.

use divvy_framework::binding::{SpreadConstraint, SpreadField};

use super::*;

fn by_region(children: Value) -> Value {
    json!({ "by": "region", "children": children })
}

#[test]
fn bounds_that_contradict_each_other_are_named_with_their_figures() {
    for (replicas, children, expected) in [
        (
            100,
            json!([{ "match": "eu", "min": "80%" }, { "match": "*" }]),
            "100 replicas cannot be divided so that all of these hold: eu gets at least 80 (80% of 100); eu has room for 72",
        ),
        (
            9,
            json!([{ "match": "eu", "count": 5 }, { "match": "us", "min": 6 }, { "match": "ap", "max": 9 }]),
            "9 replicas cannot be divided so that all of these hold: eu gets exactly 5; us gets at least 6",
        ),
        (
            80,
            json!([{ "match": "eu", "max": "30%" }, { "match": "ap", "max": 20 }, { "match": "us", "weight": 1 }]),
            "80 replicas cannot be divided so that all of these hold: eu gets at most 24 (30% of 80); \
             ap gets at most 20; us has room for 30",
        ),
        (
            40,
            json!([{ "match": "us", "cap": 9, "min": 20 }, { "match": "*" }]),
            "40 replicas cannot be divided so that all of these hold: us gets at least 20; a cluster of us gets at most 9",
        ),
        (
            3,
            json!([{ "match": "us", "floor": 4 }, { "match": "eu", "count": 1 }]),
            "3 replicas cannot be divided so that all of these hold: a cluster of us gets none or at least 4; \
             eu gets exactly 1",
        ),
        (
            40,
            json!([{ "match": "eu", "always": 13 }, { "match": "*" }]),
            "40 replicas cannot be divided so that all of these hold: each cluster of eu always gets 13; \
             eu has room for 72, and for 12 on the smallest cluster",
        ),
    ] {
        assert_eq!(
            refused(&FLEET, replicas, &by_region(children.clone())),
            expected,
            "{children}"
        );
    }
}

#[test]
fn a_bound_below_another_node_says_of_what_it_is_a_share() {
    let children = json!([
        { "match": "eu", "count": 20, "by": "zone", "children": [
            { "match": "a", "max": "50%" }, { "match": "b", "max": "40%" },
        ] },
        { "match": "*" },
    ]);
    assert_eq!(
        refused(&FLEET, 40, &by_region(children)),
        "40 replicas cannot be divided so that all of these hold: eu gets exactly 20; \
         eu/a gets at most 50% of its parent's replicas; eu/b gets at most 40% of its parent's replicas"
    );
}

#[test]
fn too_little_room_names_the_room_of_each_leaf() {
    assert_eq!(
        divided(&FLEET, 173, &json!({ "divide": "evenly" })),
        Err(Failure::too_small(173, 172))
    );
    // What fits outside of the tree does not count.
    let weights = json!({ "divide": "byWeight", "weights": [{ "match": "eu-3", "weight": 1 }] });
    let some = |text: &str, most| Err(Failure::unschedulable(text).with_figures(173, most));
    let clusters = "fit in the candidate clusters of the tree";
    assert_eq!(
        divided(&FLEET, 173, &weights),
        some(&format!("173 replicas requested, 12 {clusters}"), 12)
    );
    let only = json!([{ "match": "eu", "weight": 1 }, { "match": "us" }]);
    let text = format!("173 replicas requested, 102 {clusters}: eu has room for 72; us has room for 30");
    assert_eq!(divided(&FLEET, 173, &by_region(only)), some(&text, 102));
    let children = json!([{ "match": "eu", "weight": 1 }, { "match": "us", "weight": 2 }]);
    let error = divided(&FLEET, 110, &by_region(children)).expect_err("there is too little room");
    let expected =
        "110 replicas requested, 102 fit in the candidate clusters of the tree: eu has room for 72; us has room for 30";
    assert_eq!(error, Failure::unschedulable(expected).with_figures(110, 102));
}

/// A search for fewer or more replicas begins there.
#[test]
fn a_refusal_has_the_nearest_count_that_can_be_divided() {
    let exactly = json!([{ "match": "eu", "count": 20 }, { "match": "us", "weight": 1 }]);
    let floor = json!([{ "match": "us", "floor": 4, "max": 9 }, { "match": "eu", "count": 1 }]);
    let shares = json!([{ "match": "eu", "max": "40%" }, { "match": "us", "max": "70%" }]);
    for (replicas, children, count) in [
        (10, &exactly, Some(20)),
        (100, &exactly, Some(50)),
        (3, &floor, Some(1)),
        (70, &floor, Some(10)),
        (100, &shares, Some(51)),
        (9, &json!([{ "match": "eu", "count": 73 }]), None),
    ] {
        let failure = divided(&FLEET, replicas, &by_region(children.clone())).expect_err("it is refused");
        let Failure::Unschedulable { figures, .. } = failure else {
            panic!("{failure}");
        };
        assert_eq!(
            figures,
            count.map(|count| (replicas, count)),
            "{replicas} by {children}"
        );
        if let Some(count) = count {
            assert!(
                divided(&FLEET, count, &by_region(children.clone())).is_ok(),
                "{count} by {children}"
            );
        }
    }
}

/// Spread constraints act in Select, before the tree.
#[test]
fn a_bound_without_enough_candidates_says_how_many_there_are() {
    let preferences =
        by_region(json!([{ "match": "eu", "min": 5 }, { "match": "ap", "weight": 2 }, { "match": "us", "weight": 1 }]));
    let asked = scenario(&FLEET).replicas(12).preferences(&preferences);
    // Clusters by number; the result is in their order.
    assert_eq!(asked.assign_in_tier(&Tree, &[0, 2, 3, 5], (0, 1)), Ok(vec![5, 3, 2, 2]));
    let refused = |scenario: &Scenario, candidates: &[usize]| {
        let error = scenario
            .assign_in_tier(&Tree, candidates, (0, 1))
            .expect_err("it is refused");
        error.to_string()
    };
    let hold = "12 replicas cannot be divided so that all of these hold";
    assert_eq!(
        refused(&asked, &[0, 5]),
        format!("{hold}: eu gets at least 5; none of the 3 clusters of eu is a candidate")
    );
    let one = with_last([0; 7]).into_iter().map(|row| {
        if row.0 == "eu-1" {
            (row.0, row.1, row.2, 4, 0)
        } else {
            row
        }
    });
    let one: Vec<Row> = one.collect();
    let spread = SpreadConstraint::by(SpreadField::Cluster, 1, 3);
    let spread = scenario(&one)
        .replicas(12)
        .preferences(&preferences)
        .spread_constraint(spread);
    assert_eq!(
        refused(&spread, &[0, 2, 5]),
        format!(
            "{hold}: eu gets at least 5; eu has room for 4 on 1 of its 3 clusters, by spread constraints or filters"
        )
    );
    // A weight's share goes to the siblings.
    let preferences = by_region(
        json!([{ "match": "eu", "weight": 5 }, { "match": "ap", "weight": 2 }, { "match": "us", "weight": 1 }]),
    );
    let asked = scenario(&FLEET).replicas(12).preferences(&preferences);
    assert_eq!(asked.assign_in_tier(&Tree, &[0, 5], (0, 1)), Ok(vec![8, 4]));
}
