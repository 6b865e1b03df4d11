//! Ways to name a strategy, in order of precedence, and what is rejected.

mod printed;

use super::{
    Declaration, Declarations, RuleField, RuleList, StrategyContext, StrategyRequest, StrategySource, resolve_strategy,
};
use divvy_documents::names::nearest_first;
use divvy_karmada::api::{ObjectMeta, Placement, ResourceBinding, ResourceBindingSpec};
use divvy_karmada::detector::{Binding, PolicyFacts};

use crate::plan::PlanInput;

/// A strategy, and its list with one required field.
fn declared(strategy: &str, list: Option<(&str, &str, Option<i64>)>) -> Declaration {
    let list = list.map(|(name, field, minimum)| RuleList {
        name: name.to_owned(),
        fields: vec![RuleField {
            name: field.to_owned(),
            minimum,
            required: true,
        }],
        priorities: field == "priority",
    });
    Declaration {
        strategy: strategy.to_owned(),
        lists: list.into_iter().collect(),
        refuses_priorities: matches!(strategy, "Duplicated" | "Specified"),
    }
}

/// The bundled strategies, and one from another plugin.
fn declarations() -> Declarations {
    Declarations(vec![
        declared("Duplicated", None),
        declared("StaticWeight", Some(("staticWeightList", "weight", Some(1)))),
        declared("DynamicWeight", None),
        declared("Aggregated", None),
        declared("Average", None),
        declared("Specified", Some(("staticSpecifyList", "replicas", Some(0)))),
        declared(
            "PriorityAggregated",
            Some(("preferredPriorityList", "priority", Some(1))),
        ),
        declared("Cheapest", Some(("costList", "cost", None))),
    ])
}

/// A binding with 5 replicas, and annotations on it and on its policy.
fn binding(placement: &str, own: &[(&str, &str)], policy: &[(&str, &str)]) -> Binding {
    let annotations = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        pairs.collect()
    };
    let placement: Placement = serde_json::from_str(placement).unwrap();
    Binding {
        object: ResourceBinding {
            metadata: ObjectMeta {
                annotations: annotations(own),
                ..ObjectMeta::default()
            },
            spec: ResourceBindingSpec {
                replicas: Some(5),
                placement: Some(placement),
                ..ResourceBindingSpec::default()
            },
            ..ResourceBinding::default()
        },
        policy: Some(PolicyFacts {
            annotations: annotations(policy),
            ..PolicyFacts::default()
        }),
        source: None,
    }
}

fn request(binding: &Binding, strategy_override: Option<&str>) -> Result<StrategyRequest, String> {
    let context = StrategyContext {
        declarations: &declarations(),
        strategy_override,
        affinity_groups_as_tiers: false,
    };
    resolve_strategy(&PlanInput::new(binding), context).map_err(|error| error.to_string())
}

/// `strategy (source) rules`, or the error.
fn outcome(placement: &str, own: &[(&str, &str)], policy: &[(&str, &str)]) -> String {
    match request(&binding(placement, own, policy), None) {
        Ok(request) => {
            let rules: Vec<_> = request.rules.iter().map(|rule| format!("{:?}", rule.fields)).collect();
            format!("{} ({}) {}", request.strategy, request.source, rules.join(" "))
        }
        Err(error) => error,
    }
}

const STRATEGY: &str = "divvy.io/strategy";
const PREFERENCES: &str = "divvy.io/preferences";

#[test]
fn the_first_road_that_applies_is_taken() {
    let divided =
        r#"{"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Aggregated"}}"#;
    let extended = r#"{"replicaScheduling":{"replicaDivisionPreference":"Aggregated","extendReplicaDivisionPreference":"Average"}}"#;
    let duplicated =
        r#"{"replicaScheduling":{"replicaSchedulingType":"Duplicated","extendReplicaDivisionPreference":"Average"}}"#;
    let weighted = r#"{"replicaScheduling":{"weightPreference":{"staticWeightList":[{"targetCluster":{"clusterNames":["a"]},"weight":2}]}}}"#;
    let dynamic = r#"{"replicaScheduling":{"replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas","staticWeightList":[{"targetCluster":{},"weight":2}]}}}"#;
    for (placement, binding, policy, expected) in [
        ("{}", vec![], vec![], "Duplicated (`replicaSchedulingType`) "),
        (divided, vec![], vec![], "Aggregated (`replicaDivisionPreference`) "),
        (extended, vec![], vec![], "Average (`extendReplicaDivisionPreference`) "),
        (duplicated, vec![], vec![], "Duplicated (`replicaSchedulingType`) "),
        (
            weighted,
            vec![],
            vec![],
            "StaticWeight (`replicaDivisionPreference`) {\"weight\": 2}",
        ),
        (dynamic, vec![], vec![], "DynamicWeight (`replicaDivisionPreference`) "),
        (
            duplicated,
            vec![],
            vec![(STRATEGY, "Average")],
            "Average (the policy's annotation `divvy.io/strategy`) ",
        ),
        (
            duplicated,
            vec![(STRATEGY, "Aggregated")],
            vec![(STRATEGY, "Average")],
            "Aggregated (the binding's annotation `divvy.io/strategy`) ",
        ),
        (
            divided,
            vec![(PREFERENCES, r#"{"specifiedIdcs":[{"name":"r","replicas":5}]}"#)],
            vec![],
            "Specified (implied by `specifiedIdcs`) {\"replicas\": 5}",
        ),
        (
            divided,
            vec![],
            vec![(PREFERENCES, r#"{"idcs":[{"name":"r"}]}"#)],
            "Specified (implied by `idcs`) {\"replicas\": 5}",
        ),
        (
            "{}",
            vec![(STRATEGY, "Cheapest"), (PREFERENCES, r#"{"spot":[1,{"a":null}]}"#)],
            vec![],
            "Cheapest (the binding's annotation `divvy.io/strategy`) ",
        ),
    ] {
        assert_eq!(outcome(placement, &binding, &policy), expected);
    }
}

#[test]
fn what_cannot_be_followed_says_so() {
    let specified = |entries: &str| {
        format!(
            r#"{{"replicaScheduling":{{"replicaDivisionPreference":"Specified","specifyPreference":{{"staticSpecifyList":[{entries}]}}}}}}"#
        )
    };
    let with_priority = |strategy: &str, priority: i64| {
        format!(
            r#"{{"clusterPriority":{{"preferredPriorityList":[{{"targetCluster":{{"clusterNames":["a"]}},"priority":{priority}}}]}},"replicaScheduling":{{"replicaDivisionPreference":"{strategy}"}}}}"#
        )
    };
    let list = "specifyPreference.staticSpecifyList[0]";
    for (placement, expected) in [
        (
            specified(r#"{"replicas":2}"#),
            format!("{list}: no clusters are named: `targetCluster` is missing"),
        ),
        (
            specified(r#"{"targetCluster":{"clusterNames":["a"]}}"#),
            format!("{list}: missing: expected `replicas`"),
        ),
        (
            specified(r#"{"targetCluster":{"clusterNames":["a"]},"exclude":["b"],"replicas":1}"#),
            format!("{list}: clusters are named both under `targetCluster` and beside it"),
        ),
        (
            specified(r#"{"targetCluster":{"clusterNames":["a"]},"replicas":-1}"#),
            format!("{list}: expected `replicas` of at least 0, got -1"),
        ),
        (
            specified(r#"{"targetCluster":{"clusterNames":["a"]},"replicas":1,"extendFields":{"replicas":2}}"#),
            format!("{list}: `replicas` is given twice, as 1 and in `extendFields` as 2"),
        ),
        (
            with_priority("Specified", 1),
            "clusterPriority: cluster priorities cannot be combined with the strategy `Specified`".to_owned(),
        ),
        (
            with_priority("Aggregated", 0),
            "clusterPriority.preferredPriorityList[0]: expected `priority` of at least 1, got 0".to_owned(),
        ),
        (
            r#"{"replicaScheduling":{"weightPreference":{"staticWeightList":[{"targetCluster":{},"weight":0}]}}}"#
                .to_owned(),
            "weightPreference.staticWeightList[0]: expected `weight` of at least 1, got 0".to_owned(),
        ),
    ] {
        assert_eq!(outcome(&placement, &[], &[]), expected);
    }
    for (text, expected) in [
        (
            "{",
            "the binding's `divvy.io/preferences`: not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "[]",
            "the binding's `divvy.io/preferences`: expected an object, got a list",
        ),
        (
            r#"{"idcs":[],"specifiedClusters":[]}"#,
            "the binding's `divvy.io/preferences`: `specifiedClusters` and `idcs` cannot both be given",
        ),
        (
            r#"{"specifiedClusters":{}}"#,
            "the binding's `divvy.io/preferences`.specifiedClusters: expected a list of `{\"name\": …, \"replicas\": …}`, got an object (invalid type: map, expected a sequence)",
        ),
    ] {
        assert_eq!(outcome("{}", &[(PREFERENCES, text)], &[]), expected);
    }
    assert_eq!(
        outcome("{}", &[("divvy.io/affinity-groups", "tier")], &[]),
        "the binding's `divvy.io/affinity-groups`: expected `tiers` or `fallback`, got `tier`"
    );
}

#[test]
fn weights_below_one_are_refused_on_every_road() {
    let extended = r#"{"replicaScheduling":{"extendReplicaDivisionPreference":"StaticWeight","extendClusterPreferences":{"extendStaticList":[{"targetCluster":{},"extendFields":{"weight":-1}}]}}}"#;
    assert_eq!(
        outcome(extended, &[], &[]),
        "extendClusterPreferences.extendStaticList[0]: expected `weight` of at least 1, got -1"
    );
    let preferences = r#"{"staticWeightList":[{"targetCluster":{},"weight":0}]}"#;
    assert_eq!(
        outcome("{}", &[(STRATEGY, "StaticWeight"), (PREFERENCES, preferences)], &[]),
        "the binding's `divvy.io/preferences`.staticWeightList[0]: expected `weight` of at least 1, got 0"
    );
}

#[test]
fn a_list_of_another_strategy_is_left_out_with_a_warning() {
    let text = r#"{"replicaScheduling":{"replicaDivisionPreference":"Aggregated","weightPreference":{"staticWeightList":[{"targetCluster":{},"weight":2}]}}}"#;
    let binding = binding(text, &[], &[]);
    for (strategy, expected) in [
        (
            None,
            "the strategy `Aggregated` does not read `staticWeightList`; ignoring it",
        ),
        (
            Some("Cheapest"),
            "the strategy `Cheapest` does not read `staticWeightList`; ignoring it",
        ),
    ] {
        let request = request(&binding, strategy).unwrap();
        let warnings: Vec<_> = request.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, [expected]);
        let hint = request.warnings[0].hint.as_deref();
        assert_eq!(hint, Some("the strategy `StaticWeight` reads it"));
        assert_eq!(request.rules, []);
    }
}

/// Only the strategy that reads a list validates it, and that strategy is not used here.
#[test]
fn a_list_that_is_left_out_is_not_judged() {
    let preferences = r#"{"staticWeightList":[{"weight":0}]}"#;
    let binding = binding("{}", &[(STRATEGY, "Average"), (PREFERENCES, preferences)], &[]);
    let request = request(&binding, None).expect("the list is left out");
    assert_eq!(request.warnings.len(), 1);
    assert_eq!(request.preferences, None);
}

#[test]
fn the_nearest_name_comes_first() {
    let known = declarations().names();
    assert_eq!(nearest_first("static-weight", &known)[0], "StaticWeight");
    assert_eq!(nearest_first("averge", &known)[0], "Average");
}

#[test]
fn sources_print_for_explanations() {
    assert_eq!(StrategySource::Override.to_string(), "asked for by the caller");
}

#[test]
fn keys_that_became_no_rule_are_left_for_the_plugin() {
    let priority =
        r#""clusterPriority":{"preferredPriorityList":[{"targetCluster":{"clusterNames":["a"]},"priority":2}]}"#;
    let counts = r#""specifiedClusters":[{"name":"a","replicas":5}]"#;
    for (strategy, preferences, expected) in [
        ("Specified", format!("{{{counts}}}"), None),
        // The plugin rejects a misspelled key beside a known one. A key that another strategy reads is not misspelled.
        (
            "Specified",
            format!(r#"{{{counts},"spares":1}}"#),
            Some(r#"{"spares":1}"#),
        ),
        ("Average", format!("{{{counts}}}"), None),
        ("Average", format!("{{{priority}}}"), None),
        ("Average", "{}".to_owned(), Some("{}")),
        (
            "Cheapest",
            format!(r#"{{{priority},"maximumPrice":1}}"#),
            Some(r#"{"maximumPrice":1}"#),
        ),
        ("Cheapest", r#"{"idcs":[{"name":"r"}]}"#.to_owned(), None),
    ] {
        let binding = binding("{}", &[(STRATEGY, strategy), (PREFERENCES, &preferences)], &[]);
        let left = request(&binding, None)
            .unwrap()
            .preferences
            .map(|value| value.to_string());
        assert_eq!(left.as_deref(), expected, "{strategy} {preferences}");
    }
}

/// The request that these preferences make of the strategy from another plugin.
fn cheapest(preferences: &str) -> Result<StrategyRequest, String> {
    request(
        &binding("{}", &[(STRATEGY, "Cheapest"), (PREFERENCES, preferences)], &[]),
        None,
    )
}

#[test]
fn a_declared_list_is_read_wherever_a_policy_can_carry_it() {
    let request_of = cheapest(
        r#"{"costList":[{"targetCluster":{"clusterNames":["a"]},"cost":3},{"targetCluster":{},"cost":-1}],"ceiling":9}"#,
    )
    .expect("the list is sound");
    assert_eq!(request_of.rules.len(), 2);
    assert_eq!(request_of.rules[0].target.cluster_names, ["a"]);
    assert_eq!(request_of.rules[1].fields["cost"], -1);
    assert_eq!(
        request_of.rules[1].origin,
        "the binding's `divvy.io/preferences`.costList[1]"
    );
    assert_eq!(request_of.preferences, Some(serde_json::json!({ "ceiling": 9 })));

    let entry = r#"{"targetCluster":{"clusterNames":["a"]},"cost":3}"#;
    let extension = r#"{"targetCluster":{"clusterNames":["a"]},"extendFields":{"cost":3}}"#;
    for (scheduling, origin) in [
        (
            format!(r#""anything":{{"costList":[{entry}]}}"#),
            "anything.costList[0]",
        ),
        (
            format!(r#""extendClusterPreferences":{{"extendStaticList":[{extension}]}}"#),
            "extendClusterPreferences.extendStaticList[0]",
        ),
    ] {
        let placement = format!(r#"{{"replicaScheduling":{{"replicaDivisionPreference":"Cheapest",{scheduling}}}}}"#);
        let request = request(&binding(&placement, &[], &[]), None).expect("the list is sound");
        assert_eq!(request.rules[0].fields["cost"], 3);
        assert_eq!(request.rules[0].origin, origin);
        assert_eq!(request.warnings, []);
    }
}

#[test]
fn a_malformed_declared_list_is_refused_with_its_place() {
    let cases = [
        (
            r#"{"costList":3}"#,
            "`divvy.io/preferences`.costList: expected a list of objects with `targetCluster`, got 3",
        ),
        (
            r#"{"costList":[{"targetCluster":{},"cots":3}]}"#,
            "`divvy.io/preferences`.costList[0]: unknown key `cots`, expected `targetCluster` and `cost`",
        ),
        (
            r#"{"costList":[{"cost":3}]}"#,
            "`divvy.io/preferences`.costList[0]: no clusters are named: `targetCluster` is missing",
        ),
        (
            r#"{"costList":[{"targetCluster":{},"cost":"3"}]}"#,
            "`divvy.io/preferences`.costList[0].cost: expected an integer of 64 bits, got \"3\"",
        ),
        (
            r#"{"costList":[{"targetCluster":7,"cost":3}]}"#,
            "`divvy.io/preferences`.costList[0]: targetCluster: expected a mapping, got the number `7`",
        ),
    ];
    for (preferences, message) in cases {
        let message = format!("the binding's {message}");
        assert_eq!(cheapest(preferences).expect_err("it is refused"), message);
    }
}
