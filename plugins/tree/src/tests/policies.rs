//! Policies: properties that select clusters, groups by value, and explanations.

use std::sync::{Arc, Mutex};

use divvy_framework::testing::ClusterBuilder;

use super::*;
use crate::fleet::Fleet;
use crate::kept::Kept;
use crate::locations::Locations;
use crate::preferences::TreePreferences;
use crate::tree::nodes;

fn labelled() -> Scenario {
    labelled_with([0; 4])
}

/// The clusters with these last replicas.
fn labelled_with(last: [i64; 4]) -> Scenario {
    let row = |name: &str, provider: &str, tier: &str, last: i64| {
        let cluster = ClusterBuilder::new(name).provider(provider).fits_now(50).last(last);
        if tier.is_empty() {
            cluster
        } else {
            cluster.label("tier", tier)
        }
    };
    let rows = [
        row("a", "aws", "gold", last[0]),
        row("b", "aws", "silver", last[1]),
        row("c", "gcp", "gold", last[2]),
        row("d", "gcp", "", last[3]),
    ];
    Scenario::new().clusters(rows)
}

fn labelled_counts(replicas: i64, preferences: Value) -> Vec<i64> {
    let asked = labelled().replicas(replicas).preferences(&preferences);
    asked.assign_checked(&Tree).expect("it fits")
}

/// Bounds do not keep a workload running that is scaled to zero.
#[test]
fn no_replicas_are_divided_whatever_the_bounds() {
    for preferences in [
        json!({ "by": "provider", "children": [{ "match": "aws", "count": 5 }, { "match": "gcp", "weight": 1 }] }),
        json!({ "by": "provider", "children": [{ "match": "aws", "min": 3 }, { "match": "gcp" }] }),
        json!({ "divide": "evenly", "always": 1 }),
    ] {
        let asked = labelled_with([5, 0, 1, 0]).replicas(0).preferences(&preferences);
        assert_eq!(asked.assign_checked(&Tree).expect("it stops"), [0; 4], "{preferences}");
    }
}

#[test]
fn nodes_select_by_provider_label_name_and_target() {
    for (preferences, expected) in [
        (
            json!({ "by": "provider", "children": [
                { "match": "aws", "weight": 3, "by": "name", "children": [
                    { "match": "a", "weight": 2 }, { "match": "b", "weight": 1 },
                ] },
                { "match": "gcp", "weight": 1, "divide": "evenly" },
            ] }),
            [6, 3, 2, 1],
        ),
        (
            json!({ "by": { "label": "tier" }, "children": [
                { "match": "gold", "count": 8, "divide": "evenly" }, { "match": "*", "divide": "evenly" },
            ] }),
            [4, 2, 4, 2],
        ),
        (
            json!({ "children": [
                { "match": { "labelSelector": { "matchExpressions": [{ "key": "tier", "operator": "Exists" }] },
                             "exclude": ["b"] }, "weight": 5, "divide": "evenly" },
                { "match": "*", "weight": 1, "divide": "evenly" },
            ] }),
            [5, 1, 5, 1],
        ),
        // A cluster without the label has no value, and so no replicas.
        (json!({ "by": { "label": "tier" }, "divide": "evenly" }), [3, 6, 3, 0]),
    ] {
        let counts = labelled_counts(12, preferences.clone());
        // Which of two equal clusters gets an odd replica depends on the tie.
        let mut sorted = [counts.clone(), expected.to_vec()];
        sorted.iter_mut().for_each(|counts| counts.sort_unstable());
        assert_eq!(sorted[0], sorted[1], "{preferences}: {counts:?}");
        assert_eq!(
            counts[1] > counts[0],
            expected[1] > expected[0],
            "{preferences}: {counts:?}"
        );
    }
}

#[test]
fn groups_by_value_are_children_without_bounds() {
    let by_zone = |divide: &str| json!({ "by": "zone", "divide": divide });
    // Six zones: the even share is 6, and zone a has two clusters.
    let even = divided(&FLEET, 36, &by_zone("evenly"));
    assert_eq!(even, Ok(vec![6, 6, 3, 3, 6, 6, 6]));
    // By room, zones have 40, 30, 60, 12, 10 and 20 of 172.
    assert_eq!(
        divided(&FLEET, 86, &by_zone("byRoom")),
        Ok(vec![20, 15, 15, 15, 6, 5, 10])
    );
    // Existing replicas stay in their zones.
    let last = with_last([9, 0, 0, 0, 0, 1, 0]);
    assert_eq!(divided(&last, 10, &by_zone("byRoom")), Ok(vec![9, 0, 0, 0, 0, 1, 0]));
}

#[test]
fn an_explanation_shows_the_path_and_what_bound_each_node() {
    let preferences = json!({ "by": "region", "children": [
        { "match": "eu", "weight": 60, "max": "50%", "by": "zone", "divide": "evenly" },
        { "match": "us", "weight": 40, "max": 200 },
        { "match": "ap", "divide": "fewest", "cap": 20 },
    ] });
    let asked = scenario(&FLEET).replicas(100).preferences(&preferences);
    let (counts, said) = asked.assign_explained(&Tree).expect("it fits");
    assert_eq!(counts, [0, 20, 19, 19, 12, 10, 20]);
    let texts: Vec<&str> = said.explanations.iter().map(|(_, text)| text.as_str()).collect();
    let eu = "all 100, eu 50 (weight 60, at its max of 50, 50%)";
    assert_eq!(
        texts,
        [
            "all 100, ap 20 (no weight): fewest, had 0",
            "all 100, ap 20 (no weight): fewest, had 0, at the cap",
            &format!("{eu}, eu/a 38 (weight 1): evenly"),
            &format!("{eu}, eu/a 38 (weight 1): evenly"),
            &format!("{eu}, eu/b 12 (weight 1, all that it has room for): evenly, as many as fit"),
            "all 100, us 30 (weight 40, all that it has room for): byRoom, had 0, as many as fit",
            "all 100, us 30 (weight 40, all that it has room for): byRoom, had 0, as many as fit",
        ]
    );
    let outside =
        json!({ "by": "region", "children": [{ "match": "eu", "count": 3, "always": 1, "divide": "evenly" }] });
    let asked = scenario(&FLEET).replicas(3).preferences(&outside);
    let (_, said) = asked.assign_explained(&Tree).expect("it fits");
    let texts: Vec<&str> = said.explanations.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts[0], "in no child of the tree");
    assert_eq!(texts[2], "all 3, eu 3 (its count): evenly, at the floor for all");
}

/// Finds the clusters of a plan's nodes several times, for other snapshots and seeds.
struct Finds {
    kept: Kept,
    found: Mutex<Vec<Arc<Fleet>>>,
}

impl Plugin for Finds {
    const NAME: &'static str = "finds";
    const DESCRIPTION: &'static str = "finds the clusters of nodes";
}

impl FilterPlugin for Finds {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        let clusters = context.clusters();
        let first = Locations::shared(&clusters, None);
        let other = Locations::shared(&clusters, None);
        for (locations, seed) in [
            (&first, 1),
            (&Locations::shared(&clusters, Some(&first)), 1),
            (&other, 1),
            (&other, 2),
        ] {
            let fleet = self.kept.fleet(locations, &clusters, seed)?;
            self.found.lock().expect("no test panics here").push(fleet);
        }
        Ok(())
    }
}

fn finds(preferences: &Value) -> Finds {
    let preferences = TreePreferences::read(preferences).expect("it is valid");
    Finds {
        kept: Kept::new(nodes(&preferences).expect("it is valid")),
        found: Mutex::default(),
    }
}

/// The clusters of the nodes are found once per snapshot whose names or locations differ.
#[test]
fn the_clusters_of_nodes_are_kept_with_the_plan() {
    let finds = finds(&json!({ "by": "region", "children": [{ "match": "eu" }, { "match": "*" }] }));
    scenario(&FLEET).feasible(&finds).expect("the children match clusters");
    let found = finds.found.into_inner().expect("no test panics here");
    assert_eq!(found[0].sizes, [7, 3, 4]);
    assert!(Arc::ptr_eq(&found[0], &found[1]), "the same locations and binding");
    assert!(!Arc::ptr_eq(&found[1], &found[2]), "other locations");
    assert!(!Arc::ptr_eq(&found[2], &found[3]), "another order of ties");
}

/// A change of anything but names and locations is none of locations.
#[test]
fn locations_are_those_of_another_snapshot_if_they_are_equal() {
    let seen = |scenario: &Scenario| -> Arc<Locations> {
        let looks = Looks(Mutex::default());
        scenario.feasible(&looks).expect("it only looks");
        looks
            .0
            .into_inner()
            .expect("no test panics here")
            .expect("it has looked")
    };
    let cluster = |region: &str, zone: &str| ClusterBuilder::new("b").region(region).zone(zone).provider("aws");
    let fleet = |cluster: ClusterBuilder| Scenario::new().clusters([ClusterBuilder::new("a").region("eu"), cluster]);
    let first = seen(&fleet(cluster("eu", "x")));
    let is_known = |other: &Scenario| {
        let compares = Compares(Arc::clone(&first), Mutex::default());
        other.feasible(&compares).expect("it only looks");
        compares.1.into_inner().expect("no test panics here")
    };
    assert!(is_known(&fleet(cluster("eu", "x"))));
    // A label in front renumbers the symbols.
    assert!(is_known(&fleet(cluster("eu", "x").label("x", "eu"))));
    for other in [
        cluster("us", "x"),
        cluster("eu", "y"),
        cluster("eu", "x").zone("y"),
        cluster("eu", "x").provider("gcp"),
        ClusterBuilder::new("c").region("eu").zone("x").provider("aws"),
    ] {
        assert!(!is_known(&fleet(other.clone())), "{other:?}");
    }
}

/// Reads locations.
struct Looks(Mutex<Option<Arc<Locations>>>);

impl Plugin for Looks {
    const NAME: &'static str = "looks";
    const DESCRIPTION: &'static str = "reads locations";
}

impl FilterPlugin for Looks {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        *self.0.lock().expect("no test panics here") = Some(Locations::shared(&context.clusters(), None));
        Ok(())
    }
}

/// Compares locations with known ones.
struct Compares(Arc<Locations>, Mutex<bool>);

impl Plugin for Compares {
    const NAME: &'static str = "compares";
    const DESCRIPTION: &'static str = "compares locations";
}

impl FilterPlugin for Compares {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        let locations = Locations::shared(&context.clusters(), Some(&self.0));
        *self.1.lock().expect("no test panics here") = Arc::ptr_eq(&locations, &self.0);
        Ok(())
    }
}

/// A change of labels does not change locations, so a plan that reads labels must look again.
#[test]
fn a_plan_that_reads_labels_sees_them_change() {
    let gold = |name: &str| ClusterBuilder::new(name).label("tier", "gold").fits_now(9);
    for preferences in [
        json!({ "by": { "label": "tier" }, "children": [{ "match": "gold" }, { "match": "*" }] }),
        json!({ "children": [
            { "match": { "labelSelector": { "matchLabels": { "tier": "gold" } } } }, { "match": "*" },
        ] }),
    ] {
        let finds = finds(&preferences);
        let one = Scenario::new().clusters([gold("a"), ClusterBuilder::new("b")]);
        let both = Scenario::new().clusters([gold("a"), gold("b")]);
        for scenario in [&one, &both] {
            scenario.feasible(&finds).expect("the children match clusters");
        }
        let found = finds.found.into_inner().expect("no test panics here");
        assert_eq!(
            (&found[0].sizes, &found[4].sizes),
            (&vec![2, 1, 1], &vec![2, 2, 0]),
            "{preferences}"
        );
    }
}
