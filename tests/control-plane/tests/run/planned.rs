//! A plan that a person carries out: `divvy rebalance --apply`, `--status` and `--abort` beside a scheduler that is killed on the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::karmada::members::Members;
use divvy_control_plane_tests::objects::{BINDING, PATIENCE};
use divvy_control_plane_tests::scenario::result;
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::ADMIN;
use divvy_control_plane_tests::{Divvy, Error, Scenario};
use serde_json::{Value, json};

use crate::folder;

const BINDINGS: usize = 12;
const REPLICAS: i64 = 8;
const CLUSTERS: [&str; 4] = ["m0", "m1", "m2", "m3"];
const PROFILE: &str = "[[profile]]\nname = 'moving'\nextends = 'karmada'\n[profile.moves]\npace = 'surge'\nmax-surge = '50%'\nmax-unavailable = 0\n\
                       federated-hpa = false\n[profile.moves.budgets]\nbindings = 6\n";

fn name(number: usize) -> String {
    format!("web{number:02}")
}

/// Runs `divvy rebalance` with an option that names the plan. Returns the exit code and what it printed.
pub(super) fn rebalance(
    scenario: &Scenario,
    option: &str,
    plan: &Path,
) -> Result<(Option<i32>, String, String), Error> {
    let output = Divvy::command()?
        .args(["rebalance", option])
        .arg(plan)
        .arg("--kubeconfig")
        .arg(scenario.control_plane.kubeconfig(ADMIN))
        .output()
        .map_err(Error::file("divvy"))?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status.code(), text(output.stdout), text(output.stderr)))
}

/// A plan in the form of `divvy rebalance -o json`: every binding moves its replicas from `m0` and `m1` to `m2` and `m3`.
async fn plan(scenario: &Scenario, folder: &Path) -> Result<std::path::PathBuf, Error> {
    let mut moves = Vec::new();
    for number in 0..BINDINGS {
        let binding = scenario.objects().get(BINDING, "default", &name(number)).await?;
        let present = result(&binding);
        let count = |cluster: &str| present.get(cluster).copied().unwrap_or(0);
        moves.push(json!({
            "binding": format!("default/{}", name(number)),
            "kind": "ResourceBinding",
            "generation": binding["metadata"]["generation"],
            "clusters": [
                {"name": "m0", "before": count("m0"), "after": 0},
                {"name": "m1", "before": count("m1"), "after": 0},
                {"name": "m2", "before": 0, "after": 3},
                {"name": "m3", "before": 0, "after": 5},
            ],
        }));
    }
    let path = folder.join("plan.json");
    let text = json!({"format": 1, "waiting": [], "moves": moves}).to_string();
    std::fs::write(&path, text).map_err(Error::file(&path))?;
    Ok(path)
}

/// Bindings that all run in `m0` and `m1`.
async fn running(folder: &Path) -> Result<(Scenario, Members), Error> {
    let clusters = CLUSTERS.map(Cluster::new);
    let mut scenario = Scenario::new(folder, &clusters).await?;
    for number in 0..BINDINGS {
        // Any cluster may be used, and only two have a weight.
        let weights = templates::divided_by_weight(&[("m0", 1), ("m1", 1)]);
        let placement = json!({"replicaScheduling": weights["replicaScheduling"]});
        scenario
            .bind(&templates::binding(&name(number), REPLICAS, placement))
            .await?;
    }
    scenario.start_scheduler_under("moving.toml", PROFILE)?;
    let mut members = Members::new(&scenario.karmada, 1);
    let expected = BTreeMap::from([("m0".to_owned(), 4), ("m1".to_owned(), 4)]);
    // What is reported counts: replicas that are not known to be ready go first.
    until(&mut members, |bindings, _| {
        bindings
            .iter()
            .all(|binding| result(binding) == expected && reported(binding) == REPLICAS)
    })
    .await?;
    Ok((scenario, members))
}

/// Lets members work until something holds.
pub(super) async fn until(
    members: &mut Members,
    mut holds: impl FnMut(&[Value], &Members) -> bool,
) -> Result<(), Error> {
    let mut change = Instant::now();
    let mut last = Vec::new();
    loop {
        let bindings = members.pass().await?;
        if holds(&bindings, members) {
            return Ok(());
        }
        let results: Vec<BTreeMap<String, i64>> = bindings.iter().map(result).collect();
        if results != last {
            (change, last) = (Instant::now(), results);
        }
        assert!(change.elapsed() < 4 * PATIENCE, "nothing changes: {last:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The ready replicas that the clusters of a binding report.
pub(super) fn reported(binding: &Value) -> i64 {
    let states = binding["status"]["aggregatedStatus"].as_array().into_iter().flatten();
    states
        .filter_map(|state| state["status"]["readyReplicas"].as_i64())
        .sum()
}

pub(super) fn is_planned(binding: &Value) -> bool {
    binding["metadata"]["annotations"]["divvy.io/planned-target"].is_string()
}

#[tokio::test]
async fn a_plan_is_carried_out_in_steps_although_the_scheduler_is_killed() -> Result<(), Error> {
    let folder = folder()?;
    let (mut scenario, mut members) = running(folder.path()).await?;
    let plan = plan(&scenario, folder.path()).await?;

    // What has changed since is left out, and too many are refused.
    let (code, stdout, _) = rebalance(&scenario, "--status", &plan)?;
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains(&format!("{BINDINGS}  not in the plan")), "{stdout}");
    let (code, stdout, stderr) = rebalance(&scenario, "--apply", &plan)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");

    let expected = BTreeMap::from([("m2".to_owned(), 3), ("m3".to_owned(), 5)]);
    let mut kills = vec![BINDINGS / 3, BINDINGS * 2 / 3];
    let mut failure = None;
    until(&mut members, |bindings, members| {
        for number in 0..BINDINGS {
            let ready = members.ready(&name(number));
            assert!(ready >= REPLICAS, "{}: {ready} of {REPLICAS} are ready", name(number));
        }
        let arrived = bindings.iter().filter(|binding| result(binding) == expected).count();
        if kills.first().is_some_and(|count| arrived >= *count) {
            kills.remove(0);
            scenario.schedulers.clear();
            if let Err(error) = scenario.start_scheduler_under("moving.toml", PROFILE) {
                failure = Some(error);
                return true;
            }
        }
        arrived == BINDINGS && !bindings.iter().any(is_planned)
    })
    .await?;
    if let Some(error) = failure {
        return Err(error);
    }
    assert_eq!(kills, [0; 0], "the scheduler was killed twice");
    let (code, stdout, stderr) = rebalance(&scenario, "--status", &plan)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains(&format!("{BINDINGS}  at their target")), "{stdout}");
    // A second time, there is nothing to do.
    let (code, stdout, stderr) = rebalance(&scenario, "--apply", &plan)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let planned = scenario.objects().get(BINDING, "default", &name(0)).await?;
    assert!(!is_planned(&planned), "{planned}");
    Ok(())
}

#[tokio::test]
async fn a_plan_is_given_up_or_refused() -> Result<(), Error> {
    let folder = folder()?;
    let (mut scenario, mut members) = running(folder.path()).await?;
    let plan = plan(&scenario, folder.path()).await?;

    // Nobody follows the plan, so it has not begun when it is given up.
    scenario.schedulers.clear();
    let (code, stdout, stderr) = rebalance(&scenario, "--apply", &plan)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains(&format!("{BINDINGS}  waiting to begin")), "{stdout}");
    let (code, stdout, stderr) = rebalance(&scenario, "--abort", &plan)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.contains(&format!("{BINDINGS}  not in the plan")), "{stdout}");

    // On its way, each goes back to where it was.
    let (code, stdout, _) = rebalance(&scenario, "--apply", &plan)?;
    assert_eq!(code, Some(0), "{stdout}");
    scenario.start_scheduler_under("moving.toml", PROFILE)?;
    until(&mut members, |bindings, _| {
        bindings.iter().any(|binding| result(binding).contains_key("m2"))
    })
    .await?;
    let (code, stdout, stderr) = rebalance(&scenario, "--abort", &plan)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let (before, after) = (
        BTreeMap::from([("m0".to_owned(), 4), ("m1".to_owned(), 4)]),
        BTreeMap::from([("m2".to_owned(), 3), ("m3".to_owned(), 5)]),
    );
    until(&mut members, |bindings, members| {
        for number in 0..BINDINGS {
            let ready = members.ready(&name(number));
            assert!(ready >= REPLICAS, "{}: {ready} of {REPLICAS} are ready", name(number));
        }
        bindings.iter().all(|binding| {
            let present = result(binding);
            !is_planned(binding) && (present == before || present == after)
        })
    })
    .await?;
    let bindings = members.pass().await?;
    let back = bindings.iter().filter(|binding| result(binding) == before).count();
    assert!(back > 0, "none went back");

    // More than a tenth has changed since the plan was made.
    for number in 0..3 {
        let change = json!({"spec": {"replicas": REPLICAS + 1}});
        scenario
            .objects()
            .merge(BINDING, "default", &name(number), &change)
            .await?;
    }
    let (code, stdout, stderr) = rebalance(&scenario, "--apply", &plan)?;
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(
        stderr.contains("of the plan's 12 bindings have changed since it was made, more than 10%")
            && stderr.contains("hint: make the plan again"),
        "{stderr}"
    );
    Ok(())
}
