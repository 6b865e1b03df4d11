//! A plugin that does harm costs the decision that it was called for, and nothing else.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{divvy, file, scheduled};
use crate::c_interface::hostile::{HOSTILE, opened};
use crate::manifests::{binding, cluster, list, priorities};

/// Harm that ends the process or the thread, or takes for ever. The binding gets an error with one of these texts.
const DEADLY: [(&str, &[&str]); 15] = [
    ("segmentation fault", &["its worker was ended by SIGSEGV"]),
    ("abort", &["its worker was ended by SIGABRT"]),
    (
        "stack overflow",
        &["its worker was ended by SIGABRT", "its worker was ended by SIGSEGV"],
    ),
    ("exit", &["its worker exited with code 0"]),
    ("quick_exit", &["its worker exited with code 0"]),
    ("_exit", &["its worker exited with code 0"]),
    ("pthread_exit", &["its worker "]),
    ("kill", &["its worker was ended by SIGKILL"]),
    ("write to the snapshot", &["its worker was ended by SIGSEGV"]),
    ("write to an input", &["its worker was ended by SIGSEGV"]),
    ("endless loop", &["its worker did not answer a call within 1 s"]),
    ("deadlock", &["its worker did not answer a call within 1 s"]),
    // The limit of memory ends it, unless the machine is too slow to get there.
    (
        "memory",
        &[
            "its worker was ended by SIGABRT",
            "its worker did not answer a call within 1 s",
        ],
    ),
    // Made read-only, it is not counted by the kernel's limit. The host looks at it.
    (
        "read-only memory",
        &["its worker used ", "its worker did not answer a call within 1 s"],
    ),
    ("none of these", &[]),
];

/// Harm that is refused, or that concerns the worker alone. The binding is decided.
const HARMLESS: [&str; 9] = [
    "close descriptors",
    "fork",
    "forged sink",
    "limits",
    "output",
    "read a file",
    "socket",
    "huge text",
    "kill the parent",
];

const POINTS: [&str; 5] = ["filter", "score", "select", "prepare", "assign"];

pub(super) fn profile(name: &str, more: &str) -> PathBuf {
    let lists = "filters = ['cluster-affinity', 'hostile']\nscores = ['hostile']\nselect = ['hostile']\n\
                 assign = ['hostile', 'average', 'priority-aggregated']";
    profile_with(name, lists, &format!("{}{more}", section()))
}

/// A profile with these lists of plugins, and then these lines.
fn profile_with(name: &str, lists: &str, more: &str) -> PathBuf {
    let text = format!("[[profile]]\nname = 'hostile'\nextends = 'default'\n{lists}\n{more}");
    file(name, &text)
}

/// The section of the plugin in a profile.
fn section() -> String {
    format!(
        "[profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\nisolation = 'process'\ndeadline = '1s'\n",
        HOSTILE.display()
    )
}

/// Two clusters, and a binding with each fault at a point.
pub(super) fn objects(point: &str, faults: &[&str]) -> String {
    let mut objects: Vec<Value> = vec![cluster("a", 9).into(), cluster("b", 9).into()];
    // A state is prepared for all tiers of clusters together.
    let tiers = json!({ "clusterPriority": priorities([("a", 2), ("b", 1)]) });
    let preferences = if point == "prepare" { tiers } else { json!({}) };
    objects.extend(faults.iter().enumerate().map(|(number, fault)| {
        binding(&format!("binding-{number:02}"), 3)
            .strategy("Hostile")
            .preferences(&preferences)
            .annotation("hostile.example/fault", fault)
            .annotation("hostile.example/point", point)
            .into()
    }));
    list(objects)
}

/// The result of each binding, in order: `a=3`, or an error. `test` names the files.
pub(super) fn decided(test: &str, point: &str, faults: &[&str]) -> Vec<String> {
    let manifests = file(&format!("{test}-{point}.json"), &objects(point, faults));
    let profile = profile(&format!("{test}-{point}.toml"), "");
    let (exit, output, log) = scheduled(&manifests, &profile, &[]);
    assert_eq!(exit, Some(3), "{log}");
    let bindings = output.as_array().unwrap_or_else(|| panic!("{output:#}"));
    assert_eq!(bindings.len(), faults.len(), "no binding is lost");
    bindings.iter().map(told).collect()
}

/// What is said about a binding.
fn told(binding: &Value) -> String {
    match binding["clusters"].as_array().filter(|clusters| !clusters.is_empty()) {
        Some(clusters) => {
            let counts = clusters.iter().map(|cluster| {
                let name = cluster["name"].as_str().unwrap_or_default();
                format!("{name}={}", cluster["replicas"])
            });
            counts.collect::<Vec<_>>().join(" ")
        }
        None => binding.to_string(),
    }
}

#[test]
fn harm_costs_the_decision_that_it_was_done_in() {
    for point in POINTS {
        // Waiting for a deadline is the same at each point.
        let is_slow = |fault: &str| ["endless loop", "deadlock", "memory", "read-only memory"].contains(&fault);
        let is_tried = |fault: &str| match point {
            "assign" => true,
            "prepare" => !is_slow(fault) || fault == "endless loop",
            _ => !is_slow(fault),
        };
        let deadly = DEADLY.iter().filter(|(fault, _)| is_tried(fault));
        // A plugin whose worker fails three times in a row is not called any more.
        let answered = ("none", [].as_slice());
        let (faults, expected): (Vec<&str>, Vec<&[&str]>) = deadly
            .flat_map(|deadly| [*deadly, answered])
            .chain(HARMLESS.map(|fault| (fault, [].as_slice())))
            .unzip();
        for ((fault, expected), told) in faults.iter().zip(expected).zip(decided("harm", point, &faults)) {
            match expected {
                // The standard library of a debug build ends a process that finds one of its descriptors closed, if it happens to
                // close one. Only this decision is lost then.
                [] if *fault == "close descriptors" && !divvy_built::is_release() && told != "a=3" => {
                    assert!(
                        told.contains("its worker was ended by SIGABRT"),
                        "{fault} at {point}: {told}"
                    );
                }
                [] => assert_eq!(told, "a=3", "{fault} at {point}"),
                texts => {
                    assert!(
                        told.contains("plugin `hostile` failed in "),
                        "{fault} at {point}: {told}"
                    );
                    assert!(
                        texts.iter().any(|text| told.contains(text)),
                        "{fault} at {point}: {told}"
                    );
                }
            }
        }
    }
}

/// Those that ask for another strategy are decided as by a profile that does not have the plugin.
#[test]
fn a_binding_that_does_not_need_the_plugin_is_decided_as_without_it() {
    let profile = |name: &str, assign: &str, more: &str| {
        let lists = format!("filters = ['cluster-affinity']\nassign = [{assign}'average']");
        profile_with(name, &lists, more)
    };
    let with = profile("unneeded-with.toml", "'hostile', ", &section());
    let without = profile("unneeded-without.toml", "", "");

    let clusters = || ["a", "b", "c"].map(|name| Value::from(cluster(name, 500)));
    let others = |number: usize| -> Value {
        let binding = binding(&format!("other-{number:02}"), 5 + number as i64);
        binding.strategy("Average").into()
    };
    let faults = DEADLY.iter().filter(|(_, texts)| !texts.is_empty());
    let count = faults.clone().count();
    let hostile = faults.enumerate().flat_map(|(number, (fault, _))| {
        let binding = binding(&format!("hostile-{number:02}"), 3).strategy("Hostile");
        let binding = binding.annotation("hostile.example/fault", fault);
        [
            binding.annotation("hostile.example/point", "assign").into(),
            others(number),
        ]
    });
    let mixed = file("unneeded-mixed.json", &list(clusters().into_iter().chain(hostile)));
    let alone = clusters().into_iter().chain((0..count).map(others));
    let alone = file("unneeded-alone.json", &list(alone));

    let (exit, expected, log) = scheduled(&alone, &without, &["--explain"]);
    assert_eq!(exit, Some(0), "{log}");
    let (exit, mixed, log) = scheduled(&mixed, &with, &["--explain"]);
    assert_eq!(exit, Some(3), "{log}");
    let is_other = |binding: &&Value| binding["binding"].as_str().is_some_and(|key| key.contains("other-"));
    let mixed = mixed.as_array().expect("a list");
    let found: Vec<&Value> = mixed.iter().filter(is_other).collect();
    let expected: Vec<&Value> = expected.as_array().expect("a list").iter().collect();
    assert_eq!((mixed.len(), found.len()), (2 * count, count), "{log}");
    assert_eq!(found, expected);
}

#[test]
fn harm_in_a_constructor_is_an_error_of_the_profile() {
    for (fault, expected) in [
        (
            "segmentation fault",
            "its worker was ended by SIGSEGV while it was to construct the plugin",
        ),
        (
            "exit",
            "its worker exited with code 0 while it was to construct the plugin",
        ),
        ("deadlock", "its worker did not construct the plugin within 30 s"),
        ("none", ""),
    ] {
        let configuration = format!("[profile.plugin.hostile.configuration]\nfault = '{fault}'\n");
        let profile = profile("constructor.toml", &configuration);
        let (exit, _, log) = divvy(&[
            "profile",
            "check",
            "--profile",
            profile.to_str().expect("a path of ASCII"),
        ]);
        assert_eq!(exit, Some(if expected.is_empty() { 0 } else { 2 }), "{fault}: {log}");
        assert!(log.contains(expected), "{fault}: {log}");
    }
}

/// What a library does when it is opened is done in the worker, too.
#[test]
fn harm_when_a_library_is_opened_is_an_error_of_the_profile() {
    let opened = opened("hostile_opened", "_exit(0)");
    let text = std::fs::read_to_string(profile("opened.toml", "")).expect("a profile");
    let profile = file(
        "opened.toml",
        &text.replace(&HOSTILE.display().to_string(), &opened.display().to_string()),
    );
    let (exit, _, log) = divvy(&[
        "profile",
        "check",
        "--profile",
        profile.to_str().expect("a path of ASCII"),
    ]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(
        log.contains("its worker exited with code 0 while it was to open the library"),
        "{log}"
    );
}

#[test]
fn the_hidden_command_is_for_hosts_only() {
    let (exit, output, log) = divvy(&["plugin-worker"]);
    assert_eq!((exit, output.as_str()), (Some(2), ""), "{log}");
    assert!(log.contains("this command is run by divvy itself"), "{log}");
    let (_, help, _) = divvy(&["--help"]);
    assert!(!help.contains("plugin-worker"), "{}", json!(help));
}
