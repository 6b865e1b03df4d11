//! What is changed after the pull is not loaded: each link from the profile's digest to the library is compared again.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// A workshop with `average` pulled and pinned, and the digests of its manifest and its library.
fn pulled() -> (Workshop, Folder, String, String) {
    let workshop = Workshop::new();
    workshop.push("1", &[]);
    let pulled = workshop
        .pull(&format!("{NAME}:1"), &["--key", "k.key.pub"])
        .expect_success();
    workshop.pin(&pulled.stdout);
    let folder = Folder(workshop.path("plugins"));
    let manifest = folder.digest("1");
    let library = folder.document(&manifest)["layers"][0]["digest"]
        .as_str()
        .expect("a digest")
        .to_owned();
    (workshop, folder, manifest, library)
}

fn load(workshop: &Workshop) -> Ran {
    workshop.run(&["plugin", "inspect", "average", "--profile", "profile.toml", "--load"])
}

#[test]
fn what_is_changed_after_the_pull_is_not_loaded() {
    type Change = fn(&Folder, &str, &str);
    let cases: [(&str, Change, &str); 8] = [
        (
            "a byte of the library",
            |folder, _, library| {
                let mut bytes = folder.read(library);
                bytes[5000] ^= 1;
                fs::write(folder.blob(library), bytes).expect("the library");
            },
            "checksum",
        ),
        (
            "another library",
            |folder, _, library| {
                let size = folder.read(library).len();
                let mut other = fs::read(plugin("surge")).expect("it was built");
                other.resize(size, 0);
                fs::write(folder.blob(library), other).expect("the library");
            },
            "checksum",
        ),
        (
            "a shorter library",
            |folder, _, library| {
                let file = fs::OpenOptions::new()
                    .write(true)
                    .open(folder.blob(library))
                    .expect("the library");
                file.set_len(5000).expect("it is cut");
            },
            "has another size",
        ),
        (
            "no library",
            |folder, _, library| fs::remove_file(folder.blob(library)).expect("it was there"),
            "cannot be read",
        ),
        (
            "a link to another library",
            |folder, _, library| {
                fs::remove_file(folder.blob(library)).expect("it was there");
                symlink(plugin("surge"), folder.blob(library)).expect("a link");
            },
            "has another size",
        ),
        (
            "the manifest",
            |folder, manifest, _| {
                let other = fs::read(plugin("surge")).expect("it was built");
                let digest = folder.put(&other);
                let mut document = folder.document(manifest);
                document["layers"][0]["digest"] = digest.into();
                document["layers"][0]["size"] = other.len().into();
                fs::write(folder.blob(manifest), document.to_string()).expect("the manifest");
            },
            "has another digest",
        ),
        (
            "no manifest",
            |folder, manifest, _| fs::remove_file(folder.blob(manifest)).expect("it was there"),
            "is in none of the folders",
        ),
        (
            "a manifest without an end",
            |folder, manifest, _| {
                fs::write(folder.blob(manifest), vec![b' '; 1 << 20]).expect("the manifest");
            },
            "is too large",
        ),
    ];
    for (name, change, refusal) in cases {
        let (workshop, folder, manifest, library) = pulled();
        load(&workshop).expect_success();
        change(&folder, &manifest, &library);
        let ran = load(&workshop);
        assert_ne!(ran.exit, Some(0), "{name}");
        let text = ran.stdout + &ran.stderr;
        assert!(text.contains(refusal), "{name}: {text}");
        // Nothing else decides with it, either.
        let fleet = crate::artifacts::repository()
            .join("examples/fleet")
            .display()
            .to_string();
        let scheduled = workshop.run(&["schedule", "-f", &fleet, "--profile", "profile.toml"]);
        assert_eq!(scheduled.exit, Some(2), "{name}: {}", scheduled.stderr);
        assert!(
            scheduled
                .stderr
                .starts_with("error: profile.toml:6: plugin `average`: "),
            "{name}: {}",
            scheduled.stderr
        );
        assert!(
            scheduled
                .stderr
                .contains("divvy plugin pull registry.example/plugins/average:1@sha256:"),
            "{name}: {}",
            scheduled.stderr
        );
    }
}

/// The index of the folder is for `pull`; whoever edits it changes nothing that is pinned.
#[test]
fn only_the_digest_counts() {
    let (workshop, folder, ..) = pulled();
    folder.edit_index(Vec::clear);
    fs::remove_file(workshop.path("plugins/oci-layout")).expect("it was there");
    load(&workshop).expect_success();
}

#[test]
fn a_checksum_beside_the_artifact_must_hold_as_well() {
    let (workshop, ..) = pulled();
    let profile = fs::read_to_string(workshop.path("profile.toml")).expect("a profile");
    workshop.write("profile.toml", format!("{profile}sha256 = \"{}\"\n", "0".repeat(64)));
    let fleet = crate::artifacts::repository()
        .join("examples/fleet")
        .display()
        .to_string();
    let ran = workshop.run(&["schedule", "-f", &fleet, "--profile", "profile.toml"]);
    ran.expect_refusal("the profile names sha256:0000");
}

#[test]
fn a_folder_that_everyone_can_write_to_is_warned_of() {
    let (workshop, ..) = pulled();
    let everyone = fs::Permissions::from_mode(0o777);
    fs::set_permissions(workshop.path("plugins/blobs/sha256"), everyone).expect("permissions");
    let fleet = crate::artifacts::repository()
        .join("examples/fleet")
        .display()
        .to_string();
    let ran = workshop.run(&["schedule", "-f", &fleet, "--profile", "profile.toml"]);
    assert!(ran.stderr.contains("can be replaced by others"), "{}", ran.stderr);
}

#[test]
fn a_plugin_that_is_not_pulled_is_listed_with_the_remedy() {
    let (workshop, folder, manifest, _) = pulled();
    fs::remove_file(folder.blob(&manifest)).expect("it was there");
    let ran = workshop.run(&["plugin", "list", "--profile", "profile.toml", "-o", "json"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    let plugins: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let average = plugins
        .as_array()
        .expect("a list")
        .iter()
        .find(|plugin| plugin["name"] == "average");
    let hint = average.expect("it is listed")["hint"].as_str().expect("a hint");
    assert!(
        hint.starts_with("pull it into one of them: `divvy plugin pull registry.example/plugins/average:1@sha256:"),
        "{hint}"
    );
}
