//! What is changed on the way is refused, each for its own reason, and leaves nothing behind.

mod authors;
mod carriers;

use super::*;

/// How the artifact is believed.
const SIGNED: &[&str] = &["--key", "k.key.pub"];
/// For artifacts that their own author made wrong: signatures do not help against these.
const UNSIGNED: &[&str] = &["--unsigned"];

type Tamper = fn(&Workshop, &Folder);

/// A change, how the artifact is pulled afterwards, and what the refusal says.
struct Case {
    name: &'static str,
    trust: &'static [&'static str],
    tamper: Tamper,
    refusal: &'static str,
}

const fn case(name: &'static str, trust: &'static [&'static str], tamper: Tamper, refusal: &'static str) -> Case {
    Case {
        name,
        trust,
        tamper,
        refusal,
    }
}

/// The digest of the library.
fn library(folder: &Folder) -> String {
    let manifest = folder.document(&folder.digest("1"));
    manifest["layers"][0]["digest"].as_str().expect("a digest").to_owned()
}

/// Changes a file in place.
fn edit_file(path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    edit(&mut bytes);
    fs::write(path, bytes).expect("the file");
}

/// Moves the signatures of what was signed to what a tag leads to now.
fn move_signatures(folder: &Folder, from: &str) {
    let signatures = folder.document(&folder.digest(from));
    let to = folder.signatures("1");
    folder.set(&to, MANIFEST, signatures.to_string().as_bytes());
}

/// Edits the text of the only signature.
fn edit_signature(folder: &Folder, edit: impl FnOnce(String) -> Vec<u8>) {
    let tag = folder.signatures("1");
    let list = folder.document(&folder.digest(&tag));
    let digest = list["layers"][0]["digest"].as_str().expect("a digest").to_owned();
    let text = String::from_utf8(folder.read(&digest)).expect("a text");
    let edited = edit(text);
    folder.replace(&tag, "/layers/0", &edited);
}

/// An index with these manifests as the artifact.
fn set_index(folder: &Folder, manifests: &[Value]) {
    let index = json!({
        "schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.divvy.plugin.v1", "manifests": manifests,
    });
    folder.set("1", INDEX, index.to_string().as_bytes());
}

fn manifest_for(folder: &Folder, architecture: &str) -> Value {
    let digest = folder.digest("1");
    json!({
        "mediaType": MANIFEST, "digest": digest, "size": folder.read(&digest).len(),
        "platform": { "architecture": architecture, "os": "linux" },
    })
}

fn own() -> String {
    divvy_loader::artifact::Platform::own().architecture
}

/// Replaces the configuration by an edited one.
fn edit_configuration(folder: &Folder, edit: impl FnOnce(&mut Value)) {
    let manifest = folder.document(&folder.digest("1"));
    let mut configuration = folder.document(manifest["config"]["digest"].as_str().expect("a digest"));
    edit(&mut configuration);
    folder.replace("1", "/config", configuration.to_string().as_bytes());
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = entries.filter(|entry| entry.file_type().is_file());
    files.map(|entry| entry.into_path()).collect()
}

#[test]
fn each_change_is_refused_and_leaves_nothing_behind() {
    let original = Workshop::new();
    original.push("1", &[]);
    let reference = format!("{NAME}:1");
    original.pull(&reference, SIGNED).expect_success();
    original.pull(&reference, UNSIGNED).expect_success();
    let mut broken = Vec::new();
    let cases = || carriers::CASES.iter().chain(authors::CASES);
    for case in cases() {
        let workshop = copy_of(&original);
        let folder = Folder(workshop.path("outbox"));
        (case.tamper)(&workshop, &folder);
        let ran = workshop.pull(&reference, case.trust);
        if ran.exit != Some(2) || !ran.stderr.contains(case.refusal) || !ran.stdout.is_empty() {
            broken.push(format!("{}: expected `{}`, got {ran:#?}", case.name, case.refusal));
        }
        let left = files(&workshop.path("plugins"));
        if left.iter().any(|file| !file.ends_with("oci-layout")) {
            broken.push(format!("{}: it leaves {left:?}", case.name));
        }
    }
    assert!(cases().count() >= 20);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A workshop with the same keys and the same folder, and nothing pulled.
fn copy_of(original: &Workshop) -> Workshop {
    let workshop = Workshop {
        folder: tempfile::tempdir().expect("a folder"),
    };
    for file in files(&original.path("outbox"))
        .into_iter()
        .chain([original.path("k.key"), original.path("k.key.pub")])
    {
        let relative = file.strip_prefix(original.folder.path()).expect("it is in the folder");
        let copy = workshop.path(relative);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("folders");
        fs::copy(&file, copy).expect("a copy");
    }
    workshop
}

/// The volumes of a pod are like this.
#[test]
fn a_folder_that_everyone_can_write_to_can_be_permitted() {
    let workshop = Workshop::new();
    workshop.push("1", &[]);
    fs::create_dir_all(workshop.path("plugins")).expect("a folder");
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(workshop.path("plugins"), everyone).expect("permissions");
    let permitted = [SIGNED, &["--allow-replaceable-files"]].concat();
    workshop.pull(&format!("{NAME}:1"), &permitted).expect_success();
}

/// A title is shown by registries, and is never a path.
#[test]
fn a_title_is_not_a_path() {
    let workshop = Workshop::new();
    workshop.push("1", &[]);
    let folder = Folder(workshop.path("outbox"));
    folder.edit("1", |manifest| {
        manifest["layers"][0]["annotations"]["org.opencontainers.image.title"] = "../../escaped.so".into();
    });
    workshop.pull(&format!("{NAME}:1"), UNSIGNED).expect_success();
    let escaped = files(workshop.folder.path())
        .into_iter()
        .find(|file| file.ends_with("escaped.so"));
    assert_eq!(escaped, None);
}

/// A digest in the reference decides, whatever the tag leads to.
#[test]
fn a_digest_is_compared() {
    let workshop = Workshop::new();
    workshop.push("1", &[]);
    let folder = Folder(workshop.path("outbox"));
    let digest = folder.digest("1");
    let other = format!("{NAME}:1@sha256:{}", "0".repeat(64));
    workshop.pull(&other, &[]).expect_refusal("is not in `outbox`");
    edit_file(&folder.blob(&digest), |bytes| bytes.push(b' '));
    workshop
        .pull(&format!("{NAME}:1@{digest}"), &[])
        .expect_refusal("has another digest");
}
