//! Panics: a panic in any call is an error with its message and location. After three consecutive panics, the plugin is
//! quarantined until its profile is loaded again.

use divvy_scheduler::plugin::PluginInstance;

use super::{check_next_binding, host, told, told_with_fault};
use crate::manifests::binding;
use crate::scheduling::Host;

/// A message without the line number of the panic, which changes with the fixture.
fn without_line(told: &str) -> String {
    match told.rsplit_once("faulty/src/lib.rs:") {
        Some((head, _)) => format!("{head}faulty/src/lib.rs:<line>)"),
        None => told.to_owned(),
    }
}

#[test]
fn a_panic_in_any_call_is_an_error_with_message_and_location() {
    let host = host();
    for (fault, message) in [
        ("panic in prepare", "prepare panicked"),
        ("panic in filter", "filter panicked"),
        ("panic in score", "score panicked"),
        ("panic in normalize", "normalize panicked"),
        ("panic in select", "select panicked"),
        ("panic in assign", "assign panicked with 6 replicas"),
        ("panic with a number", "a panic without message"),
        ("panic with a bomb", "a panic without message"),
    ] {
        assert_eq!(
            without_line(&told_with_fault(&host, fault)),
            format!("Error: plugin `faulty` panicked: {message} (at faulty/src/lib.rs:<line>)"),
            "{fault}"
        );
        check_next_binding(&host);
    }
}

/// The binding has already been decided, so there is no result to replace with an error.
#[test]
fn a_panic_while_state_is_dropped_changes_nothing() {
    let host = host();
    for fault in ["panic in the state's destructor", "bomb in the state's destructor"] {
        assert_eq!(told_with_fault(&host, fault), "a=6", "{fault}");
        check_next_binding(&host);
    }
}

#[test]
fn a_panic_while_the_plugin_is_dropped_changes_nothing() {
    let faulty = Host::extending("assign = ['faulty']\nplugin.faulty.configuration.panic-on-drop = true");
    assert_eq!(told(&faulty, binding("web", 6).strategy("Faulty")), "a=6");
    drop(faulty);
    check_next_binding(&host());
}

#[test]
fn three_panics_in_a_row_quarantine_the_plugin_until_the_profile_is_loaded_again() {
    // In any call: the successful calls before it in the same cycle do not reset the count.
    for (fault, message) in [
        ("panic in prepare", "prepare panicked"),
        ("panic in filter", "filter panicked"),
        ("panic in normalize", "normalize panicked"),
        ("panic in select", "select panicked"),
        ("panic in assign", "assign panicked with 6 replicas"),
    ] {
        let quarantined = host();
        for _ in 0..3 {
            let told = told_with_fault(&quarantined, fault);
            assert!(told.starts_with("Error: plugin `faulty` panicked: "), "{told}");
        }
        let expected =
            format!("Error: plugin `faulty` is quarantined after 3 panics in a row; the last one: {message}");
        assert_eq!(told(&quarantined, binding("blameless", 6).strategy("Faulty")), expected);
        assert!(quarantined.profile().selectors().all(PluginInstance::is_quarantined));
        // Loading the profile again constructs a new plugin and leaves the old one quarantined.
        check_next_binding(&host());
        assert_eq!(told(&quarantined, binding("blameless", 6).strategy("Faulty")), expected);
    }
}

#[test]
fn a_quarantined_strategy_does_not_affect_the_others() {
    let host = Host::extending("assign = ['faulty', 'average']");
    for _ in 0..4 {
        told_with_fault(&host, "panic in assign");
    }
    assert!(told_with_fault(&host, "").contains("is quarantined"));
    assert_eq!(told(&host, binding("web", 6).strategy("Average")), "a=2 b=2 c=2");
}

#[test]
fn a_success_resets_the_count_of_panics() {
    let host = host();
    for fault in ["panic in prepare", "panic in assign", "panic in score"] {
        for _ in 0..3 {
            told_with_fault(&host, fault);
            told_with_fault(&host, fault);
            check_next_binding(&host);
        }
    }
    assert!(!host.profile().selectors().any(PluginInstance::is_quarantined));
}
