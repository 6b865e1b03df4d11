//! Rules of the architecture: permitted dependencies, names restricted to certain files, contents of folders.
//!
//! Each rule is checked on the sources and on Cargo's metadata, and its message describes how to satisfy it.

mod builds;
mod dependencies;
mod folders;
mod mechanisms;
mod names;
mod pages;
mod rooms;
mod sources;
mod unsafety;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::artifacts::repository;

/// A file of the repository.
struct SourceFile {
    /// Path from the root of the repository, with `/`.
    path: String,
    text: String,
}

impl SourceFile {
    /// The lines that are not comments, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines());
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The lines of code that contain one of these words, each with its path and number.
    fn places_of(&self, words: &[&str]) -> Vec<String> {
        let lines = self
            .code()
            .filter(|(_, line)| words.iter().any(|word| line.contains(word)));
        lines
            .map(|(number, line)| format!("{}:{number}: {}", self.path, line.trim()))
            .collect()
    }
}

/// Folders with sources, as opposed to build output.
const ROOTS: [&str; 5] = ["framework", "host", "plugins", "tests", "examples"];

/// All files in these folders of the repository whose names have one of these endings.
fn files(folders: &[&str], endings: &[&str]) -> Vec<SourceFile> {
    let mut found = Vec::new();
    for folder in folders {
        let folder: PathBuf = repository().join(folder);
        let entries = WalkDir::new(&folder).sort_by_file_name().into_iter();
        let entries = entries.filter_entry(|entry| entry.file_name() != "target");
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy();
            if entry.file_type().is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(read(entry.path()));
            }
        }
    }
    found
}

fn read(path: &Path) -> SourceFile {
    let shown = path.strip_prefix(repository()).expect("a file of the repository");
    SourceFile {
        path: shown.to_string_lossy().into_owned(),
        text: fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    }
}

#[track_caller]
fn check_none(broken: Vec<String>, rule: &str) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}
