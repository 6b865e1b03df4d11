//! Every folder in `plugins/`: loaded into a single process through the real loader, compared with its README, and run
//! on the README's worked example. New plugins are covered without changes here.

mod example;
mod moves;

use std::collections::BTreeSet;
use std::sync::Arc;

use divvy_framework_abi::sized::kind;
use divvy_loader::PluginLibrary;
use divvy_scheduler::decision::Decision;
use divvy_scheduler::placements::Placements;

use crate::artifacts;
use crate::manifests::list;
use crate::scheduling::{Host, read, told};
use crate::table_files::TableFiles;
use example::{Example, readme, section};

/// The library of every folder, all loaded before the first is used: a loader that cached one module per type would
/// return the first one for all.
fn libraries() -> Vec<(String, PluginLibrary)> {
    let load = |folder: String| {
        let library = PluginLibrary::load(artifacts::plugin(&folder), None);
        let library = library.unwrap_or_else(|error| panic!("plugins/{folder}: {error}"));
        (folder, library)
    };
    artifacts::plugin_folders().into_iter().map(load).collect()
}

#[test]
fn every_bundled_plugin_keeps_its_identity_when_all_are_loaded() {
    let libraries = libraries();
    for (folder, library) in &libraries {
        assert_eq!(library.name(), folder);
        assert_eq!(library.path(), artifacts::plugin(folder));
        assert_eq!(library.version(), version_of(folder), "{folder}");
        assert_eq!(library.sdk_version(), version_of_package("divvy-framework"), "{folder}");
        assert_eq!(library.abi_version().to_string(), abi_version(), "{folder}");
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
fn every_bundled_plugin_serves_and_promises_what_its_readme_says() {
    for (folder, library) in libraries() {
        let readme = readme(&folder);
        let title = readme.lines().next().and_then(|line| line.strip_prefix("# "));
        let promises: Vec<String> = section(&readme, "Promises")
            .and_then(|text| text.split(['.', '(']).next())
            .map(|text| text.trim().to_lowercase().split(", ").map(str::to_owned).collect())
            .unwrap_or_default();
        // The README of a strategy is titled with its name; any other README opens with the extension point.
        if library.strategies().is_empty() {
            let opening = format!("# {folder}\n\n{}. ", library.extension_points().join(", "));
            assert!(
                readme.starts_with(&opening),
                "{folder}: the README does not open with `{opening}`"
            );
        } else {
            // A strategy may also filter, to refuse bindings that it is not called for.
            assert!(library.extension_points().contains(&"Assign"), "{folder}");
            assert_eq!(library.strategies().first().copied(), title, "{folder}");
        }
        assert_eq!(
            library.promise_names(),
            promises,
            "{folder}: the README's Promises up to the first period"
        );
    }
}

#[test]
fn every_bundled_plugin_decides_its_worked_example() {
    for (folder, library) in libraries() {
        if library.serves(kind::PACE) {
            moves::check_worked_example(&folder);
            continue;
        }
        let example = Example::read(&folder);
        let (bindings, fleet) = read(&list(example.objects()));
        let binding = bindings.iter().find(|binding| binding.object.metadata.name == "web");
        let binding = binding.unwrap_or_else(|| panic!("the example of {folder} has no binding `web`"));
        // The only one of its point, so that no other plugin of the profile does its work first.
        let alone = || match library.serves(kind::SCORE) {
            true => format!("scores = [{{ plugin = '{folder}' }}]"),
            false => format!("filters = ['{folder}']"),
        };
        let tables = TableFiles::new(library.tables(), |table| {
            let text = example.tables.get(table).cloned();
            text.unwrap_or_else(|| panic!("plugins/{folder}/README.md: the worked example needs the table `{table}`"))
        });
        let opted_in = (!Host::has_built_in(&folder)).then(|| Host::extending(&(alone() + tables.lines())));
        let host = opted_in.as_ref().unwrap_or(Host::built_in());
        let placements = Some(Arc::new(Placements::of(&bindings)));
        let mut scheduler = host
            .scheduler()
            .explaining(true)
            .knowing(placements)
            .deciding_at(example.time());
        let decision = scheduler.schedule(binding, &fleet);
        assert_eq!(told(&decision), example.result, "plugins/{folder}/README.md");
        let account = account(&decision);
        match &example.explanation {
            Some(line) => assert!(account.contains(line), "{folder}: expected `{line}` among {account:#?}"),
            // Without an explanation, the strategy itself must show that the plugin decided.
            None => assert!(
                library.strategies().contains(&example.strategy.as_str()),
                "plugins/{folder}/README.md: the worked example needs an `explanation` that names the plugin's part"
            ),
        }
    }
}

/// The explanation of a decision as lines: rejections, scores, remarks of the strategy, candidates.
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
        lines.extend(cluster.reasons.iter().map(|reason| format!("{name}: {}", reason.text)));
    }
    let candidates = explanation.clusters.iter().filter(|cluster| cluster.candidate);
    let candidates: Vec<&str> = candidates.map(|cluster| cluster.name.as_str()).collect();
    lines.push(format!("candidates: {}", candidates.join(" ")));
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

/// The ABI version of this SDK: the major and minor version of its ABI crate.
fn abi_version() -> String {
    let version = version_of_package("divvy-framework-abi");
    let parts: Vec<&str> = version.split('.').collect();
    format!("{}.{}", parts[0], parts[1])
}
