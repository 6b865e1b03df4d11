//! The mechanisms of the SDK: one that no bundled plugin uses is experimental.

use std::collections::BTreeSet;

use super::{files, read};
use crate::artifacts::repository;

/// Mechanisms by their names in the list of experimental ones, each with a word in the sources of every plugin that uses it.
const MECHANISMS: [(&str, &str); 9] = [
    ("prepared state", "Prepare"),
    ("metrics of plugins", "metrics::"),
    ("values kept for a binding", "BindingValue"),
    ("values kept for a snapshot", "SnapshotValue"),
    ("tables", ".tables("),
    ("the time of a decision", ".time("),
    ("the end of an answer", ".valid_until("),
    ("cordons", ".cordon("),
    ("placements of other bindings", ".placements("),
];

#[test]
fn a_mechanism_without_a_bundled_user_is_experimental() {
    let plugins = files(&["plugins"], &["lib.rs"]);
    let is_used = |word: &str| plugins.iter().any(|file| !file.places_of(&[word]).is_empty());
    let unused: BTreeSet<&str> = MECHANISMS
        .iter()
        .filter(|(_, word)| !is_used(word))
        .map(|(name, _)| *name)
        .collect();

    let page = read(&repository().join("docs/decisions/0004-abi-versions.md")).text;
    let (_, section) = page.split_once("\n## Experimental\n").expect("the page lists them");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let listed: BTreeSet<&str> = rows
        .filter_map(|row| row.split(" |").next())
        .filter(|name| *name != "mechanism")
        .collect();
    assert_eq!(
        listed, unused,
        "what no bundled plugin uses must be listed, and nothing else"
    );
}
