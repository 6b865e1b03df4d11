//! Every manifest that the proposals print, read exactly as printed.

use super::{StrategyContext, StrategyRequest, StrategySource, declarations, resolve_strategy};
use crate::plan::PlanInput;
use divvy_karmada::detector::Binding;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{ReadOptions, read_text};

const NGINX: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 4\n";

/// The only binding of a manifest, and its request.
#[track_caller]
fn only(text: &str) -> (Binding, StrategyRequest) {
    let mut manifests = read_text("f.yaml", text, &ReadOptions::default());
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    let mut bindings = manifests.detect(WorkloadKinds::default()).bindings;
    assert_eq!(bindings.len(), 1);
    let binding = bindings.remove(0);
    let context = StrategyContext {
        declarations: &declarations(),
        strategy_override: None,
        affinity_groups_as_tiers: false,
    };
    let request = resolve_strategy(&PlanInput::new(&binding), context).expect("the binding can be followed");
    (binding, request)
}

/// The request for a Deployment of 4 replicas under a printed policy.
#[track_caller]
fn printed(policy: &str) -> StrategyRequest {
    let (binding, request) = only(&format!("{NGINX}---\n{policy}"));
    assert_eq!(
        (binding.key().as_str(), binding.replicas()),
        ("default/nginx-deployment", 4)
    );
    request
}

/// Rules in short: targets and fields, one per line.
fn short(request: &StrategyRequest) -> String {
    let rules = request.rules.iter().map(|rule| {
        let target = serde_json::to_string(&rule.target).unwrap();
        format!("{target} {:?}\n", rule.fields)
    });
    rules.collect()
}

/// Cluster priorities of a request, in the order of its entries.
fn priorities(request: &StrategyRequest) -> Vec<i64> {
    request.priorities.iter().map(|(_, priority)| *priority).collect()
}

/// Warnings with their hints, one per line.
fn warnings(request: &StrategyRequest) -> String {
    let all = request.warnings.iter();
    all.map(|warning| format!("{warning}; hint: {}\n", warning.hint.as_deref().unwrap_or("none")))
        .collect()
}

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../../../../tests/fixtures/manifests/", $name, ".yaml"))
    };
}

const BY_NAME: &str = r#"{"clusterNames":["member1"]} {"replicas": 2}
{"clusterNames":["member2"]} {"replicas": 2}
"#;
const BY_REGION: &str = r#"{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["RegionA"]}]}} {"replicas": 2}
{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["RegionB"]}]}} {"replicas": 2}
"#;
const TOTAL: &str = "{} {\"replicas\": 4}\n";

/// The warnings of a list whose clusters are beside an empty `targetCluster`.
fn beside(list: &str) -> String {
    let warning = |(index, name): (usize, &str)| {
        format!(
            "{list}[{index}]: the clusters are beside an empty `targetCluster`; treating them as part of it; \
             hint: write `{{\"targetCluster\":{{\"clusterNames\":[\"{name}\"]}}}}`\n"
        )
    };
    (0..).zip(["member1", "member2"]).map(warning).collect()
}

#[test]
fn specified_solution_one_is_read_as_printed() {
    let request = printed(fixture!("specified-solution-one-clusters"));
    assert_eq!(request.strategy, "Specified");
    assert_eq!(short(&request), BY_NAME);
    assert_eq!(warnings(&request), beside("specifyPreference.staticSpecifyList"));

    let request = printed(fixture!("specified-solution-one-regions"));
    assert_eq!((short(&request).as_str(), request.warnings.len()), (BY_REGION, 2));

    let request = printed(fixture!("specified-solution-one-total"));
    assert_eq!(
        (request.strategy.as_str(), &request.source),
        ("Specified", &StrategySource::ImpliedByTotal)
    );
    assert_eq!(short(&request), TOTAL);
    assert_eq!(
        warnings(&request),
        "`spec.replicas` of a policy without `replicaScheduling` is read as the total of one group of clusters; \
         hint: write `replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Specified}`\n"
    );
}

#[test]
fn specified_solution_two_is_read_as_printed() {
    let request = printed(fixture!("specified-solution-two-clusters"));
    assert_eq!(request.strategy, "Specified");
    assert_eq!(request.source, StrategySource::ExtendReplicaDivisionPreference);
    assert_eq!(short(&request), BY_NAME);
    let expected = format!(
        "the strategy `SpecifiedClusters` is read as `Specified`; hint: write `replicaDivisionPreference: Specified`\n\
         extendClusterPreferences: `staticSpecifyList` is read as `extendStaticList`; \
         hint: write `extendClusterPreferences: {{extendStaticList: […]}}`\n{}",
        beside("extendClusterPreferences.staticSpecifyList")
    );
    assert_eq!(warnings(&request), expected);

    let request = printed(fixture!("specified-solution-two-regions"));
    assert_eq!((short(&request).as_str(), request.warnings.len()), (BY_REGION, 5));
    assert_eq!(
        warnings(&request).lines().nth(2),
        Some(
            "specifyPreference.staticSpecifyList[0]: `extendFields.replicas` belongs to `extendClusterPreferences`; \
             read as `replicas`; hint: write `replicas: 2`"
        )
    );

    let request = printed(fixture!("specified-solution-two-total"));
    assert_eq!(short(&request), TOTAL);
    assert_eq!(
        warnings(&request),
        "the strategy `Regions` is read as `Specified`; hint: write `replicaDivisionPreference: Specified`\n"
    );
}

#[test]
fn specified_solution_three_is_read_as_printed() {
    let request = printed(fixture!("specified-solution-three-clusters"));
    let source = StrategySource::ImpliedByPreferences("specifiedClusters".to_owned());
    assert_eq!((short(&request).as_str(), &request.source), (BY_NAME, &source));
    assert_eq!(
        warnings(&request),
        "the policy's `metadata.annotation` is not a Kubernetes field; treating it as the annotation `divvy.io/preferences`; \
         hint: write `annotations: {divvy.io/preferences: '{\"specifiedClusters\": [{\"name\": \"member1\", \"replicas\": 2}, \
         {\"name\": \"member2\", \"replicas\": 2}]}'}`\n"
    );
    assert_eq!(short(&printed(fixture!("specified-solution-three-regions"))), BY_REGION);
    let total = BY_REGION
        .lines()
        .next()
        .unwrap()
        .replace("]}]}} {\"replicas\": 2}", ",\"RegionB\"]}]}} {\"replicas\": 4}\n");
    assert_eq!(short(&printed(fixture!("specified-solution-three-total"))), total);
}

#[test]
fn the_other_proposals_are_read_as_printed() {
    let workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: foo, namespace: bar}\n";
    let (binding, request) = only(&format!("{workload}---\n{}", fixture!("average-policy")));
    assert_eq!((binding.replicas(), request.strategy.as_str()), (1, "Average"));
    // The first fragment of that proposal has no name and selects nothing.
    let read = read_text("f.yaml", fixture!("average-skeleton"), &ReadOptions::default());
    assert_eq!(
        read.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "f.yaml: document 1, line 3: PropagationPolicy default/(no name): metadata.name: missing: expected a name",
            "f.yaml: document 1, line 5: PropagationPolicy default/(no name): spec.resourceSelectors: expected at least 1 item"
        ]
    );

    // The next elides its selectors with a comment.
    let policy =
        fixture!("priority-policy").replace("#...", "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]");
    let request = printed(&policy);
    assert_eq!(request.strategy, "PriorityAggregated");
    assert_eq!(priorities(&request), [2, 1]);
    assert_eq!(
        short(&request),
        r#"{"clusterNames":["member1","member2"]} {"priority": 2}
{"clusterNames":["member3","member4"]} {"priority": 1}
"#
    );

    let wrap = |placement: &str| {
        let indented: String = placement.lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata:\n  name: p\n  annotations: {{divvy.io/affinity-groups: tiers}}\nspec:\n  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment}}]\n  placement:\n{indented}"
        )
    };
    let request = printed(&wrap(fixture!("priority-implicit-tiers")));
    assert_eq!(
        (request.strategy.as_str(), request.affinity_groups_as_tiers),
        ("Aggregated", true)
    );
    let request = printed(&wrap(fixture!("priority-cluster-priority")));
    assert_eq!(request.strategy, "Aggregated");
    assert_eq!(priorities(&request), [2, 1]);
}
