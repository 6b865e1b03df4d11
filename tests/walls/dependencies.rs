//! Permitted dependencies between crates.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Package};

use super::check_none;
use crate::artifacts::{metadata, plugin_folders, plugin_package, repository};

/// Dependencies that the arithmetic of a plugin needs in addition to the SDK, by folder. Each entry has a reason.
const ARITHMETIC: [(&str, &[&str]); 2] = [
    // It writes times into reasons; the calendar is not the SDK's.
    ("maintenance-windows", &["jiff"]),
    // Its arithmetic has an error type for counts that cannot be satisfied.
    ("specified", &["thiserror"]),
];

/// Dependencies that the tests of a plugin may use.
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

/// All direct and indirect dependencies of a package, except those for tests.
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

/// The crates of Divvy on which each crate may depend directly.
const CRATES: [(&str, &[&str]); 47] = [
    ("divvy-spanned", &[]),
    ("divvy-framework-abi", &[]),
    ("divvy-framework-arithmetic", &["divvy-framework-abi"]),
    ("divvy-framework-derive", &[]),
    ("divvy-framework-memory", &[]),
    ("divvy-framework-view", &["divvy-framework-abi"]),
    (
        "divvy-framework-calls",
        &[
            "divvy-framework-abi",
            "divvy-framework-arithmetic",
            "divvy-framework-memory",
            "divvy-framework-view",
        ],
    ),
    (
        "divvy-framework",
        &[
            "divvy-spanned",
            "divvy-framework-abi",
            "divvy-framework-arithmetic",
            "divvy-framework-derive",
            "divvy-framework-calls",
            "divvy-framework-view",
        ],
    ),
    ("divvy-parallel", &[]),
    ("divvy-joint", &["divvy-parallel"]),
    (
        "divvy-karmada",
        &["divvy-spanned", "divvy-framework-view", "divvy-parallel"],
    ),
    ("divvy-manifests", &["divvy-spanned", "divvy-karmada", "divvy-parallel"]),
    (
        "divvy-profile",
        &[
            "divvy-spanned",
            "divvy-framework-abi",
            "divvy-framework-calls",
            "divvy-framework-view",
            "divvy-karmada",
        ],
    ),
    // It knows where threads are, and not what for.
    ("divvy-attribution", &["divvy-framework-memory"]),
    (
        "divvy-loader",
        &["divvy-attribution", "divvy-framework-abi", "divvy-framework-view"],
    ),
    ("divvy-witness", &[]),
    (
        "divvy-isolation",
        &[
            "divvy-attribution",
            "divvy-framework-abi",
            "divvy-framework-memory",
            "divvy-loader",
        ],
    ),
    (
        "divvy-scheduler",
        &[
            "divvy-attribution",
            "divvy-spanned",
            "divvy-framework-abi",
            "divvy-framework-arithmetic",
            "divvy-framework-calls",
            "divvy-framework-memory",
            "divvy-framework-view",
            "divvy-isolation",
            "divvy-karmada",
            "divvy-loader",
            "divvy-profile",
        ],
    ),
    (
        "divvy-burst",
        &[
            "divvy-framework-view",
            "divvy-joint",
            "divvy-karmada",
            "divvy-parallel",
            "divvy-scheduler",
        ],
    ),
    ("divvy-client", &["divvy-karmada", "divvy-scheduler", "divvy-spanned"]),
    ("divvy-estimator", &["divvy-client", "divvy-karmada"]),
    (
        "divvy-recordings",
        &["divvy-spanned", "divvy-karmada", "divvy-profile", "divvy-scheduler"],
    ),
    (
        "divvy-frozen-host",
        &["divvy-loader", "divvy-profile", "divvy-recordings", "divvy-scheduler"],
    ),
    (
        "divvy-forecast",
        &[
            "divvy-spanned",
            "divvy-framework-view",
            "divvy-joint",
            "divvy-karmada",
            "divvy-parallel",
            "divvy-profile",
            "divvy-scheduler",
        ],
    ),
    (
        "divvy-conformance",
        &[
            "divvy-spanned",
            "divvy-framework-abi",
            "divvy-framework-arithmetic",
            "divvy-karmada",
            "divvy-loader",
            "divvy-manifests",
            "divvy-profile",
            "divvy-scheduler",
            "divvy-witness",
        ],
    ),
    (
        "divvy-controller",
        &[
            "divvy-attribution",
            "divvy-burst",
            "divvy-client",
            "divvy-estimator",
            "divvy-framework-view",
            "divvy-karmada",
            "divvy-profile",
            "divvy-scheduler",
        ],
    ),
    ("divvy-load", &["divvy-client", "divvy-controller", "divvy-world"]),
    // It carries the SDK's sources as files, and links none of them.
    ("divvy-scaffold", &[]),
    ("divvy-page", &["divvy-forecast", "divvy-scheduler"]),
    (
        "divvy-command",
        &[
            "divvy-attribution",
            "divvy-spanned",
            "divvy-framework-abi",
            "divvy-isolation",
            "divvy-karmada",
            "divvy-loader",
            "divvy-manifests",
            "divvy-profile",
            "divvy-scheduler",
        ],
    ),
    (
        "divvy-live",
        &[
            "divvy-client",
            "divvy-command",
            "divvy-controller",
            "divvy-estimator",
            "divvy-loader",
            "divvy-scheduler",
        ],
    ),
    (
        "divvy-cli",
        &[
            "divvy-burst",
            "divvy-client",
            "divvy-command",
            "divvy-spanned",
            "divvy-forecast",
            "divvy-framework-view",
            "divvy-karmada",
            "divvy-loader",
            "divvy-manifests",
            "divvy-page",
            "divvy-parallel",
            "divvy-profile",
            "divvy-recordings",
            "divvy-scheduler",
        ],
    ),
    (
        "divvy-bench",
        &[
            "divvy-command",
            "divvy-conformance",
            "divvy-spanned",
            "divvy-framework-abi",
            "divvy-framework-view",
            "divvy-isolation",
            "divvy-karmada",
            "divvy-loader",
            "divvy-manifests",
            "divvy-profile",
            "divvy-scaffold",
            "divvy-scheduler",
        ],
    ),
    ("divvy-tests", &[]),
    ("divvy-page-tests", &[]),
    ("divvy-programs-tests", &[]),
    (
        "divvy-fuzzing",
        &[
            "divvy-client",
            "divvy-isolation",
            "divvy-karmada",
            "divvy-loader",
            "divvy-manifests",
            "divvy-profile",
            "divvy-recordings",
        ],
    ),
    ("divvy-families", &["divvy-joint"]),
    ("divvy-site", &[]),
    ("divvy-sizes", &["divvy-families", "divvy-joint"]),
    (
        "divvy-instructions",
        &[
            "divvy-isolation",
            "divvy-loader",
            "divvy-profile",
            "divvy-recordings",
            "divvy-scheduler",
        ],
    ),
    (
        "divvy-control-plane-tests",
        &["divvy-built", "divvy-spanned", "divvy-judge", "divvy-karmada"],
    ),
    ("divvy-built", &[]),
    ("divvy-judge", &[]),
    (
        "divvy-simulation",
        &[
            "divvy-built",
            "divvy-controller",
            "divvy-estimator",
            "divvy-forecast",
            "divvy-judge",
            "divvy-karmada",
            "divvy-loader",
            "divvy-profile",
            "divvy-scheduler",
            "divvy-world",
        ],
    ),
    ("divvy-world", &["divvy-controller", "divvy-karmada"]),
    ("divvy-plugin", &["divvy-framework"]),
];

#[test]
fn a_crate_depends_only_on_permitted_crates() {
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
    check_none(
        broken,
        "tests/walls/dependencies.rs lists the permitted dependencies of each crate",
    );
}

#[test]
fn neither_the_sdk_nor_the_scheduler_pulls_in_a_runtime_or_a_terminal() {
    let runtimes = ["kube", "k8s-openapi", "tokio", "async-std", "hyper"];
    let terminals = ["clap", "indicatif", "anstream", "terminal_size", "console"];
    let mut broken = Vec::new();
    let may = [
        "divvy-bench",
        "divvy-cli",
        "divvy-client",
        "divvy-command",
        "divvy-control-plane-tests",
        "divvy-controller",
        "divvy-estimator",
        "divvy-live",
        // It reads kubeconfigs as the scheduler does.
        "divvy-fuzzing",
        "divvy-load",
        "divvy-plugin",
        "divvy-simulation",
        "divvy-tests",
        "divvy-world",
    ];
    for (name, _) in CRATES.iter().filter(|(name, _)| !may.contains(name)) {
        let pulled = closure(name).into_iter();
        let forbidden = pulled
            .filter(|pulled| runtimes.iter().any(|prefix| pulled.starts_with(prefix)) || terminals.contains(pulled));
        broken.extend(forbidden.map(|pulled| format!("{name} pulls in {pulled}")));
    }
    check_none(
        broken,
        "the SDK and the scheduler depend neither on a runtime nor on a terminal",
    );
}

#[test]
fn a_plugin_depends_only_on_the_sdk_and_its_own_arithmetic() {
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
        "a plugin depends only on divvy-framework, and on what tests/walls/dependencies.rs permits for its arithmetic",
    );
}

#[test]
fn the_host_and_the_sdk_link_no_plugin() {
    for name in [
        "divvy-bench",
        "divvy-cli",
        "divvy-live",
        "divvy-framework",
        "divvy-tests",
    ] {
        let linked = closure(name)
            .into_iter()
            .filter(|name| name.starts_with("divvy-plugin-"));
        let broken = linked.map(|plugin| format!("{name} depends on {plugin}")).collect();
        check_none(broken, "plugins are loaded, never linked");
    }
}

/// What authors see changes for their sake. The host shares the ABI, the views and the arithmetic with it, and no more.
#[test]
fn the_host_is_built_without_the_sdk() {
    let host = repository().join("host");
    let members = metadata().workspace_packages().into_iter();
    let members: Vec<&str> = members
        .filter(|package| package.manifest_path.as_std_path().starts_with(&host))
        .map(|package| package.name.as_str())
        .collect();
    assert!(members.len() > 10, "the crates of the host were not found");
    let depending = members
        .into_iter()
        .filter(|name| closure(name).contains("divvy-framework"));
    check_none(
        depending
            .map(|name| format!("{name} depends on divvy-framework"))
            .collect(),
        "the host takes from framework/ what is below the SDK: abi, arithmetic, calls, view",
    );
}

/// What runs in a control plane has no code of the desk or the bench, what only reads manifests has none of the scheduler's engine, and whoever
/// writes a plugin compiles no client of an API server.
#[test]
fn each_program_links_its_own_house_and_the_foundation() {
    let houses: [(&str, &[&str]); 3] = [
        (
            "divvy-live",
            &[
                "divvy-forecast",
                "divvy-page",
                "divvy-recordings",
                "divvy-conformance",
                "divvy-witness",
                "divvy-scaffold",
            ],
        ),
        (
            "divvy-cli",
            &[
                "divvy-controller",
                "divvy-estimator",
                "divvy-conformance",
                "divvy-witness",
                "divvy-scaffold",
                "opentelemetry",
            ],
        ),
        (
            "divvy-bench",
            &[
                "divvy-controller",
                "divvy-client",
                "divvy-forecast",
                "divvy-page",
                "kube",
                "tokio",
                "tonic",
            ],
        ),
    ];
    let linked = houses.iter().flat_map(|(program, others)| {
        let linked = closure(program);
        let wrong = others.iter().filter(move |other| linked.contains(**other));
        wrong.map(move |other| format!("{program} depends on {other}"))
    });
    check_none(linked.collect(), "a program links its house and what all build on");
}

/// A plugin does not compile the parsers of profiles and manifests.
#[test]
fn the_sdk_enables_no_parser_of_documents() {
    let sdk = package("divvy-framework").dependencies.iter();
    let taken: Vec<&String> = sdk
        .filter(|dependency| dependency.name == "divvy-spanned")
        .flat_map(|dependency| &dependency.features)
        .collect();
    assert!(taken.is_empty(), "the SDK enables {taken:?} of divvy-spanned");
}

/// The ABI crate has its own version, so its promise must not depend on the contents of other crates.
#[test]
fn the_abi_crate_depends_only_on_its_layer() {
    let abi = package("divvy-framework-abi");
    let found = dependencies(abi, DependencyKind::Normal);
    assert_eq!(found, BTreeSet::from(["abi_stable", "bytemuck"]));
    for user in ["divvy-framework", "divvy-loader", "divvy-scheduler"] {
        let names = dependencies(package(user), DependencyKind::Normal);
        let expected = user == "divvy-loader";
        assert_eq!(names.contains("abi_stable"), expected, "{user} and abi_stable");
    }
}
