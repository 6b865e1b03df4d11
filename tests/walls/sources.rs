//! Names restricted to certain files, and rules for every source file.

use super::{ROOTS, SourceFile, check_none, files};

/// Files that may exceed the limit, each with a reason.
const LONG_FILES: [(&str, &str); 0] = [];

/// Maximum lines of a file without an entry above.
const LINES_MAXIMUM: usize = 600;

fn places(files: &[SourceFile], words: &[&str]) -> Vec<String> {
    files.iter().flat_map(|file| file.places_of(words)).collect()
}

/// The ABI layer must be replaceable without changing a plugin.
#[test]
fn the_abi_layer_is_named_only_in_the_abi_crate_and_the_loader() {
    let mut sources = files(&["framework", "host", "plugins", "examples"], &[".rs"]);
    let allowed = ["loader", "opening"].map(|name| format!("host/core/loader/src/{name}.rs"));
    sources.retain(|file| !file.path.starts_with("framework/abi/") && !allowed.contains(&file.path));
    assert!(sources.len() > 100, "the sources were not found");
    check_none(
        places(&sources, &["abi_stable", "libloading"]),
        "abi_stable and libloading are named only in framework/abi and in loader.rs and opening.rs of host/core/loader",
    );
}

#[test]
fn a_plugin_forbids_unsafe_code_and_names_no_type_of_the_abi() {
    let sources = files(&["plugins"], &[".rs"]);
    let libraries = sources.iter().filter(|file| file.path.ends_with("/src/lib.rs"));
    let unforbidden = libraries.filter(|file| !file.text.contains("\n#![forbid(unsafe_code)]\n"));
    check_none(
        unforbidden.map(|file| file.path.clone()).collect(),
        "a plugin's lib.rs says `#![forbid(unsafe_code)]`",
    );
    let hidden = [
        "divvy_framework_abi",
        "divvy_framework::abi",
        "divvy_framework_arithmetic",
        "divvy_framework_calls",
        "divvy_framework_view",
        "divvy_framework::export::",
        "divvy_framework::__private",
        "extern \"C\"",
        "link_section",
    ];
    check_none(
        places(&sources, &hidden),
        "a plugin uses the SDK's public modules and no ABI types",
    );
}

/// The same snapshot, binding, profile and seed always give the same result.
#[test]
fn the_cycle_uses_no_input_or_output_no_clock_and_no_randomness() {
    let sources = files(
        &["host/core/scheduler/src/cycle", "host/core/scheduler/src/fleet"],
        &[".rs"],
    );
    assert!(sources.len() > 8, "the cycle was not found");
    let words = [
        "std::fs",
        "std::net",
        "std::env",
        "std::io",
        "std::time",
        "std::process",
        "std::thread",
        "Instant",
        "SystemTime",
        "rand::rng",
        "thread_rng",
        "println!",
        "eprintln!",
        "HashMap",
        "HashSet",
    ];
    check_none(
        places(&sources, &words),
        "the cycle depends only on its snapshot, binding and profile, and iterates only in a defined order",
    );
}

/// The order between filling the queue, counting and announcing matters: decision 25.
#[test]
fn the_effects_of_a_live_engine_are_carried_out_in_one_file() {
    let folder = "host/live/controller/src/engine";
    let mut sources = files(&[folder], &[".rs"]);
    assert!(sources.len() > 15, "the engine was not found");
    // Forgetting a binding ends its turn, and figures of the state are published together.
    let exceptions = ["apply.rs", "lives.rs", "mod.rs"].map(|name| format!("{folder}/{name}"));
    sources.retain(|file| !exceptions.contains(&file.path));
    let words = [
        "queue.add(",
        "queue.wake(",
        "queue.wake_if_parked(",
        "queue.done(",
        "queue.retry(",
        "queue.postpone(",
        "queue.park(",
        "queue.pause(",
        "lives.set_due(",
        "announcements.push(",
        "announcements.extend(",
        "self.metrics()",
        "panel.metrics",
        "panel.moving(",
        "panel.nothing_moves(",
        "panel.shadowed(",
    ];
    check_none(
        places(&sources, &words),
        "the engine's files return `Effects` or an `Outcome`, which engine/apply.rs carries out",
    );
}

/// A change of a cluster looks at every binding, and a burst at each of them several times.
#[test]
fn a_stored_binding_is_neither_parsed_nor_serialised() {
    let folder = "host/live/controller/src";
    let mut sources = files(&[&format!("{folder}/engine"), &format!("{folder}/store")], &[".rs"]);
    assert!(sources.len() > 15, "the engine and the store were not found");
    let exceptions = [
        // Each placement, once for all bindings that have it.
        "store/shared.rs",
        // An applied placement whose text is not that of the placement.
        "engine/candidate.rs",
        // The configuration of a profile.
        "engine/mod.rs",
    ];
    sources.retain(|file| !exceptions.iter().any(|exception| file.path.ends_with(exception)));
    for file in &mut sources {
        let tests = file.text.find("#[cfg(test)]").unwrap_or(file.text.len());
        file.text.truncate(tests);
    }
    check_none(
        places(
            &sources,
            &[
                "from_json(",
                "from_str(",
                "from_value(",
                "serde_json::from_",
                "serde_json::to_",
            ],
        ),
        "bindings are parsed where they are watched, and serialised where they are written",
    );
}

/// Releases are linked against glibc 2.28 (`packaging/zigbuild`), and a binary that names one of these does not link.
#[test]
fn no_function_is_newer_than_the_glibc_of_releases() {
    const NEWER: [&str; 9] = [
        "libc::gettid(",
        "libc::tgkill(",
        "libc::getdents64(",
        "libc::close_range(",
        "libc::execveat(",
        "libc::epoll_pwait2(",
        "libc::pidfd_open(",
        "libc::pidfd_getfd(",
        "libc::pidfd_send_signal(",
    ];
    let sources = files(&["framework", "host", "plugins"], &[".rs"]);
    check_none(
        places(&sources, &NEWER),
        "these functions are newer than glibc 2.28: use `libc::syscall`, or rustix",
    );
}

#[test]
fn libraries_print_nothing() {
    let mut sources = files(&["framework", "host", "plugins"], &[".rs"]);
    sources.retain(|file| !file.path.contains("/benches/") && !file.path.contains("/examples/"));
    // A build script communicates with Cargo in this way.
    sources.retain(|file| file.path != "host/bench/scaffold/build.rs");
    // What ends before there is a console: wrong usage, and a program that is not there.
    let before = ["host/core/command/src/program.rs", "host/desk/cli/src/command/mod.rs"];
    sources.retain(|file| !before.contains(&file.path.as_str()));
    check_none(
        places(&sources, &["println!(", "eprintln!(", "dbg!(", "print!("]),
        "a library returns its messages instead of printing them",
    );
}

#[test]
fn every_source_file_opens_with_its_purpose() {
    let sources = files(&ROOTS, &[".rs"]);
    // An example whose documentation is its README begins by including it.
    let openings = ["//! ", "#![doc = include_str!(\"../README.md\")]\n"];
    let without = sources
        .iter()
        .filter(|file| !openings.iter().any(|opening| file.text.starts_with(opening)));
    check_none(
        without.map(|file| file.path.clone()).collect(),
        "a source file opens with `//!` and its purpose",
    );
}

#[test]
fn no_source_file_is_long_without_a_reason() {
    let mut broken = Vec::new();
    for file in files(&ROOTS, &[".rs"]) {
        let lines = file.text.lines().count();
        let listed = LONG_FILES.iter().any(|(path, _)| *path == file.path);
        if lines > LINES_MAXIMUM && !listed {
            broken.push(format!("{} has {lines} lines", file.path));
        }
        if lines <= LINES_MAXIMUM && listed {
            broken.push(format!("{} is listed as long and is not", file.path));
        }
    }
    check_none(
        broken,
        "split a file over 600 lines, or list it in tests/walls/sources.rs with a reason",
    );
}

#[test]
fn nothing_is_left_for_later() {
    // Spelled in two halves, so that this file does not match itself.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("X", "XX"),
        concat!("unimpl", "emented!"),
    ];
    let sources = files(&ROOTS, &[".rs", ".toml", ".md"]);
    let broken = sources.iter().flat_map(|file| {
        let lines = (1..).zip(file.text.lines());
        lines
            .filter(|(_, line)| words.iter().any(|word| line.contains(word)))
            .map(|(number, line): (usize, &str)| format!("{}:{number}: {}", file.path, line.trim()))
    });
    check_none(
        broken.collect(),
        "open an issue for later work instead of leaving a comment",
    );
}

/// A module with a generic name collects unrelated code.
#[test]
fn no_module_has_a_generic_name() {
    let drawers = ["utils", "util", "common", "misc", "helpers", "helper"];
    let broken = files(&ROOTS, &[".rs"]).into_iter().filter(|file| {
        file.path
            .split('/')
            .any(|part| drawers.contains(&part.trim_end_matches(".rs")))
    });
    check_none(
        broken.map(|file| file.path).collect(),
        "a module is named after its purpose",
    );
}
