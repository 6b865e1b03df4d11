//! Builds plugins, and a host, against a modified SDK: an edited copy of `framework/`.
//!
//! A copy that is checked in would soon have an outdated ABI. This copy is created from the current SDK, so that "one
//! minor version newer" and "changed without a new version" are always accurate. It is in the target directory, and
//! only files that differ are written, so that Cargo compiles it once.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::artifacts::{self, repository};

/// A change in one file of the SDK, by its path in `framework/`.
pub(crate) enum Edit {
    /// A text is replaced, which must occur exactly once.
    Replaced {
        file: &'static str,
        from: &'static str,
        to: &'static str,
    },
    /// A struct that can grow gets a further field at its end, whatever its last one is.
    Appended {
        file: &'static str,
        structure: &'static str,
        /// The field's default.
        value: u64,
    },
}

impl Edit {
    fn file(&self) -> &'static str {
        match self {
            Self::Replaced { file, .. } | Self::Appended { file, .. } => file,
        }
    }

    /// The text of the file after the change.
    fn applied(&self, text: &str) -> String {
        match self {
            Self::Replaced { file, from, to } => {
                let count = text.matches(from).count();
                assert_eq!(count, 1, "framework/{file} contains {count} times `{from}`");
                text.replace(from, to)
            }
            Self::Appended { file, structure, value } => {
                let starts = ["(", "<'a>("].map(|rest| format!("\n    {structure}{rest}"));
                let start = starts.iter().find_map(|start| text.find(start));
                let start = start.unwrap_or_else(|| panic!("framework/{file} declares no {structure}"));
                let length = text[start..].find("\n    }\n}");
                let end = start + length.unwrap_or_else(|| panic!("framework/{file}: {structure} does not end"));
                let field = format!("\n        /// Appended.\n        appended: u64 = {value},");
                format!("{}{field}{}", &text[..end], &text[end..])
            }
        }
    }
}

/// Builds a plugin from `source` against an SDK with `edits`, and returns the path of its library.
pub(crate) fn plugin_of(name: &str, source: &str, edits: &[Edit]) -> PathBuf {
    build(name, source, edits, "divvy-framework.workspace = true")
}

/// As [`plugin_of`], without the SDK's default features.
pub(crate) fn plain_plugin_of(name: &str, source: &str) -> PathBuf {
    let sdk = format!("divvy-framework = {{ path = \"../sdk-{name}\", default-features = false }}");
    build(name, source, &[], &sdk)
}

/// Builds a program from `source` with the host's crates against an SDK with `edits`, and returns its path.
pub(crate) fn host_of(name: &str, source: &str, edits: &[Edit]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let sdk = format!("sdk-{name}");
    copy(&repository().join("framework"), &folder.join(&sdk), edits);
    // Cargo identifies these by their path in the workspace as well.
    let hosts = [
        "karmada",
        "loader",
        "manifests",
        "parallel",
        "profile",
        "recordings",
        "scheduler",
    ]
    .map(|host| (host, format!("{host}-{name}")));
    for (host, copied) in &hosts {
        copy(&repository().join("host").join(host), &folder.join(copied), &[]);
    }
    let members: Vec<&str> = hosts
        .iter()
        .map(|(_, copied)| copied.as_str())
        .chain(["program"])
        .collect();
    let mut manifest = workspace_manifest(&sdk, &members);
    for (host, copied) in &hosts {
        manifest = manifest.replace(&format!("path = \"host/{host}\""), &format!("path = \"{copied}\""));
    }
    write(&folder.join("Cargo.toml"), &manifest);
    write(&folder.join("Cargo.lock"), &read(&repository().join("Cargo.lock")));
    let package = format!("divvy-fixture-{name}");
    let dependencies = ["framework", "karmada", "loader", "manifests", "profile", "scheduler"]
        .map(|name| format!("divvy-{name}.workspace = true"));
    let manifest = format!(
        "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n",
        dependencies.join("\n")
    );
    write(&folder.join("program/Cargo.toml"), &manifest);
    write(&folder.join("program/src/main.rs"), source);
    let arguments = ["--offline".to_owned(), format!("--package={package}")];
    artifacts::build(&folder.join("Cargo.toml"), &[], &arguments)
        .binary(&package)
        .to_owned()
}

fn build(name: &str, source: &str, edits: &[Edit], dependency: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Not `framework`: Cargo identifies a package by its path in the workspace and would mistake the copy for the
    // original.
    let sdk = format!("sdk-{name}");
    copy(&repository().join("framework"), &folder.join(&sdk), edits);
    write(&folder.join("Cargo.toml"), &workspace_manifest(&sdk, &["plugin"]));
    // Uses the registry packages of this workspace, so that nothing is downloaded.
    write(&folder.join("Cargo.lock"), &read(&repository().join("Cargo.lock")));
    let package = format!("divvy-fixture-{name}");
    let manifest = format!(
        "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\n{dependency}\n"
    );
    write(&folder.join("plugin/Cargo.toml"), &manifest);
    write(&folder.join("plugin/src/lib.rs"), source);
    let arguments = ["--offline".to_owned(), format!("--package={package}")];
    let built = artifacts::build(&folder.join("Cargo.toml"), &[], &arguments);
    built.library(&package).to_owned()
}

/// Copies a folder, with edits.
fn copy(from: &Path, to: &Path, edits: &[Edit]) {
    let mut applied = 0;
    for entry in WalkDir::new(from) {
        let entry = entry.expect("the folder can be read");
        if !entry.file_type().is_file() {
            continue;
        }
        let relative = entry.path().strip_prefix(from).expect("an entry lies below its root");
        let mut text = read(entry.path());
        for edit in edits.iter().filter(|edit| Path::new(edit.file()) == relative) {
            text = edit.applied(&text);
            applied += 1;
        }
        write(&to.join(relative), &text);
    }
    assert_eq!(applied, edits.len(), "an edit names a file that does not exist");
}

/// The manifest of this workspace, with the SDK and these crates as its only members.
fn workspace_manifest(sdk: &str, more: &[&str]) -> String {
    let manifest = read(&repository().join("Cargo.toml"));
    let crates = ["abi", "arithmetic", "derive", "spanned", "calls", "view"].map(|name| format!("\"{sdk}/{name}\""));
    let more: Vec<String> = more.iter().map(|name| format!("\"{name}\"")).collect();
    let members = format!("members = [\"{sdk}\", {}, {}]", crates.join(", "), more.join(", "));
    let lines = manifest.lines().map(|line| match line {
        _ if line.starts_with("members = ") => members.clone(),
        _ if line.starts_with("default-members = ") || line.starts_with("exclude = ") => String::new(),
        _ => line.replace("path = \"framework", &format!("path = \"{sdk}")),
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file unless it already has that text, because Cargo looks at modification times.
pub(crate) fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|known| known == text) {
        return;
    }
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
