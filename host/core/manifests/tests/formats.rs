//! Values as Helm and kubectl leave them: nulls, free objects and scalars of YAML 1.1.

use divvy_karmada::workloads::{ResourceInterpreter, WorkloadKinds};
use divvy_manifests::{Input, Manifests, ReadOptions, read_text};

#[track_caller]
fn read(text: &str) -> Manifests {
    let options = ReadOptions {
        workload_kinds: WorkloadKinds::new(ResourceInterpreter::Karmada, &[]),
        ..ReadOptions::default()
    };
    let manifests = read_text("f.yaml", text, &options);
    assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
    manifests
}

/// Replicas of the only workload, and its request for a resource.
fn demand(text: &str, resource: &str) -> (i32, Option<String>) {
    let manifests = read(text);
    let demand = manifests.resources[0].object.demand.as_ref().expect("a workload");
    let requirements = demand.requirements.as_ref();
    let request = requirements.and_then(|own| own.resource_request.get(resource).map(ToString::to_string));
    (demand.replicas, request)
}

#[test]
fn empty_values_of_helm_are_the_defaults() {
    let manifests = read(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app.kubernetes.io/version: , app: web}
  annotations:
    checksum/config:
spec:
  replicas:
  template:
    spec:
      nodeSelector:
      containers:
        - resources: {limits: {cpu: , memory: 1Gi}, requests: {memory: }}
",
    );
    let workload = &manifests.resources[0].object;
    let label = |key: &str| workload.resource.metadata.labels.get(key).map(String::as_str);
    assert_eq!(
        (label("app.kubernetes.io/version"), label("app")),
        (Some(""), Some("web"))
    );
    let demand = workload.demand.as_ref().expect("a workload");
    assert_eq!(demand.replicas, 1);
    // Zero requests are no requests, also where a limit would have been one.
    assert_eq!(demand.requirements, None);
}

/// Line ends of Windows and of old Macs, and the mark that Windows' editors write.
#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1e1\n  template:\n    spec: {containers: \
                [{resources: {requests: {memory: .5Gi, cpu: 1e+09}}}]}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let marked = format!("\u{feff}{text}");
    for text in [
        text.to_owned(),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        marked.replace('\n', "\r\n"),
        marked,
    ] {
        let manifests = divvy_manifests::read(&[Input::Standard], &mut text.as_bytes(), &ReadOptions::default());
        assert!(manifests.problems.is_empty(), "{text:?}: {:?}", manifests.problems);
        assert_eq!(manifests.resources.len(), 2, "{text:?}");
        let demand = manifests.resources[0].object.demand.as_ref().expect("a workload");
        let requests = &demand.requirements.as_ref().expect("requests").resource_request;
        let request = |name: &str| requests.get(name).map(ToString::to_string);
        assert_eq!(demand.replicas, 10, "{text:?}");
        assert_eq!(request("memory").as_deref(), Some("512Mi"));
        assert_eq!(
            requests.get("cpu").map(|cpu| cpu.milli_value()),
            Some(1_000_000_000_000)
        );
    }
}

#[test]
fn integers_of_yaml_1_1_are_those_of_kubectl() {
    for (written, replicas) in [
        ("010", 8),
        ("08", 8),
        ("0", 0),
        ("00", 0),
        ("0o17", 15),
        ("1_0", 10),
        ("3.0", 3),
        ("1e1", 10),
        ("0b11", 3),
        ("+012", 10),
    ] {
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {written}\n  template: {{spec: \
             {{containers: [{{resources: {{requests: {{cpu: {written}}}}}}}]}}}}\n"
        );
        let expected = (replicas > 0).then(|| replicas.to_string());
        assert_eq!(demand(&text, "cpu").0, replicas, "{written}");
        if written != "1e1" {
            assert_eq!(demand(&text, "cpu").1, expected, "{written}");
        }
    }
}

/// A number that no double holds was read as if the field were absent, which means one replica.
#[test]
fn a_number_beyond_every_type_is_an_error() {
    for digits in [10, 20, 40, 310] {
        let number = "9".repeat(digits);
        let yaml =
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {number}\n");
        let json = format!(
            r#"{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "web"}}, "spec": {{"replicas": {number}}}}}"#
        );
        for text in [yaml, json] {
            let manifests = read_text("f.yaml", &text, &ReadOptions::default());
            assert!(!manifests.problems.is_empty(), "{text}");
            assert!(manifests.resources.is_empty(), "{text}");
            let message = manifests.problems[0].to_string();
            assert!(
                message.contains("spec.replicas") && message.contains("number"),
                "{message}"
            );
        }
    }
}

#[test]
fn flinks_configuration_takes_any_values() {
    for slots in ["2", "'2'", "2.0"] {
        let text = format!(
            "apiVersion: flink.apache.org/v1beta1\nkind: FlinkDeployment\nmetadata: {{name: app}}\nspec:\n  \
             flinkConfiguration: {{taskmanager.numberOfTaskSlots: {slots}, web.ui: true}}\n  job: {{parallelism: 5}}\n"
        );
        assert_eq!(demand(&text, "cpu").0, 4, "{slots}");
    }
}
