//! Files laid over a dump.

use divvy_karmada::detector::Binding;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Manifests, ReadOptions, read_text};

const DUMP: &str = r#"
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1, uid: u1, labels: {tier: gold}, annotations: {cluster.karmada.io/x: kept, note: old}}
spec: {region: east}
status: {resourceSummary: {allocatable: {cpu: "4"}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [m1]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: w, resourceVersion: "5"}
spec: {replicas: 3, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: web-deployment
  namespace: shop
  uid: b
  annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: web}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web, uid: w, resourceVersion: "5"}
  replicas: 4
  replicaRequirements: {resourceRequest: {cpu: 100m}}
  clusters: [{name: m1, replicas: 4}]
  placement: {clusterAffinity: {clusterNames: [m1]}}
"#;

fn read(text: &str) -> Manifests {
    let manifests = read_text("manifest.yaml", text, &ReadOptions::default());
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    manifests
}

/// The dump with an overlay, and its bindings.
fn laid(overlay: &str) -> (Manifests, Vec<Binding>) {
    let mut dump = read(DUMP);
    let overlay = read(overlay);
    dump.overlay(&overlay);
    let detected = dump.detect(WorkloadKinds::default());
    (dump, detected.bindings)
}

fn binding(overlay: &str) -> Binding {
    let (_, mut bindings) = laid(overlay);
    assert_eq!(bindings.len(), 1);
    bindings.remove(0)
}

fn affinity(binding: &Binding) -> Vec<String> {
    let placement = binding.object.spec.placement.as_ref().expect("a placement");
    let affinity = placement.cluster_affinity.as_ref().expect("an affinity");
    affinity.cluster_names.clone()
}

#[test]
fn a_cluster_keeps_its_status_its_uid_and_karmadas_keys() {
    let (manifests, _) = laid(
        "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m1, labels: {tier: iron}}, spec: {region: west}}",
    );
    let [cluster] = manifests.clusters.as_slice() else {
        panic!("{:?}", manifests.clusters);
    };
    let cluster = &cluster.object;
    assert_eq!(
        (cluster.spec.region.as_str(), cluster.metadata.uid.as_str()),
        ("west", "u1")
    );
    assert!(cluster.status.resource_summary.is_some());
    assert_eq!(cluster.metadata.labels.get("tier").map(String::as_str), Some("iron"));
    let annotations: Vec<&String> = cluster.metadata.annotations.keys().collect();
    assert_eq!(annotations, ["cluster.karmada.io/x"]);
}

#[test]
fn a_policy_acts_on_its_bindings_unless_it_is_lazy() {
    let policy = |lazy: &str| {
        format!(
            "{{apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: {{name: web, namespace: shop}}, spec: {{{lazy}resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment}}], placement: {{clusterAffinity: {{clusterNames: [m2]}}}}}}}}"
        )
    };
    assert_eq!(affinity(&binding(&policy(""))), ["m2"]);
    assert_eq!(affinity(&binding(&policy("activationPreference: Lazy, "))), ["m1"]);
}

#[test]
fn a_workload_gives_replicas_only_if_it_names_them() {
    let deployment = |replicas: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: shop}}, spec: {{{replicas}template: {{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 200m}}}}}}]}}}}}}}}"
        )
    };
    for (replicas, expected) in [("replicas: 9, ", 9), ("", 4)] {
        let spec = binding(&deployment(replicas)).object.spec;
        assert_eq!(spec.replicas, Some(expected), "{replicas}");
        let requests = &spec
            .replica_requirements
            .as_ref()
            .expect("requirements")
            .resource_request;
        assert_eq!(requests.get("cpu").map(|cpu| cpu.milli_value()), Some(200));
        assert_eq!(spec.clusters[0].replicas, 4);
    }
}

#[test]
fn without_versions_the_live_count_is_the_one_that_counts_without_an_overlay() {
    let unversioned = DUMP.replace(r#", resourceVersion: "5""#, "");
    let replicas = |overlay: &str| {
        let mut dump = read(&unversioned);
        dump.overlay(&read(overlay));
        let detected = dump.detect(WorkloadKinds::default());
        detected.bindings[0].object.spec.replicas
    };
    let without_replicas = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 200m}}}]}}}}";
    let other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: shop}}";
    assert_eq!(replicas(other), Some(3));
    assert_eq!(replicas(without_replicas), Some(3));
}

#[test]
fn a_binding_keeps_its_result() {
    let spec = binding(
        "{apiVersion: work.karmada.io/v1alpha2, kind: ResourceBinding, metadata: {name: web-deployment, namespace: shop}, spec: {resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}, placement: {clusterAffinity: {clusterNames: [m3]}}}}",
    );
    // The detector writes the policy's placement again.
    assert_eq!(affinity(&spec), ["m1"]);
    assert_eq!(spec.object.spec.replicas, Some(4));
    assert_eq!(spec.object.spec.clusters[0].name, "m1");
    assert_eq!(spec.object.metadata.uid, "b");
}

#[test]
fn an_object_that_the_dump_lacks_is_added() {
    let (_, bindings) =
        laid("{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: shop}, spec: {replicas: 2}}");
    let names: Vec<&str> = bindings
        .iter()
        .map(|binding| binding.object.metadata.name.as_str())
        .collect();
    assert_eq!(names, ["api-deployment", "web-deployment"]);
}
