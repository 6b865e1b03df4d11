//! `divvy run` against a real API server: each test starts both, and Karmada's other controllers if it needs them.
//!
//! No test waits for a fixed time to see something happen. To see that something does *not* happen, a test lets the scheduler
//! do other work that it can only do afterwards, and then looks.

mod capacity;
mod clusters;
mod credentials;
mod estimators;
mod evictions;
mod faults;
mod grown;
mod isolated;
mod jobs;
mod live;
mod moves;
mod operating;
mod ownership;
mod placing;
mod planned;
mod plugins;
mod prices;
mod quorum;
mod recorded;
mod reload;
mod removals;
mod replicas_of_scheduler;
mod rounds;
mod soak;
mod status;
mod tracing;
mod watchdog;
mod windows;

use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::{BINDING, CLUSTER_BINDING, PATIENCE};
use divvy_control_plane_tests::scenario::binding_name;
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::{SCHEDULER, User};
use divvy_control_plane_tests::{Divvy, Error, Scenario};
use serde_json::json;
use tempfile::TempDir;

/// A folder for a control plane. Bind it before the scenario, so that it is removed after the processes have ended.
fn folder() -> Result<TempDir, Error> {
    tempfile::tempdir().map_err(Error::file("a temporary folder"))
}

/// A control plane with these clusters and a scheduler. The folder is removed last.
async fn scheduling(clusters: &[Cluster]) -> Result<(TempDir, Scenario), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), clusters).await?;
    scenario.start_scheduler()?;
    Ok((folder, scenario))
}

/// Three clusters in two regions.
fn three_clusters() -> [Cluster; 3] {
    [
        Cluster::new("a").region("north").label("tier", "gold"),
        Cluster::new("b").region("north").label("tier", "gold"),
        Cluster::new("c").region("south").label("tier", "silver"),
    ]
}

/// Deploys a workload that no cluster fits, and waits until its binding says so.
async fn deploy_nowhere(scenario: &Scenario) -> Result<(), Error> {
    let nowhere = templates::duplicated(json!({"clusterNames": ["nowhere"]}));
    scenario.deploy("nowhere", 2, nowhere).await?;
    scenario.wait_for_reason("nowhere", "NoClusterFit").await?;
    Ok(())
}

/// Has the scheduler place a new binding, and waits for it. Whatever was due before has been decided then, because bindings of
/// equal priority are decided in the order of their arrival.
async fn let_time_pass(scenario: &Scenario, name: &str) -> Result<(), Error> {
    let everywhere = templates::duplicated(json!({}));
    scenario.deploy(name, 1, everywhere).await?;
    scenario.wait_until_scheduled(name).await?;
    Ok(())
}

/// The successful writes of a user to the binding of a Deployment: to the object and to its status.
fn writes(scenario: &Scenario, user: User, name: &str) -> Result<(usize, usize), Error> {
    let writes = scenario.control_plane.audit_log().writes_by(user)?;
    let of_binding = writes.iter().filter(|write| {
        let resource = write.object_ref.resource.as_str();
        [BINDING.plural, CLUSTER_BINDING.plural].contains(&resource)
            && write.name() == binding_name(name)
            && write.succeeded()
    });
    Ok(of_binding.fold((0, 0), |(object, status), write| {
        if write.object_ref.subresource == "status" {
            (object, status + 1)
        } else {
            (object + 1, status)
        }
    }))
}

/// The writes of the scheduler to the binding of a Deployment.
fn own_writes(scenario: &Scenario, name: &str) -> Result<(usize, usize), Error> {
    writes(scenario, SCHEDULER, name)
}

/// The answer of the last scheduler that was started to a GET of a path: status and body.
fn ask(scenario: &Scenario, path: &str) -> (u16, String) {
    let scheduler = scenario.schedulers.last().expect("a scheduler was started");
    ask_scheduler(scheduler, path)
}

/// The answer of a scheduler to a GET of a path: status and body; 0 and the cause if there is none.
fn ask_scheduler(scheduler: &Divvy, path: &str) -> (u16, String) {
    let address = scheduler.address.parse().expect("an address");
    match divvy_client::request::get(address, path, Duration::from_secs(10)) {
        Ok(response) => (response.status, String::from_utf8_lossy(&response.body).into_owned()),
        Err(error) => (0, error.to_string()),
    }
}

/// Waits until the scheduler's answer to a path is as expected, and returns its body.
async fn until_answer(scenario: &Scenario, path: &str, is_expected: impl Fn(u16, &str) -> bool) -> String {
    let start = Instant::now();
    loop {
        let (status, body) = ask(scenario, path);
        if is_expected(status, &body) {
            return body;
        }
        assert!(start.elapsed() < PATIENCE, "{path}: {status} {body}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the scheduler answers a path with a status, and returns the body.
async fn until_status(scenario: &Scenario, path: &str, status: u16) -> String {
    until_answer(scenario, path, |actual, _| actual == status).await
}

/// Waits until a series has a figure. Some are brought up to date once per second.
async fn until_figure(scenario: &Scenario, series: &str, expected: f64) {
    let start = Instant::now();
    while figure(scenario, series) != Some(expected) {
        let log = scenario.schedulers.last().map(|divvy| divvy.process.printed());
        assert!(
            start.elapsed() < PATIENCE,
            "{series} is {:?}, expected {expected}\n{}",
            figure(scenario, series),
            log.unwrap_or_default()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until a scheduler has printed a text.
async fn until_printed(scheduler: &Divvy, text: &str) {
    let start = Instant::now();
    while !scheduler.process.printed().contains(text) {
        assert!(
            start.elapsed() < PATIENCE,
            "`{text}` is not in\n{}",
            scheduler.process.printed()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The figure of one series, such as `divvy_leader` or `divvy_reloads_total{result="applied"}`, with its labels as they
/// are exposed; `None` if it is not exposed.
fn figure(scenario: &Scenario, series: &str) -> Option<f64> {
    let (_, text) = ask(scenario, "/metrics");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(series));
    lines.find_map(|rest| rest.strip_prefix(' ')?.parse().ok())
}
