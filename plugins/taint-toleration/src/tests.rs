//! Named cases, and a comparison with Kubernetes' rule over strings.

use divvy_framework::binding::{Toleration, TolerationOperator};
use divvy_framework::clusters::TaintEffect;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::TaintToleration;

const EFFECTS: [TaintEffect; 3] = [
    TaintEffect::NoSchedule,
    TaintEffect::NoExecute,
    TaintEffect::PreferNoSchedule,
];

fn toleration<'a>(key: &'a str, operator: TolerationOperator, value: &'a str, effect: TaintEffect) -> Toleration<'a> {
    Toleration::new(key, operator, value, effect)
}

fn one_cluster(key: &str, value: &str, effect: TaintEffect) -> Scenario {
    Scenario::new().cluster(ClusterBuilder::new("a").taint(key, value, effect))
}

/// Reason for rejecting the only cluster; `None` if it passes.
fn reason(scenario: &Scenario) -> Option<String> {
    let (feasible, rejected) = scenario.filter(&TaintToleration).expect("it filters");
    assert_eq!(scenario.feasible(&TaintToleration), Ok(feasible));
    rejected.into_iter().map(|(_, reason)| reason).next()
}

#[test]
fn the_effect_decides_whether_a_taint_counts() {
    use TaintEffect::{NoExecute, NoSchedule, PreferNoSchedule, Unknown};
    for (effect, expected) in [
        (
            NoSchedule,
            Some("cluster(s) had untolerated taint {gpu=yes:NoSchedule}"),
        ),
        (NoExecute, Some("cluster(s) had untolerated taint {gpu=yes:NoExecute}")),
        (PreferNoSchedule, None),
        (Unknown, None),
    ] {
        assert_eq!(reason(&one_cluster("gpu", "yes", effect)).as_deref(), expected);
    }
}

#[test]
fn a_taint_without_value_is_named_without_one() {
    assert_eq!(
        reason(&one_cluster("gpu", "", TaintEffect::NoSchedule)).as_deref(),
        Some("cluster(s) had untolerated taint {gpu:NoSchedule}")
    );
}

#[test]
fn a_toleration_must_match_in_key_value_and_effect() {
    use TaintEffect::{Any, NoExecute, NoSchedule};
    use TolerationOperator::{Equal, Exists, Unknown};
    let cases = [
        ("equal", toleration("gpu", Equal, "yes", NoSchedule), true),
        ("another value", toleration("gpu", Equal, "no", NoSchedule), false),
        ("no value", toleration("gpu", Equal, "", NoSchedule), false),
        ("another key", toleration("cpu", Equal, "yes", NoSchedule), false),
        ("another effect", toleration("gpu", Equal, "yes", NoExecute), false),
        ("any effect", toleration("gpu", Equal, "yes", Any), true),
        ("exists", toleration("gpu", Exists, "", NoSchedule), true),
        ("exists, with any value", toleration("gpu", Exists, "no", Any), true),
        ("everything", toleration("", Exists, "", Any), true),
        ("no key, but the value", toleration("", Equal, "yes", Any), true),
        ("no key, another value", toleration("", Equal, "no", Any), false),
        (
            "an operator that compares numbers",
            toleration("gpu", Unknown, "yes", Any),
            false,
        ),
    ];
    for (name, toleration, tolerated) in cases {
        let scenario = one_cluster("gpu", "yes", NoSchedule).toleration(toleration);
        assert_eq!(reason(&scenario).is_none(), tolerated, "{name}");
    }
}

#[test]
fn the_reason_names_the_first_taint_that_is_not_tolerated() {
    let scenario = Scenario::new()
        .cluster(
            ClusterBuilder::new("a")
                .taint("soft", "", TaintEffect::PreferNoSchedule)
                .taint("known", "", TaintEffect::NoSchedule)
                .taint("first", "1", TaintEffect::NoExecute)
                .taint("second", "2", TaintEffect::NoSchedule),
        )
        .toleration(toleration("known", TolerationOperator::Exists, "", TaintEffect::Any));
    assert_eq!(
        reason(&scenario).as_deref(),
        Some("cluster(s) had untolerated taint {first=1:NoExecute}")
    );
}

#[test]
fn clusters_of_the_last_result_pass_with_any_number_of_replicas() {
    let tainted = |name| ClusterBuilder::new(name).taint("gpu", "yes", TaintEffect::NoExecute);
    let scenario = Scenario::new()
        .cluster(tainted("a").last(2))
        .cluster(tainted("b").last(0))
        .cluster(tainted("c"))
        .cluster(ClusterBuilder::new("d"));
    assert_eq!(
        scenario.feasible(&TaintToleration).expect("it filters"),
        ["a", "b", "d"]
    );
}

/// Kubernetes' rule over strings.
fn tolerates(toleration: &Toleration<'_>, key: &str, value: &str, effect: TaintEffect) -> bool {
    (toleration.effect == TaintEffect::Any || toleration.effect == effect)
        && (toleration.key.is_empty() || toleration.key == key)
        && match toleration.operator {
            TolerationOperator::Equal => toleration.value == value,
            TolerationOperator::Exists => true,
            _ => false,
        }
}

proptest! {
    #[test]
    fn symbols_decide_like_strings(
        clusters in prop::collection::vec(prop::collection::vec((0..3_usize, 0..3_usize, 0..3_usize), 0..4), 0..8),
        tolerations in prop::collection::vec((0..4_usize, 0..3_usize, 0..4_usize, 0..4_usize), 0..4),
    ) {
        const KEYS: [&str; 4] = ["gpu", "zone", "spot", ""];
        const VALUES: [&str; 4] = ["", "yes", "no", "unheard-of"];
        let tolerations: Vec<Toleration<'_>> = tolerations
            .into_iter()
            .map(|(key, operator, value, effect)| {
                use TolerationOperator::{Equal, Exists, Unknown};
                let effect = EFFECTS.get(effect).copied().unwrap_or(TaintEffect::Any);
                toleration(KEYS[key], [Equal, Exists, Unknown][operator], VALUES[value], effect)
            })
            .collect();
        let mut scenario = Scenario::new();
        for toleration in &tolerations {
            scenario = scenario.toleration(*toleration);
        }
        let mut expected = Vec::new();
        for (index, taints) in clusters.iter().enumerate() {
            let name = format!("member{index}");
            let mut cluster = ClusterBuilder::new(&name);
            let mut fits = true;
            for &(key, value, effect) in taints {
                let (key, value, effect) = (KEYS[key], VALUES[value], EFFECTS[effect]);
                cluster = cluster.taint(key, value, effect);
                fits &= effect == TaintEffect::PreferNoSchedule
                    || tolerations.iter().any(|toleration| tolerates(toleration, key, value, effect));
            }
            scenario = scenario.cluster(cluster);
            if fits {
                expected.push(name);
            }
        }
        prop_assert_eq!(scenario.feasible(&TaintToleration).unwrap(), expected);
    }
}
