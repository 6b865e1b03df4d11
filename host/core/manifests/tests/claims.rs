//! Policies that no longer select what they claimed, lazy policies, and Services of a MultiClusterService.

use divvy_karmada::detector::{Binding, Pending};
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Manifests, ReadOptions, read_text};

/// A policy of one cluster.
fn policy(name: &str, selector: &str, cluster: &str) -> String {
    format!(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {{name: {name}, namespace: shop}}\n\
         spec:\n  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment{selector}}}]\n  \
         placement: {{clusterAffinity: {{clusterNames: [{cluster}]}}}}\n---\n"
    )
}

fn cluster_policy(name: &str, selector: &str, cluster: &str) -> String {
    let policy = policy(name, selector, cluster).replace("kind: Prop", "kind: ClusterProp");
    policy.replace(", namespace: shop}\nspec", "}\nspec")
}

/// Annotations by which a policy claims an object.
fn claim(kind: &str, name: &str) -> String {
    match kind {
        "cluster" => format!("annotations: {{clusterpropagationpolicy.karmada.io/name: {name}}}"),
        _ => format!(
            "annotations: {{propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: {name}}}"
        ),
    }
}

fn workload(metadata: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop, uid: u, {metadata}}}\n\
         spec: {{replicas: 4}}\n---\n"
    )
}

/// The workload's binding, which is on the cluster `m0`.
fn binding(metadata: &str) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: web-deployment, namespace: shop, {metadata}}}\n\
         spec:\n  resource: {{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web, uid: u, resourceVersion: '7'}}\n  \
         replicas: 2\n  placement: {{clusterAffinity: {{clusterNames: [m0]}}}}\n---\n"
    )
}

#[track_caller]
fn read(text: &str) -> Manifests {
    let manifests = read_text("f.yaml", text, &ReadOptions::default());
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    manifests
}

#[track_caller]
fn only(mut manifests: Manifests) -> Binding {
    let mut bindings = manifests.detect(WorkloadKinds::default()).bindings;
    assert_eq!(bindings.len(), 1, "{bindings:?}");
    bindings.remove(0)
}

/// The cluster of the binding's placement, its replicas and its policy.
fn outcome(binding: &Binding) -> (String, i64, Option<String>) {
    let placement = binding.object.spec.placement.as_ref().expect("a placement");
    let affinity = placement.cluster_affinity.as_ref().expect("an affinity");
    let policy = binding.policy.as_ref().map(|policy| policy.name.clone());
    (affinity.cluster_names.join(","), binding.replicas(), policy)
}

#[test]
fn a_policy_gives_up_what_it_no_longer_selects() {
    let by_label = ", labelSelector: {matchLabels: {app: web}}";
    let new = policy("new", ", name: web", "m2");
    let mine = |name: &str| Some(name.to_owned());
    for (kind, policies, with_workload, expected) in [
        ("", policy("old", "", "m1"), true, ("m1", 4, mine("old"))),
        ("", policy("old", ", name: api", "m1"), true, ("m0", 2, None)),
        ("", policy("old", ", name: api", "m1"), false, ("m0", 2, None)),
        (
            "",
            policy("old", ", name: api", "m1") + &new,
            true,
            ("m2", 4, mine("new")),
        ),
        (
            "",
            policy("old", ", name: api", "m1") + &new,
            false,
            ("m2", 2, mine("new")),
        ),
        (
            "cluster",
            cluster_policy("old", ", name: api", "m1") + &new,
            true,
            ("m2", 4, mine("new")),
        ),
        (
            "cluster",
            cluster_policy("old", ", name: api", "m1"),
            false,
            ("m0", 2, None),
        ),
        (
            "cluster",
            cluster_policy("old", ", namespace: other", "m1"),
            true,
            ("m0", 2, None),
        ),
        // Labels of a workload that is not in the input are not known: its claim stays, and no new one is made.
        ("cluster", cluster_policy("old", by_label, "m1"), true, ("m0", 2, None)),
        (
            "cluster",
            cluster_policy("old", by_label, "m1"),
            false,
            ("m1", 2, mine("old")),
        ),
        (
            "",
            policy("old", ", name: api", "m1") + &policy("new", by_label, "m2"),
            false,
            ("m0", 2, None),
        ),
    ] {
        let claim = claim(kind, "old");
        let workload = if with_workload { workload(&claim) } else { String::new() };
        let found = only(read(&format!("{policies}{workload}{}", binding(&claim))));
        let (cluster, replicas, policy) = outcome(&found);
        assert_eq!(
            (cluster.as_str(), replicas, policy),
            expected,
            "{policies}{with_workload}"
        );
    }
}

#[test]
fn an_overlay_that_narrows_a_policy_hands_its_workloads_over() {
    let claim = claim("", "old");
    let dump = policy("old", "", "m0") + &workload(&claim) + &binding(&claim);
    for (overlay, expected) in [
        (policy("old", ", name: api", "m1"), ("m0", 2, None)),
        (
            policy("old", ", name: api", "m0") + &policy("new", ", name: web", "m2"),
            ("m2", 4, Some("new")),
        ),
        (policy("new", ", name: web", "m2"), ("m0", 4, Some("old"))),
    ] {
        let mut manifests = read(&dump);
        manifests.overlay(&read(&overlay));
        let (cluster, replicas, policy) = outcome(&only(manifests));
        assert_eq!((cluster.as_str(), replicas, policy.as_deref()), expected, "{overlay}");
    }
}

#[test]
fn new_labels_alone_leave_the_binding_alone_until_its_policy_changes() {
    let by_label = ", labelSelector: {matchLabels: {app: web}}";
    let claim = claim("", "old");
    let dump = policy("old", by_label, "m1")
        + &policy("api", ", labelSelector: {matchLabels: {app: api}}", "m2")
        + &workload(&format!("labels: {{app: web}}, {claim}"))
        + &binding(&claim);
    assert_eq!(outcome(&only(read(&dump))).0, "m1");

    let relabelled = workload("labels: {app: api}");
    let mut manifests = read(&dump);
    manifests.overlay(&read(&relabelled));
    let left = only(manifests);
    assert_eq!(outcome(&left), ("m0".to_owned(), 2, Some("old".to_owned())));
    assert_eq!(left.pending, []);

    let mut manifests = read(&dump);
    manifests.overlay(&read(&(relabelled + &policy("old", by_label, "m3"))));
    assert_eq!(outcome(&only(manifests)), ("m2".to_owned(), 4, Some("api".to_owned())));
}

#[test]
fn a_lazy_policy_waits_for_the_specification_not_for_a_status() {
    let lazy = policy("lazy", "", "m1").replace("spec:\n", "spec:\n  activationPreference: Lazy\n");
    let claim = claim("", "lazy");
    for (metadata, replicas, is_applied) in [
        ("resourceVersion: '7', ", 2, false),
        ("resourceVersion: '8', ", 2, false),
        ("resourceVersion: '8', ", 3, true),
        ("", 2, true),
    ] {
        let workload = workload(&format!("{metadata}{claim}")).replace("replicas: 4", &format!("replicas: {replicas}"));
        let found = only(read(&format!("{lazy}{workload}{}", binding(&claim))));
        let cluster = if is_applied { "m1" } else { "m0" };
        assert_eq!(outcome(&found).0, cluster, "{metadata}{replicas}");
        assert_eq!(
            found.pending.contains(&Pending::Lazy),
            !is_applied,
            "{:?}",
            found.pending
        );
    }
}

#[test]
fn the_services_of_a_multi_cluster_service_are_not_the_detectors() {
    let service = |labels: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{name: web, namespace: shop, labels: {{{labels}}}}}\n---\n")
    };
    let all = policy("all", "", "m1").replace("apps/v1, kind: Deployment", "v1, kind: Service");
    let owned = "resourcetemplate.karmada.io/claimed-by: MultiClusterService";
    let detected = read(&format!("{all}{}", service(owned))).detect(WorkloadKinds::default());
    assert!(
        detected.bindings.is_empty() && detected.unmatched.is_empty(),
        "{detected:?}"
    );
    let own = binding("labels: {binding.karmada.io/managed-by: MultiClusterService}")
        .replace("apps/v1, kind: Deployment", "v1, kind: Service");
    for text in [
        format!("{all}{}{own}", service(owned)),
        format!("{all}{}{own}", service("")),
        format!("{all}{own}"),
    ] {
        let found = only(read(&text));
        assert_eq!(outcome(&found), ("m0".to_owned(), 2, None), "{text}");
        assert_eq!(found.pending, []);
    }
    assert_eq!(outcome(&only(read(&format!("{all}{}", service(""))))).0, "m1");
}

#[test]
fn the_priority_class_of_a_policy_is_the_priority_of_its_bindings() {
    let class = |name: &str| {
        policy("web", "", "m1").replace(
            "spec:\n",
            &format!(
                "spec:\n  schedulePriority: {{priorityClassSource: KubePriorityClass, priorityClassName: {name}}}\n"
            ),
        )
    };
    let high = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n---\n";
    let claim = claim("", "web");
    for (name, with_binding, expected) in [
        ("high", false, Some(1000)),
        ("high", true, Some(1000)),
        ("system-cluster-critical", false, Some(2_000_000_000)),
        ("low", false, None),
    ] {
        let binding = if with_binding { binding(&claim) } else { String::new() };
        let text = format!("{}{high}{}{binding}", class(name), workload(&claim));
        let mut manifests = read(&text);
        let detected = manifests.detect(WorkloadKinds::default());
        let priority = detected.bindings[0].object.spec.schedule_priority;
        assert_eq!(priority.map(|own| own.priority), expected, "{name}");
        let is_missing = detected
            .warnings
            .iter()
            .any(|warning| warning.message.contains("priority class `low`"));
        assert_eq!(is_missing, name == "low", "{:?}", detected.warnings);
        let unused: Vec<String> = detected.unmatched.iter().map(ToString::to_string).collect();
        assert_eq!(unused.is_empty(), name == "high", "{unused:?}");
    }
}
