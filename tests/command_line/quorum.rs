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
    check(
        &with("schedule", &[]),
        2,
        str![[r#"
BINDING               STRATEGY    REPLICAS  FREE  RESULT
shop/even-deployment                     3        Error
  PropagationPolicy shop/even's `divvy.io/quorum`: a quorum cannot be combined with the strategy `StaticWeight`, which divides all replicas whether they fit or not
  in partial.yaml:18; policy PropagationPolicy shop/even; binding in partial.yaml:23
shop/huge-deployment  Aggregated  24 of 90     0  Scheduled
  24 of 90 replicas, 66 missing; 25 were refused: 25 replicas requested, 24 fit in the candidate clusters
  east-1                                 8     0
  west-1                                16     0

2 bindings: 1 scheduled, 1 in error; 69 replicas missing
24 replicas on 2 of 3 clusters

"#]],
        str![[""]],
    );
}

#[test]
fn the_wide_table_and_the_explanation_say_what_is_missing() {
    check(
        &with("schedule", &["-o", "wide", "--explain", "deployment/huge"]),
        2,
        str![[r#"
BINDING               STRATEGY    REPLICAS  FREE  SCORE  REGION  RESULT     PLUGIN            KIND        POLICY
shop/huge-deployment  Aggregated  24 of 90     0                 Scheduled  aggregated 0.1.0  Deployment  PropagationPolicy shop/huge
  Aggregated by `replicaDivisionPreference`; 2 of 3 clusters are candidates, scored by cluster-locality
  24 of 90 replicas, 66 missing; 25 were refused: 25 replicas requested, 24 fit in the candidate clusters
  east-1                                 8     0      0  east
      keeps 0, fits 8: +8 in proportion over 2 clusters (score 0)
  west-1                                16     0      0  west
      keeps 0, fits 16: +16 in proportion over 2 clusters (score 0)
  rejected: 1 cluster(s) had untolerated taint {maintenance=true:NoSchedule} [taint-toleration]: east-2

CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST
east-1   east         0      8      +8  cpu 20% → 100%
east-2   east         0      0       0  cpu 20% → 20%
west-1   west         0     16     +16  cpu 20% → 100%

1 binding: 1 scheduled; 66 replicas missing
24 replicas on 2 of 3 clusters
1 of 2 bindings shown; all were decided
profile `default`, seed 0; plugins: api-enablement 0.1.0, taint-toleration 0.1.0, cluster-affinity 0.1.0, spread-constraint-properties 0.1.0, cluster-eviction 0.1.0, cluster-locality 0.1.0, spread-constraints 0.1.0, aggregated 0.1.0, average 0.1.0, duplicated 0.1.0, dynamic-weight 0.1.0, priority-aggregated 0.1.0, region-shares 0.1.0, specified 0.1.0, static-weight 0.1.0, tree 0.1.0

"#]],
        str![[r#"
error: PropagationPolicy shop/even's `divvy.io/quorum`: a quorum cannot be combined with the strategy `StaticWeight`, which divides all replicas whether they fit or not
  in: shop/even-deployment (partial.yaml:18; policy PropagationPolicy shop/even; binding in partial.yaml:23)
note: bindings that are not shown determine the exit code

"#]],
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
            let document: Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(
                document["bindings"][0]["partial"],
                json!({"replicas": 24, "requested": 90, "missing": 66})
            );
            let schema = committed_at("host/desk/cli/schema/schedule.json");
            validate(&schema, &schema, &document, "").unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn the_tables_of_diff_and_headroom_say_what_is_missing() {
    check(
        &with("diff", &["--drain", "west-1"]),
        1,
        str![[r#"
profile default → profile default with --drain west-1

BINDING               STRATEGY    REPLICAS  CHANGE
shop/even-deployment
  Error: PropagationPolicy shop/even's `divvy.io/quorum`: a quorum cannot be combined with the strategy `StaticWeight`, which divides all replicas whether they fit or not
  in partial.yaml:18; policy PropagationPolicy shop/even; binding in partial.yaml:23
shop/huge-deployment  Aggregated        90  east-1 −8  west-1 −16
  newly Unschedulable: 90 replicas requested, 8 fit in the candidate clusters; the quorum of 18 does not fit either
  16 replicas lost
  24 replicas missing

CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST
east-1   east         8      0      −8  cpu 100% → 20%
west-1   west        16      0     −16  cpu 100% → 20%

1 binding changes: 16 replicas lost, 8 waiting; 1 newly unschedulable; 1 in error; 24 replicas newly missing; 69 missing as before
pending without the changes: 24 replicas added (1 binding)

"#]],
        str![[""]],
    );
    check(
        &with("headroom", &["deployment/huge"]),
        0,
        str![[r#"
profile default

BINDING               STRATEGY    REPLICAS  MOST  HEADROOM  STOPPED BY
shop/huge-deployment  Aggregated  24 of 90    24       −66  cpu in 2 of 2 candidates; 1 cluster rejected (taint-toleration)
  24 of 90 replicas, 66 missing; 25 were refused: 25 replicas requested, 24 fit in the candidate clusters

"#]],
        str![[""]],
    );
    let (_, text, _) = run(&with("headroom", &["deployment/huge", "-o", "json"]));
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let row = &document["bindings"][0];
    assert_eq!(
        (&row["partial"], &row["most"], &row["headroom"]),
        (&json!(24), &json!(24), &json!(-66))
    );
    let schema = committed_at("host/desk/forecast/schema/headroom.json");
    validate(&schema, &schema, &document, "").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_page_says_what_is_missing() {
    let (_, page, stderr) = run(&with("schedule", &["-o", "html"]));
    assert!(
        page.contains("1 binding is scheduled in part (shop/huge-deployment 24 of 90)"),
        "{stderr}"
    );
}

#[test]
fn a_recorded_part_is_replayed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let recording = folder.path().join("recording.jsonl").display().to_string();
    run(&with("schedule", &["--record", &recording, "deployment/huge"]));
    let replayed = run(&["replay", &recording, "--case", "shop/huge-deployment"]);
    assert_eq!(replayed, (Some(0), "1 passed, 0 failed\n".to_owned(), String::new()));
    // A recording of another part differs, and the message says what the new decision is missing.
    let text = std::fs::read_to_string(&recording).expect("it was recorded");
    let changed = text.replace(r#""divvy.io/quorum":"20%""#, r#""divvy.io/quorum":"80%""#);
    assert_ne!(text, changed);
    std::fs::write(&recording, changed).expect("it can be written");
    let (exit, stdout, _) = run(&["replay", &recording, "--case", "shop/huge-deployment"]);
    assert_eq!(exit, Some(1), "{stdout}");
}
