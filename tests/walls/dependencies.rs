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

#[test]
fn the_sdk_depends_on_neither_kubernetes_nor_a_runtime_nor_the_host() {
    let crates = [
        "divvy-framework",
        "divvy-framework-abi",
        "divvy-framework-derive",
        "divvy-framework-driver",
        "divvy-framework-view",
    ];
    for sdk in crates {
        let forbidden = closure(sdk).into_iter().filter(|name| {
            [
                "kube",
                "k8s-openapi",
                "tokio",
                "async-std",
                "hyper",
                "divvy-host",
                "divvy-plugin",
            ]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        });
        let broken = forbidden.map(|name| format!("{sdk} depends on {name}")).collect();
        check_none(broken, "the SDK knows neither Kubernetes nor a runtime nor the host");
    }
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
    for name in ["divvy-host", "divvy-framework", "divvy-tests"] {
        let linked = closure(name)
            .into_iter()
            .filter(|name| name.starts_with("divvy-plugin-"));
        let broken = linked.map(|plugin| format!("{name} depends on {plugin}")).collect();
        check_none(broken, "plugins are loaded, never linked");
    }
}

/// Reading does not know who builds, and neither knows what an author writes.
#[test]
fn the_crates_of_the_sdk_build_on_one_another_in_one_direction() {
    let of_the_sdk = |name: &str| -> BTreeSet<&'static str> {
        let all = closure(name).into_iter();
        all.filter(|name| name.starts_with("divvy-")).collect()
    };
    assert_eq!(of_the_sdk("divvy-framework-abi"), BTreeSet::new());
    assert_eq!(
        of_the_sdk("divvy-framework-view"),
        BTreeSet::from(["divvy-framework-abi"])
    );
    assert_eq!(
        of_the_sdk("divvy-framework-driver"),
        BTreeSet::from(["divvy-framework-abi", "divvy-framework-view"])
    );
}

/// The ABI crate is versioned apart: all that its version promises is what it holds.
#[test]
fn the_abi_crate_depends_on_its_layer_alone() {
    let abi = package("divvy-framework-abi");
    let found = dependencies(abi, DependencyKind::Normal);
    assert_eq!(found, BTreeSet::from(["abi_stable", "bytemuck"]));
    for user in [
        "divvy-framework",
        "divvy-framework-driver",
        "divvy-framework-view",
        "divvy-host",
    ] {
        let names = dependencies(package(user), DependencyKind::Normal);
        let expected = user == "divvy-host";
        assert_eq!(names.contains("abi_stable"), expected, "{user} and abi_stable");
    }
}
