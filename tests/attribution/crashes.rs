//! Signals.

use super::{HOSTILE, POINTS, construct, divvy, harm, open, opened, run};
use crate::artifacts::fixture;
use crate::manifests::binding;

const SEGMENTATION_FAULT: i32 = 11;
const ABORT: i32 = 6;
const TRAP: i32 = 5;
const FLOATING_POINT_EXCEPTION: i32 = 8;

#[test]
fn a_crash_names_plugin_call_and_binding() {
    for (point, call) in POINTS {
        let expected =
            format!("error: plugin `hostile` failed in {call} of binding `default/web`: SIGSEGV at address 0x8");
        let ended = harm(point, "segmentation fault", &[]);
        ended.check(point, Err(SEGMENTATION_FAULT), &[&expected]);
    }
    for (fault, signal, cause) in [
        ("abort", ABORT, "SIGABRT"),
        ("division by zero", FLOATING_POINT_EXCEPTION, "SIGFPE"),
        // The C library cannot end a thread through functions of Rust, and aborts.
        ("pthread_exit", ABORT, "SIGABRT"),
        ("raise", SEGMENTATION_FAULT, "SIGSEGV"),
        ("trap", TRAP, "SIGTRAP"),
    ] {
        let expected = format!("error: plugin `hostile` failed in Assign of binding `default/web`: {cause}");
        harm("assign", fault, &[]).check(fault, Err(signal), &[&expected]);
    }
}

/// Rust's handler, which was there before, has its say: it knows a stack that has overflowed.
#[test]
fn a_stack_that_overflows_is_named_twice_and_in_both_languages() {
    let ended = harm("assign", "stack overflow", &[]);
    assert_eq!(ended.how(), Err(ABORT), "{}", ended.log);
    let expected = "error: plugin `hostile` failed in Assign of binding `default/web`: SIGSEGV at address 0x";
    assert!(ended.log.starts_with(expected), "{}", ended.log);
    assert_eq!(ended.errors().len(), 1, "{}", ended.log);
    assert!(ended.log.contains("has overflowed its stack"), "{}", ended.log);

    let profile = format!(
        "[[profile]]\nname = 'faulty'\nextends = 'default'\nfilters = ['cluster-affinity', 'faulty']\n\
         [profile.plugin.faulty]\npath = '{}'\nisolation = 'none'\n",
        fixture("faulty").display()
    );
    let overflowing = binding("web", 3)
        .strategy("Average")
        .annotation("faulty.example/fault", "overflow the stack");
    let ended = run(&["schedule"], &profile, overflowing);
    assert_eq!(ended.how(), Err(ABORT), "{}", ended.log);
    let expected = "error: plugin `faulty` failed in Filter of binding `default/web`: SIGSEGV at address 0x";
    assert!(ended.log.starts_with(expected), "{}", ended.log);
    assert!(ended.log.contains("has overflowed its stack"), "{}", ended.log);
}

#[test]
fn a_crash_in_a_constructor_names_the_plugin() {
    let expected = "error: plugin `hostile` failed in its construction: SIGSEGV at address 0x8";
    construct("segmentation fault", &[]).check("construct", Err(SEGMENTATION_FAULT), &[expected]);
}

#[test]
fn a_crash_when_a_library_is_opened_names_its_file() {
    let library = opened("hostile_aborts", "abort()");
    let expected = format!(
        "error: library `{}` failed in its initialisation: SIGABRT",
        library.display()
    );
    open(&library, &[]).check("open", Err(ABORT), &[&expected]);
}

/// A thread of a plugin's own is in no call. The call that is in progress is the best that there is to say.
#[test]
fn a_crash_of_another_thread_lists_what_is_in_progress() {
    let expected = "error: SIGSEGV at address 0x8 outside of every call of a plugin; other threads are in Assign of binding \
                    `default/web` of plugin `hostile`";
    let ended = harm("assign", "crash on another thread", &[]);
    ended.check("thread", Err(SEGMENTATION_FAULT), &[expected]);
}

/// Another plugin, or the scheduler itself, may meet what a plugin has overwritten.
#[test]
fn a_crash_when_the_process_ends_is_named() {
    let library = opened("hostile_crashes_at_the_end", "atexit(abort)");
    let ended = open(&library, &[]);
    ended.check(
        "end",
        Err(ABORT),
        &["error: a library failed in an exit handler: SIGABRT"],
    );
}

/// `divvy plugin verify` finds the same line.
#[test]
fn a_crash_in_a_check_of_a_plugin_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let failures = folder.path().join("failures").display().to_string();
    let library = HOSTILE.display().to_string();
    let profile = folder.path().join("profile.toml");
    std::fs::write(&profile, super::profile(&HOSTILE, "abort")).expect("a file");
    let profile = profile.display().to_string();
    let ended = divvy(&[
        "plugin",
        "verify",
        &library,
        "--profile",
        &profile,
        "--failures",
        &failures,
    ]);
    assert_eq!(ended.how(), Ok(2), "{}{}", ended.output, ended.log);
    let expected = "error: plugin `hostile` failed in its construction: SIGABRT";
    assert!(ended.log.contains(expected), "{}", ended.log);
}
