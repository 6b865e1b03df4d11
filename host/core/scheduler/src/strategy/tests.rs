//! Ways to name a strategy, in order of precedence, and invalid requests.

mod printed;

use std::sync::Arc;

use divvy_karmada::detector::{Binding, PolicyFacts};
use divvy_loader::{RuleField, RuleList};
use divvy_spanned::names::nearest_first;

use super::{Declaration, Declarations, StrategyContext, StrategyRequest, StrategySource, resolve_strategy};
use crate::input::PlanInput;

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
        plugin: strategy.to_lowercase(),
        lists: list.into_iter().collect(),
        refuses_priorities: matches!(strategy, "Duplicated" | "Specified"),
        respects_capacity: !matches!(strategy, "Duplicated" | "Specified" | "StaticWeight"),
    }
}

/// The bundled strategies, and one from another plugin.
fn declarations() -> Declarations {
    let strategies = vec![
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
    ];
    Declarations {
        strategies,
        plugins: vec!["windows".to_owned(), "carbon".to_owned()],
    }
}

/// A binding with 5 replicas, and annotations on it and on its policy.
fn binding(placement: &str, own: &[(&str, &str)], policy: &[(&str, &str)]) -> Binding {
    let annotations = |pairs: &[(&str, &str)]| {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    };
    let mut binding = Binding::default();
    binding.object.metadata.annotations = annotations(own);
    binding.object.spec.replicas = Some(5);
    binding.object.spec.placement = Some(Arc::new(serde_json::from_str(placement).unwrap()));
    binding.policy = Some(Arc::new(PolicyFacts {
        annotations: annotations(policy),
        ..PolicyFacts::default()
    }));
    binding
}

fn request(binding: &Binding, strategy_override: Option<&str>) -> Result<StrategyRequest, String> {
    let context = StrategyContext {
        declarations: &declarations(),
        strategy_override,
        affinity_groups_as_tiers: false,
    };
    resolve_strategy(&PlanInput::new(binding), context).map_err(|error| error.to_string())
}

/// The rows `input => expected` of a table. The arrow of a long row begins the next line.
fn rows(table: &str) -> Vec<(&str, &str)> {
    let mut rows = Vec::new();
    let mut long = "";
    for line in table.trim().lines().map(str::trim) {
        match line.split_once("=> ") {
            None => long = line,
            Some(("", expected)) => rows.push((long, expected)),
            Some((input, expected)) => rows.push((input.trim_end(), expected)),
        }
    }
    rows
}

/// `strategy (source) rules`, or the error. The input is a placement, followed by ` | <carrier> <annotation> <value>`
/// for each annotation.
fn outcome(input: &str) -> String {
    let mut parts = input.split(" | ");
    let placement = parts.next().unwrap_or_default();
    let (mut own, mut policy) = (Vec::new(), Vec::new());
    for part in parts {
        match part.splitn(3, ' ').collect::<Vec<_>>().as_slice() {
            ["binding", key, value] => own.push((*key, *value)),
            ["policy", key, value] => policy.push((*key, *value)),
            _ => panic!("not an annotation: {part}"),
        }
    }
    match request(&binding(placement, &own, &policy), None) {
        Ok(request) => {
            let rules: String = request.rules.iter().map(|rule| format!(" {:?}", rule.fields)).collect();
            format!("{} ({}){rules}", request.strategy, request.source)
        }
        Err(error) => error,
    }
}

const STRATEGY: &str = "divvy.io/strategy";
const PREFERENCES: &str = "divvy.io/preferences";

#[test]
fn the_first_road_that_applies_is_taken() {
    for (input, expected) in rows(
        r#"
        {} => Duplicated (`replicaSchedulingType`)
        {"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Aggregated"}}
            => Aggregated (`replicaDivisionPreference`)
        {"replicaScheduling":{"replicaDivisionPreference":"Aggregated","extendReplicaDivisionPreference":"Average"}}
            => Average (`extendReplicaDivisionPreference`)
        {"replicaScheduling":{"replicaSchedulingType":"Duplicated","extendReplicaDivisionPreference":"Average"}}
            => Duplicated (`replicaSchedulingType`)
        {"replicaScheduling":{"weightPreference":{"staticWeightList":[{"targetCluster":{"clusterNames":["a"]},"weight":2}]}}}
            => StaticWeight (`replicaDivisionPreference`) {"weight": 2}
        {"replicaScheduling":{"replicaDivisionPreference":"Weighted","weightPreference":{"dynamicWeight":"AvailableReplicas","staticWeightList":[{"targetCluster":{},"weight":2}]}}}
            => DynamicWeight (`replicaDivisionPreference`)
        {"replicaScheduling":{"replicaSchedulingType":"Duplicated"}} | policy divvy.io/strategy Average
            => Average (the policy's annotation `divvy.io/strategy`)
        {} | binding divvy.io/strategy Aggregated | policy divvy.io/strategy Average
            => Aggregated (the binding's annotation `divvy.io/strategy`)
        {"replicaScheduling":{}} | binding divvy.io/preferences {"specifiedIdcs":[{"name":"r","replicas":5}]}
            => Specified (implied by `specifiedIdcs`) {"replicas": 5}
        {"replicaScheduling":{}} | policy divvy.io/preferences {"idcs":[{"name":"r"}]} => Specified (implied by `idcs`) {"replicas": 5}
        {} | binding divvy.io/strategy Cheapest | binding divvy.io/preferences {"spot":[1,{"a":null}]}
            => Cheapest (the binding's annotation `divvy.io/strategy`)
        "#,
    ) {
        assert_eq!(outcome(input), expected);
    }
}

#[test]
fn what_cannot_be_followed_says_so() {
    for (entry, expected) in rows(
        r#"
        "replicas":2 => no clusters are named: `targetCluster` is missing
        "targetCluster":{"clusterNames":["a"]} => missing: expected `replicas`
        "targetCluster":{"clusterNames":["a"]},"exclude":["b"],"replicas":1 => clusters are named both under `targetCluster` and beside it
        "targetCluster":{"clusterNames":["a"]},"replicas":-1 => expected `replicas` of at least 0, got -1
        "targetCluster":{"clusterNames":["a"]},"replicas":1,"extendFields":{"replicas":2}
            => `replicas` is given twice, as 1 and in `extendFields` as 2
        "#,
    ) {
        let list = format!(r#"{{"staticSpecifyList":[{{{entry}}}]}}"#);
        let scheduling = format!(r#"{{"replicaDivisionPreference":"Specified","specifyPreference":{list}}}"#);
        let found = outcome(&format!(r#"{{"replicaScheduling":{scheduling}}}"#));
        assert_eq!(found, format!("specifyPreference.staticSpecifyList[0]: {expected}"));
    }
    for (input, expected) in rows(
        r#"
        {"clusterPriority":{"preferredPriorityList":[{"targetCluster":{},"priority":1}]},"replicaScheduling":{"replicaDivisionPreference":"Specified"}}
            => clusterPriority: cluster priorities cannot be combined with the strategy `Specified`
        {"clusterPriority":{"preferredPriorityList":[{"targetCluster":{},"priority":0}]},"replicaScheduling":{"replicaDivisionPreference":"Aggregated"}}
            => clusterPriority.preferredPriorityList[0]: expected `priority` of at least 1, got 0
        {"replicaScheduling":{"weightPreference":{"staticWeightList":[{"targetCluster":{},"weight":0}]}}}
            => weightPreference.staticWeightList[0]: expected `weight` of at least 1, got 0
        {"replicaScheduling":{"extendReplicaDivisionPreference":"StaticWeight","extendClusterPreferences":{"extendStaticList":[{"targetCluster":{},"extendFields":{"weight":-1}}]}}}
            => extendClusterPreferences.extendStaticList[0]: expected `weight` of at least 1, got -1
        {} | binding divvy.io/affinity-groups tier => the binding's `divvy.io/affinity-groups`: expected `tiers` or `fallback`, got `tier`
        "#,
    ) {
        assert_eq!(outcome(input), expected);
    }
    for (preferences, expected) in rows(
        r#"
        { => , line 1 of the annotation: not valid JSON: expected a key in quotes, got the end of the input
        {} {} => , line 1 of the annotation: not valid JSON: trailing characters
        {"a":{"b":1,"c":[{"b":1,"b":2}]}} => .a.c[0], line 1 of the annotation: the key `b` is given twice, first on line 1
        [] => : expected an object, got a list
        {"idcs":[],"specifiedClusters":[]} => : `specifiedClusters` and `idcs` cannot both be given
        {"specifiedClusters":{}}
            => .specifiedClusters: expected a list of `{"name": …, "replicas": …}`, got an object
        {"specifiedClusters":[{"name":"a","replicas":"1"}]}
            => .specifiedClusters: [0].replicas: expected a whole number from -9223372036854775808 to 9223372036854775807, got the string "1"
        {"costList":3} => .costList: expected a list of objects with `targetCluster`, got 3
        {"costList":[{"targetCluster":{},"cots":3}]} => .costList[0]: unknown key `cots`, expected `targetCluster` and `cost`
        {"costList":[{"cost":3}]} => .costList[0]: no clusters are named: `targetCluster` is missing
        {"costList":[{"targetCluster":{},"cost":"3"}]} => .costList[0].cost: expected a whole number from -9223372036854775808 to 9223372036854775807, got "3"
        {"costList":[{"targetCluster":7,"cost":3}]} => .costList[0]: targetCluster: expected a mapping, got the number `7`
        "#,
    ) {
        let error = cheapest(preferences).expect_err("it is refused");
        assert_eq!(error, format!("the binding's `divvy.io/preferences`{expected}"));
    }
    let weightless = r#"{"staticWeightList":[{"targetCluster":{},"weight":0}]}"#;
    assert_eq!(
        outcome(&format!(
            "{{}} | binding {STRATEGY} StaticWeight | binding {PREFERENCES} {weightless}"
        )),
        "the binding's `divvy.io/preferences`.staticWeightList[0]: expected `weight` of at least 1, got 0"
    );
}

#[test]
fn a_list_of_another_strategy_is_left_out_with_a_warning() {
    let text = r#"{"replicaScheduling":{"replicaDivisionPreference":"Aggregated","weightPreference":{"staticWeightList":[{"targetCluster":{},"weight":2}]}}}"#;
    let binding = binding(text, &[], &[]);
    for (strategy, name) in [(None, "Aggregated"), (Some("Cheapest"), "Cheapest")] {
        let request = request(&binding, strategy).unwrap();
        let [warning] = request.warnings.as_slice() else {
            panic!("not one warning: {:?}", request.warnings);
        };
        let expected = format!("the strategy `{name}` does not read `staticWeightList`; ignoring it");
        assert_eq!(warning.to_string(), expected);
        assert_eq!(warning.hint.as_deref(), Some("the strategy `StaticWeight` reads it"));
        assert_eq!(request.rules, []);
    }
}

/// Only the strategy that reads a list validates it, and that strategy is not used here.
#[test]
fn a_list_that_is_left_out_is_not_validated() {
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
    assert_eq!(StrategySource::Override.to_string(), "request of the caller");
}

#[test]
fn keys_that_became_no_rule_are_left_for_the_plugin() {
    // The plugin rejects a misspelled key beside a known one. A key that another strategy reads is not misspelled.
    for (input, expected) in rows(
        r#"
        Specified {"specifiedClusters":[{"name":"a","replicas":5}]} => nothing
        Specified {"specifiedClusters":[{"name":"a","replicas":5}],"spares":1} => {"spares":1}
        Average {"specifiedClusters":[{"name":"a","replicas":5}]} => nothing
        Average {"clusterPriority":{"preferredPriorityList":[{"targetCluster":{"clusterNames":["a"]},"priority":2}]}} => nothing
        Average {} => {}
        Cheapest {"clusterPriority":{"preferredPriorityList":[{"targetCluster":{},"priority":2}]},"maximumPrice":1} => {"maximumPrice":1}
        Cheapest {"idcs":[{"name":"r"}]} => nothing
        "#,
    ) {
        let (strategy, preferences) = input.split_once(' ').unwrap();
        let binding = binding("{}", &[(STRATEGY, strategy), (PREFERENCES, preferences)], &[]);
        let left = request(&binding, None).unwrap().preferences;
        assert_eq!(
            left.map_or("nothing".to_owned(), |value| value.to_string()),
            expected,
            "{input}"
        );
    }
}

/// The request that these preferences make of the strategy from another plugin.
fn cheapest(preferences: &str) -> Result<StrategyRequest, String> {
    let own = [(STRATEGY, "Cheapest"), (PREFERENCES, preferences)];
    request(&binding("{}", &own, &[]), None)
}

#[test]
fn a_declared_list_is_read_wherever_a_policy_can_carry_it() {
    let request_of = cheapest(
        r#"{"costList":[{"targetCluster":{"clusterNames":["a"]},"cost":3},{"targetCluster":{},"cost":-1}],"ceiling":9}"#,
    )
    .expect("the list is sound");
    let [first, second] = request_of.rules.as_slice() else {
        panic!("not two rules: {:?}", request_of.rules);
    };
    assert_eq!(
        (first.target.cluster_names.as_slice(), second.fields["cost"]),
        (&["a".to_owned()][..], -1)
    );
    assert_eq!(second.origin, "the binding's `divvy.io/preferences`.costList[1]");
    assert_eq!(request_of.preferences, Some(serde_json::json!({ "ceiling": 9 })));

    for (scheduling, origin) in rows(
        r#"
        "anything":{"costList":[{"targetCluster":{"clusterNames":["a"]},"cost":3}]} => anything.costList[0]
        "extendClusterPreferences":{"extendStaticList":[{"targetCluster":{},"extendFields":{"cost":3}}]}
            => extendClusterPreferences.extendStaticList[0]
        "#,
    ) {
        let placement = format!(r#"{{"replicaScheduling":{{"replicaDivisionPreference":"Cheapest",{scheduling}}}}}"#);
        let request = request(&binding(&placement, &[], &[]), None).expect("the list is sound");
        assert_eq!(
            (request.rules[0].fields["cost"], request.rules[0].origin.as_str()),
            (3, origin)
        );
        assert_eq!(request.warnings, []);
    }
}

#[test]
fn preferences_reach_the_plugin_that_they_name() {
    let own = [("divvy.io/preferences.windows", r#"{"from": 1}"#)];
    let policy = [
        ("divvy.io/preferences.windows", r#"{"from": 2}"#),
        ("divvy.io/preferences.carbon", "{}"),
        ("divvy.io/preferences", r#"{"spread": true}"#),
    ];
    let binding = binding(AVERAGE, &own, &policy);
    let request = request(&binding, None).unwrap();
    let given: Vec<String> = request
        .plugin_preferences
        .iter()
        .map(|given| format!("{} {} {}", given.plugin, given.preferences, given.origin))
        .collect();
    assert_eq!(
        given,
        [
            "carbon {} the policy's `divvy.io/preferences.carbon`",
            "windows {\"from\":1} the binding's `divvy.io/preferences.windows`",
        ]
    );
    assert_eq!(request.preferences.unwrap().to_string(), r#"{"spread":true}"#);
    assert!(request.warnings.is_empty(), "{:?}", request.warnings);
}

/// Preferences that name the strategy's plugin are those of the strategy, lists included.
#[test]
fn preferences_that_name_the_strategys_plugin_are_the_strategys() {
    let list = r#"{"costList": [{"targetCluster": {}, "cost": 3}], "ceiling": 9}"#;
    let cheapest =
        r#"{"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Cheapest"}}"#;
    let request = request(
        &binding(cheapest, &[], &[("divvy.io/preferences.cheapest", list)]),
        None,
    )
    .unwrap();
    assert_eq!(request.rules.len(), 1);
    assert_eq!(request.preferences.unwrap().to_string(), r#"{"ceiling":9}"#);
    assert_eq!(
        request.preferences_origin,
        "the policy's `divvy.io/preferences.cheapest`"
    );
}

#[test]
fn preferences_for_a_plugin_are_refused_with_their_address() {
    let cases = [
        (
            [("divvy.io/preferences.average", "{}"), ("divvy.io/preferences", "{}")].as_slice(),
            "preferences for the plugin `average` are given twice: in PropagationPolicy default/web's \
             `divvy.io/preferences` and in PropagationPolicy default/web's `divvy.io/preferences.average`",
        ),
        (
            &[("divvy.io/preferences.windows", "[1]")],
            "PropagationPolicy default/web's `divvy.io/preferences.windows`: expected an object, got a list",
        ),
        (
            &[("divvy.io/preferences.windows", "{")],
            "PropagationPolicy default/web's `divvy.io/preferences.windows`, line 1 of the annotation: not valid JSON: \
             expected a key in quotes, got the end of the input",
        ),
    ];
    for (policy, expected) in cases {
        let mut binding = binding(AVERAGE, &[], policy);
        let facts = Arc::make_mut(binding.policy.as_mut().unwrap());
        (facts.kind, facts.namespace, facts.name) =
            ("PropagationPolicy".to_owned(), "default".to_owned(), "web".to_owned());
        assert_eq!(request(&binding, None).unwrap_err(), expected, "{policy:?}");
    }
}

#[test]
fn preferences_for_a_plugin_that_takes_no_part_are_ignored_with_a_warning() {
    let policy = [
        ("divvy.io/preferences.duplicated", "not JSON"),
        ("divvy.io/preferences.windos", "not JSON"),
        ("divvy.io/preferences.xyz", "not JSON"),
    ];
    let request = request(&binding(AVERAGE, &[], &policy), None).unwrap();
    assert!(request.plugin_preferences.is_empty());
    let warnings: Vec<String> = request
        .warnings
        .iter()
        .map(|warning| format!("{} {}", warning.message, warning.hint.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(
        warnings,
        [
            "the policy's `divvy.io/preferences.duplicated`: the plugin `duplicated` does not serve the strategy `Average`; \
             ignoring it -",
            "the policy's `divvy.io/preferences.windos`: the profile has no plugin `windos`; ignoring it did you mean \
             `divvy.io/preferences.windows`?",
            "the policy's `divvy.io/preferences.xyz`: the profile has no plugin `xyz`; ignoring it -",
        ]
    );
}

/// A placement that divides with the strategy Average.
const AVERAGE: &str =
    r#"{"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Average"}}"#;
