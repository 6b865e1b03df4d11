//! `divvy diff --place-pending`, and what other questions say of what waits.

use serde_json::{Value, json};

use super::rebalance::{binding, changes, cluster, crowded, divided, run_on, with_priority, within};
use crate::diff::schema::{committed, committed_at, validate};

/// The plan in a difference, which its schema describes.
#[track_caller]
fn placed(objects: &[Value], arguments: &[&str]) -> Value {
    let document = document(objects, "diff", &[&["--place-pending"], arguments].concat());
    document["placePending"].clone()
}

/// The document of a command, which its schema describes.
#[track_caller]
fn document(objects: &[Value], command: &str, arguments: &[&str]) -> Value {
    let (_, stdout, stderr) = run_on(objects, command, &[&["-o", "json"], arguments].concat());
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    let schema = match command {
        "schedule" => committed_at("host/desk/cli/schema/schedule.json"),
        command => committed(&format!("{command}.json")),
    };
    validate(&schema, &schema, &document, command).unwrap_or_else(|error| panic!("{error}"));
    document
}

#[test]
fn what_waits_is_placed_by_moving_others() {
    let fleet = crowded("Deployment", &divided("Aggregated"));
    let plan = placed(&fleet, &[]);
    assert_eq!(changes(&plan, "waiting", "late"), [("a", 6)]);
    assert_eq!(changes(&plan, "moves", "web"), [("a", -4), ("b", 4)]);
    assert_eq!(
        plan["totals"],
        json!({"waiting": 1, "placed": 1, "missing": 6, "moved": 4, "movedBindings": 1, "leftOut": 0})
    );
    assert_eq!(plan["bound"], json!({"waiting": 0, "moves": 4}));
    // What the difference says, and its exit code, are the same without it.
    let plain = run_on(&fleet, "diff", &["-o", "json"]);
    let (exit, stdout, _) = run_on(&fleet, "diff", &["--place-pending", "-o", "json"]);
    let mut document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    document
        .as_object_mut()
        .expect("it is an object")
        .remove("placePending");
    assert_eq!(exit, plain.0);
    assert_eq!(document, serde_json::from_str::<Value>(&plain.1).expect("it is JSON"));
}

#[test]
fn a_chain_of_two_moves_is_found_and_no_longer_one() {
    let only = |clusters: &[&str]| within(divided("Aggregated"), clusters);
    let mut fleet = vec![
        cluster("a", 4, 4, 0),
        cluster("b", 4, 4, 0),
        cluster("c", 4, 0, 0),
        cluster("d", 4, 0, 0),
        binding("Deployment", "one", 4, &only(&["a", "b"]), &[("a", 4)]),
        binding("Deployment", "two", 4, &only(&["b", "c"]), &[("b", 4)]),
        binding("Deployment", "late", 3, &only(&["a"]), &[]),
    ];
    let plan = placed(&fleet, &[]);
    assert_eq!(changes(&plan, "moves", "one"), [("a", -3), ("b", 3)]);
    assert_eq!(changes(&plan, "moves", "two"), [("b", -3), ("c", 3)]);
    assert_eq!(plan["totals"]["moved"], 6);
    // With `c` full as well, a third would have to move.
    fleet[2] = cluster("c", 4, 4, 0);
    fleet.push(binding("Deployment", "three", 4, &only(&["c", "d"]), &[("c", 4)]));
    let plan = placed(&fleet, &[]);
    assert_eq!((&plan["moves"], &plan["totals"]["placed"]), (&json!([]), &json!(0)));
    // The bound is that of all plans: they need not let it wait.
    assert_eq!(plan["bound"]["waiting"], 0);
}

#[test]
fn nothing_that_runs_makes_room_by_running_less() {
    // `web` may only run in `a`, and has the lower priority.
    let only = within(divided("Aggregated"), &["a"]);
    for priority in [-5, 0, 5] {
        let fleet = [
            cluster("a", 10, 8, 0),
            cluster("b", 10, 0, 0),
            with_priority(binding("Deployment", "web", 8, &only, &[("a", 8)]), priority),
            with_priority(binding("Deployment", "late", 6, &only, &[]), 0),
        ];
        let plan = placed(&fleet, &[]);
        assert_eq!(plan["moves"], json!([]), "{priority}");
        assert_eq!(plan["bound"]["waiting"], 1);
        assert_eq!(plan["waiting"][0]["placed"], false);
    }
}

#[test]
fn what_its_own_plugins_refuse_stays_and_says_so() {
    let mut placement = divided("Aggregated");
    placement["spreadConstraints"] = json!([
        {"spreadByField": "region", "minGroups": 1, "maxGroups": 1}, {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 9},
    ]);
    let mut fleet = crowded("Deployment", &placement);
    fleet[1]["spec"]["region"] = json!("another");
    let plan = placed(&fleet, &[]);
    assert_eq!(plan["moves"], json!([]));
    assert_eq!(
        plan["stays"],
        json!([{"reason": "its own plugins decide otherwise than the plan", "bindings": 1}])
    );
}

#[test]
fn what_a_drain_leaves_waiting_is_placed() {
    let only = |clusters: &[&str]| within(divided("Aggregated"), clusters);
    let fleet = [
        cluster("a", 10, 8, 0),
        cluster("b", 10, 0, 0),
        cluster("c", 10, 6, 0),
        binding("Deployment", "web", 8, &only(&["a", "b"]), &[("a", 8)]),
        binding("Deployment", "other", 6, &only(&["a", "c"]), &[("c", 6)]),
    ];
    assert_eq!(placed(&fleet, &[])["totals"]["waiting"], 0);
    let plan = placed(&fleet, &["--drain", "c"]);
    assert_eq!(changes(&plan, "waiting", "other"), [("a", 6)]);
    assert_eq!(changes(&plan, "moves", "web"), [("a", -4), ("b", 4)]);
}

#[test]
fn every_form_says_the_same() {
    let fleet = crowded("Deployment", &divided("Aggregated"));
    for form in ["table", "markdown", "html"] {
        let (_, stdout, stderr) = run_on(&fleet, "diff", &["--place-pending", "-o", form]);
        assert!(
            stdout.contains("he binding that waits is placed by 4 moves"),
            "{form}: {stdout} {stderr}"
        );
        assert!(
            form == "html" || stdout.contains("a 8 → 4, b 0 → 4"),
            "{form}: {stdout}"
        );
    }
    let (_, stdout, _) = run_on(&fleet, "diff", &["--place-pending", "shop/late", "-o", "json"]);
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    // The sums are those of all.
    assert_eq!(document["placePending"]["moves"], json!([]));
    assert_eq!(document["placePending"]["totals"]["moved"], 4);
}

#[test]
fn options_that_contradict_it_are_refused() {
    let fleet = crowded("Deployment", &divided("Aggregated"));
    for other in [
        &["--no-assume"][..],
        &["--without-each", "cluster"],
        &["--cluster", "a"],
    ] {
        let (exit, stdout, stderr) = run_on(&fleet, "diff", &[&["--place-pending"], other].concat());
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{other:?}");
        assert!(stderr.contains("--place-pending"), "{stderr}");
    }
}

/// `web` can make room for three of four that wait: the fourth has a cluster of its own that is too small.
fn four_wait() -> Vec<Value> {
    let only = |cluster: &str| within(divided("Aggregated"), &[cluster]);
    let mut fleet = vec![
        cluster("a", 12, 12, 0),
        cluster("b", 20, 0, 0),
        cluster("c", 2, 0, 0),
        binding(
            "Deployment",
            "web",
            12,
            &within(divided("Aggregated"), &["a", "b"]),
            &[("a", 12)],
        ),
        binding("Deployment", "large", 4, &only("c"), &[]),
    ];
    fleet.extend(["one", "three", "two"].map(|name| binding("Deployment", name, 4, &only("a"), &[])));
    fleet
}

#[test]
fn other_questions_say_what_moves_would_place() {
    let sentence = "3 of 4 bindings that wait for room could be placed by 12 moves";
    let more: [(&str, &[&str]); 3] = [
        ("schedule", &[]),
        ("headroom", &[]),
        ("survive", &["--loss", "cluster"]),
    ];
    for (command, arguments) in more {
        let found = document(&four_wait(), command, arguments);
        assert_eq!(
            found["couldPlace"],
            json!({"waiting": 4, "placed": 3, "moves": 12}),
            "{command}"
        );
        for form in ["table", "markdown", "html"] {
            let (_, stdout, _) = run_on(&four_wait(), command, &[&["-o", form], arguments].concat());
            let text = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(sentence), "{command} {form}: {stdout}");
        }
    }
}

#[test]
fn other_questions_say_nothing_where_nothing_waits_or_could_be_placed() {
    let web = binding("Deployment", "web", 8, &divided("Aggregated"), &[("a", 8)]);
    let calm = vec![cluster("a", 10, 8, 0), cluster("b", 10, 0, 0), web];
    // Alone in a fleet without room.
    let late = binding("Deployment", "late", 6, &divided("Aggregated"), &[]);
    let hopeless = vec![cluster("a", 2, 0, 0), late];
    for command in ["schedule", "headroom", "survive"] {
        assert_eq!(document(&calm, command, &[])["couldPlace"], Value::Null, "{command}");
        let found = document(&hopeless, command, &[]);
        assert_eq!(
            found["couldPlace"],
            json!({"waiting": 1, "placed": 0, "moves": 0}),
            "{command}"
        );
        let (_, stdout, _) = run_on(&hopeless, command, &[]);
        assert!(!stdout.contains("could be placed"), "{command}: {stdout}");
    }
}
