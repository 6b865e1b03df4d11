//! Paces: a hasty one is caught by the check of the rule that it breaks, and by no other.

use super::{check_keeps_all, findings, subject};

fn hasty(fault: &str) -> divvy_conformance::Subject {
    subject(
        "hasty",
        &format!("[profile.moves]\npace = 'hasty'\n[profile.plugin.hasty]\nconfiguration.fault = '{fault}'\n"),
    )
}

#[test]
fn a_pace_without_a_fault_keeps_every_contract() {
    check_keeps_all(&hasty("none"));
}

/// Checks that each fault is found by its check alone, with a message that begins with this text.
#[track_caller]
fn check_found(faults: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (fault, check, message) in faults {
        let found = findings(&hasty(fault));
        match found.as_slice() {
            [(known, broken)] if known == check && broken.message.starts_with(message) && broken.case.is_some() => {}
            found => wrong.push(format!("{fault}: {found:#?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_pace_that_breaks_an_allowance_is_caught() {
    check_found(&[
        ("below-allowance", "allowances", "plugin `hasty` keeps "),
        ("above-surge", "allowances", "plugin `hasty` gives "),
        ("too-many-clusters", "allowances", "plugin `hasty` gives "),
    ]);
}

#[test]
fn a_pace_that_leaves_the_way_to_the_target_is_caught() {
    check_found(&[
        ("above-room", "path", "plugin `hasty` gave cluster `"),
        ("beyond-target", "path", "plugin `hasty` gave cluster `"),
        ("back-and-forth", "path", "plugin `hasty` gave cluster `"),
    ]);
}

#[test]
fn a_pace_that_does_not_say_what_it_waits_for_is_caught() {
    check_found(&[
        (
            "no-reason",
            "progress",
            "plugin `hasty` takes no step and names no reason",
        ),
        ("step-and-reason", "progress", "plugin `hasty` waits for "),
        (
            "waits",
            "waits",
            "it waits for room, in a move in which everything is ready",
        ),
        ("moody", "same-steps", "the same move gets another step: `"),
    ]);
}

#[test]
fn faults_of_any_plugin_are_caught_in_paces_too() {
    check_found(&[
        ("panics", "panics", "plugin `hasty` panicked: there is no hurry"),
        ("fails", "failures", "plugin `hasty` failed: there is no hurry"),
        ("out-of-range", "range-of-results", "plugin `hasty` wrote "),
    ]);
}

/// A pace may wait for a reason of its own, for as long as it likes.
#[test]
fn a_reason_of_its_own_is_no_fault() {
    check_keeps_all(&hasty("sulks"));
}
