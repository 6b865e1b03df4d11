//! Roads to a strategy, in their order, and what is refused on them.

use super::{StrategyContext, StrategySource, nearest_first, resolve_strategy};
use crate::api::{ObjectMeta, Placement};
use crate::strategy::{RuleListName, RuleLists, StrategyRequest};

fn known() -> Vec<String> {
    let names = [
        "Duplicated",
        "StaticWeight",
        "DynamicWeight",
        "Aggregated",
        "Average",
        "Specified",
        "PriorityAggregated",
        "Cheapest",
    ];
    names.map(str::to_owned).to_vec()
}

fn annotated(annotations: &[(&str, &str)]) -> ObjectMeta {
    let annotations = annotations
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ObjectMeta {
        annotations: annotations.collect(),
        ..ObjectMeta::default()
    }
}

/// `strategy (source) rules`, or the error.
fn outcome(placement: &str, binding: &[(&str, &str)], policy: &[(&str, &str)]) -> String {
    let placement: Placement = serde_json::from_str(placement).unwrap();
    let (binding, policy, known) = (annotated(binding), annotated(policy), known());
    let request = resolve_strategy(&StrategyContext {
        placement: &placement,
        binding: Some(&binding),
        policy: Some(&policy),
        total: None,
        replicas: 5,
        known: &known,
        rule_lists: &RuleLists::new(),
        strategy_override: None,
        affinity_groups_as_tiers: false,
    });
    match request {
        Ok(request) => {
            let rules: Vec<_> = request.rules.iter().map(|rule| format!("{:?}", rule.fields)).collect();
            format!("{} ({}) {}", request.strategy, request.source, rules.join(" "))
        }
        Err(error) => error.to_string(),
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
fn what_makes_no_sense_says_so() {
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
fn preferences_that_nobody_reads_are_warned_of() {
    let text = r#"{"replicaScheduling":{"replicaDivisionPreference":"Aggregated","weightPreference":{"staticWeightList":[{"targetCluster":{},"weight":2}]}}}"#;
    let placement: Placement = serde_json::from_str(text).unwrap();
    let known = known();
    let mut context = StrategyContext {
        placement: &placement,
        binding: None,
        policy: None,
        total: None,
        replicas: 1,
        known: &known,
        rule_lists: &RuleLists::new(),
        strategy_override: None,
        affinity_groups_as_tiers: false,
    };
    let warned = |context: &StrategyContext<'_>| -> Vec<String> {
        resolve_strategy(context)
            .unwrap()
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(
        warned(&context),
        ["the strategy `Aggregated` reads no `staticWeightList`; ignored"]
    );
    context.strategy_override = Some("Cheapest");
    assert_eq!(warned(&context), Vec::<String>::new());
    assert_eq!(resolve_strategy(&context).unwrap().rules.len(), 1);
}

#[test]
fn the_nearest_name_comes_first() {
    assert_eq!(nearest_first("static-weight", &known())[0], "StaticWeight");
    assert_eq!(nearest_first("averge", &known())[0], "Average");
}

#[test]
fn sources_print_for_explanations() {
    assert_eq!(StrategySource::Override.to_string(), "asked for by the caller");
}

#[test]
fn what_became_no_rule_is_left_for_the_plugin() {
    let priority =
        r#""clusterPriority":{"preferredPriorityList":[{"targetCluster":{"clusterNames":["a"]},"priority":2}]}"#;
    let counts = r#""specifiedClusters":[{"name":"a","replicas":5}]"#;
    for (strategy, preferences, expected) in [
        ("Specified", format!("{{{counts}}}"), None),
        // A slip beside a known key is the plugin's to refuse, and what another strategy reads is no slip.
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
        (
            "Cheapest",
            r#"{"idcs":[{"name":"r"}]}"#.to_owned(),
            Some(r#"{"idcs":[{"name":"r"}]}"#),
        ),
    ] {
        let metadata = annotated(&[(STRATEGY, strategy), (PREFERENCES, &preferences)]);
        let known = known();
        let request = resolve_strategy(&StrategyContext {
            placement: &Placement::default(),
            binding: Some(&metadata),
            policy: None,
            total: None,
            replicas: 5,
            known: &known,
            rule_lists: &RuleLists::new(),
            strategy_override: None,
            affinity_groups_as_tiers: false,
        });
        let left = request.unwrap().preferences.map(|value| value.to_string());
        assert_eq!(left.as_deref(), expected, "{strategy} {preferences}");
    }
}

/// What becomes of these preferences for a strategy from outside whose plugin declares `costList` with `cost`.
fn declared(preferences: &str) -> Result<StrategyRequest, String> {
    let binding = annotated(&[(STRATEGY, "Cheapest"), (PREFERENCES, preferences)]);
    let known = ["Cheapest".to_owned()];
    let cost = RuleListName {
        list: "costList".to_owned(),
        field: "cost".to_owned(),
    };
    resolve_strategy(&StrategyContext {
        placement: &Placement::default(),
        binding: Some(&binding),
        policy: None,
        total: None,
        replicas: 5,
        known: &known,
        rule_lists: &RuleLists::from([("Cheapest".to_owned(), vec![cost])]),
        strategy_override: None,
        affinity_groups_as_tiers: false,
    })
    .map_err(|error| error.to_string())
}

#[test]
fn a_list_that_a_plugin_from_outside_declares_becomes_rules() {
    let request = declared(
        r#"{"costList":[{"targetCluster":{"clusterNames":["a"]},"cost":3},{"targetCluster":{},"cost":-1}],"ceiling":9}"#,
    )
    .expect("the list is sound");
    assert_eq!(request.rules_key, "costList");
    assert_eq!(request.rules.len(), 2);
    assert_eq!(request.rules[0].target.cluster_names, ["a"]);
    assert_eq!(request.rules[1].fields["cost"], -1);
    assert_eq!(request.rules[1].origin, "`divvy.io/preferences`.costList[1]");
    assert_eq!(request.preferences, Some(serde_json::json!({ "ceiling": 9 })));
}

#[test]
fn a_declared_list_that_makes_no_sense_is_refused_with_its_place() {
    let cases = [
        (
            r#"{"costList":3}"#,
            "`divvy.io/preferences`.costList: expected a list, got 3",
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
            "`divvy.io/preferences`.costList[0].targetCluster: expected a cluster affinity, got 7",
        ),
    ];
    for (preferences, message) in cases {
        assert_eq!(declared(preferences).expect_err("it is refused"), message);
    }
}
