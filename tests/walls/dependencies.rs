//! Who may depend on whom.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Package};

use super::check_none;
use crate::artifacts::{metadata, plugin_folders, plugin_package};

/// What a plugin's own arithmetic needs beside the SDK, by folder. Each entry has its reason.
const ARITHMETIC: [(&str, &[&str]); 1] = [
    // The causes for which counts cannot be obeyed are an error type of its arithmetic.
    ("specified", &["thiserror"]),
];

/// What the tests of a plugin may use.
const TESTS_OF_PLUGINS: [&str; 3] = ["divvy-framework", "proptest", "serde_json"];

fn package(name: &str) -> &'static Package {
    let packages = &metadata().packages;
    let found = packages.iter().find(|package| package.name.as_str() == name);
    found.unwrap_or_else(|| panic!("there is no package `{name}`"))
}

fn dependencies(package: &Package, kind: DependencyKind) -> BTreeSet<&str> {
    let all = package.dependencies.iter().filter(|dependency| dependency.kind == kind);
    all.map(|dependency| dependency.name.as_str()).collect()
}

/// Every package that a package needs to be built and run, however indirectly.
fn closure(name: &str) -> BTreeSet<&'static str> {
    let graph = metadata().resolve.as_ref().expect("cargo resolved the workspace");
    let nodes: BTreeMap<_, _> = graph.nodes.iter().map(|node| (&node.id, node)).collect();
    let names: BTreeMap<_, _> = metadata()
        .packages
        .iter()
        .map(|package| (&package.id, package.name.as_str()))
        .collect();
    let mut found = BTreeSet::new();
    let mut open = vec![&package(name).id];
    while let Some(id) = open.pop() {
        for dependency in &nodes[id].deps {
            let is_for_tests = dependency
                .dep_kinds
                .iter()
                .all(|kind| kind.kind == DependencyKind::Development);
            if !is_for_tests && found.insert(names[&dependency.pkg]) {
                open.push(&dependency.pkg);
            }
        }
    }
    found
}

/// Crates by what they may know: each with the crates of Divvy that it may depend on directly.
const CRATES: [(&str, &[&str]); 12] = [
    ("divvy-documents", &[]),
    ("divvy-framework-abi", &[]),
    ("divvy-framework-derive", &[]),
    ("divvy-framework-view", &["divvy-framework-abi"]),
    (
        "divvy-framework-driver",
        &["divvy-framework-abi", "divvy-framework-view"],
    ),
    (
        "divvy-framework",
        &[
            "divvy-documents",
            "divvy-framework-abi",
            "divvy-framework-derive",
            "divvy-framework-driver",
            "divvy-framework-view",
        ],
    ),
    ("divvy-karmada", &["divvy-documents", "divvy-framework-view"]),
    ("divvy-manifests", &["divvy-documents", "divvy-karmada"]),
    (
        "divvy-scheduler",
        &[
            "divvy-documents",
            "divvy-framework",
            "divvy-framework-driver",
            "divvy-framework-view",
            "divvy-karmada",
        ],
    ),
    (
        "divvy-cli",
        &[
            "divvy-documents",
            "divvy-framework",
            "divvy-framework-view",
            "divvy-karmada",
            "divvy-manifests",
            "divvy-scheduler",
        ],
    ),
    ("divvy-tests", &[]),
    ("divvy-plugin", &["divvy-framework"]),
];

#[test]
fn a_crate_depends_on_nothing_that_it_may_not_know() {
    let mut broken = Vec::new();
    for package in metadata().workspace_packages() {
        let name = package.name.as_str();
        let found = CRATES.iter().find(|(known, _)| name == *known);
        let is_plugin = name.starts_with("divvy-plugin-");
        let Some((_, allowed)) =
            found.or_else(|| CRATES.iter().find(|(known, _)| is_plugin && *known == "divvy-plugin"))
        else {
            broken.push(format!("{name} is not listed"));
            continue;
        };
        let known = dependencies(package, DependencyKind::Normal);
        let forbidden = known
            .into_iter()
            .filter(|known| known.starts_with("divvy-") && !allowed.contains(known));
        broken.extend(forbidden.map(|known| format!("{name} depends on {known}")));
    }
    check_none(broken, "crates know only what tests/walls/dependencies.rs lists");
}

#[test]
fn neither_the_sdk_nor_the_scheduler_pulls_in_a_runtime_or_a_terminal() {
    let runtimes = ["kube", "k8s-openapi", "tokio", "async-std", "hyper"];
    let terminals = ["clap", "indicatif", "anstream", "terminal_size", "console"];
    let mut broken = Vec::new();
    for (name, _) in CRATES
        .iter()
        .filter(|(name, _)| !matches!(*name, "divvy-cli" | "divvy-tests" | "divvy-plugin"))
    {
        let pulled = closure(name).into_iter();
        let forbidden = pulled
            .filter(|pulled| runtimes.iter().any(|prefix| pulled.starts_with(prefix)) || terminals.contains(pulled));
        broken.extend(forbidden.map(|pulled| format!("{name} pulls in {pulled}")));
    }
    check_none(
        broken,
        "the SDK and the scheduler know neither a runtime nor a terminal",
    );
}

#[test]
fn a_plugin_depends_on_the_sdk_and_its_own_arithmetic_alone() {
    let mut broken = Vec::new();
    for folder in plugin_folders() {
        let package = package(&plugin_package(&folder));
        let arithmetic = ARITHMETIC.iter().find(|(name, _)| *name == folder);
        let arithmetic = arithmetic.map_or(&[][..], |(_, crates)| *crates);
        for name in dependencies(package, DependencyKind::Normal) {
            if name != "divvy-framework" && !arithmetic.contains(&name) {
                broken.push(format!("plugins/{folder} depends on {name}"));
            }
        }
        for name in dependencies(package, DependencyKind::Development) {
            if !TESTS_OF_PLUGINS.contains(&name) {
                broken.push(format!("the tests of plugins/{folder} depend on {name}"));
            }
        }
        for name in dependencies(package, DependencyKind::Build) {
            broken.push(format!("plugins/{folder} is built with {name}"));
        }
    }
    check_none(
        broken,
        "a plugin depends on divvy-framework alone; what its arithmetic needs is declared in tests/walls/dependencies.rs",
    );
}

#[test]
fn the_host_and_the_sdk_link_no_plugin() {
    for name in ["divvy-cli", "divvy-framework", "divvy-tests"] {
        let linked = closure(name)
            .into_iter()
            .filter(|name| name.starts_with("divvy-plugin-"));
        let broken = linked.map(|plugin| format!("{name} depends on {plugin}")).collect();
        check_none(broken, "plugins are loaded, never linked");
    }
}

/// A plugin is built without the parsers of profiles and manifests.
#[test]
fn the_sdk_takes_no_parser_of_the_documents() {
    let sdk = package("divvy-framework").dependencies.iter();
    let taken: Vec<&String> = sdk
        .filter(|dependency| dependency.name == "divvy-documents")
        .flat_map(|dependency| &dependency.features)
        .collect();
    assert!(taken.is_empty(), "the SDK takes {taken:?} of divvy-documents");
}

/// The ABI crate is versioned apart: all that its version promises is what it holds.
#[test]
fn the_abi_crate_depends_on_its_layer_alone() {
    let abi = package("divvy-framework-abi");
    let found = dependencies(abi, DependencyKind::Normal);
    assert_eq!(found, BTreeSet::from(["abi_stable", "bytemuck"]));
    for user in ["divvy-framework", "divvy-scheduler"] {
        let names = dependencies(package(user), DependencyKind::Normal);
        let expected = user == "divvy-scheduler";
        assert_eq!(names.contains("abi_stable"), expected, "{user} and abi_stable");
    }
}
