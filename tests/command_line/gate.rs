//! Exit codes and verdicts that a gate can trust: what is missing, what moved or was removed, and whose fault it is.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::run;
use crate::diff::schema::{committed_at, validate};
use crate::manifests::{Binding, binding, cluster, list};

/// A folder with the manifests of a test.
struct Folder(TempDir);

impl Folder {
    /// A folder with these objects in `dump.json`.
    fn with(objects: impl IntoIterator<Item = Value>) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder can be made"));
        folder.add("dump.json", objects);
        folder
    }

    /// Writes more objects, and returns the path of their file.
    fn add(&self, name: &str, objects: impl IntoIterator<Item = Value>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, list(objects)).expect("the file can be written");
        path.display().to_string()
    }

    fn run(&self, command: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let dump = self.0.path().join("dump.json").display().to_string();
        run(&[&[command, "-f", &dump], arguments].concat())
    }

    /// Exit code and `totals` of a command's JSON, which its schema describes.
    fn totals(&self, command: &str, arguments: &[&str]) -> (Option<i32>, Value) {
        let (exit, text, stderr) = self.run(command, &[arguments, &["-o", "json"]].concat());
        let document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{stderr}"));
        let file = match (command, document.get("failures")) {
            ("schedule", _) => "host/desk/cli/schema/schedule.json".to_owned(),
            (_, Some(_)) => "host/desk/forecast/schema/without-each.json".to_owned(),
            (command, None) => format!("host/desk/forecast/schema/{command}.json"),
        };
        let schema = committed_at(&file);
        validate(&schema, &schema, &document, "").unwrap_or_else(|error| panic!("{error}"));
        (exit, document["totals"].clone())
    }
}

/// The scheduling of a division by a preference, or of copies.
fn scheduling(kind: &str) -> Value {
    match kind {
        "Duplicated" => json!({"replicaSchedulingType": "Duplicated"}),
        preference => json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": preference}),
    }
}

/// A binding that runs by its present placement.
fn running(binding: Binding, kind: &str, last: &[(&str, i64)]) -> Value {
    let binding = binding.placement("replicaScheduling", scheduling(kind));
    let mut value: Value = binding.last(last.iter().copied()).into();
    let placement = value["spec"]["placement"].to_string();
    value["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = placement.into();
    value["status"]["lastScheduledTime"] = "2026-01-01T00:00:00Z".into();
    value
}

/// Room for 30 more replicas and for 1 more; a workload of 20 whose quorum is 1 runs on both.
fn quorum() -> Folder {
    let web = binding("web", 20).annotation("divvy.io/quorum", "1");
    Folder::with([
        cluster("c00", 30).into(),
        cluster("c01", 1).into(),
        running(web, "Aggregated", &[("c00", 10), ("c01", 10)]),
    ])
}

/// Two clusters with room, of which the first has a duplicated workload.
fn copies(last: &[(&str, i64)], affinity: &[&str]) -> Folder {
    let agent = binding("agent", 20).placement("clusterAffinity", json!({ "clusterNames": affinity }));
    Folder::with([
        cluster("c00", 50).into(),
        cluster("c01", 50).into(),
        running(agent, "Duplicated", last),
    ])
}

#[test]
fn a_quorum_does_not_hide_an_outage() {
    let folder = quorum();
    for change in ["--drain", "--fail", "--without"] {
        let (exit, stdout, stderr) = folder.run("diff", &[change, "c00"]);
        assert_eq!(exit, Some(1), "{stdout}{stderr}");
        assert!(stdout.contains("Scheduled: 11 of 20 replicas, 9 missing; "), "{stdout}");
        // It is said once.
        assert!(!stdout.contains("9 replicas missing\n"), "{stdout}");
        assert!(stdout.contains("; 9 replicas newly missing\n"), "{stdout}");
        let (exit, totals) = folder.totals("diff", &[change, "c00"]);
        let counts = ["lost", "missing", "newlyMissing", "missingCopies"].map(|key| totals[key].clone());
        assert_eq!((exit, counts), (Some(1), [0, 9, 9, 0].map(Value::from)), "{totals}");
        let (_, page, _) = folder.run("diff", &[change, "c00", "-o", "html"]);
        assert!(!page.contains("All well"), "{change}");
        assert!(page.contains("9 replicas newly missing"), "{change}");
        let (_, text, _) = folder.run("diff", &[change, "c00", "-o", "markdown"]);
        assert!(text.contains("9 replicas newly missing"), "{text}");
    }
    let (exit, totals) = folder.totals("diff", &["--without-each", "cluster"]);
    assert_eq!((exit, &totals["absorbed"]), (Some(1), &json!(1)), "{totals}");
    let (exit, stdout, _) = folder.run("survive", &["--loss", "cluster"]);
    assert_eq!(exit, Some(0), "{stdout}");
    assert!(
        stdout.contains("the only placed binding survives each of these losses, some with fewer replicas\n")
            || stdout.contains("the binding survives each of these losses, some with fewer replicas\n"),
        "{stdout}"
    );
}

#[test]
fn a_limit_decides_how_many_may_be_missing() {
    let folder = quorum();
    for (limit, expected) in [("8", 1), ("9", 0), ("44%", 1), ("45%", 0)] {
        let (exit, _, stderr) = folder.run("diff", &["--drain", "c00", "--max-missing", limit, "-q"]);
        assert_eq!(exit, Some(expected), "{limit}: {stderr}");
        let is_said = stderr.starts_with("error: 9 replicas are newly missing, more than `--max-missing` allows (");
        assert_eq!(is_said, expected == 1, "{stderr}");
        let (exit, ..) = folder.run("diff", &["--without-each", "cluster", "--max-missing", limit, "-q"]);
        assert_eq!(exit, Some(expected), "{limit}");
    }
}

#[test]
fn what_waits_is_missing_before_and_after() {
    let web = binding("web", 20);
    let idle = running(binding("idle", 1), "Aggregated", &[("c00", 1)]);
    let folder = Folder::with([
        cluster("c00", 10).into(),
        cluster("c01", 5).into(),
        idle,
        running(web, "Aggregated", &[]),
    ]);
    let (exit, totals) = folder.totals("diff", &["--cordon", "c01"]);
    assert_eq!(
        (exit, &totals["missing"], &totals["newlyMissing"]),
        (Some(0), &json!(20), &json!(0))
    );
    let (_, page, _) = folder.run("diff", &["--cordon", "c01", "-o", "html"]);
    assert!(!page.contains("All well") && page.contains("20 replicas missing as before"));
    let (exit, totals) = folder.totals("schedule", &[]);
    assert_eq!((exit, &totals["missing"]), (Some(1), &json!(20)));
    // A part of what waits arrives: 5 of 20 run with a quorum.
    let more = running(binding("web", 20).annotation("divvy.io/quorum", "1"), "Aggregated", &[]);
    let path = folder.add("overlay.json", [more]);
    let (exit, totals) = folder.totals("diff", &["--overlay", &path]);
    assert_eq!((exit, &totals["newlyMissing"]), (Some(0), &json!(0)), "{totals}");
    assert!(totals["missing"].as_i64() < Some(20), "{totals}");
}

#[test]
fn a_copy_that_a_drain_takes_is_missing_and_its_workload_is_not() {
    let folder = copies(&[("c00", 20), ("c01", 20)], &["c00", "c01"]);
    let (exit, totals) = folder.totals("diff", &["--drain", "c00"]);
    let counts = ["removed", "missing", "newlyMissing", "missingCopies"].map(|key| totals[key].clone());
    assert_eq!((exit, counts), (Some(0), [20, 20, 20, 20].map(Value::from)), "{totals}");
    let (_, page, _) = folder.run("diff", &["--drain", "c00", "-o", "html"]);
    assert!(!page.contains("All well") && page.contains("in copies of duplicated workloads"));
    let (exit, _, stderr) = folder.run("diff", &["--drain", "c00", "--max-missing", "0", "-q"]);
    assert_eq!(exit, Some(1), "{stderr}");
    // The last copy is the workload.
    let (exit, totals) = folder.totals("diff", &["--drain", "c*"]);
    assert_eq!(
        (exit, &totals["missing"], &totals["missingCopies"]),
        (Some(1), &json!(40), &json!(0))
    );
}

#[test]
fn a_copy_that_changes_its_cluster_moves() {
    let folder = copies(&[("c00", 20)], &["c00"]);
    let agent = binding("agent", 20).placement("clusterAffinity", json!({ "clusterNames": ["c01"] }));
    let mut moved = running(agent, "Duplicated", &[("c00", 20)]);
    moved["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = "{}".into();
    let path = folder.add("overlay.json", [moved]);
    let (exit, totals) = folder.totals("diff", &["--overlay", &path, "--max-moved", "20"]);
    assert_eq!(
        (exit, &totals["moved"], &totals["missing"]),
        (Some(0), &json!(20), &json!(0)),
        "{totals}"
    );
    let (exit, _, stderr) = folder.run("diff", &["--overlay", &path, "--max-moved", "19", "-q"]);
    assert_eq!(
        (exit, stderr.as_str()),
        (
            Some(1),
            "error: 20 replicas move, more than `--max-moved` allows (19)\n"
        )
    );
}

#[test]
fn a_policy_that_gives_copies_up_is_limited_by_what_is_removed() {
    let folder = copies(&[("c00", 20), ("c01", 20)], &["c00", "c01"]);
    let agent = binding("agent", 20).placement("clusterAffinity", json!({ "clusterNames": ["c01"] }));
    let mut narrowed = running(agent, "Duplicated", &[("c00", 20), ("c01", 20)]);
    narrowed["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = "{}".into();
    let path = folder.add("overlay.json", [narrowed]);
    let (exit, totals) = folder.totals("diff", &["--overlay", &path]);
    // No policy asks for the copy any more.
    assert_eq!(
        (exit, &totals["removed"], &totals["missing"]),
        (Some(0), &json!(20), &json!(0)),
        "{totals}"
    );
    for (limit, expected) in [("19", 1), ("20", 0), ("49%", 1), ("50%", 0)] {
        let (exit, _, stderr) = folder.run("diff", &["--overlay", &path, "--max-removed", limit, "-q"]);
        assert_eq!(exit, Some(expected), "{limit}: {stderr}");
        let is_said = stderr.starts_with("error: 20 replicas are removed, more than `--max-removed` allows (");
        assert_eq!(is_said, expected == 1, "{stderr}");
    }
}

/// A workload that must be on both of two clusters, and does not run yet or does.
fn spread(last: &[(&str, i64)]) -> Folder {
    let both = json!([{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]);
    let web = binding("web", 20).placement("spreadConstraints", both);
    let mut value = running(web, "Aggregated", last);
    if last.is_empty() {
        value["metadata"]["annotations"] = json!({});
    }
    Folder::with([cluster("c00", 10).into(), cluster("c01", 10).into(), value])
}

#[test]
fn what_is_lost_is_the_same_whether_it_runs_or_not() {
    for (last, waiting) in [(&[("c00", 10), ("c01", 10)][..], 0), (&[], 10)] {
        let folder = spread(last);
        for change in ["--drain", "--fail", "--without"] {
            let (exit, totals) = folder.totals("diff", &[change, "c00"]);
            let counts = ["lost", "waiting", "newlyMissing"].map(|key| totals[key].clone());
            let expected = [10, waiting, 10 + waiting].map(Value::from);
            assert_eq!((exit, counts), (Some(1), expected), "{change} {totals}");
        }
        let (_, text, _) = folder.run("diff", &["--without-each", "cluster", "-o", "json"]);
        let document: Value = serde_json::from_str(&text).expect("it is JSON");
        for row in document["failures"].as_array().expect("losses") {
            let counts = ["lost", "lostElsewhere", "missing"].map(|key| row[key].clone());
            assert_eq!(counts, [10, 0, 10 + waiting].map(Value::from), "{row}");
        }
        let (_, stdout, _) = folder.run("survive", &["--loss", "cluster"]);
        assert!(stdout.contains("cluster c00 (10 of 20 left)"), "{stdout}");
        let (_, stdout, _) = folder.run("survive", &["--loss", "cluster", "--as-failed"]);
        assert!(stdout.contains("cluster c00 (10 of 20 left)"), "{stdout}");
    }
}

/// A workload on the first of two clusters, and one whose quorum is invalid.
fn invalid() -> Folder {
    let broken = binding("broken", 2).annotation("divvy.io/quorum", "101%");
    Folder::with([
        cluster("c00", 30).into(),
        cluster("c01", 30).into(),
        running(binding("web", 20), "Aggregated", &[("c00", 20)]),
        running(broken, "Aggregated", &[("c01", 2)]),
    ])
}

#[test]
fn what_was_invalid_before_is_not_the_fault_of_a_change() {
    let folder = invalid();
    for (arguments, expected) in [
        (&["--drain", "c00"][..], 0),
        (&["--without", "c0*"], 1),
        (&["--drain", "c00", "--strict"], 2),
        // It loses its replicas like any other.
        (&["--without-each", "cluster"], 1),
        (&["--without-each", "cluster", "--strict"], 2),
        // Without changes, the question is what the input says.
        (&[], 2),
    ] {
        let (exit, stdout, stderr) = folder.run("diff", arguments);
        assert_eq!(exit, Some(expected), "{arguments:?}: {stdout}{stderr}");
    }
    let (_, _, stderr) = folder.run("diff", &["--drain", "c00", "-o", "name"]);
    assert!(
        stderr.starts_with("warning: ") && !stderr.contains("error: "),
        "{stderr}"
    );
    let (_, _, stderr) = folder.run("diff", &["--drain", "c00", "-q"]);
    assert_eq!(stderr, "");
    let (_, _, stderr) = folder.run("diff", &["--drain", "c00", "-q", "--strict"]);
    assert!(stderr.starts_with("error: "), "{stderr}");
    let (exit, totals) = folder.totals("diff", &["--drain", "c00"]);
    assert_eq!(
        (exit, &totals["errors"], &totals["newlyInError"]),
        (Some(0), &json!(1), &json!(0))
    );
    for (arguments, expected) in [(&[][..], 1), (&["--strict"], 2)] {
        let (exit, stdout, _) = folder.run("survive", arguments);
        assert_eq!(exit, Some(expected), "{stdout}");
    }
}

#[test]
fn a_binding_that_a_change_makes_invalid_is_its_fault() {
    let folder = Folder::with([
        cluster("c00", 30).into(),
        cluster("c01", 30).into(),
        running(binding("web", 20), "Aggregated", &[("c00", 20)]),
    ]);
    let broken = binding("web", 20).annotation("divvy.io/quorum", "101%");
    let path = folder.add("overlay.json", [running(broken, "Aggregated", &[("c00", 20)])]);
    let (exit, totals) = folder.totals("diff", &["--overlay", &path]);
    assert_eq!((exit, &totals["newlyInError"]), (Some(1), &json!(1)), "{totals}");
}

#[test]
fn schedule_says_what_exceeds_the_room_of_a_cluster() {
    let workload = |name: &str| {
        let binding = binding(name, 8).placement("replicaScheduling", scheduling("Aggregated"));
        Value::from(binding)
    };
    let folder = Folder::with([cluster("c00", 10).into(), workload("one"), workload("two")]);
    let (exit, totals) = folder.totals("schedule", &[]);
    assert_eq!(
        (exit, &totals["beyondCapacity"], &totals["missing"]),
        (Some(0), &json!(6), &json!(0))
    );
    let (_, stdout, _) = folder.run("schedule", &[]);
    let hint = "beyond capacity: each binding was decided on its own; with `--assume`, each counts the results before it as used\n";
    assert!(
        stdout.contains("; 6 replicas beyond capacity\n") && stdout.contains(hint),
        "{stdout}"
    );
    let (_, page, _) = folder.run("schedule", &["-o", "html"]);
    assert!(page.contains("6 replicas beyond capacity") && !page.contains("All well"));
    let (exit, totals) = folder.totals("schedule", &["--assume"]);
    assert_eq!(
        (exit, &totals["beyondCapacity"], &totals["missing"]),
        (Some(1), &json!(0), &json!(8))
    );
}

/// Two clusters with room, and a workload that runs on both.
fn two_clusters() -> Folder {
    Folder::with([
        cluster("c00", 30).into(),
        cluster("c01", 30).into(),
        running(binding("web", 20), "Aggregated", &[("c00", 10), ("c01", 10)]),
    ])
}

#[test]
fn a_cluster_that_an_overlay_drops_is_gone() {
    let folder = two_clusters();
    let before = folder.add("before.json", [cluster("c00", 30).into(), cluster("c01", 30).into()]);
    let after = folder.add("after.json", [cluster("c00", 30).into()]);
    let dropped = ["--overlay-from", &before, "--overlay", &after];
    let (exit, totals) = folder.totals("diff", &dropped);
    assert_eq!((exit, &totals["moved"]), (Some(0), &json!(10)), "{totals}");
    assert_eq!(totals, folder.totals("diff", &["--without", "c01"]).1);
    let (_, stdout, _) = folder.run("diff", &dropped);
    assert!(
        stdout.contains("deleted  Cluster c01\n") && stdout.contains("  gone\n"),
        "{stdout}"
    );
}

#[test]
fn the_status_of_a_cluster_counts_on_request_and_is_said_otherwise() {
    let folder = two_clusters();
    let overlay = folder.add("overlay.json", [cluster("c00", 300).into()]);
    let grown = ["--overlay", &overlay, "--replicas", "web=200"];
    let (exit, _, stderr) = folder.run("diff", &grown);
    assert_eq!(exit, Some(1), "{stderr}");
    let note = "its status differs from that of the input, which counts; `--overlay-status` takes this one";
    assert!(stderr.contains(note), "{stderr}");
    let (exit, stdout, stderr) = folder.run("diff", &[&grown[..], &["--overlay-status"]].concat());
    assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains("changed  Cluster c00\n"), "{stdout}");
}

#[test]
fn a_deleted_policy_that_governs_is_a_finding() {
    let claimed = |mut object: Value| {
        object["metadata"]["annotations"]["propagationpolicy.karmada.io/namespace"] = "default".into();
        object["metadata"]["annotations"]["propagationpolicy.karmada.io/name"] = "web".into();
        object
    };
    let policy = json!({
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
            "placement": {"replicaScheduling": scheduling("Aggregated")},
        },
    });
    let folder = Folder::with([
        cluster("c00", 30).into(),
        policy,
        claimed(running(binding("web", 20), "Aggregated", &[("c00", 20)])),
    ]);
    let delete = ["--delete", "propagationpolicy/default/web"];
    let (exit, stdout, stderr) = folder.run("diff", &delete);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(
        stdout.contains("nothing changes; 1 binding left without a policy\n"),
        "{stdout}"
    );
    let (exit, totals) = folder.totals("diff", &[&delete[..], &["--exit-code"]].concat());
    assert_eq!((exit, &totals["leftWithoutPolicy"]), (Some(1), &json!(1)), "{totals}");
    let (_, page, _) = folder.run("diff", &[&delete[..], &["-o", "html"]].concat());
    assert!(!page.contains("All well"));
    let (exit, ..) = folder.run("diff", &["--cordon", "c00", "--exit-code"]);
    assert_eq!(exit, Some(0));
}

#[test]
fn a_limit_has_the_percentage_of_the_table() {
    let on = |name: &str, replicas, cluster: &str| {
        binding(name, replicas).placement("clusterAffinity", json!({ "clusterNames": [cluster] }))
    };
    let folder = Folder::with([
        cluster("c00", 13).into(),
        cluster("c01", 30).into(),
        running(on("web", 20, "c01"), "Duplicated", &[("c01", 20)]),
    ]);
    let path = folder.add("overlay.json", [running(on("api", 14, "c00"), "Duplicated", &[])]);
    let (exit, stdout, stderr) = folder.run("diff", &["--overlay", &path, "--max-full", "107%"]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.contains("pods 0% → 107%"), "{stdout}");
    assert!(stderr.contains("c00 (pods over 107%)"), "{stderr}");
    let (_, _, stderr) = folder.run("diff", &["--overlay", &path, "--max-full", "100%"]);
    assert!(stderr.contains("c00 (pods 107%)"), "{stderr}");
}
