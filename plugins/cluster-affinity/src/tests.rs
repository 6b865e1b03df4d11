//! Named cases of each part of an affinity, and several affinities held against one at a time.

use divvy_framework::binding::{ExpressionOperator, ExpressionSource};
use divvy_framework::testing::{AffinityRecord, ExpressionRecord};
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::ClusterAffinity;
use crate::cluster_affinity::REASON;

/// Three clusters: `a` in eu with two zones, `b` in us with one, `c` without any property.
fn fleet() -> Scenario {
    Scenario::new()
        .cluster(
            ClusterBuilder::new("a")
                .region("eu")
                .provider("aws")
                .zone("eu-1")
                .zone("eu-2")
                .label("tier", "gold")
                .label("generation", "12"),
        )
        .cluster(
            ClusterBuilder::new("b")
                .region("us")
                .provider("gcp")
                .zone("us-1")
                .label("tier", "silver")
                .label("generation", "7"),
        )
        .cluster(ClusterBuilder::new("c"))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn expression(source: ExpressionSource, operator: ExpressionOperator, values: &[&str]) -> AffinityRecord {
    AffinityRecord {
        expressions: vec![ExpressionRecord {
            source,
            operator,
            values: names(values),
        }],
        ..AffinityRecord::default()
    }
}

fn label(operator: ExpressionOperator, values: &[&str]) -> AffinityRecord {
    expression(ExpressionSource::Label("tier".to_owned()), operator, values)
}

fn feasible(scenario: &Scenario) -> Vec<String> {
    let (feasible, rejected) = scenario.filter(&ClusterAffinity).expect("it filters");
    assert!(rejected.iter().all(|(_, reason)| reason == REASON));
    assert_eq!(scenario.feasible(&ClusterAffinity).as_ref(), Ok(&feasible));
    feasible
}

#[test]
fn each_part_of_an_affinity() {
    use ExpressionOperator::{DoesNotExist, Exists, GreaterThan, In, LessThan, NotIn};
    use ExpressionSource::{Nothing, Provider, Region, Zone};
    let generation = || ExpressionSource::Label("generation".to_owned());
    let cases: [(&str, AffinityRecord, &[&str]); 20] = [
        ("an empty one", AffinityRecord::default(), &["a", "b", "c"]),
        (
            "names, one of them unknown",
            AffinityRecord {
                cluster_names: names(&["c", "a", "gone"]),
                ..AffinityRecord::default()
            },
            &["a", "c"],
        ),
        (
            "only unknown names",
            AffinityRecord {
                cluster_names: names(&["gone"]),
                ..AffinityRecord::default()
            },
            &[],
        ),
        (
            "an exclusion beats a name",
            AffinityRecord {
                cluster_names: names(&["a", "b"]),
                exclude: names(&["b"]),
                ..AffinityRecord::default()
            },
            &["a"],
        ),
        ("label in", label(In, &["gold", "bronze"]), &["a"]),
        ("label not in, or absent", label(NotIn, &["gold"]), &["b", "c"]),
        ("label exists", label(Exists, &[]), &["a", "b"]),
        ("label does not exist", label(DoesNotExist, &[]), &["c"]),
        ("label above", expression(generation(), GreaterThan, &["9"]), &["a"]),
        ("label below", expression(generation(), LessThan, &["9"]), &["b"]),
        (
            "label above no number",
            expression(generation(), GreaterThan, &["x"]),
            &[],
        ),
        ("region in", expression(Region, In, &["eu"]), &["a"]),
        (
            "region not in, or not set",
            expression(Region, NotIn, &["eu"]),
            &["b", "c"],
        ),
        ("provider exists", expression(Provider, Exists, &[]), &["a", "b"]),
        ("one of the zones in", expression(Zone, In, &["eu-2", "us-2"]), &["a"]),
        ("none of the zones in", expression(Zone, NotIn, &["eu-2"]), &["b", "c"]),
        ("zones exist", expression(Zone, Exists, &[]), &["a", "b"]),
        ("zones do not exist", expression(Zone, DoesNotExist, &[]), &["c"]),
        ("a field that no cluster has, in", expression(Nothing, In, &["x"]), &[]),
        (
            "a field that no cluster has, not in",
            expression(Nothing, NotIn, &["x"]),
            &["a", "b", "c"],
        ),
    ];
    for (name, affinity, expected) in cases {
        assert_eq!(feasible(&fleet().affinity(affinity)), expected, "{name}");
    }
}

#[test]
fn without_affinity_every_cluster_passes() {
    assert_eq!(feasible(&fleet()), ["a", "b", "c"]);
}

#[test]
fn a_cluster_of_the_last_result_is_not_exempt() {
    let scenario = fleet()
        .cluster(ClusterBuilder::new("d").last(5))
        .affinity(label(ExpressionOperator::In, &["gold"]));
    assert_eq!(feasible(&scenario), ["a"]);
}

#[test]
fn one_of_several_affinities_is_enough() {
    let gold = label(ExpressionOperator::In, &["gold"]);
    let silver = label(ExpressionOperator::In, &["silver"]);
    assert_eq!(feasible(&fleet().affinity(gold.clone()).affinity(silver)), ["a", "b"]);
    assert_eq!(
        feasible(&fleet().affinity(gold).affinity(AffinityRecord::default())),
        ["a", "b", "c"]
    );
}

proptest! {
    #[test]
    fn several_affinities_match_what_any_of_them_matches(
        affinities in prop::collection::vec((prop::collection::vec(0..5_usize, 0..4), 0..4_usize, 0..3_usize), 1..4),
    ) {
        use ExpressionOperator::{DoesNotExist, In, NotIn};
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "gone"];
        let affinities: Vec<AffinityRecord> = affinities
            .into_iter()
            .map(|(chosen, operator, value)| {
                let mut affinity = match operator {
                    3 => AffinityRecord::default(),
                    operator => label([In, NotIn, DoesNotExist][operator], &[["gold", "silver", "iron"][value]]),
                };
                affinity.cluster_names = chosen.into_iter().map(|name| NAMES[name].to_owned()).collect();
                affinity
            })
            .collect();
        let mut all = fleet();
        let mut expected: Vec<String> = Vec::new();
        for affinity in affinities {
            expected.extend(feasible(&fleet().affinity(affinity.clone())));
            all = all.affinity(affinity);
        }
        expected.sort();
        expected.dedup();
        prop_assert_eq!(feasible(&all), expected);
    }
}
