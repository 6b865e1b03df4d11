//! `[profile.moves]` on a real API server: members become ready slowly and report late, and the scheduler is killed in the middle.
//!
//! `DIVVY_MOVES=500` makes 500 moves instead of those of CI.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use divvy_control_plane_tests::karmada::members::Members;
use divvy_control_plane_tests::objects::{BINDING, PATIENCE};
use divvy_control_plane_tests::scenario::result;
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario};
use serde_json::{Value, json};

use crate::folder;

/// Bindings that move at once, unless `DIVVY_MOVES` says otherwise.
const MOVES: usize = 60;
const CLUSTERS: usize = 50;
/// Replicas of each binding, and those that it may have beyond.
const REPLICAS: i64 = 8;
const SURGE: i64 = 4;
const PROFILE: &str = "[[profile]]\nname = 'moving'\nextends = 'karmada'\n[profile.moves]\npace = 'surge'\nmax-surge = '50%'\nmax-unavailable = 0\n\
                       federated-hpa = false\n[profile.moves.budgets]\nbindings = 100\n";

#[tokio::test]
async fn every_step_has_a_mark_and_none_is_repeated_although_the_scheduler_is_killed() -> Result<(), Error> {
    let moves = std::env::var("DIVVY_MOVES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(MOVES);
    let folder = folder()?;
    let clusters: Vec<Cluster> = (0..CLUSTERS).map(|number| Cluster::new(&cluster(number))).collect();
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    for number in 0..moves {
        let placement = placement(number, 0);
        scenario
            .bind(&templates::binding(&name(number), REPLICAS, placement))
            .await?;
    }
    scenario.start_scheduler_under("moving.toml", PROFILE)?;
    let mut members = Members::new(&scenario.karmada, 1);
    until(&mut members, moves, 0, |_, _| Ok(())).await?;
    for number in 0..moves {
        let patch = json!({"spec": {"placement": placement(number, 2)}});
        scenario
            .objects()
            .merge(BINDING, "default", &name(number), &patch)
            .await?;
    }
    // Killed when a third of the moves have ended, and once more after two thirds.
    let mut kills = vec![moves / 3, moves * 2 / 3];
    until(&mut members, moves, 2, |arrived, members| {
        for number in 0..moves {
            let ready = members.ready(&name(number));
            assert!(
                ready >= REPLICAS,
                "{}: {ready} of {REPLICAS} replicas are ready\n{}",
                name(number),
                history(&scenario, &name(number))?
            );
        }
        if kills.first().is_some_and(|count| arrived >= *count) {
            kills.remove(0);
            scenario.schedulers.clear();
            scenario.start_scheduler_under("moving.toml", PROFILE)?;
        }
        Ok(())
    })
    .await?;
    assert_eq!(kills, [0; 0], "the scheduler was killed twice");
    judge(&scenario, moves)
}

fn cluster(number: usize) -> String {
    format!("m{:02}", number % CLUSTERS)
}

fn name(number: usize) -> String {
    format!("web{number:03}")
}

fn name_of(binding: &Value) -> &str {
    binding["metadata"]["name"].as_str().unwrap_or_default()
}

/// Two clusters of a binding, which it has to itself for the most part.
fn wanted(number: usize, shift: usize) -> [String; 2] {
    [cluster(2 * number + shift), cluster(2 * number + shift + 1)]
}

fn placement(number: usize, shift: usize) -> Value {
    let [first, second] = wanted(number, shift);
    templates::divided_by_weight(&[(&first, 1), (&second, 3)])
}

/// Lets members work until every binding has the result that its placement asks for, and reports show all
/// replicas as ready.
async fn until(
    members: &mut Members,
    moves: usize,
    shift: usize,
    mut each: impl FnMut(usize, &Members) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut change = Instant::now();
    let mut last = BTreeMap::new();
    loop {
        let bindings = members.pass().await?;
        let results: BTreeMap<String, BTreeMap<String, i64>> = bindings
            .iter()
            .map(|binding| (name_of(binding).to_owned(), result(binding)))
            .collect();
        // What is reported counts, because nothing else is known: replicas that are not known to be ready go first.
        let reported: BTreeMap<&str, i64> = bindings.iter().map(reported).collect();
        let arrived = (0..moves).filter(|number| {
            let [first, second] = wanted(*number, shift);
            let expected = BTreeMap::from([(first, REPLICAS / 4), (second, REPLICAS * 3 / 4)]);
            let name = name(*number);
            results.get(&name) == Some(&expected) && reported.get(name.as_str()) == Some(&REPLICAS)
        });
        let arrived = arrived.count();
        if arrived == moves {
            return Ok(());
        }
        each(arrived, members)?;
        if results != last {
            (change, last) = (Instant::now(), results);
        }
        assert!(
            change.elapsed() < 2 * PATIENCE,
            "{arrived} of {moves} have arrived, and nothing changes: {last:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The name of a binding, and the ready replicas that its clusters report.
fn reported(binding: &Value) -> (&str, i64) {
    let states = binding["status"]["aggregatedStatus"].as_array().into_iter().flatten();
    let ready = states.filter_map(|state| state["status"]["readyReplicas"].as_i64());
    (name_of(binding), ready.sum())
}

/// The writes to a binding: its results, marks and reports.
fn history(scenario: &Scenario, binding: &str) -> Result<String, Error> {
    let mut lines = String::new();
    for write in scenario.control_plane.audit_log().writes()? {
        if write.name() == binding && write.object_ref.resource == BINDING.plural {
            let body = &write.request_object;
            let reported = body["status"]["aggregatedStatus"].as_array().into_iter().flatten();
            let reported: Vec<String> = reported
                .map(|entry| format!("{} {}", entry["clusterName"], entry["status"]["readyReplicas"]))
                .collect();
            lines += &format!(
                "{:?} {} {} {:?} {} {reported:?}\n",
                write.request_received_timestamp,
                write.user.username,
                write.response_status.code,
                result(body),
                body["metadata"]["annotations"]["divvy.io/move"],
            );
        }
    }
    Ok(lines)
}

/// Reads the audit log: each result after the first has a mark of its own generation, stays within the surge, and is written once.
fn judge(scenario: &Scenario, moves: usize) -> Result<(), Error> {
    let mut results: BTreeMap<String, BTreeSet<BTreeMap<String, i64>>> = BTreeMap::new();
    let mut steps = 0;
    for write in scenario.control_plane.audit_log().writes_by(SCHEDULER)? {
        let is_result = write.object_ref.resource == BINDING.plural
            && write.object_ref.subresource.is_empty()
            && write.request_object.pointer("/spec/clusters").is_some();
        if !is_result || !write.succeeded() {
            continue;
        }
        let binding = &write.response_object;
        let written = result(binding);
        let total: i64 = written.values().sum();
        let known = results.entry(write.name().to_owned()).or_default();
        let is_first = known.is_empty();
        assert!(
            known.insert(written.clone()),
            "{} has the result {written:?} twice",
            write.name()
        );
        if is_first {
            continue;
        }
        steps += 1;
        let mark = binding["metadata"]["annotations"]["divvy.io/move"].as_str();
        let mark: Value = serde_json::from_str(mark.unwrap_or_default()).unwrap_or_default();
        assert_eq!(
            mark["generation"],
            binding["metadata"]["generation"],
            "{}: {mark}",
            write.name()
        );
        let bounds = REPLICAS..=REPLICAS + SURGE;
        assert!(bounds.contains(&total), "{} has {written:?}", write.name());
    }
    assert_eq!(results.len(), moves);
    // Eight replicas need at least three steps with four beyond the total.
    assert!(steps >= 3 * moves, "{steps} steps of {moves} moves");
    eprintln!("{moves} moves in {steps} steps");
    Ok(())
}
