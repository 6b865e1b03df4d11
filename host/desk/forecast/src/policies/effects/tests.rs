//! What Karmada's other objects do to results, each with the cases in which they do nothing.

use divvy_karmada::api::{Cluster, FederatedResourceQuota, OverridePolicy, PropagationPolicy, Resource, TypeMeta};
use divvy_karmada::api::{ObjectMeta, ResourceBinding};
use divvy_karmada::detector::{Detected, Detector};
use divvy_karmada::workloads::{Demand, WorkloadKinds, WorkloadResource};
use serde_json::{Value, json};

use super::{Beside, Expected, Surroundings, effects, notes};
use crate::policies::document::Finding;

/// Objects of one input.
#[derive(Default)]
struct Input {
    policies: Vec<PropagationPolicy>,
    workloads: Vec<WorkloadResource>,
    bindings: Vec<ResourceBinding>,
    clusters: Vec<Cluster>,
    overrides: Vec<OverridePolicy>,
    quotas: Vec<FederatedResourceQuota>,
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object")
}

impl Input {
    /// A Deployment of 3 replicas with 1 CPU each, its policy with this specification, and clusters `m1` and `m2`.
    fn of(placement: Value) -> Self {
        let policy = read(json!({
            "kind": "PropagationPolicy",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}], "placement": placement},
        }));
        let mut input = Self {
            policies: vec![policy],
            clusters: ["m1", "m2"]
                .iter()
                .map(|name| read(json!({"kind": "Cluster", "metadata": {"name": name}})))
                .collect(),
            ..Self::default()
        };
        input.workload("web", 3);
        input
    }

    fn divided() -> Self {
        Self::of(
            json!({"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}}),
        )
    }

    fn workload(&mut self, name: &str, replicas: i32) {
        let type_meta = TypeMeta {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
        };
        let metadata: ObjectMeta = read(json!({"name": name, "namespace": "shop", "labels": {"app": name}}));
        let demand = Demand {
            replicas,
            requirements: Some(read(json!({"resourceRequest": {"cpu": "1", "memory": "1Gi"}}))),
            ..Demand::default()
        };
        self.workloads.push(WorkloadResource {
            resource: Resource::new(type_meta, metadata, &json!({"spec": {"replicas": replicas}})),
            demand: Some(demand),
        });
    }

    /// The workload `web` runs on `m1` already, with this many replicas.
    fn running(&mut self, replicas: i32) {
        self.bindings.push(read(json!({
            "kind": "ResourceBinding",
            "metadata": {"name": "web-deployment", "namespace": "shop"},
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                "replicas": replicas, "clusters": [{"name": "m1", "replicas": replicas}]},
        })));
    }

    fn quota(&mut self, overall: Value, used: Value) {
        self.quotas.push(read(
            json!({"kind": "FederatedResourceQuota", "metadata": {"name": "q", "namespace": "shop"},
            "spec": {"overall": overall}, "status": {"overallUsed": used}}),
        ));
    }

    fn overriding(&mut self, kind: &str, namespace: &str, spec: Value) {
        self.overrides.push(read(
            json!({"kind": kind, "metadata": {"name": "o", "namespace": namespace}, "spec": spec}),
        ));
    }

    fn findings(&self) -> Vec<Finding> {
        let mut detector = Detector::new(WorkloadKinds::default());
        self.policies
            .iter()
            .for_each(|policy| detector.apply_policy(policy.clone(), None));
        self.bindings
            .iter()
            .for_each(|binding| detector.apply_binding(binding.clone(), None));
        self.workloads
            .iter()
            .for_each(|workload| detector.apply_resource(workload.clone(), None));
        let Detected { bindings, .. } = detector.detect();
        fn located<T>(list: &[T]) -> Vec<(&T, String)> {
            list.iter().map(|one| (one, "f.yaml:1".to_owned())).collect()
        }
        effects(&Surroundings {
            beside: &Beside {
                clusters: located(&self.clusters),
                overrides: located(&self.overrides),
                quotas: located(&self.quotas),
            },
            policies: &located(&self.policies),
            bindings: &bindings,
            labels: &|_| None,
            expected: &|index| Expected::least(&bindings[index]),
        })
    }

    #[track_caller]
    fn check(&self, expected: &[&str]) {
        let found = self.findings();
        let texts: Vec<String> = found
            .iter()
            .map(|finding| {
                assert_eq!(finding.source.as_deref(), Some("f.yaml:1"));
                format!(
                    "{} {} {} {:?}",
                    finding.code.word(),
                    finding.object,
                    finding.message,
                    finding.names
                )
            })
            .collect();
        assert_eq!(texts, expected);
    }
}

const REFUSED: &str = "with Karmada's feature gate FederatedQuotaEnforcement, the result of 1 binding is refused";

#[test]
fn a_quota_refuses_results_by_the_rule_of_the_webhook() {
    let exceeded = |amounts: &str, binding: &str| {
        format!(
            "quota-exceeded FederatedResourceQuota shop/q would be exceeded, by {amounts}: {REFUSED} [\"shop/{binding}-deployment\"]"
        )
    };
    for (overall, used, expected) in [
        // 25.5 of 30 CPUs are used, and 3 more fit.
        (json!({"cpu": "30"}), json!({"cpu": "25500m"}), None),
        (
            json!({"cpu": "28"}),
            json!({"cpu": "25500m"}),
            Some("28500m of 28 `cpu`"),
        ),
        (json!({"cpu": "28500m"}), json!({"cpu": "25500m"}), None),
        (json!({"memory": "2Gi"}), json!({}), Some("3221225472 of 2Gi `memory`")),
        // A resource that the quota does not limit.
        (json!({"example.com/gpu": "0"}), json!({"cpu": "100"}), None),
        (json!({}), json!({}), None),
    ] {
        let mut input = Input::divided();
        input.quota(overall.clone(), used);
        let expected: Vec<String> = expected.iter().map(|amounts| exceeded(amounts, "web")).collect();
        let found = input.findings();
        let texts = found.iter().map(|finding| {
            format!(
                "{} {} {} {:?}",
                finding.code.word(),
                finding.object,
                finding.message,
                finding.names
            )
        });
        assert_eq!(texts.collect::<Vec<_>>(), expected, "{overall}");
    }
    // Results that are taken count for the next, in the order of names.
    let mut input = Input::divided();
    input.workload("api", 2);
    input.quota(json!({"cpu": "4"}), json!({}));
    input.check(&[&exceeded("5 of 4 `cpu`", "web")]);
    // A binding of another namespace does not count, and one that stays as it is is not written.
    let mut input = Input::divided();
    input.running(3);
    input.quota(json!({"cpu": "2"}), json!({"cpu": "3"}));
    input.check(&["quota-exceeded FederatedResourceQuota shop/q is exceeded: 3 of 2 `cpu` are used []"]);
    // Every cluster of a duplicated binding takes all replicas.
    let mut input = Input::of(json!({}));
    input.running(2);
    input.quota(json!({"cpu": "3"}), json!({}));
    input.check(&[]);
}

#[test]
fn an_override_of_replicas_is_named_with_its_clusters_and_workloads() {
    let on = |target: Value, path: &str, operator: &str, value: Value| {
        json!({"overrideRules": [{"targetCluster": target, "overriders":
            {"plaintext": [{"path": path, "operator": operator, "value": value}]}}]})
    };
    let all = |path: &str, value: Value| on(Value::Null, path, "replace", value);
    let found = "after scheduling: 1 binding runs another number than its result has [\"shop/web-deployment\"]";
    for (kind, namespace, spec, expected) in [
        (
            "ClusterOverridePolicy",
            "",
            all("/spec/replicas", json!(0)),
            Some("ClusterOverridePolicy o sets `/spec/replicas` to 0 on every cluster"),
        ),
        (
            "OverridePolicy",
            "shop",
            on(json!({"clusterNames": ["m2"]}), "/spec/replicas", "replace", json!(1)),
            Some("OverridePolicy shop/o sets `/spec/replicas` to 1 on `m2`"),
        ),
        (
            "OverridePolicy",
            "shop",
            on(Value::Null, "/spec/replicas", "remove", Value::Null),
            Some("OverridePolicy shop/o removes `/spec/replicas` on every cluster"),
        ),
        (
            "OverridePolicy",
            "shop",
            json!({"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "labelSelector": {"matchLabels": {"app": "web"}}}],
                "targetCluster": {"clusterNames": ["m1"]}, "overriders": {"plaintext": [{"path": "/spec/replicas", "operator": "add", "value": 9}]}}),
            Some("OverridePolicy shop/o sets `/spec/replicas` to 9 on `m1`"),
        ),
        (
            "OverridePolicy",
            "shop",
            all("/spec/template/spec/replicas", json!(0)),
            None,
        ),
        ("OverridePolicy", "shop", all("/spec/paused", json!(true)), None),
        ("OverridePolicy", "other", all("/spec/replicas", json!(0)), None),
        (
            "OverridePolicy",
            "shop",
            on(json!({"clusterNames": ["m9"]}), "/spec/replicas", "replace", json!(0)),
            None,
        ),
        (
            "OverridePolicy",
            "shop",
            json!({"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}],
                "overrideRules": [{"overriders": {"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 0}]}}]}),
            None,
        ),
    ] {
        let mut input = Input::divided();
        input.overriding(kind, namespace, spec.clone());
        let found = expected.map(|expected| format!("overridden-replicas {expected}, {found}"));
        input.check(&found.iter().map(String::as_str).collect::<Vec<_>>());
    }
    // Clusters that the binding is not on, and a number that each copy of a duplicated binding has anyway.
    let mut input = Input::divided();
    input.running(3);
    input.overriding(
        "OverridePolicy",
        "shop",
        on(json!({"clusterNames": ["m2"]}), "/spec/replicas", "replace", json!(1)),
    );
    input.check(&[]);
    let mut input = Input::of(json!({}));
    input.overriding("OverridePolicy", "shop", all("/spec/replicas", json!(3)));
    input.check(&[]);
}

#[test]
fn suspended_dispatching_names_the_results_that_are_not_applied() {
    let suspended = |clusters: &str| {
        format!(
            "suspended PropagationPolicy shop/web suspends dispatching to {clusters}: the result of 1 binding is not applied there \
             [\"shop/web-deployment\"]"
        )
    };
    for (suspension, expected) in [
        (json!({"dispatching": true}), Some("every cluster")),
        (
            json!({"dispatchingOnClusters": {"clusterNames": ["m1", "m2"]}}),
            Some("`m1`, `m2`"),
        ),
        // The binding is on another cluster.
        (json!({"dispatchingOnClusters": {"clusterNames": ["m2"]}}), None),
        (json!({"dispatching": false}), None),
    ] {
        let mut input = Input::divided();
        input.running(3);
        input.policies[0].spec.suspension = Some(read(suspension));
        let expected: Vec<String> = expected.iter().map(|clusters| suspended(clusters)).collect();
        input.check(&expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn a_policy_waits_for_the_overrides_that_it_names() {
    let mut input = Input::divided();
    input.policies[0].spec.dependent_overrides = vec!["o".to_owned(), "music".to_owned()];
    // One of the same name that is cluster-scoped, or in another namespace, does not count.
    input.overriding("ClusterOverridePolicy", "", json!({}));
    input.overriding("OverridePolicy", "other", json!({}));
    let missing = |names: &str| {
        format!(
            "missing-override PropagationPolicy shop/web waits for override policies in `dependentOverrides` that the input lacks: until \
             they exist, Karmada applies the policy to nothing (1 binding depends on it here) [{names}]"
        )
    };
    input.check(&[&missing("\"OverridePolicy shop/o\", \"OverridePolicy shop/music\"")]);
    input.overriding("OverridePolicy", "shop", json!({}));
    input.check(&[&missing("\"OverridePolicy shop/music\"")]);
}

#[test]
fn a_cluster_is_full_by_models_only_if_its_summary_has_room_for_a_binding_that_counts_it() {
    let cluster = |cpu: &str, nodes: i64| -> Cluster {
        read(json!({"kind": "Cluster", "metadata": {"name": "m1"},
            "spec": {"resourceModels": [
                {"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "1"}, {"name": "memory", "min": "0", "max": "1Gi"}]},
                {"grade": 1, "ranges": [{"name": "cpu", "min": "1", "max": "9"}, {"name": "memory", "min": "1Gi", "max": "9Gi"}]}]},
            "status": {"resourceSummary": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "100"},
                "allocatableModelings": [{"grade": 0, "count": 5}, {"grade": 1, "count": nodes}]}}}))
    };
    let full = "full-by-models Cluster m1 is full for 1 binding by its resource models: \
                `status.resourceSummary.allocatableModelings` counts no node that is large enough, though the summary has room \
                [\"shop/web-deployment\"]";
    for (input, cluster, expected) in [
        (Input::divided(), cluster("64", 0), Some(full)),
        (Input::divided(), cluster("64", 1), None),
        (Input::divided(), cluster("500m", 0), None),
        (Input::of(json!({})), cluster("64", 0), None),
    ] {
        let mut input = input;
        input.clusters = vec![cluster];
        input.check(&expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_note_says_each_kind_once() {
    let mut input = Input::divided();
    for name in ["a", "b", "c"] {
        input.overriding(
            "ClusterOverridePolicy",
            "",
            json!({"overrideRules": [{"overriders": {"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 7}]}}]}),
        );
        input.overrides.last_mut().expect("it was added").metadata.name = name.to_owned();
    }
    assert_eq!(
        notes(&input.findings()),
        [
            "ClusterOverridePolicy a (f.yaml:1) sets `/spec/replicas` to 7 on every cluster, after scheduling: 1 binding runs another number than \
          its result has: shop/web-deployment; and 2 more like it, which `divvy policies` lists"
        ]
    );
}
