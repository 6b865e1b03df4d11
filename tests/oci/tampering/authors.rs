//! What its own author made wrong: signatures do not help against that.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use super::*;

/// Changes by the author, or by anyone if no key is asked for, and of the folders.
pub(super) const CASES: &[Case] = &[
    case(
        "a manifest of a megabyte",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                manifest["annotations"]["note"] = "x".repeat(1 << 20).into()
            });
        },
        "is too large: expected at most 262144 bytes",
    ),
    case(
        "a container image",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                manifest.as_object_mut().expect("an object").remove("artifactType");
            });
        },
        "has another artifact type: expected `application/vnd.divvy.plugin.v1`, found ``",
    ),
    case(
        "a compressed layer",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                manifest["layers"][0]["mediaType"] = "application/vnd.oci.image.layer.v1.tar+gzip".into();
            });
        },
        "has another type of the layer",
    ),
    case(
        "a configuration of another type",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                manifest["config"]["mediaType"] = "application/vnd.oci.image.config.v1+json".into()
            });
        },
        "has another type of the configuration",
    ),
    case(
        "two layers",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                let layer = manifest["layers"][0].clone();
                manifest["layers"].as_array_mut().expect("a list").push(layer);
            });
        },
        "has 2 layers, expected one",
    ),
    case(
        "no layer",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["layers"] = json!([]));
        },
        "has 0 layers, expected one",
    ),
    case(
        "a manifest that is an index as well",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["manifests"] = json!([]));
        },
        "it has the fields of a manifest and of an index",
    ),
    case(
        "a manifest that is handed out as an index",
        UNSIGNED,
        |_, folder| {
            let bytes = folder.read(&folder.digest("1"));
            folder.set("1", INDEX, &bytes);
        },
        "has another media type",
    ),
    case(
        "an older schema",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["schemaVersion"] = 1.into());
        },
        "its `schemaVersion` is not 2",
    ),
    case(
        "a page of HTML",
        UNSIGNED,
        |_, folder| {
            folder.set("1", MANIFEST, b"<html><body>Please log in</body></html>");
        },
        "is neither a manifest nor an index",
    ),
    case(
        "a digest that is a path",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                manifest["layers"][0]["digest"] = "sha256:../../../k.key".into()
            });
        },
        "`sha256:../../../k.key` is not a digest",
    ),
    case(
        "a digest of another kind",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| {
                manifest["layers"][0]["digest"] = format!("sha512:{}", "0".repeat(128)).into()
            });
        },
        "is not a digest",
    ),
    case(
        "a library that is said to be huge",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["layers"][0]["size"] = (2_u64 << 30).into());
        },
        "is too large: expected at most 1073741824 bytes",
    ),
    case(
        "a library that is said to be smaller",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["layers"][0]["size"] = 100.into());
        },
        "expected 100 bytes, found 101",
    ),
    case(
        "a configuration that is said to be huge",
        UNSIGNED,
        |_, folder| {
            folder.edit("1", |manifest| manifest["config"]["size"] = (1_u64 << 40).into());
        },
        "is too large: expected at most 262144 bytes",
    ),
    case(
        "a configuration of another version",
        UNSIGNED,
        |_, folder| {
            edit_configuration(folder, |configuration| {
                configuration["plugins"][0]["version"] = "9.9.9".into()
            });
        },
        "does not describe its library: `plugins`",
    ),
    case(
        "a configuration of an older glibc",
        UNSIGNED,
        |_, folder| {
            edit_configuration(folder, |configuration| configuration["oldestGlibc"] = "2.1".into());
        },
        "does not describe its library: `oldestGlibc`: it says 2.1",
    ),
    case(
        "an index without this architecture",
        UNSIGNED,
        |_, folder| {
            set_index(folder, &[manifest_for(folder, "mips")]);
        },
        "has no library for linux/",
    ),
    case(
        "an index with this architecture twice",
        UNSIGNED,
        |_, folder| {
            set_index(folder, &[manifest_for(folder, &own()), manifest_for(folder, &own())]);
        },
        "has several libraries for linux/",
    ),
    case(
        "an index of a thousand",
        UNSIGNED,
        |_, folder| {
            set_index(folder, &vec![manifest_for(folder, "mips"); 1000]);
        },
        "has 1000 manifests, expected at most 64",
    ),
    case(
        "an index of indices",
        UNSIGNED,
        |_, folder| {
            let mut inner = manifest_for(folder, &own());
            inner["mediaType"] = INDEX.into();
            set_index(folder, &[inner]);
        },
        "has another type of the manifest",
    ),
    case(
        "an index with another size of a manifest",
        UNSIGNED,
        |_, folder| {
            let mut inner = manifest_for(folder, &own());
            inner["size"] = 3.into();
            set_index(folder, &[inner]);
        },
        "has another size than is said of it: expected 3 bytes",
    ),
    case(
        "a library that is a text",
        UNSIGNED,
        |_, folder| {
            folder.replace("1", "/layers/0", b"#!/bin/sh\necho pwned\n");
        },
        "is not a shared library",
    ),
    case(
        "a program instead of a library",
        UNSIGNED,
        |_, folder| {
            folder.replace("1", "/layers/0", &fs::read("/bin/true").expect("a program"));
        },
        "has no plugin",
    ),
    case(
        "a plugin of another name",
        UNSIGNED,
        |_, folder| {
            folder.replace("1", "/layers/0", &fs::read(plugin("surge")).expect("it was built"));
        },
        "does not describe its library: `plugins`: it says average",
    ),
    case(
        "a plugin of another architecture",
        UNSIGNED,
        |_, folder| {
            let mut bytes = folder.read(&library(folder));
            // The machine in the header of an ELF file: s390.
            bytes[18..20].copy_from_slice(&[22, 0]);
            folder.replace("1", "/layers/0", &bytes);
        },
        "registry.example/plugins/average",
    ),
    case(
        "a name that is there twice",
        UNSIGNED,
        |_, folder| {
            folder.edit_index(|entries| {
                let twin = entries
                    .iter()
                    .find(|entry| entry["annotations"][REF_NAME] == format!("{NAME}:1"));
                let twin = twin.expect("an entry").clone();
                entries.push(twin);
            });
        },
        "2 times, expected once",
    ),
    // The folders.
    case(
        "a library that is a link",
        UNSIGNED,
        |workshop, folder| {
            let path = folder.blob(&library(folder));
            fs::rename(&path, workshop.path("elsewhere")).expect("it is moved");
            symlink(workshop.path("elsewhere"), path).expect("a link");
        },
        "is a symbolic link",
    ),
    case(
        "a library that is a pipe",
        UNSIGNED,
        |_, folder| {
            let path = folder.blob(&library(folder));
            fs::remove_file(&path).expect("it was there");
            let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
            assert!(made.success());
        },
        "it is not a regular file",
    ),
    case(
        "blobs that are elsewhere",
        UNSIGNED,
        |workshop, folder| {
            fs::rename(folder.0.join("blobs"), workshop.path("elsewhere")).expect("they are moved");
            symlink(workshop.path("elsewhere"), folder.0.join("blobs")).expect("a link");
        },
        "is a symbolic link",
    ),
    case(
        "a layout of another version",
        UNSIGNED,
        |_, folder| {
            fs::write(folder.0.join("oci-layout"), r#"{"imageLayoutVersion":"2.0.0"}"#).expect("the file");
        },
        "expected version 1.0.0, found 2.0.0",
    ),
    case(
        "an index that is not JSON",
        UNSIGNED,
        |_, folder| {
            fs::write(folder.0.join("index.json"), "[").expect("the file");
        },
        "`outbox` is not an OCI image layout",
    ),
    case(
        "a target whose blobs are elsewhere",
        UNSIGNED,
        |workshop, _| {
            fs::create_dir_all(workshop.path("plugins")).expect("a folder");
            fs::create_dir_all(workshop.path("elsewhere")).expect("a folder");
            symlink(workshop.path("elsewhere"), workshop.path("plugins/blobs")).expect("a link");
        },
        "is a symbolic link",
    ),
    case(
        "a target that everyone can write to",
        UNSIGNED,
        |workshop, _| {
            fs::create_dir_all(workshop.path("plugins")).expect("a folder");
            let everyone = fs::Permissions::from_mode(0o777);
            fs::set_permissions(workshop.path("plugins"), everyone).expect("permissions");
        },
        "can be written by every user",
    ),
    // What is asked for.
    case(
        "neither a key nor a digest",
        &[],
        |_, _| {},
        "nothing says what `registry.example/plugins/average:1` should be",
    ),
];
