//! The workspace of everything that is built against modified SDKs.
//!
//! Each SDK has a folder and a manifest of its own, from which its crates inherit. They are not members of the workspace, because
//! a workspace cannot have two packages of one name; and each has its own patch version, because a lock file cannot have two of
//! one name and version. A patch version is not part of the ABI's.

use std::path::{Path, PathBuf};

use divvy_framework_abi::ABI_VERSION;
use toml::{Table, Value};
use walkdir::WalkDir;

use super::{Edit, read, write};
use crate::artifacts::repository;
use crate::compatibility::edits::{NEWER_MINOR, unannounced};

/// A package of the workspace.
struct Package<'a> {
    name: &'a str,
    /// The section that says what is built, with the path of its source in the repository.
    target: &'a str,
    dependencies: Vec<String>,
}

/// Writes the workspace into a folder below `folder`, and returns the path of its manifest.
pub(super) fn write_below(folder: &Path) -> PathBuf {
    let folder = folder.join("changed-sdk");
    let sdk = Sdk {
        folder: folder.join("newer"),
        patch: 1,
        minor: ABI_VERSION.minor + 1,
    };
    sdk.write(&["framework", "host"], &NEWER_MINOR);
    // A copy as well, and not the crates themselves: Cargo would take their workspace for that of all crates below its folder.
    let sdk = Sdk {
        folder: folder.join("current"),
        patch: 2,
        minor: ABI_VERSION.minor,
    };
    sdk.write(&["framework"], &[]);
    let everywhere =
        "[lib]\ncrate-type = [\"cdylib\"]\npath = \"{repository}/tests/fixtures/plugins/everywhere/src/lib.rs\"";
    let mut packages = vec![
        Package {
            name: "newer-plugin",
            target: everywhere,
            dependencies: vec!["divvy-framework = { path = \"../newer/framework\" }".to_owned()],
        },
        Package {
            name: "newer-host",
            target: "[[bin]]\nname = \"divvy-fixture-newer-host\"\npath = \"{repository}/tests/fixtures/newer_host.rs\"",
            dependencies: ["karmada", "loader", "manifests", "profile", "scheduler"]
                .map(|name| format!("divvy-{name} = {{ path = \"../newer/host/core/{name}\" }}"))
                .into_iter()
                .chain(["divvy-framework-abi = { path = \"../newer/framework/abi\" }".to_owned()])
                .collect(),
        },
        Package {
            name: "plain-plugin",
            target: everywhere,
            dependencies: vec![
                "divvy-framework = { path = \"../current/framework\", default-features = false }".to_owned(),
            ],
        },
    ];
    for (patch, (name, _, edits)) in (3..).zip(unannounced()) {
        let sdk = Sdk {
            folder: folder.join("unannounced").join(name),
            patch,
            minor: ABI_VERSION.minor,
        };
        sdk.write(&["framework/abi"], edits);
        packages.push(Package {
            name,
            target: "[lib]\ncrate-type = [\"cdylib\"]\npath = \"{repository}/tests/fixtures/certified.rs\"",
            dependencies: vec![format!(
                "divvy-framework-abi = {{ path = \"../unannounced/{name}/framework/abi\", features = [\"certificate\"] }}"
            )],
        });
    }
    for package in &packages {
        let manifest = format!(
            "[package]\nname = \"divvy-fixture-{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{}\n\n[dependencies]\n{}\n",
            package.name,
            package.target,
            package.dependencies.join("\n")
        );
        let manifest = manifest.replace("{repository}", &repository().display().to_string());
        write(&folder.join(package.name).join("Cargo.toml"), &manifest);
    }
    let members: Vec<&str> = packages.iter().map(|package| package.name).collect();
    write_root(&folder, &members, &["newer", "current", "unannounced"])
}

/// Writes the manifest of a workspace and its lock file, and returns the path of the manifest. The profile is that of the repository's
/// workspace, and so are the versions of registry packages: nothing is downloaded, and what is compiled there already is not compiled
/// again.
pub(crate) fn write_root(folder: &Path, members: &[&str], exclude: &[&str]) -> PathBuf {
    let workspace = Table::from_iter([
        ("resolver".to_owned(), Value::from("3")),
        ("members".to_owned(), members.to_vec().into()),
        ("exclude".to_owned(), exclude.to_vec().into()),
    ]);
    let manifest = Table::from_iter([
        ("workspace".to_owned(), Value::from(workspace)),
        ("profile".to_owned(), repository_manifest()["profile"].clone()),
    ]);
    write(&folder.join("Cargo.toml"), &manifest.to_string());
    write(&folder.join("Cargo.lock"), &read(&repository().join("Cargo.lock")));
    folder.join("Cargo.toml")
}

/// A copy of crates of the repository.
struct Sdk {
    folder: PathBuf,
    /// Patch version of all its crates.
    patch: u32,
    /// Minor version of its ABI.
    minor: u32,
}

impl Sdk {
    /// Writes these folders of the repository, with edits.
    fn write(&self, folders: &[&str], edits: &[Edit]) {
        let mut manifest = repository_manifest();
        manifest.remove("profile");
        let workspace = table(&mut manifest, "workspace");
        workspace.remove("default-members");
        workspace.remove("exclude");
        let is_copied = |member: &Value| {
            let member = member.as_str().map(Path::new);
            member.is_some_and(|member| folders.iter().any(|folder| member.starts_with(folder)))
        };
        let members = workspace.get_mut("members").and_then(Value::as_array_mut);
        members.expect("the workspace lists its members").retain(is_copied);
        let version = format!("0.1.{}", self.patch);
        table(workspace, "package").insert("version".to_owned(), version.into());
        write(&self.folder.join("Cargo.toml"), &manifest.to_string());
        let mut applied = 0;
        for folder in folders {
            let (copy, source) = (self.folder.join(folder), repository().join(folder));
            divvy_built::remove_what_is_gone(&copy, &source)
                .unwrap_or_else(|error| panic!("{}: {error}", copy.display()));
            for entry in WalkDir::new(repository().join(folder)) {
                let entry = entry.expect("the folder can be read");
                if !entry.file_type().is_file() {
                    continue;
                }
                let path = entry
                    .path()
                    .strip_prefix(repository())
                    .expect("an entry lies below its root");
                let mut text = read(entry.path());
                for edit in edits.iter().filter(|edit| Path::new(edit.file) == path) {
                    text = edit.apply(&text);
                    applied += 1;
                }
                if path.ends_with("Cargo.toml") {
                    text = self.with_version(&text);
                }
                write(&self.folder.join(path), &text);
            }
        }
        assert_eq!(applied, edits.len(), "an edit names a file that does not exist");
    }

    /// A crate's manifest with the version of this copy. A manifest that inherits its version stays as it is.
    fn with_version(&self, manifest: &str) -> String {
        let mut manifest: Table = manifest.parse().expect("a manifest");
        let package = table(&mut manifest, "package");
        let is_abi = package["name"].as_str() == Some("divvy-framework-abi");
        if package["version"].is_str() {
            let version = match is_abi {
                true => format!("1.{}.{}", self.minor, self.patch),
                false => format!("0.1.{}", self.patch),
            };
            package.insert("version".to_owned(), version.into());
        }
        manifest.to_string()
    }
}

fn repository_manifest() -> Table {
    read(&repository().join("Cargo.toml")).parse().expect("a manifest")
}

fn table<'a>(manifest: &'a mut Table, name: &str) -> &'a mut Table {
    let entry = manifest.get_mut(name).and_then(Value::as_table_mut);
    entry.unwrap_or_else(|| panic!("the manifest has a table `{name}`"))
}

/// A copy that is older than a move of a module has both of its files otherwise, and no longer compiles.
#[test]
fn a_copy_loses_what_the_repository_no_longer_has() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let sdk = Sdk {
        folder: folder.path().to_owned(),
        patch: 1,
        minor: ABI_VERSION.minor,
    };
    sdk.write(&["framework/abi"], &[]);
    let sources = folder.path().join("framework/abi/src");
    write(&sources.join("moved.rs"), "");
    write(&sources.join("moved_folder/mod.rs"), "");
    sdk.write(&["framework/abi"], &[]);
    let is_there = |name: &str| sources.join(name).exists();
    assert_eq!(
        ["lib.rs", "moved.rs", "moved_folder"].map(is_there),
        [true, false, false]
    );
}
