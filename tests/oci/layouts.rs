//! Plugins that move through folders.

use std::os::unix::fs::PermissionsExt as _;

use divvy_loader::artifact::ContentDigest;
use serde_json::{Value, json};

use super::*;
use crate::diff::schema::{committed_at, validate};

/// The artifact as `pull` prints it.
fn pinned(stdout: &str) -> String {
    let line = stdout.lines().find_map(|line| line.strip_prefix("artifact = "));
    line.expect("a pin").trim_matches('"').to_owned()
}

#[test]
fn what_was_pulled_is_what_was_pushed_and_decides() {
    let workshop = Workshop::new();
    let pushed = workshop.push("1.0.0", &[]);
    let name = pushed.stdout.lines().next().expect("the reference");
    let pulled = workshop
        .pull(&format!("{NAME}:1.0.0"), &["--key", "k.key.pub"])
        .expect_success();
    assert_eq!(
        pulled.stdout,
        format!("[profile.plugin.average]\nartifact = \"{name}\"\n")
    );
    assert!(
        pulled.stderr.contains("signed by the key `k.key.pub`"),
        "{}",
        pulled.stderr
    );
    workshop.pin(&pulled.stdout);
    let inspected = workshop
        .run(&["plugin", "list", "--profile", "profile.toml", "-o", "json"])
        .expect_success();
    let plugins: Value = serde_json::from_str(&inspected.stdout).expect("JSON");
    let average = plugins
        .as_array()
        .expect("a list")
        .iter()
        .find(|plugin| plugin["name"] == "average");
    let average = average.expect("it is listed");
    let library = std::fs::read(plugin("average")).expect("it was built");
    assert_eq!(average["sha256"], ContentDigest::of(&library).hexadecimal());
    // What comes from elsewhere has a process of its own, even if a bundled plugin is called the same.
    assert_eq!(average["isolation"], "process");
    let path = average["path"].as_str().expect("a path");
    assert!(path.contains("plugins/blobs/sha256/"), "{path}");
    let fleet = crate::artifacts::repository()
        .join("examples/fleet")
        .display()
        .to_string();
    let decide = |more: &[&str]| workshop.run(&[&["schedule", "-f", &fleet, "-o", "json"], more].concat());
    let (own, usual) = (decide(&["--profile", "profile.toml"]), decide(&[]));
    assert_eq!((own.exit, &own.stderr), (usual.exit, &usual.stderr));
    assert_eq!(own.stdout.replace("\"own\"", "\"default\""), usual.stdout);
}

#[test]
fn the_data_of_push_and_pull_follow_their_schemas() {
    let workshop = Workshop::new();
    let json = |ran: Ran, schema: &str| -> Value {
        let data = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let schema = committed_at(&format!("host/cli/schema/{schema}.json"));
        validate(&schema, &schema, &data, "$").unwrap_or_else(|error| panic!("{error}: {data:#}"));
        data
    };
    let pushed = json(workshop.push("1.0.0", &["-o", "json"]), "push");
    assert_eq!(pushed["signed"], true);
    let name = pushed["artifact"].as_str().expect("a reference");
    let signed = workshop.pull(name, &["--key", "k.key.pub", "-o", "json"]);
    let signed = json(signed.expect_success(), "pull");
    let found = &signed[0];
    assert_eq!(
        (&found["artifact"], &found["signedBy"]),
        (&pushed["artifact"], &json!("k.key.pub"))
    );
    assert_eq!(found["facts"], pushed["libraries"][0]);
    assert_eq!(found["facts"]["plugins"][0]["name"], "average");
    // The digest alone suffices.
    let by_digest = workshop.pull(name, &["-o", "json"]);
    let by_digest = json(by_digest.expect_success(), "pull");
    assert_eq!(
        (&by_digest[0]["signedBy"], &by_digest[0]["sha256"]),
        (&Value::Null, &found["sha256"])
    );
}

/// The digest does not depend on when, where or with which key it is pushed.
#[test]
fn the_same_library_has_the_same_digest() {
    let (one, other) = (Workshop::new(), Workshop::new());
    assert_eq!(
        one.push("1.0.0", &[]).stdout,
        other.push("1.0.0", &["--expires", "2999-01-01"]).stdout
    );
}

#[test]
fn one_content_can_have_several_tags_and_signers() {
    let workshop = Workshop::new();
    workshop.push("1.0.0", &[]);
    workshop.push("latest", &[]);
    workshop
        .run(&["plugin", "key", "second.key", "--no-password"])
        .expect_success();
    workshop
        .push_as(&format!("{NAME}:1.0.0"), "average", "second.key", &[])
        .expect_success();
    for (tag, key) in [
        ("1.0.0", "k.key.pub"),
        ("latest", "k.key.pub"),
        ("1.0.0", "second.key.pub"),
    ] {
        workshop
            .pull(&format!("{NAME}:{tag}"), &["--key", key])
            .expect_success();
    }
    let refused = workshop.pull(&format!("{NAME}:latest"), &["--key", "second.key.pub"]);
    refused.expect_refusal("it is for the tag `1.0.0`");
    workshop
        .pull(
            &format!("{NAME}:latest"),
            &["--key", "second.key.pub", "--key", "k.key.pub"],
        )
        .expect_success();
}

#[test]
fn a_folder_that_was_pulled_into_can_be_pulled_from() {
    let workshop = Workshop::new();
    workshop.push("1.0.0", &[]);
    let reference = format!("{NAME}:1.0.0");
    workshop.pull(&reference, &["--key", "k.key.pub"]).expect_success();
    let again = [
        "plugin",
        "pull",
        &reference,
        "--layout",
        "plugins",
        "--into",
        "further",
        "--key",
        "k.key.pub",
    ];
    let again = workshop.run(&again).expect_success();
    assert_eq!(
        pinned(&again.stdout),
        pinned(&workshop.pull(&reference, &["--unsigned"]).stdout)
    );
}

#[test]
fn a_profile_is_pulled_by_its_digests() {
    let workshop = Workshop::new();
    workshop.push("1.0.0", &[]);
    let printed = workshop
        .pull(&format!("{NAME}:1.0.0"), &["--key", "k.key.pub"])
        .expect_success()
        .stdout;
    workshop.pin(&printed);
    // The tag has moved since, and no signature is left.
    let folder = Folder(workshop.path("outbox"));
    folder.edit_index(Vec::clear);
    let pull = [
        "plugin",
        "pull",
        "--profile",
        "profile.toml",
        "--layout",
        "outbox",
        "--into",
        "fresh",
    ];
    let pulled = workshop.run(&pull).expect_success();
    assert_eq!(pulled.stdout, "");
    assert!(pulled.stderr.contains("by its digest"), "{}", pulled.stderr);
    let listed = [
        "plugin",
        "inspect",
        "average",
        "--profile",
        "profile.toml",
        "--plugin-directory",
        "fresh",
        "--load",
    ];
    let listed = workshop.run(&listed).expect_success();
    assert!(listed.stdout.contains("fresh/blobs"), "{}", listed.stdout);
    workshop.write("empty.toml", "[[profile]]\nname = \"own\"\nextends = \"default\"\n");
    let none = ["plugin", "pull", "--profile", "empty.toml", "--into", "fresh"];
    workshop.run(&none).expect_refusal("`empty.toml` names no artifact");
}

/// The library of another architecture is kept in the index, and the one of this is taken.
#[test]
fn an_artifact_can_have_several_architectures() {
    let workshop = Workshop::new();
    workshop.push("1.0.0", &[]);
    let folder = Folder(workshop.path("outbox"));
    let digest = folder.digest("1.0.0");
    let platform = divvy_loader::artifact::Platform::own();
    let descriptor = |architecture: &str, digest: &str, size: usize| {
        json!({
            "mediaType": MANIFEST, "digest": digest, "size": size,
            "platform": { "architecture": architecture, "os": "linux" },
        })
    };
    let size = folder.read(&digest).len();
    let index = json!({
        "schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.divvy.plugin.v1",
        "manifests": [
            descriptor("other", &digest.replace(['0', '1'], "2"), 7),
            descriptor(&platform.architecture, &digest, size),
        ],
    });
    let root = folder.set("2.0.0", INDEX, index.to_string().as_bytes());
    let pulled = workshop.pull(&format!("{NAME}:2.0.0@{root}"), &[]).expect_success();
    workshop.pin(&pulled.stdout);
    workshop
        .run(&["plugin", "inspect", "average", "--profile", "profile.toml", "--load"])
        .expect_success();
}

#[test]
fn libraries_that_do_not_belong_together_are_not_pushed() {
    let workshop = Workshop::new();
    let (average, surge) = (
        plugin("average").display().to_string(),
        plugin("surge").display().to_string(),
    );
    let reference = format!("{NAME}:1.0.0");
    let push = |reference: &str, libraries: &[&str]| {
        workshop.run(&[&["plugin", "push", reference, "--layout", "outbox"], libraries].concat())
    };
    push(&reference, &[&average, &surge]).expect_refusal("are both for linux/");
    push(NAME, &[&average]).expect_refusal("expected a tag and no digest");
    push(&reference, &["k.key"]).expect_refusal("not a shared library");
    push("average:1.0.0", &[&average]).expect_refusal("is not a reference to an artifact: it has no host");
}

#[test]
fn keys_are_written_once_and_can_have_a_password() {
    let workshop = Workshop::new();
    workshop
        .run(&["plugin", "key", "k.key"])
        .expect_refusal("`k.key` exists");
    let mode = std::fs::metadata(workshop.path("k.key"))
        .expect("a key")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    workshop.write("password", "correct horse\n");
    workshop.write("wrong", "battery staple\n");
    workshop
        .run(&["plugin", "key", "safe.key", "--password-file", "password"])
        .expect_success();
    let reference = format!("{NAME}:1.0.0");
    let with = |more: &[&str]| workshop.push_as(&reference, "average", "safe.key", more);
    with(&["--password-file", "wrong"]).expect_refusal("is not a minisign secret key");
    with(&["--password-file", "password"]).expect_success();
    workshop.pull(&reference, &["--key", "safe.key.pub"]).expect_success();
    workshop
        .pull(&reference, &["--key", "password"])
        .expect_refusal("is not a minisign public key");
}
