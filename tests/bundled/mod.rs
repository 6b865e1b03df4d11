//! Every folder of `plugins/`: loaded into this one process through the real loader, asked who it is, and put to work.

mod cases;

use std::collections::BTreeSet;

use divvy_host::plugin::PluginLibrary;
use divvy_host::scheduler::Decision;

use crate::artifacts;
use crate::manifests::list;
use crate::scheduling::{Host, read, told};
use cases::{CASES, Case};

#[test]
fn every_plugin_folder_has_a_case() {
    let covered: BTreeSet<&str> = CASES.iter().map(|case| case.folder).collect();
    assert_eq!(
        covered.len(),
        CASES.len(),
        "a folder has two cases in tests/bundled/cases.rs"
    );
    for folder in artifacts::plugin_folders() {
        assert!(
            covered.contains(folder.as_str()),
            "plugins/{folder} has no case: add `Case {{ folder: \"{folder}\", … }}` to `CASES` in tests/bundled/cases.rs, \
             with the extension points, strategies and promises of its metadata, and a binding whose decision shows its work"
        );
    }
    for folder in covered {
        assert!(
            artifacts::plugin_folders().iter().any(|known| known == folder),
            "tests/bundled/cases.rs has a case for plugins/{folder}, which is not there"
        );
    }
}

#[test]
fn every_bundled_plugin_is_itself_when_all_are_loaded() {
    let libraries: Vec<(&Case, PluginLibrary)> = CASES
        .iter()
        .map(|case| {
            let library = PluginLibrary::load(artifacts::plugin(case.folder), None);
            (
                case,
                library.unwrap_or_else(|error| panic!("plugins/{}: {error}", case.folder)),
            )
        })
        .collect();
    // Asked only now: a loader that keeps one module a type would give the first for all.
    for (case, library) in &libraries {
        let folder = case.folder;
        assert_eq!(library.name(), folder);
        assert_eq!(library.path(), artifacts::plugin(folder));
        assert_eq!(library.version(), version_of(folder), "{folder}");
        assert_eq!(library.sdk_version(), version_of_package("divvy-framework"), "{folder}");
        assert_eq!(library.abi_version().to_string(), abi_version(), "{folder}");
        assert_eq!(library.extension_points(), case.extension_points, "{folder}");
        assert_eq!(library.strategies(), case.strategies, "{folder}");
        assert_eq!(library.promise_names(), case.promises, "{folder}");
        assert!(!library.description().is_empty(), "{folder} has no description");
        for schema in [library.configuration_schema(), library.preferences_schema()] {
            let schema: serde_json::Value = serde_json::from_str(&schema).expect("a schema is JSON");
            assert!(schema.is_object(), "{folder}: {schema}");
        }
    }
    let strategies: Vec<&str> = libraries.iter().flat_map(|(_, library)| library.strategies()).collect();
    let distinct: BTreeSet<&str> = strategies.iter().copied().collect();
    assert_eq!(distinct.len(), strategies.len(), "{strategies:?}");
}

#[test]
fn every_bundled_plugin_does_its_work() {
    for case in CASES {
        let (bindings, fleet) = read(&list((case.objects)()));
        let [binding] = bindings.as_slice() else {
            panic!("the case of {} has {} bindings", case.folder, bindings.len());
        };
        let mut scheduler = Host::built_in().scheduler().explaining(true);
        let decision = scheduler.schedule(binding, &fleet);
        assert_eq!(told(&decision), case.told, "{}", case.folder);
        let account = account(&decision);
        assert!(
            account.iter().any(|line| line == case.account),
            "{}: expected `{}` among {account:#?}",
            case.folder,
            case.account
        );
    }
}

/// What is told of a decision, a line each: rejections, scores, what a strategy says, candidates.
fn account(decision: &Decision) -> Vec<String> {
    let explanation = decision.explanation.as_ref().expect("an explanation was asked for");
    let mut lines = Vec::new();
    for cluster in &explanation.clusters {
        let name = &cluster.name;
        if let Some(note) = &cluster.rejected {
            lines.push(format!("{name}: rejected by {}: {}", note.plugin, note.text));
        }
        lines.extend(
            cluster
                .scores
                .iter()
                .map(|score| format!("{name}: {} scores {}", score.plugin, score.score)),
        );
        lines.extend(cluster.remarks.iter().map(|remark| format!("{name}: {remark}")));
    }
    let candidates = explanation.clusters.iter().filter(|cluster| cluster.candidate);
    let candidates: Vec<&str> = candidates.map(|cluster| cluster.name.as_str()).collect();
    lines.push(format!("candidates: {}", candidates.join(" ")));
    lines.push(format!("strategy: {}", decision.strategy()));
    lines
}

/// The version in a bundled plugin's manifest.
fn version_of(folder: &str) -> String {
    version_of_package(&artifacts::plugin_package(folder))
}

fn version_of_package(name: &str) -> String {
    let packages = &artifacts::metadata().packages;
    let package = packages.iter().find(|package| package.name.as_str() == name);
    package.expect("the package is in the workspace").version.to_string()
}

/// The ABI version of the SDK in this repository: major and minor version of its ABI crate.
fn abi_version() -> String {
    let version = version_of_package("divvy-framework-abi");
    let parts: Vec<&str> = version.split('.').collect();
    format!("{}.{}", parts[0], parts[1])
}
