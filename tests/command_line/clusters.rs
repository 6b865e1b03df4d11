//! Warnings about clusters that do not exist, or that report no capacity.

use std::fs;

use super::{check, run};

/// A cluster that reports no resources.
const WITHOUT_SUMMARY: &str = "\
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: east-9}
status:
  apiEnablements: [{groupVersion: apps/v1, resources: [{kind: Deployment, name: deployments}]}]
";

/// A policy whose affinities name clusters that do not exist, and one that names them in weights.
const POLICIES: &str = "\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: groups, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement:
    clusterAffinities:
      - {affinityName: near, clusterNames: [west-1, wset-1], exclude: [elsewhere]}
      - {affinityName: far, clusterNames: [wset-1]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: weights, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: api}]
  placement:
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
          - {targetCluster: {clusterNames: [east-1]}, weight: 1}
          - {targetCluster: {clusterNames: [wset-1]}, weight: 1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec: {replicas: 2}
";

/// Runs a command on the fleet and a file with this text. Returns the path and what was printed.
fn with(command: &str, text: &str, arguments: &[&str]) -> (String, (Option<i32>, String, String)) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("more.yaml").display().to_string();
    fs::write(&path, text).expect("the file can be written");
    let ran = run(&[&[command, "-f", "fleet.yaml", "-f", &path], arguments].concat());
    (path, ran)
}

#[test]
fn a_cluster_without_a_summary_is_a_warning_with_its_location() {
    for (command, bindings) in [
        ("schedule", "scheduled.yaml"),
        ("diff", "dump.yaml"),
        ("headroom", "dump.yaml"),
    ] {
        let (path, (_, _, stderr)) = with(command, WITHOUT_SUMMARY, &["-f", bindings]);
        let expected = format!(
            "\
warning: the cluster has no `status.resourceSummary`, so its capacity counts as 0
  in: Cluster east-9 ({path}:1)
"
        );
        assert!(stderr.starts_with(&expected), "{command}: {stderr}");
    }
    // Nothing that is divided by capacity is in the input.
    let (_, (exit, _, stderr)) = with("schedule", WITHOUT_SUMMARY, &[]);
    assert_eq!(exit, Some(0));
    assert!(!stderr.contains("resourceSummary"), "{stderr}");
}

#[test]
fn an_absent_cluster_in_a_placement_is_a_warning_with_the_nearest_name() {
    for command in ["schedule", "diff"] {
        let (path, (exit, _, stderr)) = with(command, POLICIES, &[]);
        let expected = format!(
            "\
warning: no cluster is named `elsewhere`
  in: PropagationPolicy shop/groups ({path}:1)
warning: no cluster is named `wset-1`
  hint: did you mean `west-1`?
  in: PropagationPolicy shop/groups ({path}:1), PropagationPolicy shop/weights ({path}:11)
"
        );
        assert_eq!((exit, stderr), (Some(0), expected), "{command}");
    }
    let (_, (_, _, stderr)) = with("schedule", POLICIES, &["-q"]);
    assert_eq!(stderr, "");
    // The cluster may be missing only because its file has a problem.
    let (_, (exit, _, stderr)) = with("schedule", POLICIES, &["-f", "malformed.yaml"]);
    assert_eq!(exit, Some(2));
    assert!(!stderr.contains("wset-1"), "{stderr}");
}

#[test]
fn many_absent_clusters_are_counted() {
    let names: Vec<String> = (10..40).map(|number| format!("absent-{number}")).collect();
    let text = POLICIES
        .replace(", wset-1", "")
        .replace("[wset-1]", &format!("[{}]", names.join(", ")));
    let (_, (_, _, stderr)) = with("schedule", &text, &[]);
    assert_eq!(stderr.matches("no cluster is named").count(), 10, "{stderr}");
    assert!(
        stderr.contains("warning: no cluster is named `absent-18`\n")
            && stderr.contains("warning: placements name 21 more clusters that the input lacks\n"),
        "{stderr}"
    );
}

#[test]
fn replicas_on_clusters_that_the_input_lacks_are_a_warning() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("one.yaml").display().to_string();
    let fleet = fs::read_to_string(super::folder().join("fleet.yaml")).expect("the fleet can be read");
    let (first, _) = fleet.split_once("---\n").expect("it has several clusters");
    fs::write(&path, first).expect("the file can be written");
    let (exit, stdout, stderr) = run(&["schedule", "-f", &path, "-f", "dump.yaml"]);
    let expected = "\
warning: bindings are assigned to clusters that the input lacks: `east-1` (7 replicas), `east-2` (2 replicas)
  hint: add the clusters to the input; without them, replicas there are scheduled elsewhere
";
    assert_eq!((exit, stderr.as_str()), (Some(0), expected), "{stdout}");
    check(&["schedule", "-q", "-f", "fleet.yaml", "-f", "dump.yaml"], 0, "", "");
}
