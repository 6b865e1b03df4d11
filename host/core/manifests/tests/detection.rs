//! From manifests to bindings: merging, skipping, naming.

use divvy_karmada::api::Placement;
use divvy_karmada::detector::{Binding, Detected, Pending, SkipReason};
use divvy_karmada::workloads::{ResourceInterpreter, WorkloadKind, WorkloadKinds};
use divvy_manifests::{ReadOptions, read_text};

const NGINX: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 4\n";

#[track_caller]
fn detected_with(text: &str, workload_kinds: WorkloadKinds) -> Detected {
    let options = ReadOptions {
        workload_kinds: workload_kinds.clone(),
        ..ReadOptions::default()
    };
    let mut manifests = read_text("f.yaml", text, &options);
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    manifests.detect(workload_kinds)
}

#[track_caller]
fn detected(text: &str) -> Detected {
    detected_with(text, WorkloadKinds::default())
}

#[track_caller]
fn only(text: &str) -> Binding {
    let mut bindings = detected(text).bindings;
    assert_eq!(bindings.len(), 1);
    bindings.remove(0)
}

const POLICY: &str = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\nspec:\n  schedulerName: other\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n";

fn binding(spec: &str) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: nginx-deployment, namespace: default, uid: u1}}\nspec:\n  resource: {{apiVersion: apps/v1, kind: Deployment, namespace: default, name: nginx}}\n{spec}"
    )
}

#[test]
fn a_binding_keeps_its_result_and_its_policy_and_workload_win() {
    let input = only(&format!(
        "{NGINX}  template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}\n---\n{POLICY}---\n{}",
        binding("  clusters: [{name: m1, replicas: 3}]\n")
    ));
    assert_eq!((input.object.metadata.uid.as_str(), input.replicas()), ("u1", 4));
    assert_eq!(input.last().collect::<Vec<_>>(), [("m1", 3)]);
    let requirements = input.object.spec.replica_requirements.as_ref();
    let cpu = requirements.and_then(|needs| Some(needs.resource_request.get("cpu")?.milli_value()));
    assert_eq!(cpu, Some(1_000));
    let policy = input.policy.as_ref().map(|policy| policy.object_name().to_string());
    assert_eq!(policy.as_deref(), Some("PropagationPolicy default/p"));
    assert_eq!(input.foreign_scheduler("default-scheduler"), Some("other"));
    assert_eq!(input.foreign_scheduler("other"), None);

    assert_eq!(input.pending, []);

    let own = binding("  replicas: 7\n  placement: {clusterAffinity: {clusterNames: [m9]}}\n");
    let input = only(&own);
    assert_eq!((input.replicas(), input.pending.as_slice()), (7, [].as_slice()));
    let input = only(&format!("{NGINX}---\n{POLICY}---\n{own}"));
    assert_eq!(input.replicas(), 4);
    assert_eq!(input.object.spec.placement.as_deref(), Some(&Placement::default()));
    let replicas = Pending::Replicas {
        binding: 7,
        workload: 4,
    };
    assert_eq!(input.pending, [Pending::Placement, replicas]);
}

#[test]
fn a_lazy_policy_waits_for_its_workload() {
    let placement = |workload: &str| {
        let lazy = POLICY.replace("spec:\n", "spec:\n  activationPreference: Lazy\n");
        let workload = match workload {
            "" => String::new(),
            version => {
                NGINX.replace(
                    "{name: nginx}",
                    &format!("{{name: nginx, uid: u2, resourceVersion: '{version}'}}"),
                ) + "---\n"
            }
        };
        let claim = "uid: u1, labels: {propagationpolicy.karmada.io/permanent-id: x}, \
                     annotations: {propagationpolicy.karmada.io/namespace: default, propagationpolicy.karmada.io/name: p}";
        let own = binding("  placement: {clusterAffinity: {clusterNames: [m9]}}\n").replace("uid: u1", claim);
        let own = own.replace(
            "default, name: nginx}",
            "default, name: nginx, uid: u2, resourceVersion: '7'}",
        );
        let bindings = detected(&format!("{workload}{lazy}---\n{own}")).bindings;
        Placement::clone(&bindings[0].object.spec.placement.clone().unwrap_or_default())
    };
    assert_ne!(placement(""), Placement::default(), "the workload is not in the input");
    assert_ne!(placement("7"), Placement::default(), "the workload did not change");
    assert_eq!(placement("8"), Placement::default());
}

#[test]
fn bindings_that_are_not_scheduled_say_why() {
    let follows = SkipReason::Follows(vec!["default/web-deployment".to_owned()]);
    for (spec, expected) in [
        (
            "suspension: {scheduling: true}",
            Some((SkipReason::Suspended, "scheduling is suspended")),
        ),
        (
            "requiredBy: [{namespace: default, name: web-deployment}]",
            Some((follows, "follows `default/web-deployment`")),
        ),
        ("requiredBy: [{name: x}]\n  placement: {}", None),
        ("suspension: {dispatching: true}\n  placement: {}", None),
    ] {
        let reason = only(&binding(&format!("  {spec}\n"))).skip_reason();
        let text = reason.as_ref().map(ToString::to_string);
        assert_eq!(text.as_deref(), expected.as_ref().map(|expected| expected.1));
        assert_eq!(reason, expected.map(|expected| expected.0));
    }
    let deleting = binding("").replace("uid: u1", "deletionTimestamp: 2026-01-01T00:00:00Z");
    assert_eq!(only(&deleting).skip_reason(), Some(SkipReason::Deleting));
}

#[test]
fn only_a_later_request_is_fresh() {
    for (triggered, scheduled, fresh) in [
        (Some(2), Some(1), true),
        (Some(1), Some(1), false),
        (Some(1), None, false),
        (None, Some(1), false),
    ] {
        let triggered = triggered.map(|day| format!("  rescheduleTriggeredAt: 2026-01-0{day}T00:00:00Z\n"));
        let scheduled = scheduled.map(|day| format!("status: {{lastScheduledTime: 2026-01-0{day}T00:00:00Z}}\n"));
        let spec = [triggered, scheduled].into_iter().flatten().collect::<String>();
        assert_eq!(only(&binding(&spec)).is_fresh(), fresh, "{spec}");
    }
}

#[test]
fn what_nobody_matches_is_said_once() {
    let detected = detected(&format!(
        "{NGINX}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: n}}\n"
    ));
    let names: Vec<_> = detected.unmatched.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Deployment default/nginx", "Namespace n"]);
}

/// Karmada's dependencies distributor takes them along, so that they need no policy of their own.
#[test]
fn what_the_pods_of_a_workload_refer_to_follows_it_if_its_policy_says_so() {
    let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx}\nspec:\n  replicas: 4\n  template: {spec: {serviceAccountName: web, \
               containers: [{envFrom: [{configMapRef: {name: settings}}]}]}}\n";
    let beside = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \
                  settings, namespace: other}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n---\napiVersion: \
                  example.io/v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: other}\n---\napiVersion: v1\nkind: Secret\nmetadata: \
                  {name: settings}\n";
    let taking = POLICY.replace("spec:\n", "spec:\n  propagateDeps: true\n");
    let claim =
        "annotations: {propagationpolicy.karmada.io/namespace: default, propagationpolicy.karmada.io/name: p}, uid: u1";
    let bound = binding("  replicas: 4\n").replace("uid: u1", claim);
    let follows = ["ConfigMap default/settings", "ServiceAccount default/web"];
    for (text, expected) in [
        (format!("{taking}---\n{web}{beside}"), &follows[..]),
        (format!("{taking}---\n{web}{beside}---\n{bound}"), &follows),
        (format!("{POLICY}---\n{web}{beside}"), &[]),
        (format!("{taking}---\n{NGINX}{beside}"), &[]),
    ] {
        let detected = detected(&text);
        let following: Vec<String> = detected.following.iter().map(ToString::to_string).collect();
        assert_eq!(following, expected, "{text}");
        // They still match no policy.
        assert_eq!(detected.unmatched.len(), 5, "{:?}", detected.unmatched);
    }
}

#[test]
fn resources_without_replicas_are_propagated_whole() {
    let policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p}\nspec:\n  resourceSelectors:\n  - {apiVersion: v1, kind: ConfigMap}\n  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}\n  - {apiVersion: example.io/v1, kind: Machine}\n  - {apiVersion: example.io/v1, kind: Fleet}\n";
    let text = format!(
        "{policy}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: 'system:x'}}\n---\napiVersion: example.io/v1\nkind: Machine\nmetadata: {{name: m}}\nspec: {{replicas: 3}}\n---\napiVersion: example.io/v1\nkind: Machine\nmetadata: {{name: m2}}\nspec: {{replicas: 3}}\n---\napiVersion: example.io/v1\nkind: Fleet\nmetadata: {{name: f}}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: fleets.example.io}}\nspec: {{group: example.io, scope: Cluster, names: {{kind: Fleet}}}}\n"
    );
    let found = detected(&text);
    let keys = found.bindings.iter();
    let keys = keys.map(|input| {
        format!(
            "{} {} {}",
            input.object.scope().kind(),
            input.key(),
            input.is_workload()
        )
    });
    assert_eq!(
        keys.collect::<Vec<_>>(),
        [
            "ClusterResourceBinding f-fleet false",
            "ClusterResourceBinding system.x-clusterrole false",
            "ResourceBinding default/c-configmap false",
            "ResourceBinding default/m-machine false",
            "ResourceBinding default/m2-machine false",
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
    let found = detected_with(&text, WorkloadKinds::new(ResourceInterpreter::default(), &[machine]));
    assert_eq!((found.bindings[3].replicas(), found.warnings.len()), (3, 0));
}

#[test]
fn the_order_of_documents_changes_nothing() {
    let documents = [
        NGINX.to_owned(),
        POLICY.to_owned(),
        NGINX.replace("nginx", "web"),
        binding("  replicas: 2\n"),
    ];
    let keys = |order: [usize; 4]| -> Vec<String> {
        let bindings = detected(&order.map(|index| documents[index].as_str()).join("---\n")).bindings;
        bindings
            .iter()
            .map(|input| format!("{} {}", input.key(), input.replicas()))
            .collect()
    };
    let expected = ["default/nginx-deployment 4", "default/web-deployment 4"];
    assert_eq!(keys([0, 1, 2, 3]), expected);
    for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        assert_eq!(keys(order), expected);
    }
}

/// A binding without replicas for a Deployment with 4, made from `version` of it.
fn binding_made_from(version: &str) -> Binding {
    let workload = NGINX.replace("{name: nginx}", "{name: nginx, uid: u2, resourceVersion: '7'}");
    let reference = format!("namespace: default, name: nginx, uid: u2, resourceVersion: '{version}'}}");
    let binding = binding("  placement: {}\n").replace("namespace: default, name: nginx}", &reference);
    only(&format!("{workload}---\n{binding}"))
}

#[test]
fn a_binding_in_step_with_its_workload_lacks_nothing() {
    assert_eq!(binding_made_from("7").replicas(), 0);
    assert_eq!(binding_made_from("6").replicas(), 4);
}

#[test]
fn resources_in_reserved_namespaces_get_no_binding() {
    for (namespace, expected) in [
        ("kube-system", 0),
        ("kube-public", 0),
        ("karmada-system", 0),
        ("karmada-cluster", 0),
        ("karmada-es-m1", 0),
        ("karmada", 1),
        ("kubernetes", 1),
    ] {
        let workload = NGINX.replace("{name: nginx}", &format!("{{name: nginx, namespace: {namespace}}}"));
        let policy = POLICY.replace("PropagationPolicy", "ClusterPropagationPolicy");
        let found = detected(&format!("{workload}---\n{policy}"));
        assert_eq!(found.bindings.len(), expected, "{namespace}");
        assert!(found.unmatched.is_empty(), "{namespace}");
    }
}

#[test]
fn a_cluster_that_reports_nodes_by_model_gets_the_default_models() {
    let read = |status: &str| {
        let text = format!(
            "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: m1}}\nstatus: {{resourceSummary: {{{status}}}}}\n"
        );
        let mut manifests = read_text("f.yaml", &text, &ReadOptions::default());
        manifests.clusters.remove(0).object.spec.resource_models
    };
    assert!(read("allocatable: {cpu: 4}").is_empty());
    let models = read("allocatableModelings: [{grade: 2, count: 3}]");
    assert_eq!(models.len(), 9);
    let ranges: Vec<_> = models[2]
        .ranges
        .iter()
        .map(|range| (range.min.value(), range.max.value()))
        .collect();
    assert_eq!((models[2].grade, ranges), (2, vec![(2, 4), (16 << 30, 32 << 30)]));
    let last: Vec<_> = models[8]
        .ranges
        .iter()
        .map(|range| (range.min.value(), range.max.value()))
        .collect();
    assert_eq!(last, [(128, i64::MAX), (1 << 40, i64::MAX)]);
}
