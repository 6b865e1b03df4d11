//! From manifests to inputs: merging, skipping, naming, and every manifest that the proposals print.

use super::{BindingInput, ResolveOptions, Resolved, SkipReason, resolve};
use crate::manifests::{ReadOptions, read_text};
use crate::strategy::{StrategyError, StrategyRequest, StrategySource};
use crate::workloads::{WorkloadKind, WorkloadKinds};

const NGINX: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 4\n";

fn options() -> ResolveOptions {
    let known = [
        "Duplicated",
        "StaticWeight",
        "DynamicWeight",
        "Aggregated",
        "Average",
        "Specified",
        "PriorityAggregated",
    ];
    ResolveOptions {
        known_strategies: known.map(str::to_owned).to_vec(),
        ..ResolveOptions::default()
    }
}

#[track_caller]
fn resolved_with(text: &str, options: &ResolveOptions) -> Resolved {
    let read_options = ReadOptions {
        workload_kinds: options.workload_kinds.clone(),
        ..ReadOptions::default()
    };
    let resolved = resolve(read_text("f.yaml", text, &read_options), options);
    assert!(resolved.problems.is_empty(), "{:?}", resolved.problems);
    resolved
}

#[track_caller]
fn resolved(text: &str) -> Resolved {
    resolved_with(text, &options())
}

#[track_caller]
fn only(text: &str) -> BindingInput {
    let mut bindings = resolved(text).bindings;
    assert_eq!(bindings.len(), 1);
    bindings.remove(0)
}

/// The request for a Deployment of 4 replicas under a printed policy.
#[track_caller]
fn printed(policy: &str) -> StrategyRequest {
    let input = only(&format!("{NGINX}---\n{policy}"));
    assert_eq!((input.key().as_str(), input.replicas), ("default/nginx-deployment", 4));
    input.strategy.unwrap()
}

/// Rules in short: targets and fields.
fn short(request: &StrategyRequest) -> Vec<String> {
    let rules = request.rules.iter().map(|rule| {
        let target = serde_json::to_string(&rule.target).unwrap();
        format!("{target} {:?}", rule.fields)
    });
    rules.collect()
}

fn warnings(request: &StrategyRequest) -> Vec<String> {
    let all = request.warnings.iter();
    all.map(|warning| format!("{warning}; hint: {}", warning.hint.as_deref().unwrap_or("none")))
        .collect()
}

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/manifests/", $name, ".yaml"))
    };
}

const BY_NAME: [&str; 2] = [
    r#"{"clusterNames":["member1"]} {"replicas": 2}"#,
    r#"{"clusterNames":["member2"]} {"replicas": 2}"#,
];
const BY_REGION: [&str; 2] = [
    r#"{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["RegionA"]}]}} {"replicas": 2}"#,
    r#"{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["RegionB"]}]}} {"replicas": 2}"#,
];

fn beside(list: &str, index: usize, target: &str) -> String {
    format!(
        "{list}[{index}]: the clusters stand beside an empty `targetCluster`; read as if they stood under it; \
         hint: write `{{\"targetCluster\":{target}}}`"
    )
}

#[test]
fn specified_solution_one_is_read_as_printed() {
    let list = "specifyPreference.staticSpecifyList";
    let request = printed(fixture!("specified-solution-one-clusters"));
    assert_eq!(
        (request.strategy.as_str(), request.rules_key.as_ref()),
        ("Specified", "staticSpecifyList")
    );
    assert_eq!(short(&request), BY_NAME);
    assert_eq!(
        warnings(&request),
        [
            beside(list, 0, r#"{"clusterNames":["member1"]}"#),
            beside(list, 1, r#"{"clusterNames":["member2"]}"#)
        ]
    );

    let request = printed(fixture!("specified-solution-one-regions"));
    assert_eq!(short(&request), BY_REGION);
    assert_eq!(request.warnings.len(), 2);

    let request = printed(fixture!("specified-solution-one-total"));
    assert_eq!(
        (request.strategy.as_str(), request.one_group, request.total),
        ("Specified", true, Some(4))
    );
    assert_eq!(request.source, StrategySource::ImpliedByTotal);
    assert_eq!(short(&request), [r#"{} {"replicas": 4}"#]);
    assert_eq!(
        warnings(&request),
        [
            "`spec.replicas` of a policy without `replicaScheduling` is read as the total of one group of clusters; \
          hint: write `replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Specified}`"
        ]
    );
}

#[test]
fn specified_solution_two_is_read_as_printed() {
    let request = printed(fixture!("specified-solution-two-clusters"));
    assert_eq!(request.strategy, "Specified");
    assert_eq!(request.source, StrategySource::ExtendReplicaDivisionPreference);
    assert_eq!(short(&request), BY_NAME);
    let list = "extendClusterPreferences.staticSpecifyList";
    assert_eq!(
        warnings(&request),
        [
            "the strategy `SpecifiedClusters` is read as `Specified`; hint: write `replicaDivisionPreference: Specified`".to_owned(),
            "extendClusterPreferences: `staticSpecifyList` is read as `extendStaticList`; hint: write `extendClusterPreferences: {extendStaticList: […]}`".to_owned(),
            beside(list, 0, r#"{"clusterNames":["member1"]}"#),
            beside(list, 1, r#"{"clusterNames":["member2"]}"#),
        ]
    );

    let request = printed(fixture!("specified-solution-two-regions"));
    assert_eq!(short(&request), BY_REGION);
    let found = warnings(&request);
    assert_eq!(found.len(), 5);
    assert_eq!(
        found[2],
        "specifyPreference.staticSpecifyList[0]: `extendFields.replicas` belongs to `extendClusterPreferences`; \
         read as `replicas`; hint: write `replicas: 2`"
    );

    let request = printed(fixture!("specified-solution-two-total"));
    assert_eq!((request.one_group, request.total), (true, Some(4)));
    assert_eq!(short(&request), [r#"{} {"replicas": 4}"#]);
    assert_eq!(
        warnings(&request),
        ["the strategy `Regions` is read as `Specified`; hint: write `replicaDivisionPreference: Specified`"]
    );
}

#[test]
fn specified_solution_three_is_read_as_printed() {
    let request = printed(fixture!("specified-solution-three-clusters"));
    assert_eq!(
        request.source,
        StrategySource::ImpliedByPreferences("specifiedClusters".to_owned())
    );
    assert_eq!(short(&request), BY_NAME);
    assert_eq!(
        warnings(&request),
        [
            "the policy's `metadata.annotation` is no field of Kubernetes; read as the annotation `divvy.io/preferences`; \
          hint: write `annotations: {divvy.io/preferences: '{\"specifiedClusters\": [{\"name\": \"member1\", \"replicas\": 2}, {\"name\": \"member2\", \"replicas\": 2}]}'}`"
        ]
    );
    let request = printed(fixture!("specified-solution-three-regions"));
    assert_eq!(short(&request), BY_REGION);
    let request = printed(fixture!("specified-solution-three-total"));
    assert_eq!((request.one_group, request.total), (true, Some(4)));
    assert_eq!(
        short(&request),
        [
            r#"{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["RegionA","RegionB"]}]}} {"replicas": 4}"#
        ]
    );
}

#[test]
fn the_other_proposals_are_read_as_printed() {
    let workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: foo, namespace: bar}\n";
    let input = only(&format!("{workload}---\n{}", fixture!("average-policy")));
    assert_eq!(
        (input.replicas, input.strategy.unwrap().strategy.as_str()),
        (1, "Average")
    );
    // The first fragment of that proposal has no name.
    let read = read_text("f.yaml", fixture!("average-skeleton"), &ReadOptions::default());
    assert_eq!(
        read.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["f.yaml: document 1, line 3: PropagationPolicy default/(no name): metadata.name: missing: expected a name"]
    );

    // The next elides its selectors with a comment.
    let policy =
        fixture!("priority-policy").replace("#...", "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]");
    let request = printed(&policy);
    assert_eq!(
        (request.strategy.as_str(), request.rules_key.as_ref()),
        ("PriorityAggregated", "preferredPriorityList")
    );
    assert_eq!(
        short(&request),
        [
            r#"{"clusterNames":["member1","member2"]} {"priority": 2}"#,
            r#"{"clusterNames":["member3","member4"]} {"priority": 1}"#
        ]
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
    let tiers = request.cluster_priority.unwrap_or_default();
    assert_eq!(request.strategy, "Aggregated");
    assert_eq!(
        tiers.iter().map(|rule| rule.fields["priority"]).collect::<Vec<_>>(),
        [2, 1]
    );
}

const POLICY: &str = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\nspec:\n  schedulerName: other\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n";

fn binding(spec: &str) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: nginx-deployment, namespace: default, uid: u1}}\nspec:\n  resource: {{apiVersion: apps/v1, kind: Deployment, namespace: default, name: nginx}}\n{spec}"
    )
}

#[test]
fn a_binding_is_the_truth_and_its_workload_supplies_the_rest() {
    let input = only(&format!(
        "{NGINX}  template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}\n---\n{POLICY}---\n{}",
        binding("  clusters: [{name: m1, replicas: 3}]\n")
    ));
    assert_eq!((input.uid.as_str(), input.replicas), ("u1", 4));
    assert_eq!(input.last, [("m1".to_owned(), 3)]);
    let cpu = input
        .requirements
        .map(|needs| needs.resource_request["cpu"].milli_value());
    assert_eq!(cpu, Some(1_000));
    assert_eq!(input.policy.as_deref(), Some("PropagationPolicy default/p"));
    assert!(input.is_foreign);

    let input = only(&format!("{NGINX}---\n{}", binding("  replicas: 7\n  placement: {}\n")));
    assert_eq!(input.replicas, 7);
}

#[test]
fn bindings_that_are_not_scheduled_say_why() {
    for (spec, reason, text) in [
        (
            "  suspension: {scheduling: true}\n",
            SkipReason::Suspended,
            "scheduling is suspended",
        ),
        (
            "  requiredBy: [{namespace: default, name: web-deployment}]\n",
            SkipReason::Follows(vec!["default/web-deployment".to_owned()]),
            "follows `default/web-deployment`",
        ),
    ] {
        let input = only(&binding(spec));
        assert_eq!(input.skip.as_ref().map(ToString::to_string).as_deref(), Some(text));
        assert_eq!(input.skip, Some(reason));
    }
    let deleting = binding("").replace("uid: u1", "deletionTimestamp: 2026-01-01T00:00:00Z");
    assert_eq!(only(&deleting).skip, Some(SkipReason::Deleting));
    for spec in [
        "  requiredBy: [{name: x}]\n  placement: {}\n",
        "  suspension: {dispatching: true}\n  placement: {}\n",
    ] {
        assert_eq!(only(&binding(spec)).skip, None);
    }
}

#[test]
fn only_a_later_request_is_fresh() {
    for (spec, fresh) in [
        (
            "  rescheduleTriggeredAt: 2026-01-02T00:00:00Z\nstatus: {lastScheduledTime: 2026-01-01T00:00:00Z}\n",
            true,
        ),
        (
            "  rescheduleTriggeredAt: 2026-01-01T00:00:00Z\nstatus: {lastScheduledTime: 2026-01-01T00:00:00Z}\n",
            false,
        ),
        ("  rescheduleTriggeredAt: 2026-01-01T00:00:00Z\n", false),
        ("status: {lastScheduledTime: 2026-01-01T00:00:00Z}\n", false),
    ] {
        assert_eq!(only(&binding(spec)).fresh, fresh, "{spec}");
    }
}

#[test]
fn what_nobody_matches_is_said_once() {
    let resolved = resolved(&format!(
        "{NGINX}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: n}}\n"
    ));
    let names: Vec<_> = resolved.unmatched.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Deployment default/nginx", "Namespace n"]);
}

#[test]
fn resources_without_replicas_are_propagated_whole() {
    let policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p}\nspec:\n  resourceSelectors:\n  - {apiVersion: v1, kind: ConfigMap}\n  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n  - {apiVersion: example.io/v1, kind: Machine}\n  - {apiVersion: example.io/v1, kind: Fleet}\n";
    let text = format!(
        "{policy}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: 'system:x'}}\n---\napiVersion: example.io/v1\nkind: Machine\nmetadata: {{name: m}}\nspec: {{replicas: 3}}\n---\napiVersion: example.io/v1\nkind: Machine\nmetadata: {{name: m2}}\nspec: {{replicas: 3}}\n---\napiVersion: example.io/v1\nkind: Fleet\nmetadata: {{name: f}}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: fleets.example.io}}\nspec: {{group: example.io, scope: Cluster, names: {{kind: Fleet}}}}\n"
    );
    let found = resolved(&text);
    let keys: Vec<_> = found
        .bindings
        .iter()
        .map(|input| (input.kind(), input.key(), input.is_workload()))
        .collect();
    assert_eq!(
        keys,
        [
            ("ClusterResourceBinding", "f-fleet".to_owned(), false),
            ("ClusterResourceBinding", "system.x-clusterrole".to_owned(), false),
            ("ResourceBinding", "default/c-configmap".to_owned(), false),
            ("ResourceBinding", "default/m-machine".to_owned(), false),
            ("ResourceBinding", "default/m2-machine".to_owned(), false),
        ]
    );
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    assert!(found.warnings[0].message.contains("`[[workload]]`"));

    let machine = WorkloadKind {
        api_version: "example.io/v1".to_owned(),
        kind: "Machine".to_owned(),
        replicas: "spec.replicas".to_owned(),
        template: None,
    };
    let with_table = ResolveOptions {
        workload_kinds: WorkloadKinds::new(&[machine]),
        ..options()
    };
    let found = resolved_with(&text, &with_table);
    assert_eq!((found.bindings[3].replicas, found.warnings.len()), (3, 0));
}

#[test]
fn an_error_in_one_binding_leaves_the_others() {
    let policy = POLICY.replace(
        "spec:\n",
        "spec:\n  placement: {replicaScheduling: {replicaDivisionPreference: average}}\n",
    );
    let other = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: q}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Pod}]}\n";
    let found = resolved(&format!("{NGINX}---\n{policy}---\n{other}"));
    let strategies: Vec<_> = found
        .bindings
        .iter()
        .map(|input| input.strategy.as_ref().map(|request| request.strategy.as_str()))
        .collect();
    assert_eq!(strategies[0], Ok("Duplicated"));
    assert!(matches!(strategies[1], Err(StrategyError::Unknown { .. })));
    assert_eq!(
        strategies[1].as_ref().map_err(|error| error.to_string()),
        Err("no loaded plugin serves the strategy `average` (`replicaDivisionPreference`); known strategies, nearest first: \
             `Average`, `Aggregated`, `Specified`, `Duplicated`, `StaticWeight`, `DynamicWeight`, `PriorityAggregated`"
            .to_owned())
            .as_ref()
            .map_err(Clone::clone)
    );
}

#[test]
fn the_order_of_documents_changes_nothing() {
    let documents = [
        NGINX.to_owned(),
        POLICY.to_owned(),
        NGINX.replace("nginx", "web"),
        binding("  replicas: 2\n"),
    ];
    let keys = |order: [usize; 4]| -> Vec<(String, i64)> {
        let text: Vec<&str> = order.iter().map(|index| documents[*index].as_str()).collect();
        resolved(&text.join("---\n"))
            .bindings
            .iter()
            .map(|input| (input.key(), input.replicas))
            .collect()
    };
    let expected = keys([0, 1, 2, 3]);
    assert_eq!(
        expected,
        [
            ("default/nginx-deployment".to_owned(), 2),
            ("default/web-deployment".to_owned(), 4)
        ]
    );
    for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        assert_eq!(keys(order), expected);
    }
}
