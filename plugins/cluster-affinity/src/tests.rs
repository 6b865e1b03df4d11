//! Named cases for each part of an affinity, and a comparison of several affinities with each one separately.

use divvy_framework::binding::{SelectorField, SelectorOperator};
use divvy_framework::testing::{AffinityBuilder, ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::{ClusterAffinity, REASON};

/// Three clusters: `a` in eu with two zones, `b` in us with one zone, and `c` without properties.
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

/// Writes an affinity.
type Affinity = Box<dyn Fn(&mut AffinityBuilder)>;

fn names(names: &'static [&str], exclude: &'static [&str]) -> Affinity {
    Box::new(move |affinity| _ = affinity.cluster_names(names).exclude(exclude))
}

fn field(field: SelectorField, operator: SelectorOperator, values: &'static [&str]) -> Affinity {
    Box::new(move |affinity| _ = affinity.field(field, operator, values))
}

fn label_of(key: &'static str, operator: SelectorOperator, values: &'static [&str]) -> Affinity {
    Box::new(move |affinity| _ = affinity.label(key, operator, values))
}

fn label(operator: SelectorOperator, values: &'static [&str]) -> Affinity {
    label_of("tier", operator, values)
}

fn feasible(scenario: &Scenario) -> Vec<String> {
    let (feasible, rejected) = scenario.filter(&ClusterAffinity).expect("it filters");
    assert!(rejected.iter().all(|(_, reason)| reason == REASON));
    assert_eq!(scenario.feasible(&ClusterAffinity).as_ref(), Ok(&feasible));
    feasible
}

#[test]
fn each_part_of_an_affinity() {
    use SelectorField::{Provider, Region, Unknown, Zone};
    use SelectorOperator::{DoesNotExist, Exists, Gt, In, Lt, NotIn};
    let cases: [(&str, Affinity, &[&str]); 21] = [
        ("an empty one", names(&[], &[]), &["a", "b", "c"]),
        (
            "names, one of them unknown",
            names(&["c", "a", "gone"], &[]),
            &["a", "c"],
        ),
        ("only unknown names", names(&["gone"], &[]), &[]),
        ("an exclusion beats a name", names(&["a", "b"], &["b"]), &["a"]),
        ("label in", label(In, &["gold", "bronze"]), &["a"]),
        ("label not in, or absent", label(NotIn, &["gold"]), &["b", "c"]),
        ("label exists", label(Exists, &[]), &["a", "b"]),
        ("label does not exist", label(DoesNotExist, &[]), &["c"]),
        ("label above", label_of("generation", Gt, &["9"]), &["a"]),
        ("label below", label_of("generation", Lt, &["9"]), &["b"]),
        ("label above a non-number", label_of("generation", Gt, &["x"]), &[]),
        ("region in", field(Region, In, &["eu"]), &["a"]),
        ("region not in, or not set", field(Region, NotIn, &["eu"]), &["b", "c"]),
        ("provider exists", field(Provider, Exists, &[]), &["a", "b"]),
        ("one of the zones in", field(Zone, In, &["eu-2", "us-2"]), &["a"]),
        ("none of the zones in", field(Zone, NotIn, &["eu-2"]), &["b", "c"]),
        ("zones exist", field(Zone, Exists, &[]), &["a", "b"]),
        ("zones do not exist", field(Zone, DoesNotExist, &[]), &["c"]),
        ("a field that no cluster has, in", field(Unknown, In, &["x"]), &[]),
        (
            "a field that no cluster has, not in",
            field(Unknown, NotIn, &["x"]),
            &["a", "b", "c"],
        ),
        (
            "an operator that Kubernetes does not define",
            label(SelectorOperator::Unknown, &["gold"]),
            &[],
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
        .affinity(label(SelectorOperator::In, &["gold"]));
    assert_eq!(feasible(&scenario), ["a"]);
}

#[test]
fn one_of_several_affinities_is_enough() {
    let gold = label(SelectorOperator::In, &["gold"]);
    let silver = label(SelectorOperator::In, &["silver"]);
    assert_eq!(feasible(&fleet().affinity(&gold).affinity(silver)), ["a", "b"]);
    assert_eq!(feasible(&fleet().affinity(gold).affinity(|_| {})), ["a", "b", "c"]);
}

proptest! {
    #[test]
    fn several_affinities_match_what_any_of_them_matches(
        affinities in prop::collection::vec((prop::collection::vec(0..5_usize, 0..4), 0..4_usize, 0..3_usize), 1..4),
    ) {
        use SelectorOperator::{DoesNotExist, In, NotIn};
        const NAMES: [&str; 5] = ["a", "b", "c", "d", "gone"];
        let mut all = fleet();
        let mut expected: Vec<String> = Vec::new();
        for (chosen, operator, value) in affinities {
            let affinity = |affinity: &mut AffinityBuilder| {
                affinity.cluster_names(chosen.iter().map(|&name| NAMES[name]));
                if let Some(&operator) = [In, NotIn, DoesNotExist].get(operator) {
                    affinity.label("tier", operator, [["gold", "silver", "iron"][value]]);
                }
            };
            expected.extend(feasible(&fleet().affinity(affinity)));
            all = all.affinity(affinity);
        }
        expected.sort();
        expected.dedup();
        prop_assert_eq!(feasible(&all), expected);
    }
}
