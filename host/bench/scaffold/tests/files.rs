//! The files of new plugins, without building them: `tests/command_line/new_plugins.rs` and `tests/programs` do.

use std::collections::BTreeMap;

use divvy_scaffold::{ExtensionPoint, Language, Scaffold, ScaffoldError, Sdk};

const POINTS: [ExtensionPoint; 5] = [
    ExtensionPoint::Assign,
    ExtensionPoint::Filter,
    ExtensionPoint::Score,
    ExtensionPoint::Select,
    ExtensionPoint::Pace,
];

fn scaffold(point: ExtensionPoint, language: Language, sdk: Sdk) -> Scaffold {
    Scaffold {
        name: "spare-capacity".parse().expect("the name is valid"),
        point,
        language,
        sdk,
    }
}

fn files(point: ExtensionPoint, language: Language) -> BTreeMap<String, String> {
    let files = scaffold(point, language, Sdk::Carried).files();
    files.expect("the binary has the templates")
}

#[test]
fn every_file_has_the_name_of_the_plugin_and_none_the_placeholder() {
    for point in POINTS {
        for language in [Language::Rust, Language::C] {
            for (path, text) in files(point, language) {
                let placeholders = ["plugin-name", "plugin_name", "PluginName"];
                let left = placeholders
                    .iter()
                    .find(|word| text.contains(**word) && !path.starts_with("vendor/"));
                assert_eq!(left, None, "{path}");
            }
        }
    }
}

/// The parts of the files that an author reads but does not write must stay short.
#[test]
fn at_most_forty_lines_come_before_the_rule() {
    for point in POINTS {
        let files = files(point, Language::Rust);
        let library = &files["src/lib.rs"];
        let before = library
            .lines()
            .position(|line| line.contains("rule::"))
            .expect("the library calls the rule");
        assert!(before <= 40, "{point:?}: {before} lines before the rule\n{library}");
    }
}

/// In C, everything that calls the rule is one file, the same at every extension point.
#[test]
fn a_plugin_in_c_repeats_nothing_that_another_one_has() {
    let plugins = POINTS.map(|point| files(point, Language::C));
    for (files, point) in plugins.iter().zip(POINTS) {
        let plugin = &files["plugin.c"];
        assert!(plugin.lines().count() <= 40, "{point:?}:\n{plugin}");
        assert!(!plugin.contains("divvy_descriptor"), "{point:?}:\n{plugin}");
        assert_eq!(files["export.h"], plugins[0]["export.h"], "{point:?}");
        assert!(
            files["Makefile"].contains("plugin.c export.h rule.c rule.h"),
            "{point:?}"
        );
    }
}

/// What the profile of a new pace says of it is what happens.
#[test]
fn a_profile_of_a_pace_says_which_command_uses_it() {
    for language in [Language::Rust, Language::C] {
        let profile = &files(ExtensionPoint::Pace, language)["profile.toml"];
        assert!(
            profile.contains("# `divvy run` makes moves in the steps that the plugin says"),
            "{profile}"
        );
        assert!(!profile.contains("yet") && !profile.contains("refuses"), "{profile}");
    }
}

/// A list that replaced the inherited one would lack what is bundled later.
#[test]
fn a_profile_adds_the_plugin_to_the_inherited_list() {
    for point in POINTS {
        for language in [Language::Rust, Language::C] {
            let profile = &files(point, language)["profile.toml"];
            let table: toml::Table = profile.parse().expect("the profile is TOML");
            let profile = &table["profile"][0];
            assert_eq!(profile["name"].as_str(), Some("spare-capacity"));
            let (list, entries) = match point {
                ExtensionPoint::Assign => ("assign", r#"["...", "spare-capacity"]"#),
                ExtensionPoint::Filter => ("filters", r#"["...", "spare-capacity"]"#),
                ExtensionPoint::Score => ("scores", r#"["...", { plugin = "spare-capacity", weight = 1 }]"#),
                ExtensionPoint::Select => ("select", r#"["spare-capacity", "..."]"#),
                ExtensionPoint::Pace => ("moves", r#"{ pace = "spare-capacity" }"#),
            };
            assert_eq!(profile[list].to_string(), entries, "{point:?}");
        }
    }
}

/// The image has the library that the build makes, where it makes it, and nothing else.
#[test]
fn an_image_is_made_of_the_library_alone() {
    for point in POINTS {
        let rust = files(point, Language::Rust);
        let manifest: toml::Table = rust["Cargo.toml"].parse().expect("a manifest is TOML");
        let package = manifest["package"]["name"].as_str().expect("a name");
        let library = format!("target/release/lib{}.so", package.replace('-', "_"));
        assert_eq!(rust["Dockerfile"], format!("FROM scratch\nCOPY {library} /plugins/\n"));
        assert_eq!(library, "target/release/libdivvy_plugin_spare_capacity.so");

        let c = files(point, Language::C);
        let library = c["Makefile"].lines().find_map(|line| line.strip_prefix("LIBRARY = "));
        let library = library.expect("the Makefile names the library");
        assert_eq!(c["Dockerfile"], format!("FROM scratch\nCOPY {library} /plugins/\n"));
        // What a profile has to name is in the guide of the plugin.
        let inside = "/images/spare-capacity/plugins/libdivvy_plugin_spare_capacity.so";
        assert!([&rust, &c].iter().all(|files| files["README.md"].contains(inside)));
    }
}

/// A crate of the SDK must not refer to the workspace that it was packed from.
#[test]
fn the_carried_sdk_is_self_contained() {
    let files = files(ExtensionPoint::Assign, Language::Rust);
    let manifests: Vec<_> = files
        .iter()
        .filter(|(path, _)| path.starts_with("vendor/") && path.ends_with("/Cargo.toml"))
        .collect();
    assert_eq!(manifests.len(), 8);
    for (path, text) in manifests {
        let manifest: toml::Table = text.parse().expect("a manifest is TOML");
        assert!(!text.contains("workspace"), "{path}:\n{text}");
        for (name, dependency) in manifest
            .get("dependencies")
            .and_then(toml::Value::as_table)
            .into_iter()
            .flatten()
        {
            if let Some(folder) = dependency.get("path") {
                assert_eq!(folder.as_str(), Some(format!("../{name}").as_str()), "{path}");
                assert!(
                    files.contains_key(&format!("vendor/{name}/Cargo.toml")),
                    "{path}: {name} is not packed"
                );
            }
        }
    }
    assert!(files.contains_key("vendor/LICENSE"));
    assert!(files.contains_key("vendor/divvy-framework/src/lib.rs"));
    assert!(!files.keys().any(|path| path.contains("/benches/")));
}

#[test]
fn a_plugin_in_c_has_the_header_and_no_sdk() {
    let files = files(ExtensionPoint::Filter, Language::C);
    assert!(files.contains_key("include/divvy_plugin.h"));
    assert!(!files.keys().any(|path| path.starts_with("vendor/")));
}

#[test]
fn another_sdk_takes_the_place_of_the_carried_one() {
    let version = scaffold(ExtensionPoint::Score, Language::Rust, Sdk::Version("0.1.0".to_owned())).files();
    let version = version.expect("a version is not looked up");
    assert!(version["Cargo.toml"].contains("divvy-framework = { version = \"0.1.0\", default-features = false"));
    assert!(!version["Cargo.toml"].contains("path ="));
    assert!(
        !version
            .keys()
            .any(|path| path.starts_with("vendor/") || path == "Cargo.lock")
    );

    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
    let checkout = scaffold(ExtensionPoint::Score, Language::Rust, Sdk::Checkout(checkout.into())).files();
    let checkout = checkout.expect("this is a checkout");
    assert!(
        checkout["Cargo.toml"].contains("/framework\", default-features"),
        "{}",
        checkout["Cargo.toml"]
    );

    let nowhere = scaffold(ExtensionPoint::Score, Language::Rust, Sdk::Checkout("/proc".into())).files();
    assert!(matches!(nowhere, Err(ScaffoldError::NotACheckout { .. })));
}

#[test]
fn an_existing_folder_is_left_alone_and_nothing_half_written_stays() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let target = folder.path().join("spare-capacity");
    let scaffold = scaffold(ExtensionPoint::Select, Language::C, Sdk::Carried);
    scaffold.write(&target).expect("the folder is new");
    assert!(target.join("rule.c").is_file());
    assert!(matches!(scaffold.write(&target), Err(ScaffoldError::Exists { .. })));

    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file can be written");
    assert!(matches!(
        scaffold.write(&file.join("plugin")),
        Err(ScaffoldError::Write { .. })
    ));
    let names = std::fs::read_dir(folder.path()).expect("the folder can be read");
    assert_eq!(names.count(), 2, "only the plugin and the file are there");
}
