//! Replicas and requirements of workloads, as tables.

use divvy_karmada::workloads::{ResourceInterpreter, WorkloadKinds};
use divvy_manifests::{ReadOptions, read_text};

/// Replicas and requests of a workload with this spec, or the first problem.
fn demand(api_version: &str, kind: &str, spec: &str) -> String {
    demand_by(ResourceInterpreter::Kubernetes, api_version, kind, spec)
}

fn demand_by(interpreter: ResourceInterpreter, api_version: &str, kind: &str, spec: &str) -> String {
    let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n");
    let options = ReadOptions {
        workload_kinds: WorkloadKinds::new(interpreter, &[]),
        ..ReadOptions::default()
    };
    let read = read_text("f.yaml", &text, &options);
    if let Some(problem) = read.problems.first() {
        return format!("{}: {}", problem.field, problem.cause);
    }
    let Some(demand) = &read.resources[0].object.demand else {
        return "whole".to_owned();
    };
    let requests = demand.requirements.iter().flat_map(|needs| &needs.resource_request);
    let requests: Vec<_> = requests.map(|(name, amount)| format!("{name} {amount}")).collect();
    format!("{} [{}]", demand.replicas, requests.join(", "))
}

/// The rows `input => expected` of a table.
fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = table.trim().lines();
    rows.map(|row| row.trim().split_once(" => ").expect("a row has an arrow"))
}

#[test]
fn karmadas_interpreter_reads_other_kinds_and_requests_less() {
    const SIDECAR: &str = "{template: {spec: {containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1500m}}}]}}}";
    const POD_LEVEL: &str = "{template: {spec: {resources: {requests: {cpu: 4}}, overhead: {cpu: 100m}, containers: [{resources: {requests: {cpu: 1}}}]}}}";
    for (kind, spec, kubernetes, karmada) in [
        ("apps/v1 Deployment", SIDECAR, "1 [cpu 2500m]", "1 [cpu 1500m]"),
        ("apps/v1 Deployment", POD_LEVEL, "1 [cpu 4100m]", "1 [cpu 1100m]"),
        ("v1 ReplicationController", "{replicas: 3}", "3 []", "whole"),
        ("argoproj.io/v1alpha1 Rollout", "{replicas: 3}", "3 []", "whole"),
        ("apps.kruise.io/v1alpha1 StatefulSet", "{replicas: 3}", "3 []", "whole"),
        ("apps.kruise.io/v1beta1 StatefulSet", "{replicas: 3}", "3 []", "3 []"),
    ] {
        let (api_version, name) = kind.split_once(' ').expect("an API version and a kind");
        let by = |interpreter| demand_by(interpreter, api_version, name, spec);
        assert_eq!(by(ResourceInterpreter::Kubernetes), kubernetes, "{kind}");
        assert_eq!(by(ResourceInterpreter::Karmada), karmada, "{kind}");
    }
}

#[test]
fn counts_by_kind() {
    for (workload, expected) in rows(
        "
        apps/v1 Deployment {} => 1 []
        apps/v1 Deployment {replicas: 0} => 0 []
        apps/v1 StatefulSet {replicas: 3} => 3 []
        apps/v1 ReplicaSet {replicas: null} => 1 []
        batch/v1 Job {} => 1 []
        batch/v1 Job {parallelism: 5} => 5 []
        batch/v1 Job {parallelism: 5, completions: 3} => 3 []
        batch/v1 Job {parallelism: 2, completions: 3} => 2 []
        v1 Pod {} => 1 []
        argoproj.io/v1alpha1 Rollout {replicas: 4} => 4 []
        apps.kruise.io/v1alpha1 CloneSet {replicas: 5} => 5 []
        apps.kruise.io/v1beta1 StatefulSet {replicas: 6} => 6 []
        apps.kruise.io/v1alpha1 UnitedDeployment {replicas: 7} => 7 []
        apps.kruise.io/v1alpha1 BroadcastJob {parallelism: 8} => 8 []
        argoproj.io/v1alpha1 Workflow {} => 1 []
        argoproj.io/v1alpha1 Workflow {parallelism: 9} => 9 []
        kubeflow.org/v1 Notebook {replicas: 5, template: {spec: {containers: [{resources: {requests: {cpu: 2}}}]}}} => 1 [cpu 2]
        flink.apache.org/v1beta1 FlinkDeployment {} => 2 []
        flink.apache.org/v1beta1 FlinkDeployment {jobManager: {replicas: 2, resource: {cpu: 1, memory: 2Gi}}, taskManager: {resource: {cpu: 0.5, memory: 4Gi}}, job: {parallelism: 7}, flinkConfiguration: {taskmanager.numberOfTaskSlots: '2'}} => 6 [cpu 1, memory 4Gi]
        apps/v1 DaemonSet {} => whole
        batch/v1 CronJob {} => whole
        apps/v1 Deployment {replicas: -1} => spec.replicas: expected a count of at least 0, got `-1`
        apps/v1 Deployment {replicas: 3000000000} => spec.replicas: expected a whole number from -2147483648 to 2147483647, got the number `3000000000`
        apps/v1 Deployment {replicas: 1.5} => spec.replicas: expected a whole number from -2147483648 to 2147483647, got the number `1.5`
        ",
    ) {
        let parts: Vec<&str> = workload.splitn(3, ' ').collect();
        assert_eq!(demand(parts[0], parts[1], parts[2]), expected, "{workload}");
    }
}

#[test]
fn requests_follow_kubernetes() {
    // `one`, `limited`, `both` and `sidecar` are containers.
    for (pod, expected) in rows(
        "
        {containers: [one, one]} => 1 [cpu 1, memory 2Gi]
        {containers: [limited]} => 1 [cpu 2]
        {containers: [both]} => 1 [cpu 1, memory 2Gi]
        {containers: [one], initContainers: [limited]} => 1 [cpu 2, memory 1Gi]
        {containers: [one], initContainers: [sidecar]} => 1 [cpu 1500m, memory 1Gi]
        {containers: [one], initContainers: [sidecar, limited]} => 1 [cpu 3, memory 1Gi]
        {containers: [one], initContainers: [limited, sidecar]} => 1 [cpu 2, memory 1Gi]
        {containers: [one], overhead: {cpu: 250m}} => 1 [cpu 750m, memory 1Gi]
        {containers: [one], resources: {requests: {cpu: 4}}} => 1 [cpu 4, memory 1Gi]
        {containers: [one], resources: {limits: {cpu: 4}}} => 1 [cpu 500m, memory 1Gi]
        {containers: [limited], resources: {limits: {cpu: 4, memory: 8Gi}}} => 1 [cpu 2, memory 8Gi]
        {containers: [{}], resources: {limits: {cpu: 4}, requests: {cpu: 3}}} => 1 [cpu 3]
        {containers: [{resources: {requests: {cpu: 0}}}]} => 1 []
        {containers: [{resources: {requests: {cpu: -1}}}]} => spec: expected requests for `cpu` of at least 0, got `-1`
        {containers: [large, large]} => spec: the requests for `x` add up to more than a quantity can hold
        ",
    ) {
        let mut spec = pod.to_owned();
        for (name, container) in [
            ("one", "{resources: {requests: {cpu: 500m, memory: 1Gi}}}"),
            ("limited", "{resources: {limits: {cpu: 2}}}"),
            (
                "both",
                "{resources: {requests: {cpu: 1}, limits: {cpu: 3, memory: 2Gi}}}",
            ),
            ("sidecar", "{restartPolicy: Always, resources: {requests: {cpu: 1}}}"),
            ("large", "{resources: {requests: {x: 9e28}}}"),
        ] {
            spec = spec.replace(name, container);
        }
        assert_eq!(demand("v1", "Pod", &spec), expected, "{pod}");
    }
}

const ROLLOUT: &str = "apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: shop}
spec:
  replicas: 20
  workloadRef: {apiVersion: apps/v1, kind: KIND, name: web}
";

/// Replicas, CPU of a replica, and warnings of a Rollout beside these objects.
fn rollout(rollout: &str, beside: &str) -> (i32, Option<String>, Vec<String>) {
    let policy = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  \
                  resourceSelectors: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout}]\n";
    let mut manifests = read_text("f.yaml", &format!("{rollout}{policy}{beside}"), &ReadOptions::default());
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    let detected = manifests.detect(WorkloadKinds::default());
    let spec = &detected.bindings[0].object.spec;
    let needs = spec.replica_requirements.as_ref();
    let cpu = needs.and_then(|needs| needs.resource_request.get("cpu").map(ToString::to_string));
    let warnings = detected.warnings.into_iter().map(|warning| warning.message);
    (spec.replicas.unwrap_or(0), cpu, warnings.collect())
}

#[test]
fn a_rollout_needs_what_the_workload_of_its_reference_does() {
    let workload = |kind: &str, namespace: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: web, namespace: {namespace}}}\nspec:\n  replicas: 0\n  template: \
             {{spec: {{containers: [{{resources: {{requests: {{cpu: 4}}}}}}]}}}}\n"
        )
    };
    for kind in ["Deployment", "ReplicaSet"] {
        let text = ROLLOUT.replace("KIND", kind);
        let found = rollout(&text, &workload(kind, "shop"));
        assert_eq!(found, (20, Some("4".to_owned()), Vec::new()), "{kind}");
    }
    let deployment = ROLLOUT.replace("KIND", "Deployment");
    let unknown = "the requests of its replicas are not known: `workloadRef` names Deployment shop/web, which is no workload of the input";
    for beside in ["", &workload("ReplicaSet", "shop"), &workload("Deployment", "other")] {
        assert_eq!(rollout(&deployment, beside), (20, None, vec![unknown.to_owned()]));
    }
    // Its own template wins.
    let own = format!("{deployment}  template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}\n");
    assert_eq!(
        rollout(&own, &workload("Deployment", "shop")),
        (20, Some("1".to_owned()), Vec::new())
    );
}
