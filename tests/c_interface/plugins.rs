//! The example in C, built with the system's compiler, schedules like any other plugin.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divvy_loader::PluginLibrary;
use serde_json::Value;

use super::compile::library;
use crate::artifacts::repository;
use crate::manifests::{Binding, binding, cluster, list};
use crate::scheduling::{Host, read};

/// The library of the example.
pub(crate) fn example() -> &'static PathBuf {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| library("divvy_c_plugins", &sources()));
    &LIBRARY
}

fn sources() -> [PathBuf; 3] {
    let sources = ["fill_in_order.c", "ready_only.c", "library.c"];
    sources.map(|name| repository().join("examples/c-plugin").join(name))
}

/// The library of the example, as it would be if its plugins required this minor version of the ABI.
pub(crate) fn example_that_requires(minor: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("requires-{minor}"));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let header = repository().join("framework/abi/include/divvy_plugin.h");
    let header = std::fs::read_to_string(header).expect("the header is there");
    let changed = header.replace(
        "#define DIVVY_LEAST_MINOR 0u",
        &format!("#define DIVVY_LEAST_MINOR {minor}u"),
    );
    assert_ne!(header, changed);
    std::fs::write(folder.join("divvy_plugin.h"), changed).expect("the header can be written");
    // A header beside the sources comes before those of the include path.
    let sources = sources().map(|source| {
        let copied = folder.join(source.file_name().expect("it is a file"));
        std::fs::copy(source, &copied).expect("the source can be copied");
        copied
    });
    library(&format!("divvy_c_plugins_{minor}"), &sources)
}

/// Settings of the profile for both plugins of the example.
fn tables(more: &str) -> String {
    let path = example().display();
    ["ready-only", "fill-in-order"]
        .map(|name| format!("[profile.plugin.{name}]\npath = '{path}'\n{more}\n"))
        .concat()
}

fn host() -> Host {
    Host::extending(&format!(
        "filters = ['cluster-affinity', 'ready-only']\nassign = ['fill-in-order', 'average']\n{}",
        tables("allow-uncertified = true")
    ))
}

/// Three clusters with room for 4, 3 and 9 replicas, of which the last is not ready.
fn objects(binding: Binding) -> Vec<Value> {
    let mut lost: Value = cluster("c", 9).into();
    lost["status"]["conditions"] = serde_json::json!([{ "type": "Ready", "status": "False" }]);
    let ready = [("a", 4), ("b", 3)].map(|(name, fits)| {
        let mut ready: Value = cluster(name, fits).into();
        ready["status"]["conditions"] = serde_json::json!([{ "type": "Ready", "status": "True" }]);
        ready
    });
    ready.into_iter().chain([lost, binding.into()]).collect()
}

#[test]
fn a_strategy_and_a_filter_in_c_schedule() {
    let host = host();
    let told = |replicas| host.told(objects(binding("web", replicas).strategy("FillInOrder")));
    assert_eq!(told(3), "a=3");
    assert_eq!(told(6), "a=4 b=2");
    assert_eq!(told(8), "Unschedulable: the candidates have too little room");
    // A plugin in Rust in the same profile.
    let even = host.told(objects(binding("even", 4).strategy("Average")));
    assert_eq!(even, "a=2 b=2");
}

#[test]
fn a_strategy_in_c_explains_and_counts() {
    let host = host();
    let (bindings, fleet) = read(&list(objects(binding("web", 6).strategy("FillInOrder"))));
    let mut scheduler = host.scheduler().explaining(true);
    let decision = scheduler.schedule(&bindings[0], &fleet);
    let explanation = decision.explanation.expect("an explanation was asked for");
    let reasons = explanation.clusters.iter().flat_map(|cluster| &cluster.reasons);
    let reasons: Vec<(&str, Option<&str>, &str)> = reasons
        .map(|reason| (&*reason.cause, reason.bound_by.as_deref(), reason.text.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            (
                "packed",
                Some("capacity"),
                "each filled before the next (capacity 4, share 4)"
            ),
            ("packed", None, "each filled before the next (capacity 3, share 2)"),
        ]
    );
    let strategy = host.profile().strategy("FillInOrder").expect("it is served");
    let metrics = strategy.plugin().metrics();
    assert_eq!(metrics.counters, [("divisions".to_owned(), 1)].into());
    assert_eq!(metrics.histograms["replicas"].sum, 6.0);
}

#[test]
fn a_filter_in_c_gives_its_reason() {
    let nowhere = binding("web", 3)
        .strategy("FillInOrder")
        .placement("clusterAffinity", serde_json::json!({ "clusterNames": ["c"] }));
    assert_eq!(
        host().told(objects(nowhere)),
        "NoClusterFit: 0/3 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint, \
         1 cluster(s) were not ready"
    );
}

#[test]
fn metadata_comes_from_the_descriptor() {
    let host = host();
    let strategy = host.profile().strategy("FillInOrder").expect("it is served");
    let library = strategy.plugin().library();
    assert_eq!((library.name(), library.version()), ("fill-in-order", "1.0.0"));
    assert_eq!(library.description(), "fills the candidates in the order of Select");
    assert_eq!(library.promise_names(), ["respects capacity"]);
    assert_eq!(library.extension_points(), ["Assign"]);
    assert_eq!(library.configuration_schema(), "true");
    assert!(!library.is_certified());
}

#[test]
fn a_library_in_c_loads_only_if_the_profile_allows_it() {
    let profile = |more: &str| format!("filters = ['ready-only']\nassign = ['fill-in-order']\n{}", tables(more));
    let errors = Host::try_extending(&profile("")).expect_err("it is not allowed");
    let path = example().display();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            format!("plugin `ready-only` ({path}), written in c, carries no certificate"),
            format!("plugin `fill-in-order` ({path}), written in c, carries no certificate"),
        ]
    );
    assert!(Host::try_extending(&profile("allow-uncertified = true")).is_ok());
}

#[test]
fn a_constructor_in_c_refuses_its_configuration() {
    let lines = format!(
        "assign = ['fill-in-order']\n[profile.plugin.fill-in-order]\npath = '{}'\nallow-uncertified = true\n\
         configuration = {{ speed = 3 }}\n",
        example().display()
    );
    let errors = Host::try_extending(&lines).expect_err("it has no settings");
    assert_eq!(
        errors[0].to_string(),
        "configuration of plugin `fill-in-order`: the plugin has no settings"
    );
}

#[test]
fn a_library_with_several_plugins_needs_a_name() {
    let error = PluginLibrary::load(example(), None).expect_err("there are two");
    let message = error.to_string().replace(&example().display().to_string(), "<file>");
    assert_eq!(message, "`<file>` holds several plugins: `fill-in-order`, `ready-only`");
}
