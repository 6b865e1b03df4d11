//! Placements of other bindings: workload affinity through the real libraries, one decision after another, and what
//! plugins from outside the workspace see.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use divvy_forecast::future::{Future, Options};
use divvy_forecast::situation::{ClusterEntry, Situation};
use divvy_loader::PluginDirectories;
use divvy_profile::ProfileSource;
use divvy_recordings::{CaseRunner, Expectation, read_recording, recorded_case, recorded_fleet, recorded_header};
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::{Decision, Outcome, decide};
use divvy_scheduler::placements::Placements;
use divvy_scheduler::profile::ConfiguredProfile;
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, list};
use crate::scheduling::{Host, configuration, detected, filters_with, name_libraries, read, told};

/// The built-in profile with both filters of workload affinity.
fn host() -> &'static Host {
    static HOST: LazyLock<Host> =
        LazyLock::new(|| Host::with_filters(&["workload-affinity", "workload-anti-affinity"]));
    &HOST
}

/// A binding in a group of one kind: `affinityGroup` or `antiAffinityGroup`.
fn grouped(name: &str, replicas: i64, kind: &str, group: &str) -> Binding {
    let binding = binding(name, replicas).strategy("Aggregated");
    binding.spec("workloadAffinityGroups", json!({ kind: group }))
}

fn apart(name: &str) -> Binding {
    grouped(name, 2, "antiAffinityGroup", "ha=shop")
}

fn together(name: &str) -> Binding {
    grouped(name, 2, "affinityGroup", "app=shop")
}

fn clusters() -> Vec<Value> {
    vec![cluster("a", 9).into(), cluster("b", 7).into(), cluster("c", 5).into()]
}

fn objects(bindings: impl IntoIterator<Item = Binding>) -> Vec<Value> {
    let mut objects = clusters();
    objects.extend(bindings.into_iter().map(Value::from));
    objects
}

/// Each decision as `<name>: <result>`.
fn all_told(decisions: &[Decision]) -> Vec<String> {
    let name = |decision: &Decision| decision.binding.rsplit('/').next().unwrap_or_default().to_owned();
    let decisions = decisions.iter();
    decisions
        .map(|decision| format!("{}: {}", name(decision), told(decision)))
        .collect()
}

/// The decisions on these objects, each taking effect for the next if `assumes`.
fn decided(host: &Host, objects: Vec<Value>, assumes: bool) -> Vec<String> {
    let (bindings, fleet) = read(&list(objects));
    let mut scheduler = host.scheduler().assuming(assumes);
    all_told(&decide(&mut scheduler, &bindings, &fleet))
}

#[test]
fn two_workloads_that_are_kept_apart_never_share_a_cluster_within_a_run() {
    let four = || objects(["v", "w", "x", "y"].map(apart));
    let none_left = "y: NoClusterFit: 0/3 clusters are available: 1 cluster(s) had `v` of the anti-affinity group `ha=shop`, \
        1 cluster(s) had `w` of the anti-affinity group `ha=shop`, 1 cluster(s) had `x` of the anti-affinity group `ha=shop`";
    assert_eq!(decided(host(), four(), true), ["v: a=2", "w: b=2", "x: c=2", none_left]);
    // Each on its own, none sees a decision about another.
    assert_eq!(decided(host(), four(), false), ["v: a=2", "w: a=2", "x: a=2", "y: a=2"]);
    // Priority decides who comes first.
    let urgent = apart("z").spec("schedulePriority", json!({ "priority": 1 }));
    assert_eq!(
        decided(host(), objects([apart("v"), urgent]), true),
        ["v: b=2", "z: a=2"]
    );
}

#[test]
fn workloads_of_a_group_follow_the_first() {
    let first = together("v").placement("clusterAffinity", json!({ "clusterNames": ["c"] }));
    let three = || objects([first.clone(), together("w"), together("x")]);
    let too_small = "x: Unschedulable: 2 replicas requested, 1 fit in the candidate clusters";
    assert_eq!(decided(host(), three(), true), ["v: c=2", "w: c=2", too_small]);
    // The filters look at last results, whether or not these would be decided again.
    let placed = together("v").last([("b", 2)]);
    assert_eq!(
        decided(host(), objects([placed, together("w")]), false),
        ["v: b=2", "w: b=2"]
    );
}

#[test]
fn a_group_is_of_a_namespace_and_a_binding_without_one_goes_anywhere() {
    let mut other = Value::from(apart("v").last([("a", 2)]));
    other["metadata"]["namespace"] = "elsewhere".into();
    let mut all = objects([apart("w"), binding("x", 2).strategy("Aggregated")]);
    all.push(other);
    assert_eq!(decided(host(), all, false), ["w: a=2", "x: a=2", "v: a=2"]);
}

#[test]
fn groups_are_derived_from_the_policy_and_the_labels_of_the_workload() {
    let policy = json!({
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": { "name": "p", "namespace": "default" },
        "spec": {
            "resourceSelectors": [{ "apiVersion": "apps/v1", "kind": "Deployment" }],
            "placement": {
                "workloadAffinity": { "antiAffinity": { "groupByLabelKey": "ha" } },
                "replicaScheduling": { "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated" },
            },
        },
    });
    let deployment = |name: &str, labels: Value| {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": { "name": name, "namespace": "default", "labels": labels },
            "spec": { "replicas": 2 },
        })
    };
    let mut all = clusters();
    all.extend([
        policy,
        deployment("v", json!({ "ha": "shop" })),
        deployment("w", json!({ "ha": "shop" })),
        deployment("x", json!({ "ha": "cart" })),
        deployment("y", json!({})),
    ]);
    let (_, found) = detected(&list(all.clone()));
    let group = |index: usize| {
        let groups = found.bindings[index].object.spec.workload_affinity_groups.as_ref();
        groups.map(|groups| groups.anti_affinity_group.as_str())
    };
    let groups = [0, 1, 2, 3].map(group);
    assert_eq!(groups, [Some("ha=shop"), Some("ha=shop"), Some("ha=cart"), None]);
    assert_eq!(
        decided(host(), all, true),
        [
            "v-deployment: a=2",
            "w-deployment: b=2",
            "x-deployment: a=2",
            "y-deployment: a=2"
        ]
    );
}

#[test]
fn without_a_filter_that_enforces_it_a_plan_warns() {
    let manifest = list([Value::from(apart("web"))]);
    let plan = Host::built_in().plan(&manifest);
    let messages: Vec<&str> = plan.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let ignored = "`spec.workloadAffinityGroups.antiAffinityGroup` is ignored: no filter of the profile enforces it";
    assert_eq!(messages, [ignored]);
    assert!(host().plan(&manifest).warnings.is_empty());
    // The other filter alone does not help.
    let other = Host::with_filters(&["workload-affinity"]);
    assert_eq!(other.plan(&manifest).warnings.len(), 1);
}

#[test]
fn a_plugin_from_outside_sees_clusters_and_replicas_of_peers_in_both_kinds_of_group() {
    let host = Host::extending("scores = [{ plugin = 'neighbours', weight = 1 }]\n");
    let groups = json!({ "affinityGroup": "app=shop", "antiAffinityGroup": "ha=shop" });
    let bindings = [
        together("v").last([("a", 30), ("gone", 5)]),
        apart("w").last([("a", 4), ("b", 20)]),
        binding("x", 2).spec("workloadAffinityGroups", groups),
    ];
    let (bindings, fleet) = read(&list(objects(bindings)));
    let mut scheduler = host.scheduler().explaining(true);
    let decisions = decide(&mut scheduler, &bindings, &fleet);
    let explanation = decisions[2].explanation.as_ref().expect("an explanation was asked for");
    let scores: Vec<(i64, String)> = explanation
        .clusters
        .iter()
        .map(|cluster| {
            let score = &cluster.scores[0];
            let reason = score.reason.as_ref().map(|reason| reason.text.to_string());
            (score.score, reason.unwrap_or_default())
        })
        .collect();
    let expected = [(66, "34 of v+w"), (80, "20 of w"), (100, "0 of ")];
    assert_eq!(scores, expected.map(|(score, reason)| (score, reason.to_owned())));
}

#[test]
fn reading_placements_without_declaring_it_is_an_error() {
    let lines = format!(
        "{}[profile.plugin.nosy]\npath = {:?}\n",
        filters_with(&["nosy"]),
        crate::artifacts::fixture("neighbours")
    );
    let told = Host::extending(&lines).told(objects([apart("web")]));
    assert!(
        told.contains("reads the placements of other bindings without declaring `Needs::placements`"),
        "{told}"
    );
}

#[test]
fn placements_that_are_not_known_fail_only_bindings_in_a_group() {
    let (bindings, fleet) = read(&list(objects([apart("v"), binding("w", 2).strategy("Aggregated")])));
    let decide = |index: usize| host().scheduler().schedule(&bindings[index], &fleet);
    let Outcome::Failed(error) = decide(0).outcome else {
        panic!("the plugin needs placements")
    };
    assert_eq!(
        error,
        CycleError::PlacementsUnknown {
            plugin: "workload-affinity".to_owned()
        }
    );
    assert!(error.is_input_fault());
    assert_eq!(told(&decide(1)), "a=2");
}

/// A replay sees the peers as they were; an older recording has none.
#[test]
fn a_recording_has_the_peers() {
    let mut configuration = configuration(&format!(
        "extends = 'default'\n{}",
        filters_with(&["workload-affinity", "workload-anti-affinity"])
    ));
    name_libraries(&mut configuration);
    let host = Host::new(&configuration, &PluginDirectories::default()).expect("a profile");
    let manifest = list(objects([
        apart("v").last([("a", 2)]),
        apart("w"),
        binding("x", 2).strategy("Aggregated"),
    ]));
    let (manifests, found) = detected(&manifest);
    let (_, fleet) = read(&manifest);
    let decisions = decide(&mut host.scheduler(), &found.bindings, &fleet);
    let recorded = |index: usize, cluster: &str| {
        let expect = Expectation::from_counts([(cluster, 2)].into_iter());
        recorded_case(&found.bindings[index], &decisions[index], "fleet", expect).expect("it is JSON")
    };
    let clusters = manifests.clusters.iter().map(|cluster| cluster.object.clone());
    let lines = [
        recorded_header(host.profile(), &configuration).expect("the profile is TOML"),
        recorded_fleet("fleet", clusters.collect()).expect("it is JSON"),
        recorded(1, "b"),
        recorded(2, "a"),
    ];
    assert!(lines[2].contains(r#""peers":[{"name":"v","#), "{}", lines[2]);
    assert!(!lines[3].contains("peers"), "{}", lines[3]);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), lines.join("\n")).expect("the recording can be written");
    let mut recording = read_recording(file.path()).expect("the recording can be read");
    let mut runner = CaseRunner::new(host.shared());
    for case in &recording.cases {
        let prepared = runner.prepare(case);
        let expect = case.expect.clone().expect("a decision");
        assert_eq!(
            runner.decide(&prepared, &fleet),
            (expect, String::new()),
            "{}",
            case.name
        );
    }
    recording.cases[0].peers = None;
    let prepared = runner.prepare(&recording.cases[0]);
    let error = runner
        .try_decide(&prepared, &fleet)
        .expect_err("the plugin needs placements");
    assert_eq!(
        error.to_string(),
        "plugin `workload-affinity` needs the placements of other bindings in the groups of this one, which are not known"
    );
}

#[test]
fn nothing_is_recorded_that_no_plugin_asked_for() {
    let (bindings, fleet) = read(&list(objects([apart("v").last([("a", 2)]), apart("w")])));
    let placements = Some(Arc::new(Placements::of(&bindings)));
    let mut scheduler = Host::built_in().scheduler().knowing(placements);
    assert!(scheduler.placements().is_none());
    assert_eq!(scheduler.schedule(&bindings[1], &fleet).peers, None);
}

/// One side of a forecast under the profile with both filters.
fn future(objects: &[Value], assumes: bool, threads: usize) -> Vec<String> {
    let (manifests, found) = detected(&list(objects.to_vec()));
    let clusters = manifests.clusters.into_iter().map(|located| ClusterEntry {
        object: located.object,
        json: None,
    });
    let configuration = ProfileSource::built_in()
        .profile(None)
        .expect("the built-in profile is valid");
    let options = Options {
        assumes,
        explains: divvy_forecast::future::Explains::Nothing,
        threads: NonZeroUsize::new(threads).expect("at least one thread"),
        time: None,
    };
    let situation = Situation::new(clusters, found.bindings);
    let future = Future::decide(
        &situation,
        &ConfiguredProfile::new(host().shared(), &configuration),
        options,
    );
    let entries = future.entries.iter();
    entries
        .map(|entry| {
            let targets: Vec<String> = entry
                .targets
                .iter()
                .map(|(name, count)| format!("{name}={count}"))
                .collect();
            format!("{}: {}", entry.binding.object.metadata.name, targets.join(" "))
        })
        .collect()
}

#[test]
fn a_forecast_decides_one_after_another_and_equally_on_any_number_of_threads() {
    let many: Vec<Value> = objects((0..12).map(|number| {
        let name = format!("w{number:02}");
        let binding = match number % 3 {
            0 => apart(&name).last([(["a", "b", "c"][number / 3 % 3], 2)]),
            1 => apart(&name),
            _ => together(&name),
        };
        binding.spec("replicas", json!(1))
    }));
    for assumes in [true, false] {
        assert_eq!(future(&many, assumes, 1), future(&many, assumes, 4));
    }
    let two = objects([apart("v"), apart("w")]);
    assert_eq!(future(&two, true, 1), ["v: a=2", "w: b=2"]);
    assert_eq!(future(&two, false, 1), ["v: a=2", "w: a=2"]);
}

/// In a forecast, a binding that no cluster fits loses its clusters and no longer blocks its peers.
#[test]
fn a_result_that_is_removed_frees_its_clusters_for_the_peers() {
    let nowhere = apart("v")
        .last([("a", 1)])
        .placement("clusterAffinity", json!({ "clusterNames": ["nowhere"] }));
    let only_a = apart("w").placement("clusterAffinity", json!({ "clusterNames": ["a"] }));
    assert_eq!(future(&objects([nowhere, only_a]), true, 1), ["v: ", "w: a=2"]);
}

/// The first binding sees its peer on the cluster that both must leave, and is decided again after the peer has moved.
#[test]
fn a_forecast_decides_again_what_waits_for_a_peer() {
    let mut all = objects([together("v").last([("a", 2)]), together("w").last([("a", 2)])]);
    all[0]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    assert_eq!(future(&all, true, 1), ["v: b=2", "w: b=2"]);
}
