//! Plugins as OCI artifacts: `divvy plugin push`, `pull` and `key`, and profiles that pin what was pulled.
//!
//! Everything runs the binary. `layouts` moves plugins through folders, `tampering` changes them on the way, `loading` after they have arrived,
//! `registry` uses a real registry, and `hostile_registry` one that answers what it must not.

mod hostile_registry;
mod layouts;
mod loading;
mod registry;
mod tampering;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use divvy_loader::artifact::ContentDigest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::artifacts::{plugin, workspace};

/// Name under which the tests push `average`.
const NAME: &str = "registry.example/plugins/average";
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// A folder to run commands in, with a pair of keys `k.key` and `k.key.pub`.
struct Workshop {
    folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
struct Ran {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn expect_success(self) -> Self {
        assert_eq!(self.exit, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    fn expect_refusal(self, message: &str) -> Self {
        assert!(
            self.stderr.contains(message),
            "expected `{message}`, got:\n{}{}",
            self.stdout,
            self.stderr
        );
        assert_eq!(self.exit, Some(2), "{}", self.stderr);
        self
    }
}

impl Workshop {
    fn new() -> Self {
        let workshop = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        workshop
            .run(&["plugin", "key", "k.key", "--no-password"])
            .expect_success();
        workshop
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// A command in the folder, which knows the bundled plugins.
    fn command(&self, arguments: &[&str]) -> Command {
        let plugins = plugin("average").parent().expect("a library is in a folder");
        let mut command = Command::new(workspace().binary("divvy"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("DIVVY_PLUGIN_PATH", plugins)
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments))
    }

    /// Pushes `average` to the layout `outbox`, signed.
    fn push(&self, tag: &str, more: &[&str]) -> Ran {
        let pushed = self.push_as(&format!("{NAME}:{tag}"), "average", "k.key", more);
        pushed.expect_success()
    }

    /// Pushes a bundled plugin to the layout `outbox`, signed with this key.
    fn push_as(&self, reference: &str, name: &str, key: &str, more: &[&str]) -> Ran {
        let library = plugin(name).display().to_string();
        let signed = ["--layout", "outbox", "--sign-with", key];
        self.run(&[&["plugin", "push", reference, &library], &signed[..], more].concat())
    }

    /// Pulls from the layout `outbox` into `plugins`.
    fn pull(&self, reference: &str, more: &[&str]) -> Ran {
        let pull = ["plugin", "pull", reference, "--layout", "outbox", "--into", "plugins"];
        self.run(&[&pull[..], more].concat())
    }

    /// A profile with the printed lines, which looks into `plugins`.
    fn pin(&self, lines: &str) {
        let profile =
            format!("[[profile]]\nname = \"own\"\nextends = \"default\"\nplugin-directories = [\"plugins\"]\n{lines}");
        self.write("profile.toml", profile);
    }
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    Ran {
        exit: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// An image layout, as someone would edit it.
struct Folder(PathBuf);

impl Folder {
    fn blob(&self, digest: &str) -> PathBuf {
        let digits = digest.strip_prefix("sha256:").expect("a digest");
        self.0.join("blobs/sha256").join(digits)
    }

    fn index(&self) -> Value {
        let text = fs::read(self.0.join("index.json")).expect("an index");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn set_index(&self, index: &Value) {
        fs::write(self.0.join("index.json"), index.to_string()).expect("the index");
    }

    fn edit_index(&self, edit: impl FnOnce(&mut Vec<Value>)) {
        let mut index = self.index();
        edit(index["manifests"].as_array_mut().expect("a list"));
        self.set_index(&index);
    }

    /// The digest of a tag of `average`.
    fn digest(&self, tag: &str) -> String {
        let name = format!("{NAME}:{tag}");
        let index = self.index();
        let entries = index["manifests"].as_array().expect("a list");
        let entry = entries
            .iter()
            .find(|entry| entry["annotations"][REF_NAME] == name.as_str());
        let entry = entry.unwrap_or_else(|| panic!("no {name} in {index}"));
        entry["digest"].as_str().expect("a digest").to_owned()
    }

    /// The tag of the signatures of what has a tag.
    fn signatures(&self, tag: &str) -> String {
        format!("{}.minisig", self.digest(tag).replace(':', "-"))
    }

    fn read(&self, digest: &str) -> Vec<u8> {
        fs::read(self.blob(digest)).expect("a blob")
    }

    fn document(&self, digest: &str) -> Value {
        serde_json::from_slice(&self.read(digest)).expect("JSON")
    }

    fn put(&self, bytes: &[u8]) -> String {
        let digest = ContentDigest::of(bytes).to_string();
        fs::write(self.blob(&digest), bytes).expect("a blob");
        digest
    }

    /// Lets a tag lead to other bytes.
    fn set(&self, tag: &str, media_type: &str, bytes: &[u8]) -> String {
        let digest = self.put(bytes);
        let name = format!("{NAME}:{tag}");
        self.edit_index(|entries| {
            entries.retain(|entry| entry["annotations"][REF_NAME] != name.as_str());
            entries.push(json!({
                "mediaType": media_type,
                "digest": digest,
                "size": bytes.len(),
                "annotations": { REF_NAME: name },
            }));
        });
        digest
    }

    /// Edits a manifest and everything that names it: no digest is wrong afterwards.
    fn edit(&self, tag: &str, edit: impl FnOnce(&mut Value)) -> String {
        let mut manifest = self.document(&self.digest(tag));
        edit(&mut manifest);
        self.set(tag, MANIFEST, manifest.to_string().as_bytes())
    }

    /// Replaces a blob that a manifest names, and everything that names it.
    fn replace(&self, tag: &str, pointer: &str, bytes: &[u8]) -> String {
        let digest = self.put(bytes);
        self.edit(tag, |manifest| {
            let descriptor = manifest.pointer_mut(pointer).expect("a descriptor");
            descriptor["digest"] = digest.into();
            descriptor["size"] = bytes.len().into();
        })
    }
}

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
