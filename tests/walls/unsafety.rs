//! The files with `unsafe` code: whoever reviews the safety of memory reads these, and no others.
//!
//! Tests and benchmarks are not listed. CONTRIBUTING.md names the folders.

use std::collections::BTreeSet;
use std::fs;

use super::{SourceFile, check_none, files};
use crate::artifacts::repository;

/// The folders, each with its files.
const FOLDERS: [(&str, &str); 9] = [
    (
        "framework/abi/src",
        "call carry certificate column service signature sized view",
    ),
    ("framework/memory/src", "chunk column heap packed pool slot"),
    (
        "framework/src",
        "assign/calls export/calls export/descriptors export/measuring export/mod export/panics filter/calls logging pace/calls \
         prepare/calls score/calls select/calls testing/explanation testing/metrics testing/scenario value/calls",
    ),
    ("host/core/attribution/src", "exits line signals slot stack"),
    ("host/core/command/src", "allocator closed"),
    (
        "host/core/isolation/src",
        "call exchange region sandbox/linux/descriptors sandbox/linux/files sandbox/linux/resources worker/mod worker/serve \
         worker/services",
    ),
    ("host/core/loader/src", "functions loader opening"),
    (
        "host/core/scheduler/src/plugin",
        "call construct inputs instance log services value",
    ),
    (
        "host/bench/witness/src",
        "linux/environment linux/filter linux/memory linux/processor linux/state",
    ),
];

/// True if code of the file is `unsafe`.
fn is_unsafe(file: &SourceFile) -> bool {
    let forms = ["{", "fn", "impl", "trait", "extern"].map(|next| format!("unsafe {next}"));
    file.code()
        .any(|(_, line)| line.contains("unsafe(") || forms.iter().any(|form| line.contains(form)))
}

/// True for tests and benchmarks.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || ["/tests/", "/benches/"].iter().any(|folder| path.contains(folder))
}

#[test]
fn unsafe_code_is_only_in_the_listed_files() {
    let listed: BTreeSet<String> = FOLDERS
        .iter()
        .flat_map(|(folder, names)| names.split(' ').map(move |name| format!("{folder}/{name}.rs")))
        .collect();
    let mut sources = files(&["framework", "host", "plugins"], &[".rs"]);
    sources.retain(|file| !is_test(&file.path) && is_unsafe(file));
    let found: BTreeSet<String> = sources.into_iter().map(|file| file.path).collect();
    check_none(
        found.difference(&listed).cloned().collect(),
        "these have `unsafe` code: do without it, or list them in tests/walls/unsafety.rs",
    );
    check_none(
        listed.difference(&found).cloned().collect(),
        "these have no `unsafe` code: take them out of tests/walls/unsafety.rs",
    );
}

#[test]
fn contributors_read_in_which_folders_unsafe_code_may_be() {
    let text = fs::read_to_string(repository().join("CONTRIBUTING.md")).expect("the page is there");
    let point = text.lines().find(|line| line.starts_with("- `unsafe` is confined"));
    let named = point.expect("the page has the rule").split('`');
    let named: BTreeSet<&str> = named
        .filter(|part| part.starts_with("framework/") || part.starts_with("host/"))
        .collect();
    assert_eq!(named, FOLDERS.map(|(folder, _)| folder).into(), "CONTRIBUTING.md");
}

#[test]
fn unsafe_code_is_recognised() {
    let file = |text: &str| SourceFile {
        path: "host/desk/cli/src/main.rs".to_owned(),
        text: text.to_owned(),
    };
    for text in [
        "let read = unsafe { address.read() };",
        "pub unsafe fn read() {}",
        "pub unsafe extern \"C\" fn read() {}",
        "unsafe impl Send for Address {}",
        "#[unsafe(no_mangle)]",
    ] {
        assert!(is_unsafe(&file(text)), "{text}");
    }
    for text in [
        "// unsafe { … }",
        "#![forbid(unsafe_code)]",
        "#![deny(unsafe_op_in_unsafe_fn)]",
    ] {
        assert!(!is_unsafe(&file(text)), "{text}");
    }
}
