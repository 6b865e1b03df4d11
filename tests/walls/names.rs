//! The host does not name strategies or policy lists.
//!
//! The names come from the plugins' descriptors, so that a new plugin is covered automatically.

use std::collections::BTreeSet;

use divvy_loader::PluginLibrary;

use super::{check_none, files};
use crate::artifacts::{plugin, plugin_folders};

/// Files that may name them, each with a reason.
const EXCEPTIONS: [(&str, &str); 4] = [
    ("wire.rs", "Karmada's own names for ways to divide, in one table"),
    (
        "oddities.rs",
        "the printed manifests of a proposal and their interpretation",
    ),
    ("preference.rs", "Karmada's own types"),
    ("command/schedule.rs", "examples in the help"),
];

/// The string literals in a line of code.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric())
        .any(|part| part == word)
}

#[test]
fn the_host_names_no_strategy_and_no_list() {
    let mut names = BTreeSet::new();
    for folder in plugin_folders() {
        let library = PluginLibrary::load(plugin(&folder), None).unwrap_or_else(|error| panic!("{error}"));
        names.extend(library.strategies().into_iter().map(str::to_owned));
        names.extend(library.rule_lists().iter().map(|list| list.name.clone()));
    }
    assert!(
        names.contains("StaticWeight") && names.contains("staticSpecifyList"),
        "{names:?}"
    );
    let mut sources = files(&["host"], &[".rs"]);
    sources.retain(|file| {
        let is_test = file.path.contains("/tests") || file.path.contains("/benches/");
        !is_test && !EXCEPTIONS.iter().any(|(exception, _)| file.path.ends_with(exception))
    });
    assert!(sources.len() > 50, "the sources were not found");
    let mut broken = Vec::new();
    for file in &sources {
        for (number, line) in file.code() {
            let named = names
                .iter()
                .find(|name| literals(line).any(|literal| has_word(literal, name)));
            broken.extend(named.map(|name| format!("{}:{number}: `{name}`: {}", file.path, line.trim())));
        }
    }
    check_none(
        broken,
        "the host treats all strategies alike: a plugin declares what its strategy reads",
    );
}
