//! Compatibility in both directions: plugins of another minor ABI version, from another build, or with another
//! allocator.

pub(crate) mod edits;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use divvy_scheduler::cycle::{Cycle, CycleInput};
use divvy_scheduler::plan::{Plan, PlanInput};
use divvy_scheduler::plugin::PluginInstance;
use serde_json::Value;

use edits::unannounced;

use crate::artifacts::{self, fixture};
use crate::changed_sdk;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, read};

/// A host whose profile uses the plugin from `library` at every extension point.
fn host_of(library: &Path) -> Host {
    host_with(library, "")
}

/// As [`host_of`], with more lines in the plugin's table.
fn host_with(library: &Path, more: &str) -> Host {
    Host::extending(&profile_with(library, more))
}

/// The profile's only selector.
fn selector(host: &Host) -> &PluginInstance {
    host.profile().selectors().next().expect("the profile has a selector")
}

/// The lines of the profile.
fn profile_with(library: &Path, more: &str) -> String {
    format!(
        "filters = ['everywhere']\nscores = [{{ plugin = 'everywhere', weight = 3 }}]\nselect = 'everywhere'\n\
         assign = ['everywhere', 'average', 'priority-aggregated']\n\
         [profile.plugin.everywhere]\npath = '{}'\n{more}configuration = {{ rejected-region = 'south' }}\n",
        library.display()
    )
}

/// Checks the decisions of the plugin across all its features.
#[track_caller]
fn check_decisions(host: &Host) {
    check_decisions_of(|objects| host.told(objects));
}

/// As [`check_decisions`], of a host that decides on the only binding among some objects.
#[track_caller]
fn check_decisions_of(decide: impl Fn(Vec<Value>) -> String) {
    let clusters = || -> Vec<Value> {
        vec![
            cluster("a", 4).region("north").into(),
            cluster("b", 9).region("south").into(),
            cluster("c", 2).region("north").into(),
            cluster("d", 7).into(),
        ]
    };
    let told = |binding: crate::manifests::Binding| {
        let mut objects = clusters();
        objects.push(binding.into());
        decide(objects)
    };
    let everywhere = |name, replicas| binding(name, replicas).strategy("Everywhere");
    // Without scores, clusters with the most room come first.
    assert_eq!(told(everywhere("plain", 8)), "a=1 d=7");
    // A cluster of the last result scores 100, and its last replicas count as room.
    assert_eq!(told(everywhere("scored", 8).last([("c", 3)])), "c=5 d=3");
    let favourite = serde_json::json!({ "favourite": "a" });
    assert_eq!(told(everywhere("favourite", 8).preferences(&favourite)), "a=4 d=4");
    assert_eq!(
        told(everywhere("greedy", 14)),
        "Unschedulable: 14 replicas requested, 13 fit in the candidate clusters"
    );
    let misspelt = serde_json::json!({ "favorite": "a" });
    assert_eq!(
        told(everywhere("misspelt", 8).preferences(&misspelt)),
        "Error: the binding's `divvy.io/preferences`: plugin `everywhere`: unknown key `favorite`"
    );
    // Tiers repeat the call, with state that is prepared once.
    let tiers = serde_json::json!({
        "clusterPriority": { "preferredPriorityList": [
            { "targetCluster": { "clusterNames": ["c"] }, "priority": 9 }
        ] }
    });
    assert_eq!(told(everywhere("tiers", 8).preferences(&tiers)), "c=2 d=6");
    // A current plugin in the same profile.
    assert_eq!(told(binding("even", 7).strategy("Average")), "a=3 c=2 d=2");
}

#[test]
fn a_plugin_of_this_version_schedules() {
    let host = host_of(fixture("everywhere"));
    assert_eq!(selector(&host).library().abi_version().to_string(), "1.1");
    check_decisions(&host);
}

#[test]
fn a_plugin_of_a_newer_minor_version_schedules_on_this_host() {
    let host = host_of(changed_sdk::newer_plugin());
    assert_eq!(selector(&host).library().abi_version().to_string(), "1.2");
    check_decisions(&host);
}

/// A host of the newer minor version, in a process of its own: a plugin of this version, which does not know what was
/// appended, decides as it does here, beside the bundled plugins; and a newer one reads the column that this host adds.
#[test]
fn plugins_of_this_version_schedule_on_a_host_of_a_newer_minor_version() {
    let bundled = ["average", "priority-aggregated"].map(|name| artifacts::plugin(name).display().to_string());
    for library in [fixture("everywhere"), changed_sdk::newer_plugin()] {
        let profile = format!(
            "[[profile]]\nname = 'test'\nextends = 'default'\n{}\n[profile.plugin.average]\npath = '{}'\n\
             [profile.plugin.priority-aggregated]\npath = '{}'\n",
            profile_with(library, ""),
            bundled[0],
            bundled[1]
        );
        check_decisions_of(|objects| {
            let mut process = Command::new(changed_sdk::newer_host())
                .args([&profile, "/nowhere"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the host starts");
            let mut input = process.stdin.take().expect("its input is piped");
            input.write_all(list(objects).as_bytes()).expect("it reads its input");
            drop(input);
            let output = process.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", library.display());
            String::from_utf8(output.stdout)
                .expect("it writes text")
                .trim_end()
                .to_owned()
        });
    }
}

#[test]
fn a_change_without_a_new_version_is_refused() {
    for (name, place, _) in unannounced() {
        let library = changed_sdk::unannounced(name);
        // The second time, it is open already.
        for _ in 0..2 {
            let error = divvy_loader::PluginLibrary::load(library, None).expect_err("its layout differs");
            let message = error.to_string().replace(&library.display().to_string(), "<file>");
            let expected = format!("plugin `certified` (<file>) has another type layout than this divvy: {place}");
            assert!(message.starts_with(&expected), "{message}");
            let detail = error.detail().expect("the report of the layout check");
            assert!(detail.lines().count() > 10, "{detail}");
        }
    }
}

/// The certificate is a feature of the SDK, which changes no layout. Without it a plugin loads where its profile allows.
#[test]
fn a_plugin_without_certificate_schedules_if_its_profile_allows_it() {
    let library = changed_sdk::plain_plugin();
    let error = divvy_loader::PluginLibrary::load(library, None).expect_err("nothing allows it");
    let message = error.to_string().replace(&library.display().to_string(), "<file>");
    assert_eq!(
        message,
        "plugin `everywhere` (<file>), written in rust, carries no certificate"
    );
    let bytes = std::fs::read(library).expect("the library was built");
    let names = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    assert!(!names(b"divvy_certificate_v1") && names(b"divvy_plugin_v1"));
    check_decisions(&host_with(library, "allow-uncertified = true\n"));
}

/// A filter declares that it needs the clusters' JSON, in a library that it shares with a strategy.
#[test]
fn two_plugins_of_one_library_schedule() {
    let library = fixture("two-plugins");
    let path = library.display();
    let host = Host::extending(&format!(
        "filters = ['nothing']\nassign = ['alone']\n\
         [profile.plugin.nothing]\npath = '{path}'\n[profile.plugin.alone]\npath = '{path}'\n"
    ));
    assert!(host.profile().needs_raw_clusters());
    for strategy in ["Alone", "Lonely"] {
        let asked = binding("web", 3).strategy(strategy);
        let objects = [cluster("a", 4).into(), cluster("b", 4).into(), asked.into()];
        assert_eq!(host.told(objects), "b=3");
    }
    // The JSON is there, because the filter needs it, but the strategy did not declare that it does.
    let asked = binding("web", 4).strategy("Lonely");
    let told = host.told([cluster("a", 4).into(), cluster("b", 4).into(), asked.into()]);
    assert_eq!(
        told,
        "Error: plugin `alone` failed: reads the raw JSON of a cluster without declaring `Needs::raw_cluster`"
    );
}

/// A remark of Score or Assign is shown at the cluster that it is about, whatever the order of the candidates.
#[test]
fn remarks_are_shown_at_their_clusters() {
    let host = host_of(fixture("everywhere"));
    let asked = binding("scored", 8).strategy("Everywhere").last([("c", 3)]);
    let objects = [
        cluster("a", 4).region("north").into(),
        cluster("b", 9).region("south").into(),
        cluster("c", 2).region("north").into(),
        cluster("d", 7).into(),
        asked.into(),
    ];
    let (bindings, fleet) = read(&list(objects));
    let plan = Plan::under(host.profile(), &PlanInput::new(&bindings[0])).expect("the binding is valid");
    let input = CycleInput::new(host.profile(), &fleet, &plan, &plan.groups[0]);
    let mut cycle = Cycle::new();
    let (result, explanation) = cycle.run_explained(&input, None);
    assert!(result.is_ok());
    let remarks: Vec<(&str, Vec<&str>)> = explanation
        .clusters
        .iter()
        .map(|cluster| {
            let scores = cluster.scores.iter().filter_map(|score| score.reason.as_ref());
            let reasons = scores.chain(&cluster.reasons).map(|reason| reason.text.as_str());
            (cluster.name.as_str(), reasons.collect())
        })
        .collect();
    assert_eq!(
        remarks,
        [
            ("a", vec!["scored None", "took 0 of 0"]),
            ("b", vec![]),
            ("c", vec!["scored Some(3)", "took 5 of 8"]),
            ("d", vec!["scored None", "took 3 of 3"]),
        ]
    );
}

/// Memory that one side allocates and the other side frees returns to its own allocator: strings in errors and
/// explanations, prepared state, the plugin itself.
#[test]
fn a_plugin_may_have_its_own_allocator() {
    let host = Host::extending("assign = ['rival']");
    for replicas in [5, 13, 6] {
        let objects = [cluster("a", 9).into(), cluster("b", 9).into()];
        let told = host.told(
            objects
                .into_iter()
                .chain([binding("web", replicas).strategy("Average").into()]),
        );
        match replicas {
            13 => assert_eq!(told, "Unschedulable: 13 is more than anyone should ask for"),
            _ => assert_eq!(told, format!("a={replicas}")),
        }
    }
    drop(host);
}
