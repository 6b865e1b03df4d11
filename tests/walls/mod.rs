//! The walls of the house: who may depend on whom, which file may name what, what every folder has.
//!
//! A rule that nothing checks is a wish. Each is checked on the sources and on what Cargo knows of the packages, and says
//! what to do where it is broken.

mod dependencies;
mod folders;
mod names;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::artifacts::repository;

/// A file of the repository.
struct SourceFile {
    /// From the root of the repository, with `/`.
    path: String,
    text: String,
}

impl SourceFile {
    /// The lines that are no comments, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines());
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// `path:line` of each line of code that has one of these words.
    fn places_of(&self, words: &[&str]) -> Vec<String> {
        let lines = self
            .code()
            .filter(|(_, line)| words.iter().any(|word| line.contains(word)));
        lines
            .map(|(number, line)| format!("{}:{number}: {}", self.path, line.trim()))
            .collect()
    }
}

/// The folders that hold what we write, rather than what Cargo does.
const ROOTS: [&str; 5] = ["framework", "host", "plugins", "tests", "examples"];

/// The files below folders of the repository that end like this.
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
