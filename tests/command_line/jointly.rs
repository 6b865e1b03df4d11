//! `divvy schedule --jointly`: all bindings as one plan.

use serde_json::{Value, json};

use super::rebalance::{binding, cluster, divided, run_on, with_priority, within};
use crate::diff::schema::{committed_at, validate};

/// The document of a schedule, which its schema describes.
#[track_caller]
fn scheduled(objects: &[Value], arguments: &[&str], exit: i32) -> Value {
    let (code, stdout, stderr) = run_on(objects, "schedule", &[&["-o", "json"], arguments].concat());
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    let schema = committed_at("host/desk/cli/schema/schedule.json");
    validate(&schema, &schema, &document, "schedule").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(code, Some(exit), "{document:#} {stderr}");
    document
}

/// The row of a binding.
#[track_caller]
fn row<'a>(document: &'a Value, name: &str) -> &'a Value {
    let mut rows = document["bindings"].as_array().expect("it is a list").iter();
    let found = rows.find(|row| row["binding"] == format!("shop/{name}"));
    found.unwrap_or_else(|| panic!("no row of {name}: {document:#}"))
}

/// Clusters of a binding's result with their replicas.
#[track_caller]
fn clusters<'a>(document: &'a Value, name: &str) -> Vec<(&'a str, i64)> {
    let targets = row(document, name)["clusters"].as_array().expect("it is a list");
    let count = |target: &Value| target["replicas"].as_i64().expect("it is a number");
    targets
        .iter()
        .map(|target| (target["name"].as_str().expect("it is a name"), count(target)))
        .collect()
}

/// A new Deployment of these clusters alone.
fn new(name: &str, replicas: i64, clusters: &[&str]) -> Value {
    binding(
        "Deployment",
        name,
        replicas,
        &within(divided("Aggregated"), clusters),
        &[],
    )
}

/// `any` prefers the larger cluster, which `only` needs: both fit, but not one after another.
fn burst() -> Vec<Value> {
    vec![
        cluster("a", 10, 0, 0),
        cluster("b", 8, 0, 0),
        new("any", 8, &["a", "b"]),
        new("only", 6, &["a"]),
    ]
}

#[test]
fn what_one_after_another_leaves_waiting_is_placed() {
    let one_by_one = scheduled(&burst(), &["--assume"], 1);
    assert_eq!(clusters(&one_by_one, "any"), [("a", 8)]);
    assert_eq!(row(&one_by_one, "only")["result"], "Unschedulable");
    assert_eq!(
        (&one_by_one["jointly"], &row(&one_by_one, "any")["share"]),
        (&Value::Null, &Value::Null)
    );

    let document = scheduled(&burst(), &["--jointly"], 0);
    assert_eq!(clusters(&document, "only"), [("a", 6)]);
    // Only as much of it goes elsewhere as must.
    assert_eq!(clusters(&document, "any"), [("a", 4), ("b", 4)]);
    assert_eq!(document["assumes"], true);
    assert_eq!(document["totals"]["replicas"], 14);
    assert_eq!(
        document["jointly"],
        json!({
            "waiting": 1, "placed": 1, "givingWay": 0, "isPlan": true,
            "message": "decided as one plan, which places 1 of 1 binding that would have no room one after another",
        })
    );
    assert_eq!(
        row(&document, "any")["share"],
        json!({
            "room": 18, "given": 8, "wanted": 8, "higher": 0, "equal": 1, "lower": 0,
            "message": "room for 18, given 8: the rest is kept for 1 binding of equal priority",
        })
    );
    // What is free beside the plan: the room that it gives is not all that there was.
    assert_eq!(row(&document, "any")["clusters"][1]["free"], 4);
}

#[test]
fn every_form_says_what_each_binding_could_have_had() {
    let fleet = burst();
    let share = "room for 10, given 6: the rest is kept for 1 binding of equal priority";
    let plan = "decided as one plan, which places 1 of 1 binding that would have no room one after another";
    for arguments in [&["--explain"][..], &["--explain", "-o", "markdown"]] {
        let (_, stdout, stderr) = run_on(&fleet, "schedule", &[&["--jointly"], arguments].concat());
        for text in [share, plan] {
            assert!(stdout.contains(text), "{arguments:?} {text}: {stdout} {stderr}");
        }
    }
    // The data of a page are packed, its notes are not.
    let (_, stdout, stderr) = run_on(&fleet, "schedule", &["--jointly", "-o", "html"]);
    assert!(stdout.contains(plan), "{stdout} {stderr}");
    // A table without explanations has the sentence of what waits alone.
    let (_, stdout, _) = run_on(&fleet, "schedule", &["--jointly"]);
    assert!(!stdout.contains(share) && stdout.contains(plan), "{stdout}");
}

#[test]
fn a_lower_priority_gives_way_and_says_for_whom_its_room_is_kept() {
    let fleet = [
        cluster("a", 13, 0, 0),
        cluster("b", 12, 0, 0),
        new("any", 8, &["a", "b"]),
        new("only", 6, &["a"]),
        with_priority(new("urgent", 4, &["b"]), 5),
        with_priority(new("more", 3, &["a"]), 5),
        with_priority(new("late", 9, &["a", "b"]), -1),
    ];
    let one_by_one = scheduled(&fleet, &["--assume"], 1);
    assert_eq!(row(&one_by_one, "only")["result"], "Unschedulable");
    assert_eq!(row(&one_by_one, "late")["result"], "Scheduled");
    // 25 are free. All but `late` ask for 21.
    let document = scheduled(&fleet, &["--jointly"], 1);
    assert_eq!(clusters(&document, "urgent"), [("b", 4)]);
    assert_eq!(clusters(&document, "more"), [("a", 3)]);
    assert_eq!(clusters(&document, "only"), [("a", 6)]);
    assert_eq!(row(&document, "any")["result"], "Scheduled");
    let late = row(&document, "late");
    assert_eq!(late["result"], "Unschedulable");
    let share = "room for 25, given 0: the rest is kept for 4 bindings of higher priority";
    assert_eq!(late["share"]["message"], share);
    assert_eq!(
        document["jointly"]["message"],
        "decided as one plan, which places 1 of 1 binding that would have no room one after another; 1 gives way to it"
    );
    let (_, stdout, _) = run_on(&fleet, "schedule", &["--jointly"]);
    assert!(stdout.contains(&format!("  {share}\n")), "{stdout}");
}

#[test]
fn what_runs_stays_and_keeps_its_room() {
    // It runs where `only` would have to be, and could run elsewhere.
    let runs = binding("Deployment", "runs", 6, &divided("Aggregated"), &[("a", 6)]);
    let fleet = [
        cluster("a", 10, 6, 0),
        cluster("b", 8, 0, 0),
        runs,
        new("only", 6, &["a"]),
    ];
    let document = scheduled(&fleet, &["--jointly"], 1);
    assert_eq!(clusters(&document, "runs"), [("a", 6)]);
    assert_eq!(row(&document, "runs")["share"], Value::Null);
    assert_eq!(document["jointly"]["isPlan"], false);
    // One that lost a cluster keeps what runs elsewhere.
    let lost = binding(
        "Deployment",
        "lost",
        8,
        &divided("Aggregated"),
        &[("b", 3), ("gone", 5)],
    );
    let fleet = [
        cluster("a", 6, 0, 0),
        cluster("b", 7, 3, 0),
        lost,
        new("only", 4, &["a"]),
    ];
    let one_by_one = scheduled(&fleet, &["--assume"], 1);
    assert_eq!(clusters(&one_by_one, "lost"), [("a", 3), ("b", 5)]);
    let document = scheduled(&fleet, &["--jointly"], 0);
    assert_eq!(clusters(&document, "lost"), [("a", 2), ("b", 6)]);
    assert_eq!(clusters(&document, "only"), [("a", 4)]);
    assert_eq!(row(&document, "lost")["share"]["wanted"], 5);
}

#[test]
fn without_anything_to_gain_the_results_are_those_of_one_after_another() {
    let roomy = [
        cluster("a", 20, 0, 0),
        cluster("b", 8, 0, 0),
        new("any", 8, &["a", "b"]),
        new("only", 6, &["a"]),
    ];
    let full = [
        cluster("a", 10, 0, 0),
        new("first", 8, &["a"]),
        new("second", 6, &["a"]),
    ];
    let sentences = [
        "decided as one plan: one after another, everything that it may place has room as well",
        "decided one after another: no plan was found that places more (1 binding without room)",
    ];
    for ((fleet, exit), sentence) in [(&roomy[..], 0), (&full[..], 1)].into_iter().zip(sentences) {
        let expected = scheduled(fleet, &["--assume"], exit);
        let mut document = scheduled(fleet, &["--jointly"], exit);
        assert_eq!(document["jointly"]["message"], sentence);
        document.as_object_mut().expect("it is an object").remove("jointly");
        for row in document["bindings"].as_array_mut().expect("it is a list") {
            row.as_object_mut().expect("it is an object").remove("share");
        }
        let mut expected = expected;
        expected.as_object_mut().expect("it is an object").remove("couldPlace");
        assert_eq!(document, expected);
    }
}

#[test]
fn what_does_not_divide_by_room_counts_as_used() {
    // The copy of `each` takes the room in `b` that `any` would make way to.
    let mut fleet = burst();
    fleet.push(binding("Deployment", "each", 4, &within(json!({}), &["b"]), &[]));
    let document = scheduled(&fleet, &["--jointly"], 0);
    assert_eq!(clusters(&document, "each"), [("b", 4)]);
    assert_eq!(row(&document, "each")["share"], Value::Null);
    assert_eq!(clusters(&document, "any"), [("a", 4), ("b", 4)]);
    fleet.push(binding("Deployment", "again", 1, &within(json!({}), &["b"]), &[]));
    let document = scheduled(&fleet, &["--jointly"], 1);
    assert_eq!(document["jointly"]["isPlan"], false);
}

#[test]
fn what_its_own_plugins_refuse_is_decided_as_ever() {
    // It may be in one region alone, so it cannot make way in part.
    let mut fleet = burst();
    fleet[1] = cluster("b", 7, 0, 0);
    fleet[1]["spec"]["region"] = json!("another");
    fleet[2]["spec"]["placement"]["spreadConstraints"] = json!([
        {"spreadByField": "region", "minGroups": 1, "maxGroups": 1}, {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 9},
    ]);
    let document = scheduled(&fleet, &["--jointly"], 1);
    assert_eq!(document["jointly"]["isPlan"], false);
    assert_eq!(clusters(&document, "any"), [("a", 8)]);
}

#[test]
fn a_policy_that_permits_a_part_gets_one_beside_the_plan() {
    let mut fleet = burst();
    let mut part = new("part", 9, &["a", "b"]);
    part["metadata"]["annotations"]["divvy.io/quorum"] = json!("2");
    fleet.push(with_priority(part, -1));
    let document = scheduled(&fleet, &["--jointly"], 0);
    assert_eq!(clusters(&document, "only"), [("a", 6)]);
    // 18 are free, and 14 are taken.
    assert_eq!(
        row(&document, "part")["partial"],
        json!({"replicas": 4, "requested": 9, "missing": 5})
    );
    assert_eq!(row(&document, "part")["share"]["given"], 4);
}

#[test]
fn decisions_with_the_room_of_a_plan_cannot_be_recorded() {
    let (exit, stdout, stderr) = run_on(&burst(), "schedule", &["--jointly", "--record", "never.jsonl"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("'--jointly'") && stderr.contains("'--record <FILE>'"),
        "{stderr}"
    );
}
