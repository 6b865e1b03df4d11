//! `divvy.io/quorum`: every form of output says how many replicas of the requested ones are scheduled.

use serde_json::{Value, json};
use snapbox::str;

use super::{check, run};
use crate::diff::schema::{committed_at, validate};

const FILES: [&str; 4] = ["-f", "fleet.yaml", "-f", "partial.yaml"];

/// The arguments of a command on the fleet and the workloads.
fn with<'a>(command: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
    [&[command], &FILES[..], arguments].concat()
}

#[test]
fn the_table_of_schedule_says_what_is_missing() {
    check(&with("schedule", &[]), 2, str![[""]], str![[""]]);
}

#[test]
fn the_wide_table_and_the_explanation_say_what_is_missing() {
    check(
        &with("schedule", &["-o", "wide", "--explain", "deployment/huge"]),
        2,
        str![[""]],
        str![[""]],
    );
}

#[test]
fn data_have_the_missing_replicas() {
    for (format, name) in [("json", "deployment/huge"), ("yaml", "deployment/huge")] {
        let (_, text, stderr) = run(&with("schedule", &["-o", format, name]));
        assert!(
            text.contains("24 of 90 replicas, 66 missing; 25 were refused: "),
            "{text}{stderr}"
        );
        if format == "json" {
            let rows: Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(
                rows[0]["partial"],
                json!({"replicas": 24, "requested": 90, "missing": 66})
            );
            let schema = committed_at("host/cli/schema/schedule.json");
            validate(&schema, &schema, &rows, "").unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn the_tables_of_diff_and_headroom_say_what_is_missing() {
    check(&with("diff", &["--drain", "west-1"]), 1, str![[""]], str![[""]]);
    check(&with("headroom", &["deployment/huge"]), 0, str![[""]], str![[""]]);
    let (_, text, _) = run(&with("headroom", &["deployment/huge", "-o", "json"]));
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let row = &document["bindings"][0];
    assert_eq!(
        (&row["partial"], &row["most"], &row["headroom"]),
        (&json!(24), &json!(24), &json!(-66))
    );
    let schema = committed_at("host/forecast/schema/headroom.json");
    validate(&schema, &schema, &document, "").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn pages_say_what_is_missing() {
    for command in [&["schedule"][..], &["diff", "--drain", "west-1"], &["headroom"]] {
        let arguments = [command, &FILES, &["-o", "html"]].concat();
        let (_, page, stderr) = run(&arguments);
        assert!(page.contains(" of 90 replicas, "), "{command:?}: {stderr}");
    }
}

#[test]
fn a_recorded_part_is_replayed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let recording = folder.path().join("recording.jsonl").display().to_string();
    run(&with("schedule", &["--record", &recording, "deployment/huge"]));
    let replayed = run(&["replay", &recording, "--case", "shop/huge-deployment"]);
    assert_eq!(replayed, (Some(0), "2 passed, 0 failed\n".to_owned(), String::new()));
    // A recording of another part differs, and the message says what the new decision is missing.
    let text = std::fs::read_to_string(&recording).expect("it was recorded");
    let changed = text.replace(r#""divvy.io/quorum":"20%""#, r#""divvy.io/quorum":"80%""#);
    assert_ne!(text, changed);
    std::fs::write(&recording, changed).expect("it can be written");
    let (exit, stdout, _) = run(&["replay", &recording, "--case", "shop/huge-deployment"]);
    assert_eq!(exit, Some(1), "{stdout}");
}
