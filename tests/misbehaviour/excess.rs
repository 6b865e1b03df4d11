//! A plugin that hands over more than a host accepts in one call: the rest is dropped, and both the log and the explanation say
//! so.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::artifacts::repository;
use crate::c_interface::library;
use crate::command_line::run;
use crate::manifests::{binding, cluster, list};

/// Maximum length of a text in bytes, and maximum number of texts.
const TEXT_BYTES: usize = 1 << 16;
const TEXTS: usize = 1 << 16;

/// A decision, as data, and the messages of the command.
struct Decided {
    exit: Option<i32>,
    decision: Value,
    log: String,
}

/// Decides on a binding for which the plugin exceeds a limit.
#[track_caller]
fn decide(excess: &str) -> Decided {
    static LIBRARY: LazyLock<PathBuf> =
        LazyLock::new(|| library("excessive", &[repository().join("tests/fixtures/excessive.c")]));
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = folder.path().join("profile.toml");
    let lines = format!(
        "[[profile]]\nname = 'p'\nextends = 'default'\nfilters = ['excessive']\n\
         [profile.plugin.excessive]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\n",
        LIBRARY.display()
    );
    std::fs::write(&profile, lines).expect("the profile can be written");
    let manifest = folder.path().join("manifest.json");
    let asked = binding("web", 2).annotation("c.example/excess", excess);
    let objects = list([cluster("a", 9).into(), asked.into()]);
    std::fs::write(&manifest, objects).expect("the manifest can be written");
    let [profile, manifest] = [profile, manifest].map(|path| path.display().to_string());
    let (exit, stdout, log) = run(&[
        "schedule",
        "-f",
        &manifest,
        "--profile",
        &profile,
        "--explain",
        "-o",
        "json",
    ]);
    let decisions: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{excess}: {error}: {log}"));
    Decided {
        exit,
        decision: decisions["bindings"][0].clone(),
        log,
    }
}

/// Decides as without the excess, with this warning in the log and in the explanation.
#[track_caller]
fn check(excess: &str, warning: &str) -> Value {
    let Decided { exit, decision, log } = decide(excess);
    assert_eq!(exit, Some(0), "{excess}: {log}");
    assert_eq!(
        decision["clusters"][0],
        json!({ "name": "a", "replicas": 2, "free": 7 }),
        "{excess}"
    );
    let warning = format!("the plugin handed over too much in one call; {warning}");
    let line = format!("{warning} plugin=\"excessive\" binding=\"");
    assert!(log.contains(&line), "{excess}: {log}");
    let notes = decision["explanation"]["notes"].as_array().expect("a list");
    let expected = json!({ "plugin": "excessive", "text": warning });
    assert_eq!(notes.last(), Some(&expected), "{excess}");
    decision
}

fn texts(notes: &Value) -> Vec<&str> {
    let notes = notes.as_array().expect("a list").iter();
    notes.map(|note| note["text"].as_str().expect("a text")).collect()
}

#[test]
fn a_plugin_within_the_limits_is_not_mentioned() {
    let Decided { exit, decision, log } = decide("none");
    assert_eq!((exit, log.as_str()), (Some(0), ""));
    assert_eq!(decision["explanation"]["notes"], json!([]));
}

#[test]
fn twenty_million_notes_are_left_out() {
    let decision = check("many notes", "texts left out: 19934464 (at most 65536, of 16 MiB)");
    assert_eq!(texts(&decision["explanation"]["notes"]).len(), TEXTS + 1);
}

#[test]
fn a_text_of_a_gibibyte_is_cut_where_it_is_shown() {
    let decision = check("long note", "texts cut: 1 (at most 65536 bytes)");
    let expected = format!("{} … (cut, it has 1073741824 bytes)", "\u{fffd}".repeat(TEXT_BYTES));
    assert!(texts(&decision["explanation"]["notes"])[0] == expected);
    // As many of them as 16 MiB hold.
    let decision = check(
        "long texts",
        "texts left out: 44 (at most 65536, of 16 MiB), texts cut: 300 (at most 65536 bytes)",
    );
    let reasons = decision["explanation"]["clusters"][0]["reasons"].as_array();
    let own = |reason: &&Value| reason["plugin"] == "excessive";
    assert_eq!(reasons.expect("a list").iter().filter(own).count(), 256);
}

#[test]
fn reasons_beyond_the_limit_share_one() {
    let Decided { exit, decision, log } = decide("many reasons");
    assert_eq!(exit, Some(1), "{log}");
    assert_eq!(
        decision["message"],
        "0/1 clusters are available: 1 cluster(s) were rejected for reasons that were left out"
    );
    let warning = "texts left out: 4464 (at most 65536, of 16 MiB)";
    assert!(log.contains(warning), "{log}");
}

#[test]
fn figures_beyond_the_limit_are_left_out() {
    let decision = check("many figures", "figures left out: 9 (at most 32 per reason)");
    let reasons = decision["explanation"]["clusters"][0]["reasons"].as_array();
    let own = |reason: &&Value| reason["plugin"] == "excessive";
    let own: Vec<&Value> = reasons.expect("a list").iter().filter(own).collect();
    // The second claims more figures than there can be, and has none.
    assert_eq!(own.len(), 2, "{own:?}");
}

#[test]
fn log_records_are_limited_in_number_and_length() {
    check(
        "many log records",
        "log records left out: 3617 (at most 16384, of 1 MiB)",
    );
    let Decided { exit, log, .. } = decide("long log record");
    assert_eq!(exit, Some(0));
    assert!(log.contains(" … (cut, it has 1073741824 bytes)"), "{} bytes", log.len());
    assert!(log.len() < 1 << 20, "{} bytes", log.len());
}

#[test]
fn the_name_of_a_metric_is_not_read_to_its_end() {
    let Decided { exit, log, .. } = decide("long metric");
    assert_eq!(exit, Some(0));
    assert!(log.contains("a metric is ignored: its name is not valid"), "{log}");
    assert!(log.len() < 1 << 12, "{} bytes", log.len());
}

#[test]
fn the_texts_of_a_failure_are_cut() {
    let Decided { exit, decision, log } = decide("long failure");
    assert_eq!(exit, Some(3));
    let message = decision["message"].as_str().expect("a message");
    assert!(
        message.ends_with("\u{fffd} … (cut, it has 1073741824 bytes)"),
        "{} bytes",
        message.len()
    );
    assert!(
        log.contains("texts cut: 2 (at most 65536 bytes)"),
        "{} bytes",
        log.len()
    );
}
