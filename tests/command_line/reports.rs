//! Decisions that users of Karmada asked about in public, with what Karmada decides: numbers of reports of karmada-io/karmada are in the
//! names of the cases.

use std::path::Path;

use serde_json::Value;

use super::run;
use crate::diff::schema::{committed_at, validate};

const APIS: &str = "[{groupVersion: apps/v1, resources: [{name: deployments, kind: Deployment}, {name: replicasets, kind: ReplicaSet}]}, \
                    {groupVersion: v1, resources: [{name: services, kind: Service}, {name: configmaps, kind: ConfigMap}]}]";
const LARGE: &str =
    "allocatable: {cpu: '64', memory: 256Gi, pods: '500'}, allocated: {cpu: '4', memory: 8Gi, pods: '20'}";
const DYNAMIC: &str = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: \
                       {dynamicWeight: AvailableReplicas}}";
const AGGREGATED: &str = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}";
/// Each binding with its result, its clusters and its message.
const ROWS: &str = r#"jsonpath={range .bindings[*]}{.binding} {.result}{range .clusters[*]} {.name}={.replicas}{end} {.message}{"\n"}{end}"#;

/// A cluster with further keys of its specification, and with these resources.
fn cluster_with(name: &str, spec: &str, resources: &str) -> String {
    format!(
        "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: {name}, labels: {{env: prod}}}}\nspec: {{syncMode: Push{spec}}}\n\
         status: {{apiEnablements: {APIS}, conditions: [{{type: Ready, status: 'True'}}], resourceSummary: {{{resources}}}}}\n---\n"
    )
}

fn clusters(names: &[&str]) -> String {
    names.iter().map(|name| cluster_with(name, "", LARGE)).collect()
}

/// A binding of a Deployment.
fn binding(name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: {name}-deployment, namespace: shop{metadata}}}\nspec: \
         {{resource: {{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: {name}}}, {spec}}}\n"
    )
}

/// A workload whose replicas have these requests.
fn workload(kind: &str, name: &str, replicas: i32, requests: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{replicas: {replicas}, template: {{spec: \
         {{containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}}}}}\n---\n"
    )
}

/// A policy for every Deployment and ReplicaSet.
fn policy(placement: &str) -> String {
    format!(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {{name: web, namespace: shop}}\nspec: {{resourceSelectors: \
         [{{apiVersion: apps/v1, kind: Deployment}}, {{apiVersion: apps/v1, kind: ReplicaSet}}], placement: {{{placement}}}}}\n---\n"
    )
}

/// Runs a command under a profile on a manifest.
fn asked(manifest: &str, profile: &str, command: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("all.yaml");
    std::fs::write(&file, manifest).expect("the file can be written");
    run(&[command, &["--profile", profile, "-f", &shown(&file)]].concat())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[track_caller]
fn decides_under(profile: &str, manifest: &str, expected: &[&str]) {
    let (_, stdout, stderr) = asked(manifest, profile, &["schedule", "-o", ROWS]);
    let found: Vec<&str> = stdout.lines().map(str::trim_end).collect();
    assert_eq!(found, expected, "{manifest}{stderr}");
}

#[track_caller]
fn decides(manifest: &str, expected: &[&str]) {
    decides_under("karmada", manifest, expected);
}

/// karmada#6354
#[test]
fn a_suspended_binding_is_not_decided_and_stranded_by_a_drain() {
    let prod = "clusterAffinity: {labelSelector: {matchLabels: {env: prod}}}";
    let manifest = clusters(&["m1", "m2"])
        + &binding(
            "web",
            "",
            &format!(
                "replicas: 2, suspension: {{scheduling: true}}, clusters: [{{name: m1, replicas: 2}}], placement: {{{prod}, {AGGREGATED}}}"
            ),
        )
        + "---\n"
        + &binding(
            "new",
            "",
            &format!("replicas: 1, suspension: {{scheduling: true}}, placement: {{{prod}}}"),
        );
    decides(
        &manifest,
        &[
            "shop/new-deployment Skipped scheduling is suspended",
            "shop/web-deployment Skipped scheduling is suspended",
        ],
    );
    let (exit, stdout, _) = asked(&manifest, "karmada", &["diff", "--drain", "m1"]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(
        stdout.contains("\n  Skipped: scheduling is suspended\n  2 replicas stranded\n"),
        "{stdout}"
    );
    let (exit, stdout, _) = asked(&manifest, "karmada", &["survive", "--loss", "cluster"]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.contains("cluster m1 (nothing left, not scheduled)"), "{stdout}");
    let (_, stdout, _) = asked(&manifest, "karmada", &["headroom"]);
    assert_eq!(stdout.matches("scheduling is suspended\n").count(), 2, "{stdout}");
}

/// karmada#6156
#[test]
fn without_replicas_requests_decide_whether_there_are_clusters() {
    let placement = format!("placement: {{{DYNAMIC}}}");
    let manifest = clusters(&["m1", "m2"])
        + &binding("idle", "", &format!("clusters: [{{name: m1}}], {placement}"))
        + "---\n"
        + &binding(
            "small",
            "",
            &format!("replicas: 0, replicaRequirements: {{resourceRequest: {{cpu: 100m}}}}, {placement}"),
        );
    decides(
        &manifest,
        &[
            "shop/idle-deployment Scheduled m1=0 m2=0",
            "shop/small-deployment Scheduled",
        ],
    );
}

/// karmada#4569
#[test]
fn only_a_division_by_room_falls_back_to_the_next_group() {
    let full = "allocatable: {cpu: '2', memory: 4Gi, pods: '500'}, allocated: {cpu: '2', memory: 4Gi, pods: '20'}";
    let nearly =
        "allocatable: {cpu: '2', memory: 4Gi, pods: '500'}, allocated: {cpu: 1900m, memory: 3900Mi, pods: '20'}";
    let fleet = cluster_with("c1", "", full) + &cluster_with("c2", "", nearly) + &clusters(&["c3"]);
    let web = workload("Deployment", "web", 5, "cpu: 0.1, memory: 200Mi");
    let local = "{affinityName: local, clusterNames: [c1, c2]";
    let cloud = "{affinityName: cloud, clusterNames: [c3]}";
    let overflow = "overflowAffinities: [{affinityName: burst, clusterNames: [c3]}]";
    for (placement, expected) in [
        (format!("clusterAffinities: [{local}}}, {cloud}]"), "c1=5 c2=5"),
        (format!("clusterAffinities: [{local}}}, {cloud}], {DYNAMIC}"), "c3=5"),
        (
            format!("clusterAffinities: [{local}, {overflow}}}, {cloud}], {DYNAMIC}"),
            "c3=5",
        ),
    ] {
        let manifest = format!("{fleet}{web}{}", policy(&placement));
        decides(&manifest, &[&format!("shop/web-deployment Scheduled {expected}")]);
    }
}

/// karmada PR 7154
#[test]
fn copies_in_one_region_go_to_clusters_without_room_too() {
    let full = "allocatable: {cpu: '4', pods: '500'}, allocated: {cpu: '3', pods: '20'}";
    let fleet =
        ["eu-1", "eu-2", "us-1", "us-2"].map(|name| cluster_with(name, &format!(", region: {}", &name[..2]), full));
    let placement = "spreadConstraints: [{spreadByField: region, minGroups: 1, maxGroups: 1}, {spreadByField: cluster, minGroups: 1, \
                     maxGroups: 2}], replicaScheduling: {replicaSchedulingType: Duplicated}";
    let manifest = fleet.concat() + &workload("Deployment", "web", 5, "cpu: '1'") + &policy(placement);
    decides(&manifest, &["shop/web-deployment Scheduled eu-1=5 eu-2=5"]);
}

/// karmada#5782
#[test]
fn a_cluster_that_is_evicted_from_gets_nothing_while_the_task_lasts() {
    let manifest = clusters(&["m1", "m2"])
        + &binding(
            "web",
            "",
            &format!(
                "replicas: 6, clusters: [{{name: m2, replicas: 4}}], gracefulEvictionTasks: [{{fromCluster: m1, producer: TaintManager, reason: \
                 TaintUntolerated, replicas: 2, creationTimestamp: '2025-11-04T08:00:00Z'}}], placement: {{{DYNAMIC}}}"
            ),
        );
    decides(&manifest, &["shop/web-deployment Scheduled m2=6"]);
    let (_, stdout, _) = asked(&manifest, "karmada", &["schedule", "--explain"]);
    let reason = "rejected: 1 cluster(s) is in the process of eviction [cluster-eviction]: m1\n";
    assert!(stdout.contains(reason), "{stdout}");
}

/// karmada#7479
#[test]
fn affinity_to_a_cluster_that_is_evicted_from_fits_nowhere() {
    let affinity = "workloadAffinityGroups: {affinityGroup: group=pipeline}";
    let placement = format!("placement: {{{AGGREGATED}, workloadAffinity: {{affinity: {{groupByLabelKey: group}}}}}}");
    let manifest = clusters(&["c1", "c2"])
        + &binding(
            "a",
            "",
            &format!(
                "replicas: 1, {affinity}, gracefulEvictionTasks: [{{fromCluster: c1, producer: ApplicationFailoverController, reason: \
                 ApplicationFailure}}], {placement}"
            ),
        )
        + "---\n"
        + &binding(
            "b",
            "",
            &format!("replicas: 1, {affinity}, clusters: [{{name: c1, replicas: 1}}], {placement}"),
        );
    decides_under(
        "karmada-alpha",
        &manifest,
        &[
            "shop/a-deployment NoClusterFit 0/2 clusters are available: 1 cluster(s) did not have `b-deployment` of the affinity group \
             `group=pipeline`, 1 cluster(s) is in the process of eviction",
            "shop/b-deployment Scheduled c1=1",
        ],
    );
}

/// karmada#3623
#[test]
fn a_taint_that_evicts_takes_nothing_unless_it_is_asked_for() {
    let taints = ", taints: [{key: key1, value: value1, effect: NoExecute}]";
    let manifest = cluster_with("zlh", taints, LARGE)
        + &clusters(&["global"])
        + &binding(
            "web",
            "",
            &format!(
                "replicas: 7, clusters: [{{name: zlh, replicas: 1}}, {{name: global, replicas: 6}}], placement: {{{DYNAMIC}}}"
            ),
        );
    decides(&manifest, &["shop/web-deployment Scheduled global=6 zlh=1"]);
    let (exit, stdout, stderr) = asked(&manifest, "karmada", &["diff"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(stdout.contains("\nnothing changes\n"), "{stdout}");
    assert!(stderr.contains("`--evict-no-execute` shows it"), "{stderr}");
}

/// karmada PR 6828
#[test]
fn a_target_without_replicas_stays_until_the_next_decision() {
    let applied = "\"{\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Divided\\\",\\\"replicaDivisionPreference\\\":\\\"Weighted\\\",\
                   \\\"weightPreference\\\":{\\\"dynamicWeight\\\":\\\"AvailableReplicas\\\"}}}\"";
    let metadata = format!(", generation: 3, annotations: {{policy.karmada.io/applied-placement: {applied}}}");
    let spec = format!(
        "replicas: 4, clusters: [{{name: m1, replicas: 0}}, {{name: m2, replicas: 4}}], placement: {{{DYNAMIC}}}"
    );
    let status = "status: {schedulerObservedGeneration: 3, lastScheduledTime: '2026-02-16T10:05:31Z', conditions: [{type: Scheduled, status: \
                  'True'}]}\n";
    let manifest = clusters(&["m1", "m2"]) + &binding("web", &metadata, &spec) + status;
    decides(&manifest, &["shop/web-deployment Scheduled m2=4"]);
    let (exit, stdout, stderr) = asked(&manifest, "karmada", &["diff"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(
        stdout.contains("\nnothing changes\nlatent: 1 binding would be placed differently if rescheduled"),
        "{stdout}"
    );
}

/// karmada#6461
#[test]
fn a_target_is_kept_although_its_cluster_has_lost_the_api() {
    let spec = format!("replicas: 3, clusters: [{{name: m1, replicas: 3}}], placement: {{{AGGREGATED}}}");
    let flink = binding("app", "", &spec).replace(
        "apps/v1, kind: Deployment",
        "flink.apache.org/v1beta1, kind: FlinkDeployment",
    );
    let with =
        "[{groupVersion: flink.apache.org/v1beta1, resources: [{name: flinkdeployments, kind: FlinkDeployment}]}, ";
    let [m1, m2, m3] = ["m1", "m2", "m3"].map(|name| clusters(&[name]));
    let manifest = m1 + &m2.replace("apiEnablements: [", &format!("apiEnablements: {with}")) + &m3 + &flink;
    decides(&manifest, &["shop/app-deployment Scheduled m1=3"]);
    let (_, stdout, _) = asked(&manifest, "karmada", &["schedule", "--explain"]);
    let reason = "rejected: 1 cluster(s) did not have the API resource [api-enablement]: m3\n";
    assert!(stdout.contains(reason), "{stdout}");
}

/// karmada#4546
#[test]
fn two_policies_of_one_name_are_an_error_with_both_lines() {
    let second = policy("clusterAffinity: {clusterNames: [m2]}");
    let manifest = clusters(&["m1"]) + &policy("clusterAffinity: {clusterNames: [m1]}") + &second;
    let line = |text: &str| 1 + text.matches('\n').count();
    let (exit, stdout, stderr) = asked(&manifest, "karmada", &["schedule"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let first = line(&clusters(&["m1"]));
    let last = line(&(clusters(&["m1"]) + &second));
    let place = stderr.split_once("error: ").expect("an error").1;
    assert!(
        place.contains(&format!("all.yaml:{last}: given twice, first in ")),
        "{stderr}"
    );
    assert!(place.contains(&format!(", line {first}\n")), "{stderr}");
    assert!(place.contains("in: PropagationPolicy shop/web"), "{stderr}");
}

/// karmada#6730, karmada#6763
#[test]
fn a_replica_set_is_divided_and_a_suspended_cluster_keeps_its_replica() {
    let weights = |first: i32, second: i32| {
        format!(
            "replicaScheduling: {{replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {{staticWeightList: \
             [{{targetCluster: {{clusterNames: [gy-1]}}, weight: {first}}}, {{targetCluster: {{clusterNames: [gy-2]}}, weight: {second}}}]}}}}"
        )
    };
    let fleet = clusters(&["gy-1", "gy-2"]);
    let manifest = format!(
        "{fleet}{}{}",
        workload("ReplicaSet", "web", 1, ""),
        policy(&weights(1, 1))
    );
    decides(&manifest, &["shop/web-replicaset Scheduled gy-1=1"]);
    let spec = format!(
        "replicas: 2, suspension: {{dispatchingOnClusters: {{clusterNames: [gy-1]}}}}, clusters: [{{name: gy-1, replicas: 1}}, {{name: gy-2, \
         replicas: 2}}], placement: {{{}}}",
        weights(1, 2)
    );
    let manifest = fleet + &binding("worker", "", &spec);
    decides(&manifest, &["shop/worker-deployment Scheduled gy-1=1 gy-2=1"]);
    let (_, _, stderr) = asked(&manifest, "karmada", &["schedule"]);
    assert!(
        stderr.contains("suspends dispatching to `gy-1`: the result of 1 binding is not applied there"),
        "{stderr}"
    );
}

/// karmada#6513
#[test]
fn the_claim_of_a_deleted_policy_is_taken_over() {
    let claim = "labels: {propagationpolicy.karmada.io/permanent-id: 9b3b0f8a-4d0f-4a4e-8a3b-111111111111}, annotations: \
                 {propagationpolicy.karmada.io/name: lazy, propagationpolicy.karmada.io/namespace: shop}";
    let web = workload("Deployment", "web", 2, "cpu: 500m")
        .replace("namespace: shop}", &format!("namespace: shop, {claim}}}"));
    let manifest = clusters(&["m1", "m2"]) + &web + &policy("clusterAffinity: {clusterNames: [m2]}");
    decides(&manifest, &["shop/web-deployment Scheduled m2=2"]);
}

/// karmada#6951
#[test]
fn replicas_stay_on_a_cluster_that_is_not_ready_and_new_ones_go_elsewhere() {
    let taints = ", taints: [{key: cluster.karmada.io/not-ready, effect: NoSchedule}]";
    let toleration = |key: &str| {
        format!("{{effect: NoExecute, key: cluster.karmada.io/{key}, operator: Exists, tolerationSeconds: 300}}")
    };
    let placement = format!(
        "clusterTolerations: [{}, {}], replicaScheduling: {{replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, \
         weightPreference: {{staticWeightList: [{{targetCluster: {{clusterNames: [gy-1]}}, weight: 1}}, {{targetCluster: {{clusterNames: \
         [gy-2]}}, weight: 1}}]}}}}",
        toleration("not-ready"),
        toleration("unreachable")
    );
    let fleet = clusters(&["gy-1"]) + &cluster_with("gy-2", taints, LARGE).replace("status: 'True'", "status: 'False'");
    let last = "clusters: [{name: gy-1, replicas: 1}, {name: gy-2, replicas: 1}]";
    let manifest = fleet
        + &binding("music", "", &format!("replicas: 2, {last}, placement: {{{placement}}}"))
        + "---\n"
        + &binding("new", "", &format!("replicas: 2, placement: {{{placement}}}"));
    decides(
        &manifest,
        &[
            "shop/music-deployment Scheduled gy-1=1 gy-2=1",
            "shop/new-deployment Scheduled gy-1=2",
        ],
    );
    let (_, _, stderr) = asked(&manifest, "karmada", &["diff", "--fail", "gy-2"]);
    assert!(
        stderr.contains("leaves `gy-2` only when a toleration runs out, the last after 300 s"),
        "{stderr}"
    );
}

/// karmada#4700, karmada#4952
#[test]
fn ties_without_a_uid_go_to_the_first_name() {
    let one_rule = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: \
                    {staticWeightList: [{targetCluster: {clusterNames: [usa, india]}, weight: 1}]}}";
    let many: String = ["n1", "n2", "n3", "n4"]
        .map(|name| workload("Deployment", name, 1, ""))
        .concat();
    let manifest = clusters(&["india", "usa"]) + &many + &policy(one_rule);
    let expected = ["n1", "n2", "n3", "n4"].map(|name| format!("shop/{name}-deployment Scheduled india=1"));
    decides(&manifest, &expected.each_ref().map(String::as_str));

    let tolerant = format!("clusterTolerations: [{{effect: NoSchedule, key: test, operator: Exists}}], {DYNAMIC}");
    for (effect, expected) in [("NoExecute", "m2=3"), ("NoSchedule", "m1=2 m2=1")] {
        let taints = format!(", taints: [{{key: test, effect: {effect}}}]");
        let manifest = cluster_with("m1", &taints, LARGE)
            + &clusters(&["m2"])
            + &workload("Deployment", "web", 3, "cpu: 100m")
            + &policy(&tolerant);
        decides(&manifest, &[&format!("shop/web-deployment Scheduled {expected}")]);
    }
}

/// karmada#4285
#[test]
fn what_a_workload_refers_to_follows_it_and_is_not_said_to_match_no_policy() {
    let web = workload("Deployment", "web", 2, "").replace(
        "name: c,",
        "name: c, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: keys}}],",
    );
    let object =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\n---\n");
    for (deps, follows) in [("true", true), ("false", false)] {
        let policy = policy("").replace("spec: {", &format!("spec: {{propagateDeps: {deps}, "));
        let manifest = clusters(&["m1"]) + &web + &object("settings") + &object("other") + &policy;
        let (exit, _, stderr) = asked(&manifest, "karmada", &["schedule"]);
        assert_eq!(exit, Some(0), "{stderr}");
        let expected = match follows {
            true => {
                "note: no policy matches 1 resource: ConfigMap shop/other\nnote: 1 resource follows the workloads that refer to it, by \
                 `propagateDeps`: ConfigMap shop/settings\n"
            }
            false => "note: no policy matches 2 resources: ConfigMap shop/other, ConfigMap shop/settings\n",
        };
        assert!(stderr.contains(expected), "{stderr}");
    }
}

/// A set of components fits as a whole or not at all (karmada#7550).
#[test]
fn components_need_a_cluster_with_room_for_all_of_them() {
    let small = "allocatable: {cpu: '4', memory: 8Gi, pods: '500'}, allocated: {cpu: '2', memory: 4Gi, pods: '20'}";
    let spec = format!(
        "components: [{{name: jobmanager, replicas: 1, replicaRequirements: {{resourceRequest: {{cpu: '1', memory: 2Gi}}}}}}, {{name: \
         taskmanager, replicas: 3, replicaRequirements: {{resourceRequest: {{cpu: '2', memory: 4Gi}}}}}}], placement: {{spreadConstraints: \
         [{{spreadByField: cluster, minGroups: 1, maxGroups: 1}}], {AGGREGATED}}}"
    );
    let small = cluster_with("small", "", small);
    let stream = binding("stream", "", &spec);
    let (exit, stdout, _) = asked(&format!("{small}{stream}"), "karmada-alpha", &["schedule", "-o", ROWS]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.starts_with("shop/stream-deployment Unschedulable "), "{stdout}");
    let both = small + &clusters(&["large"]) + &stream;
    decides_under("karmada-alpha", &both, &["shop/stream-deployment Scheduled large=0"]);
}

/// karmada#5961
#[test]
fn the_priority_class_of_a_policy_decides_who_comes_first() {
    let class = |name: &str, value: i32| {
        format!(
            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n---\n"
        )
    };
    let for_one = |workload: &str, class: &str| {
        policy(AGGREGATED)
            .replace("name: web,", &format!("name: {workload},"))
            .replace("kind: Deployment}", &format!("kind: Deployment, name: {workload}}}"))
            .replace(
                "placement:",
                &format!("schedulePriority: {{priorityClassSource: KubePriorityClass, priorityClassName: {class}}}, placement:"),
            )
    };
    let manifest = cluster_with("m1", "", "allocatable: {cpu: '6', pods: '100'}")
        + &class("high", 1_000_000)
        + &class("low", 10)
        + &workload("Deployment", "a-batch", 4, "cpu: '1'")
        + &workload("Deployment", "z-frontend", 4, "cpu: '1'")
        + &for_one("a-batch", "low")
        + &for_one("z-frontend", "high");
    let (exit, stdout, stderr) = asked(&manifest, "karmada", &["schedule", "--assume", "-o", ROWS]);
    assert_eq!(exit, Some(1), "{stderr}");
    let (batch, frontend) = stdout.split_once('\n').expect("two lines");
    assert!(batch.starts_with("shop/a-batch-deployment Unschedulable "), "{stdout}");
    assert_eq!(frontend.trim(), "shop/z-frontend-deployment Scheduled m1=4", "{stderr}");
    assert!(!stderr.contains("no policy matches"), "{stderr}");
}

/// An operator searches with names that nobody has substituted.
#[test]
fn names_that_no_one_has_substituted_match_no_cluster() {
    let manifest = clusters(&["fra", "sea"])
        + &workload("Deployment", "web", 2, "")
        + &policy("clusterAffinity: {clusterNames: ['${CLUSTER_FRA}', '${CLUSTER_SEA}']}");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("all.yaml");
    std::fs::write(&file, &manifest).expect("the file can be written");
    let (exit, stdout, _) = run(&["policies", "-f", &shown(&file), "-o", "json"]);
    assert_eq!(exit, Some(1), "{stdout}");
    for expected in [
        "\"no-cluster\"",
        "\"unknown-cluster\"",
        "${CLUSTER_FRA}",
        "${CLUSTER_SEA}",
    ] {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
    let (exit, stdout, _) = asked(&manifest, "karmada", &["schedule", "-o", ROWS]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.starts_with("shop/web-deployment NoClusterFit "), "{stdout}");
}

/// The location of an invalid binding is in the data of every command: of the annotation, or of the workload.
#[test]
fn data_has_the_location_of_what_is_wrong() {
    let invalid = policy(AGGREGATED).replace(
        "metadata: {name: web, namespace: shop}\n",
        "metadata:\n  name: web\n  namespace: shop\n  annotations:\n    divvy.io/quorum: 101%\n",
    );
    let before = clusters(&["m1"]) + &workload("Deployment", "web", 2, "");
    let manifest = format!("{before}{invalid}");
    let line = 1 + before.matches('\n').count() + 6;
    for (command, file) in [
        (&["schedule"][..], "host/desk/cli/schema/schedule.json"),
        (&["diff", "--cordon", "m1"], "host/desk/forecast/schema/diff.json"),
        (&["headroom"], "host/desk/forecast/schema/headroom.json"),
    ] {
        let (_, stdout, stderr) = asked(&manifest, "default", &[command, &["-o", "json"]].concat());
        let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        let location = document["bindings"][0]["location"].as_str().unwrap_or_default();
        assert!(
            location.ends_with(&format!("/all.yaml:{line}")),
            "{command:?}: {document:#}"
        );
        let schema = committed_at(file);
        validate(&schema, &schema, &document, "").unwrap_or_else(|error| panic!("{error}"));
    }
}

/// karmada#4039
#[test]
fn a_policy_of_a_namespace_cannot_select_what_has_none() {
    let object = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: docs}}\n---\n");
    let selecting = policy("").replace(
        "[{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: ReplicaSet}]",
        "[{apiVersion: v1, kind: PersistentVolume}, {apiVersion: v1, kind: Namespace}]",
    );
    let manifest = clusters(&["m1"]) + &object("PersistentVolume") + &object("Namespace") + &selecting;
    let (exit, _, stderr) = asked(&manifest, "karmada", &["schedule"]);
    assert_eq!(exit, Some(0), "{stderr}");
    let note = "note: 2 resources are cluster-scoped, and only a ClusterPropagationPolicy can select them: Namespace docs, PersistentVolume docs\n";
    assert!(stderr.contains(note), "{stderr}");
}
