//! Descriptors that cannot be read from the file, or that are longer than the host allows: every command refuses them
//! before it opens the library, which would end the process.
//!
//! Libraries of other linkers and compilers, whose descriptors are found by other relocations, load.

use std::path::{Path, PathBuf};

use divvy_loader::inspection::Inspection;
use divvy_loader::{LoadOptions, PluginFile};
use object::Object;
use serde_json::Value;

use super::settled;
use crate::artifacts::{self, plugin_folders, repository};
use crate::c_interface::library_with;
use crate::command_line::run;

/// The library of `tests/fixtures/unreadable.c` with these definitions.
#[track_caller]
fn library(name: &str, definitions: &[&str]) -> PathBuf {
    let arguments: Vec<String> = definitions.iter().map(|definition| format!("-D{definition}")).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    library_with(
        &format!("unreadable-{name}"),
        &[repository().join("tests/fixtures/unreadable.c")],
        &arguments,
    )
}

/// A profile with the plugin as a filter, in the folder.
fn profile(folder: &Path, library: &Path) -> String {
    let path = folder.join("profile.toml");
    let text = format!(
        "[[profile]]\nname = 'p'\nextends = 'default'\nfilters = ['unreadable']\n\
         [profile.plugin.unreadable]\npath = '{}'\nallow-uncertified = true\n",
        library.display()
    );
    std::fs::write(&path, text).expect("the profile can be written");
    path.display().to_string()
}

/// Definitions, and the problem that every command reports. The header of a library is at address 0, so 8 is in
/// the file, but zero.
const REFUSED: [(&str, &[&str], &str); 20] = [
    (
        "points-at-8",
        &["POINTS={(const divvy_point_descriptor*const*)8,1}"],
        "`plugins[0].points[0]`: expected an address of 8 bytes within the file, found 0x0",
    ),
    (
        "distant-points",
        &["POINTS={(const divvy_point_descriptor*const*)(uintptr_t)0x7ffffffff8,1}"],
        "`plugins[0].points.data`: expected an address of 8 bytes within the file, found 0x7ffffffff8",
    ),
    (
        "points-unaligned",
        &["POINTS={(const divvy_point_descriptor*const*)((const char*)points+4),1}"],
        "`plugins[0].points.data`: expected a multiple of 8, found 0x",
    ),
    (
        "many-points",
        &["POINTS={points,65}"],
        "`plugins[0].points.length`: expected at most 64, found 65",
    ),
    (
        "no-point",
        &["POINT=NULL"],
        "`plugins[0].points[0]`: expected an address of 8 bytes within the file, found 0x0",
    ),
    (
        "another-kind",
        &["POINT_KIND=99u"],
        "`plugins[0].points[0].kind`: expected 98, found 99",
    ),
    (
        "endless-description",
        &["DESCRIPTION={(const uint8_t*)\"x\",UINT64_C(1)<<60}"],
        "`plugins[0].description.length`: expected at most 1024, found 1152921504606846976",
    ),
    (
        "long-description",
        &["DESCRIPTION={(const uint8_t*)\"x\",1025}"],
        "`plugins[0].description.length`: expected at most 1024, found 1025",
    ),
    (
        "distant-description",
        &["DESCRIPTION={(const uint8_t*)(uintptr_t)0x7fffffffff,3}"],
        "`plugins[0].description.data`: expected an address of 3 bytes within the file, found 0x7fffffffff",
    ),
    (
        "foreign-description",
        &["DESCRIPTION={(const uint8_t*)&environ,3}"],
        "`plugins[0].description.data`: expected an address of 3 bytes within the file, found an address in another library",
    ),
    (
        "long-name",
        &["NAME={(const uint8_t*)\"x\",65}"],
        "`plugins[0].name.length`: expected at most 64, found 65",
    ),
    (
        "another-name",
        &["NAME=DIVVY_LITERAL(\"other\")"],
        "its record names a plugin that the library does not export",
    ),
    (
        "endless-strategies",
        &["STRATEGIES={strategies,UINT64_C(1)<<61}"],
        "`plugins[0].strategies.length`: expected at most 256, found 2305843009213693952",
    ),
    (
        "long-strategy",
        &[
            "STRATEGIES={strategies,1}",
            "STRATEGY_NAME={(const uint8_t*)\"x\",1000}",
        ],
        "`plugins[0].strategies[0].name.length`: expected at most 64, found 1000",
    ),
    ("no-constructor", &["CONSTRUCT=NULL"], "it lacks a function"),
    (
        "constructor-at-8",
        &["CONSTRUCT=(divvy_construct_function)8"],
        "`plugins[0].construct`: expected the address of a function, found 0x8",
    ),
    (
        "constructor-in-data",
        &["CONSTRUCT=(divvy_construct_function)(uintptr_t)points"],
        "`plugins[0].construct`: expected the address of a function, found 0x",
    ),
    (
        "plugins-at-8",
        &["PLUGINS={(const divvy_descriptor*const*)8,1}"],
        "`plugins[0]`: expected an address of 8 bytes within the file, found 0x0",
    ),
    (
        "many-plugins",
        &["PLUGINS={plugins,257}"],
        "`plugins.length`: expected at most 256, found 257",
    ),
    (
        "plugins-beyond-the-file",
        &["PLUGINS={plugins,200}"],
        "`plugins.data`: expected an address of 1600 bytes within the file, found 0x",
    ),
];

#[test]
fn every_command_refuses_a_descriptor_that_cannot_be_read_before_it_opens_the_library() {
    for (name, definitions, problem) in REFUSED {
        let library = library(name, &[definitions, &["ABORTING"]].concat());
        let folder = tempfile::tempdir().expect("a folder can be made");
        let profile = profile(folder.path(), &library);
        let file = library.display().to_string();
        let named = format!("plugin `unreadable` (<file>) has an invalid descriptor: {problem}");
        let (exit, stdout, stderr) = run(&["plugin", "inspect", "unreadable", "--profile", &profile, "-o", "json"]);
        assert_eq!(exit, Some(2), "{name}: {stdout}{stderr}");
        let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{name}: {error}: {stdout}"));
        assert_eq!(report["verdict"]["loads"], false, "{name}");
        let reason = settled(report["verdict"]["reason"].as_str().expect("a reason"), &library);
        assert!(reason.starts_with(&named), "{name}: {reason}\n{named}");
        for (command, expected) in [
            (&["plugin", "list", "--profile"][..], 2),
            (&["profile", "check", "--profile"], 2),
            (&["schedule", "-f", "fleet.yaml", "--profile"], 2),
            (&["plugin", "verify", &file, "--profile"], 2),
        ] {
            let (exit, stdout, stderr) = run(&[command, &[profile.as_str()]].concat());
            let said = settled(&format!("{stdout}{stderr}"), &library);
            assert_eq!(exit, Some(expected), "{name}: {command:?}: {said}");
            assert!(said.contains(&named), "{name}: {command:?}: {said}");
        }
    }
}

/// Reads a library from its file, opens it, and checks that both say the same.
#[track_caller]
fn check_loads(library: &Path, plugin: &str) {
    let options = LoadOptions {
        name: Some(plugin),
        allow_uncertified: true,
        ..LoadOptions::default()
    };
    let file = Inspection::read(library).unwrap_or_else(|error| panic!("{error}"));
    let refusal = file.refusal(options);
    assert!(refusal.is_none(), "{}: {refusal:?}", library.display());
    let read = file
        .plugins
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let read = read.iter().find(|known| known.name == plugin).expect("it is there");
    let opened = PluginFile::read(library).and_then(|file| file.open(options));
    let opened = opened.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.description, opened.description());
    assert_eq!(read.all_features(), opened.features());
    let strategies: Vec<&str> = read.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
    assert_eq!(strategies, opened.strategies());
}

/// The bundled plugins are linked by the linker that rustc chooses.
#[test]
fn libraries_of_every_linker_load() {
    for folder in plugin_folders() {
        check_loads(artifacts::plugin(&folder), &folder);
    }
    let sources = ["fill_in_order.c", "ready_only.c", "library.c"];
    let sources = sources.map(|name| repository().join("examples/c-plugin").join(name));
    for (name, arguments) in [
        ("linked-by-bfd", &["-fuse-ld=bfd"][..]),
        ("linked-by-gold", &["-fuse-ld=gold"]),
        ("packed-relocations", &["-fuse-ld=bfd", "-Wl,-z,pack-relative-relocs"]),
        (
            "without-symbols",
            &["-fuse-ld=bfd", "-s", "-Wl,-z,now", "-Wl,--hash-style=gnu"],
        ),
    ] {
        let library = library_with(name, &sources, arguments);
        check_loads(&library, "fill-in-order");
        check_loads(&library, "ready-only");
        let bytes = std::fs::read(&library).expect("it was built");
        let file = object::File::parse(bytes.as_slice()).expect("it is a library");
        let is_packed = file.section_by_name(".relr.dyn").is_some();
        assert_eq!(is_packed, name == "packed-relocations", "{name}");
    }
}

/// Functions of another library are found when the library is opened, so their addresses are not in the file.
#[test]
fn a_function_of_another_library_is_accepted() {
    let library = library("freed-by-the-c-library", &["DESTROY=free"]);
    check_loads(&library, "unreadable");
}

/// A text of the greatest length loads.
#[test]
fn the_greatest_lengths_load() {
    let description = format!("DESCRIPTION=DIVVY_LITERAL(\"{}\")", "x".repeat(1024));
    check_loads(&library("greatest", &[&description]), "unreadable");
}

/// Schemas, lists and tables come from the library's code, so they are bounded when it hands them over.
#[test]
fn a_document_that_is_too_long_is_refused() {
    let library = library("long-document", &["DOCUMENT_BYTES=1048577"]);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = profile(folder.path(), &library);
    let (exit, stdout, stderr) = run(&["profile", "check", "--profile", &profile]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let said = settled(&stderr, &library);
    let problem = "plugin `unreadable` (<file>) hands over too much: lists of a policy: expected at most 1048576 bytes, \
                   found 1048577";
    assert!(said.contains(problem), "{said}");
}
