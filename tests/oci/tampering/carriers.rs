//! What is changed by whoever keeps or carries an artifact that is signed.

use super::*;

/// Changes by whoever keeps or carries the folder.
pub(super) const CASES: &[Case] = &[
    case(
        "a byte of the library",
        SIGNED,
        |_, folder| {
            edit_file(&folder.blob(&library(folder)), |bytes| bytes[5000] ^= 1);
        },
        "has another digest: expected sha256:",
    ),
    case(
        "a library that ends early",
        SIGNED,
        |_, folder| {
            edit_file(&folder.blob(&library(folder)), |bytes| bytes.truncate(4096));
        },
        "has another size than is said of it",
    ),
    case(
        "a library that goes on",
        SIGNED,
        |_, folder| {
            edit_file(&folder.blob(&library(folder)), |bytes| bytes.extend([0; 100_000]));
        },
        "has another size than is said of it",
    ),
    case(
        "no library",
        SIGNED,
        |_, folder| {
            fs::remove_file(folder.blob(&library(folder))).expect("it was there");
        },
        "is not in `outbox`",
    ),
    case(
        "a manifest under its old digest",
        SIGNED,
        |_, folder| {
            edit_file(&folder.blob(&folder.digest("1")), |bytes| bytes.push(b' '));
        },
        "has the digest `sha256:",
    ),
    case(
        "a manifest under its new digest",
        SIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["annotations"]["note"] = "harmless".into());
        },
        "is not signed",
    ),
    case(
        "a manifest with the signature of the old one",
        SIGNED,
        |_, folder| {
            let signed = folder.signatures("1");
            folder.edit("1", |manifest| manifest["annotations"]["note"] = "harmless".into());
            move_signatures(folder, &signed);
        },
        "it was made by another key, or for other content",
    ),
    case(
        "a configuration with the signature of the old one",
        SIGNED,
        |_, folder| {
            let signed = folder.signatures("1");
            edit_configuration(folder, |configuration| {
                configuration["plugins"][0]["version"] = "9.9.9".into()
            });
            move_signatures(folder, &signed);
        },
        "it was made by another key, or for other content",
    ),
    case(
        "another library with the signature of the old one",
        SIGNED,
        |_, folder| {
            let signed = folder.signatures("1");
            let other = fs::read(plugin("surge")).expect("it was built");
            folder.replace("1", "/layers/0", &other);
            move_signatures(folder, &signed);
        },
        "it was made by another key, or for other content",
    ),
    case(
        "the signature of another key",
        SIGNED,
        |workshop, folder| {
            folder.edit_index(Vec::clear);
            workshop
                .run(&["plugin", "key", "other.key", "--no-password"])
                .expect_success();
            workshop
                .push_as(&format!("{NAME}:1"), "average", "other.key", &[])
                .expect_success();
        },
        "it was made by another key, or for other content",
    ),
    case(
        "no signature",
        SIGNED,
        |_, folder| {
            let tag = folder.signatures("1");
            folder.edit_index(|entries| {
                entries.retain(|entry| entry["annotations"][REF_NAME] != format!("{NAME}:{tag}"))
            });
        },
        "is not signed",
    ),
    case(
        "a list without signatures",
        SIGNED,
        |_, folder| {
            let tag = folder.signatures("1");
            folder.edit(&tag, |list| list["layers"] = json!([]));
        },
        "is not signed",
    ),
    case(
        "an older version under the tag of a newer one",
        SIGNED,
        |workshop, folder| {
            workshop.push("0.9", &[]);
            let old = folder.read(&folder.digest("0.9"));
            let signatures = folder.signatures("0.9");
            // The list has one signature for each tag of this content: the newer one goes.
            folder.edit(&signatures, |list| {
                list["layers"].as_array_mut().expect("a list").remove(0);
            });
            folder.set("1", MANIFEST, &old);
        },
        "it is for the tag `0.9`",
    ),
    case(
        "another plugin under this name",
        SIGNED,
        |workshop, folder| {
            let pushed = workshop.push_as("registry.example/plugins/surge:1", "surge", "k.key", &[]);
            pushed.expect_success();
            folder.edit_index(|entries| {
                entries.retain(|entry| {
                    !entry["annotations"][REF_NAME]
                        .as_str()
                        .is_some_and(|name| name.starts_with(NAME))
                });
                for entry in entries {
                    let name = entry["annotations"][REF_NAME].as_str().expect("a name");
                    entry["annotations"][REF_NAME] = name.replace("plugins/surge", "plugins/average").into();
                }
            });
        },
        "it is for `registry.example/plugins/surge`",
    ),
    case(
        "a signature that has expired",
        SIGNED,
        |workshop, folder| {
            folder.edit_index(Vec::clear);
            workshop.push("1", &["--expires", "2020-02-29"]);
        },
        "it expired after 2020-02-29",
    ),
    case(
        "a later day in the comment of a signature",
        SIGNED,
        |workshop, folder| {
            folder.edit_index(Vec::clear);
            workshop.push("1", &["--expires", "2020-02-29"]);
            edit_signature(folder, |text| text.replace("2020-02-29", "2999-12-31").into_bytes());
        },
        "it was made by another key, or for other content",
    ),
    case(
        "a signature that is none",
        SIGNED,
        |_, folder| {
            edit_signature(folder, |_| b"untrusted comment: x\nAAAA\n".to_vec());
        },
        "it is not a minisign signature",
    ),
    case(
        "a signature that is not a text",
        SIGNED,
        |_, folder| {
            edit_signature(folder, |_| vec![0xff; 200]);
        },
        "it is not a text",
    ),
    case(
        "a signature without a name",
        SIGNED,
        |workshop, folder| {
            let secret = fs::read_to_string(workshop.path("k.key")).expect("a key");
            let secret = minisign::SecretKeyBox::from_string(&secret).and_then(|key| key.into_unencrypted_secret_key());
            let signed = folder.read(&folder.digest("1"));
            let secret = secret.expect("a key");
            let signature = minisign::sign(None, &secret, std::io::Cursor::new(signed), Some("timestamp:1"), None);
            edit_signature(folder, |_| signature.expect("a signature").into_string().into_bytes());
        },
        "its trusted comment does not name an artifact: `timestamp:1`",
    ),
    case(
        "a signature of a megabyte",
        SIGNED,
        |_, folder| {
            edit_signature(folder, |text| [text.into_bytes(), vec![b'\n'; 1 << 20]].concat());
        },
        "is too large: expected at most 4096 bytes",
    ),
    case(
        "a thousand signatures",
        SIGNED,
        |_, folder| {
            let tag = folder.signatures("1");
            folder.edit(&tag, |list| {
                let one = list["layers"][0].clone();
                list["layers"] = vec![one; 1000].into();
            });
        },
        "there are 1000 signatures, expected at most 32",
    ),
    case(
        "signatures of another type",
        SIGNED,
        |_, folder| {
            let tag = folder.signatures("1");
            folder.edit(&tag, |list| list["artifactType"] = "application/vnd.example".into());
        },
        "has another artifact type",
    ),
];
