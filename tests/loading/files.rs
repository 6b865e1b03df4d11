//! Files that are not plugins, or not plugins that this host can use.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use divvy_loader::{LoadError, LoadOptions, PluginFile, PluginLibrary};
use object::{Object, ObjectSection};
use tempfile::TempDir;

use super::settled;
use crate::{artifacts, c_interface};

/// The error of a file, its message and its hint.
#[track_caller]
fn refused(file: &Path, checksum: Option<&str>) -> (LoadError, String, String) {
    let error = PluginLibrary::load(file, checksum).expect_err("the file is refused");
    let message = settled(&error.to_string(), file);
    let hint = settled(&error.hint().unwrap_or_default(), file);
    (error, message, hint)
}

#[track_caller]
fn check(file: &Path, message: &str, hint: &str) -> LoadError {
    let (error, actual, actual_hint) = refused(file, None);
    assert_eq!((actual.as_str(), actual_hint.as_str()), (message, hint));
    error
}

/// A file with these bytes, in a folder that lives as long as the value.
fn file_of(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    let file = folder.path().join("libaverage.so");
    std::fs::write(&file, bytes).expect("the file can be written");
    (folder, file)
}

fn bytes_of_a_plugin() -> Vec<u8> {
    std::fs::read(artifacts::plugin("average")).expect("the plugin was built")
}

const NO_MODULE_HINT: &str = "a plugin's crate ends with `divvy_framework::export_plugin!`; one in another language has a `DIVVY_RECORD` and \
                              exports `divvy_plugin_v1`";
const LAYOUT_HINT: &str = "rebuild the plugin with the released SDK of this ABI version";

#[test]
fn a_missing_file() {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    check(
        &folder.path().join("libaverage.so"),
        "plugin file `<file>` does not exist",
        "build the plugin, or correct the path",
    );
}

#[test]
fn a_folder() {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    check(folder.path(), "plugin file `<file>` cannot be read", "");
}

#[test]
fn a_text_file() {
    let (_folder, file) = file_of(b"#!/bin/sh\necho a plugin, honestly\n");
    check(&file, "`<file>` is not a shared library: it is a text file", "");
}

#[test]
fn an_empty_file() {
    let (_folder, file) = file_of(b"");
    check(&file, "`<file>` is not a shared library: it is empty", "");
}

#[test]
fn other_bytes_and_a_library_cut_short() {
    let (_folder, file) = file_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    check(&file, "`<file>` is not a shared library: unknown file magic", "");
    let (_folder, file) = file_of(&bytes_of_a_plugin()[..40]);
    let (_, message, _) = refused(&file, None);
    assert!(message.starts_with("`<file>` is not a shared library: "), "{message}");
}

#[test]
fn a_library_for_another_architecture() {
    // `e_machine` of an ELF header, and its values for the two most common architectures.
    const MACHINE: usize = 18;
    let (machine, other) = match std::env::consts::ARCH {
        "x86_64" => (183_u16, "aarch64"),
        _ => (62, "x86_64"),
    };
    let mut bytes = bytes_of_a_plugin();
    bytes[MACHINE..MACHINE + 2].copy_from_slice(&machine.to_le_bytes());
    let (_folder, file) = file_of(&bytes);
    let ours = std::env::consts::ARCH;
    check(
        &file,
        &format!("`<file>` is built for {other}, this divvy for {ours}"),
        &format!("use the plugin's build for {ours}, or rebuild it for that target"),
    );
}

#[test]
fn a_library_without_plugin() {
    check(
        artifacts::fixture("no-module"),
        "`<file>` is a shared library but not a divvy plugin: it has no record in a section `.divvy.plugin`",
        NO_MODULE_HINT,
    );
    check(
        artifacts::fixture("record-only"),
        "`<file>` is a shared library but not a divvy plugin: it does not export `divvy_plugin_v1`",
        NO_MODULE_HINT,
    );
}

#[test]
fn a_library_from_before_the_first_version_has_to_be_rebuilt() {
    check(
        artifacts::fixture("built-before"),
        "plugin file `<file>` was built before ABI 1.0",
        "rebuild the plugin with the current SDK",
    );
}

/// Offsets in a record.
const FLAGS: usize = 12;
const MAJOR: usize = 16;
const MINOR: usize = 20;
const LEAST_MINOR: usize = 24;
const NAME: usize = 112;

/// A plugin whose record is overwritten at an offset.
fn with_record(offset: usize, bytes: &[u8]) -> (TempDir, PathBuf) {
    with_record_of(bytes_of_a_plugin(), offset, bytes)
}

fn with_record_of(mut file: Vec<u8>, offset: usize, bytes: &[u8]) -> (TempDir, PathBuf) {
    let parsed = object::File::parse(file.as_slice()).expect("a plugin is a library");
    let section = parsed.section_by_name(".divvy.plugin").expect("a plugin has a record");
    let (start, _) = section.file_range().expect("the record is in the file");
    let start = usize::try_from(start).expect("the file is in memory") + offset;
    file[start..start + bytes.len()].copy_from_slice(bytes);
    file_of(&file)
}

/// The loader reads only the record before it rejects the file, so changing the version in the record is enough.
#[test]
fn another_major_abi_version() {
    let (_folder, file) = with_record(MAJOR, &2_u32.to_le_bytes());
    let error = check(
        &file,
        "plugin `average` (<file>) has ABI 2.1 (SDK 0.1.0), this divvy has ABI 1.1",
        "rebuild the plugin with an SDK of ABI 1.x, or use a divvy of its ABI",
    );
    assert!(matches!(error, LoadError::AbiMismatch { .. }));
    // A plugin in C has no version of an SDK.
    let source = artifacts::repository().join("tests/fixtures/nonsense.c");
    let library = c_interface::library("nonsense-other-major", &[source]);
    let bytes = std::fs::read(library).expect("it was compiled");
    let (_folder, file) = with_record_of(bytes, MAJOR, &2_u32.to_le_bytes());
    check(
        &file,
        "plugin `nonsense` (<file>) has ABI 2.1, this divvy has ABI 1.1",
        "rebuild the plugin with an SDK of ABI 1.x, or use a divvy of its ABI",
    );
}

#[test]
fn a_plugin_that_needs_a_newer_host() {
    let (_folder, file) = with_record(LEAST_MINOR, &7_u32.to_le_bytes());
    check(
        &file,
        "plugin `average` (<file>) needs ABI 1.7 or newer, this divvy has ABI 1.1",
        "use a newer divvy, or an older version of the plugin",
    );
}

#[test]
fn a_flag_that_must_be_known() {
    let (_folder, file) = with_record(FLAGS, &(1_u32 << 30 | 1).to_le_bytes());
    check(
        &file,
        "plugin `average` (<file>) requires features that this divvy does not have: 0x40000000",
        "use a newer divvy, or an older version of the plugin",
    );
}

/// A user who pins a name or trusts a version in the record gets the plugin of that name and version.
#[test]
fn a_record_that_contradicts_the_plugin() {
    let (_folder, file) = with_record(NAME, b"averagf");
    check(
        &file,
        "plugin `averagf` (<file>) has an invalid descriptor: its record names a plugin that the library does not export",
        "",
    );
    let (_folder, file) = with_record(MINOR, &3_u32.to_le_bytes());
    check(
        &file,
        "plugin `average` (<file>) has an invalid descriptor: its record names other versions",
        "",
    );
}

#[test]
fn another_layout_is_reported_in_one_line_with_details_on_request() {
    let (error, message, hint) = refused(artifacts::fixture("wrong-layout"), None);
    let expected = "plugin `wrong-layout` (<file>) has another type layout than this divvy: in `Certificate`: ";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(hint, LAYOUT_HINT);
    let detail = error.detail().expect("the report of the layout check");
    assert!(detail.lines().count() > 10, "{detail}");
    assert!(!error.to_string().contains('\n'));
}

/// The record says so, so nothing of the library runs.
#[test]
fn a_library_without_certificate() {
    let source = artifacts::repository().join("tests/fixtures/nonsense.c");
    check(
        &c_interface::library("nonsense-uncertified", &[source]),
        "plugin `nonsense` (<file>), written in c, carries no certificate",
        "if you trust the file, write `allow-uncertified = true` in `[profile.plugin.nonsense]`, or pass `--allow-uncertified` \
         beside its path; a Rust plugin is certified if it is built with the feature `certificate`",
    );
}

#[test]
fn another_checksum() {
    let library = artifacts::plugin("average");
    let expected = "0".repeat(64);
    let (error, message, hint) = refused(library, Some(&expected));
    let LoadError::ChecksumMismatch { actual, .. } = error else {
        panic!("{message}");
    };
    assert_eq!(actual.len(), 64);
    assert_eq!(
        message,
        format!("plugin file `<file>` has checksum sha256:{actual}, the profile names sha256:{expected}")
    );
    assert_eq!(
        hint,
        format!("if the file is the one you mean, write `sha256 = \"{actual}\"` in the profile")
    );
    let loaded = PluginLibrary::load(library, Some(&actual)).expect("the checksum is that of the file");
    assert_eq!((loaded.name(), loaded.checksum()), ("average", actual.as_str()));
}

#[test]
fn a_pinned_file_that_is_changed_is_not_opened() {
    let average = bytes_of_a_plugin();
    let other = std::fs::read(artifacts::plugin("specified")).expect("the plugin was built");
    let checksum = PluginFile::read(artifacts::plugin("average"))
        .expect("a plugin")
        .checksum()
        .to_owned();
    let mut flipped = average.clone();
    // In the text of the library, after all headers.
    flipped[average.len() / 2] ^= 1;
    let mut of_the_same_length = other.clone();
    of_the_same_length.resize(average.len(), 0);
    let mut longer = average.clone();
    longer.push(0);
    for (name, bytes) in [
        ("a byte", flipped),
        ("another library", other),
        ("another library, cut or filled to the same length", of_the_same_length),
        ("a byte more", longer),
    ] {
        let (_folder, file) = file_of(&bytes);
        let error = PluginLibrary::load(&file, Some(&checksum)).expect_err(name);
        // One that is not even a library is refused before it is hashed.
        let is_refused = matches!(
            error,
            LoadError::ChecksumMismatch { .. } | LoadError::NotALibrary { .. }
        );
        assert!(is_refused, "{name}: {error}");
    }
    // A link leads to whatever it leads to now.
    let (folder, _) = file_of(&average);
    let link = folder.path().join("link.so");
    symlink(artifacts::plugin("specified"), &link).expect("a link can be made");
    let error = PluginLibrary::load(&link, Some(&checksum)).expect_err("a link to another library");
    assert!(matches!(error, LoadError::ChecksumMismatch { .. }), "{error}");
}

/// Whoever replaces a file after it was hashed does not change what is opened.
#[test]
fn a_pinned_file_that_is_replaced_after_it_was_read_is_opened_as_it_was() {
    let (_folder, path) = file_of(&bytes_of_a_plugin());
    let file = PluginFile::read(&path).expect("a plugin");
    let checksum = file.checksum().to_owned();
    std::fs::remove_file(&path).expect("the file is ours");
    std::fs::copy(artifacts::plugin("specified"), &path).expect("the file can be written");
    let options = LoadOptions {
        checksum: Some(&checksum),
        allow_uncertified: true,
        ..LoadOptions::default()
    };
    let library = file.open(options).expect("the bytes that were read");
    assert_eq!(library.name(), "average");
}

/// The hashed bytes are the opened bytes, so two versions of a file are two plugins.
#[test]
fn a_replaced_file_is_opened_again() {
    let (_folder, file) = file_of(&bytes_of_a_plugin());
    let first = PluginLibrary::load(&file, None).expect("a plugin");
    let checksum = first.checksum().to_owned();
    let other = std::fs::read(artifacts::plugin("specified")).expect("the plugin was built");
    std::fs::remove_file(&file).expect("the file is ours");
    std::fs::write(&file, other).expect("the file can be written");
    assert_eq!(first.name(), "average");
    let error = PluginLibrary::load(&file, Some(&checksum)).expect_err("the file is another now");
    assert!(matches!(error, LoadError::ChecksumMismatch { .. }), "{error}");
    let second = PluginLibrary::load(&file, None).expect("another plugin");
    assert_eq!(second.name(), "specified");
}
