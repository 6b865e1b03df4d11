//! Workload affinity: output and decisions of the commands with its filters and without.

use super::{divvy, run};

/// Two Deployments that a policy keeps apart, one of them on cluster a, and two clusters.
const MANIFEST: &str = r#"apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}
    workloadAffinity: {antiAffinity: {groupByLabelKey: ha}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: main, namespace: shop, labels: {ha: web}}
spec: {replicas: 2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: standby, namespace: shop, labels: {ha: web}}
spec: {replicas: 2}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: a}
spec: {syncMode: Push}
status: {apiEnablements: [{groupVersion: apps/v1, resources: [{kind: Deployment, name: deployments}]}], resourceSummary: {allocatable: {pods: "9"}}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: b}
spec: {syncMode: Push}
status: {apiEnablements: [{groupVersion: apps/v1, resources: [{kind: Deployment, name: deployments}]}], resourceSummary: {allocatable: {pods: "5"}}}
"#;

/// The binding of `main`, on cluster a.
const PLACED: &str = r#"---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: main-deployment, namespace: shop}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: main}
  replicas: 2
  clusters: [{name: a, replicas: 2}]
"#;

/// The manifest in a file.
fn file(folder: &std::path::Path, text: &str) -> String {
    let path = folder.join("web.yaml");
    std::fs::write(&path, text).expect("the file can be written");
    path.display().to_string()
}

/// Each binding with its clusters, by `-o jsonpath`.
fn results(arguments: &[&str]) -> (Option<i32>, String, String) {
    let template =
        r#"jsonpath={range .bindings[*]}{.binding}={.result} {range .clusters[*]}{.name}:{.replicas}{end}{"\n"}{end}"#;
    run(&[&["schedule", "-o", template], arguments].concat())
}

#[test]
fn without_the_filters_a_decision_ignores_affinity_and_warns() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest = file(folder.path(), MANIFEST);
    let (exit, stdout, stderr) = results(&["-f", &manifest, "--assume"]);
    let warning =
        "warning: `spec.workloadAffinityGroups.antiAffinityGroup` is ignored: no filter of the profile enforces it\n";
    assert!(stderr.starts_with(warning), "{stderr}");
    assert!(stderr.contains("hint: add a filter"), "{stderr}");
    assert!(
        stderr.contains("main-deployment") && stderr.contains("standby-deployment"),
        "{stderr}"
    );
    let expected = "shop/main-deployment=Scheduled a:2\nshop/standby-deployment=Scheduled a:2\n";
    assert_eq!((exit, stdout.as_str()), (Some(0), expected));
    for command in [["diff", "--drain=a"], ["headroom", "--threads=1"]] {
        let (_, _, stderr) = run(&[&command[..1], &["-f", &manifest]].concat());
        assert!(stderr.contains(warning), "{command:?}: {stderr}");
    }
}

#[test]
fn with_the_filters_workloads_are_kept_apart() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let alpha = |arguments: &[&str]| {
        let (exit, stdout, stderr) = results(&[&["--profile", "karmada-alpha"], arguments].concat());
        assert_eq!((exit, stderr.as_str()), (Some(0), ""));
        stdout
    };
    let manifest = file(folder.path(), MANIFEST);
    assert_eq!(
        alpha(&["-f", &manifest, "--assume"]),
        "shop/main-deployment=Scheduled a:2\nshop/standby-deployment=Scheduled b:2\n"
    );
    let manifest = file(folder.path(), &format!("{MANIFEST}{PLACED}"));
    assert_eq!(
        alpha(&["-f", &manifest]),
        "shop/main-deployment=Scheduled a:2\nshop/standby-deployment=Scheduled b:2\n"
    );
    // Growth stops at the clusters that peers leave free.
    let template = r#"jsonpath={range .bindings[*]}{.binding}={.most}{"\n"}{end}"#;
    let (_, stdout, stderr) = run(&[
        "headroom",
        "-f",
        &manifest,
        "--profile",
        "karmada-alpha",
        "-o",
        template,
    ]);
    assert_eq!(
        stdout, "shop/main-deployment=11\nshop/standby-deployment=5\n",
        "{stderr}"
    );
}

#[test]
fn a_replay_sees_the_recorded_peers_and_refuses_to_go_without_them() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest = file(folder.path(), &format!("{MANIFEST}{PLACED}"));
    let recording = folder.path().join("recording.jsonl").display().to_string();
    let output = divvy(&[
        "schedule",
        "-f",
        &manifest,
        "--profile",
        "karmada-alpha",
        "--record",
        &recording,
    ])
    .output()
    .expect("the binary can be started");
    assert!(output.status.success(), "{output:?}");
    let replayed = || run(&["replay", &recording]);
    let (exit, stdout, stderr) = replayed();
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let text = std::fs::read_to_string(&recording).expect("the recording can be read");
    let peers = r#""peers":[{"name":"main-deployment","sharesAntiAffinityGroup":true,"clusters":[{"name":"a","replicas":2}]}],"#;
    assert!(text.contains(peers), "{text}");
    // As an older version would have written it.
    std::fs::write(&recording, text.replace(peers, "")).expect("the recording can be written");
    let (exit, _, stderr) = replayed();
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains(
            "case `shop/standby-deployment`: plugin `workload-affinity` needs the placements of other bindings"
        ) && stderr.contains("hint: record the decisions under a profile with a plugin that reads placements"),
        "{stderr}"
    );
}

#[test]
fn a_plugin_is_listed_with_the_placements_that_it_reads() {
    let (exit, stdout, stderr) = run(&["plugin", "show", "workload-affinity"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(
        stdout.contains("placements of other bindings") && stdout.contains("enforces workload affinity"),
        "{stdout}"
    );
}
