//! Faults of libraries without the SDK: those that are cheap to detect are errors that name the plugin.

use std::path::PathBuf;
use std::sync::LazyLock;

use super::compile::library;
use crate::artifacts::repository;
use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

/// The library with the misbehaving plugins.
fn misbehaving() -> &'static PathBuf {
    static LIBRARY: LazyLock<PathBuf> =
        LazyLock::new(|| library("misbehaving", &[repository().join("tests/fixtures/misbehaving.c")]));
    &LIBRARY
}

/// The profile of one of the plugins.
fn profile(plugin: &str, more: &str) -> String {
    format!(
        "filters = ['cluster-affinity', '{plugin}']\nassign = ['{plugin}', 'average']\n\
         [profile.plugin.{plugin}]\npath = '{}'\nallow-uncertified = true\n{more}",
        misbehaving().display()
    )
}

/// The decision on a binding with 6 replicas and an affinity that rejects the second of two clusters.
fn told(host: &Host, fault: &str) -> String {
    host.told(objects(fault))
}

fn objects(fault: &str) -> [serde_json::Value; 3] {
    let asked = binding("web", 6)
        .strategy("Misbehaving")
        .placement("clusterAffinity", serde_json::json!({ "clusterNames": ["a"] }))
        .annotation("c.example/fault", fault);
    [cluster("a", 9).into(), cluster("b", 9).into(), asked.into()]
}

/// The earliest time of all calls counts.
#[test]
fn an_answer_can_hold_for_a_while() {
    let host = Host::extending(&profile("misbehaving", ""));
    for (wish, expected) in [("none", None), ("hold for a while", Some(5))] {
        assert_eq!(host.decide(objects(wish))[0].valid_until, expected, "{wish}");
    }
}

#[test]
fn every_fault_is_an_error_of_one_binding() {
    let host = Host::extending(&profile("misbehaving", ""));
    for (fault, expected) in [
        ("none", "a=6"),
        (
            "use none",
            "Error: plugin `misbehaving` promises to use at most 0 of the clusters but used 1: `a` is one too many",
        ),
        (
            "clear rejections",
            "Error: plugin `misbehaving` changed the rejection of cluster `b` by an earlier filter",
        ),
        ("unknown text", "a=6"),
        (
            "silent failure",
            "Error: plugin `misbehaving` failed: code 0x30001 without a message",
        ),
        ("unknown scheduling outcome", "Unschedulable: nothing to be done"),
        (
            "unknown mistake of the policy",
            "Error: plugin `misbehaving`: no such wish",
        ),
        ("unknown class", "Error: plugin `misbehaving` failed: no such class"),
        ("not UTF-8", "Error: plugin `misbehaving` failed: a\u{fffd}b"),
        (
            "failure of another kind",
            "Error: plugin `misbehaving` failed: code 0x30001 without a message",
        ),
        (
            "short failure",
            "Error: plugin `misbehaving` failed: code 0x30001 without a message",
        ),
        ("failure without failing", "a=6"),
        (
            "unknown code",
            "NoClusterFit: 0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity \
             constraint, 1 cluster(s) were rejected without a reason",
        ),
    ] {
        assert_eq!(told(&host, fault), expected, "{fault}");
        assert_eq!(told(&host, "none"), "a=6", "after {fault}");
    }
}

/// The host refuses what it does not know and must not ignore; the rest it ignores.
#[test]
fn an_unknown_required_feature_is_refused() {
    for (plugin, more, bits) in [
        ("demanding", "", "0x10000000000"),
        ("misbehaving", "configuration = { eager = true }", "0x8000000000000000"),
    ] {
        let errors = Host::try_extending(&profile(plugin, more)).expect_err("no host has the feature");
        let message = errors[0]
            .to_string()
            .replace(&misbehaving().display().to_string(), "<file>");
        let expected = format!("plugin `{plugin}` (<file>) requires features that this divvy does not have: {bits}");
        assert_eq!(message, expected);
    }
}

/// It serves nothing by kinds that the host does not know: neither a number that is free nor one far beyond.
#[test]
fn a_plugin_with_calls_of_unknown_kinds_serves_only_the_known_ones() {
    let lines = format!(
        "scores = [{{ plugin = 'misbehaving' }}]\n{}",
        profile("misbehaving", "")
    );
    let errors = Host::try_extending(&lines).expect_err("it serves no scores");
    assert_eq!(
        errors[0].to_string(),
        "plugin `misbehaving` does not serve Score; it serves Filter, Assign"
    );
}

#[test]
fn a_descriptor_without_functions_is_refused() {
    let errors = Host::try_extending(&profile("hollow", "")).expect_err("it cannot be called");
    let message = errors[0]
        .to_string()
        .replace(&misbehaving().display().to_string(), "<file>");
    assert_eq!(
        message,
        "plugin `hollow` (<file>) has an invalid descriptor: it lacks a function"
    );
}
