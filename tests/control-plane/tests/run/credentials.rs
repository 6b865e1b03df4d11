//! Credentials that are rotated while the scheduler runs, refused requests, and what probes, metrics and the log say meanwhile.
//!
//! The API server reads its tokens only when it starts. So a rotation is two users with the same rights: the fault proxy refuses the token
//! of the first one as the API server refuses an unknown token, and the kubeconfig is replaced by that of the second.

use std::path::Path;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::divvy::{Configuration, plugins};
use divvy_control_plane_tests::objects::{CLUSTER, PATIENCE};
use divvy_control_plane_tests::proxy::{Effect, Fault, FaultProxy, Frequency};
use divvy_control_plane_tests::users::{ADMIN, SCHEDULER, SCHEDULER_B, write_kubeconfig};
use divvy_control_plane_tests::{Divvy, Error, Scenario, templates};

use crate::{figure, folder, let_time_pass, three_clusters, until_answer, until_figure, until_printed, until_status};

/// The number of lines that the last scheduler has printed with all of these parts.
fn lines(scenario: &Scenario, parts: &[&str]) -> usize {
    let printed = scenario.schedulers.last().map(|divvy| divvy.process.printed());
    let printed = printed.unwrap_or_default();
    printed
        .lines()
        .filter(|line| parts.iter().all(|part| line.contains(part)))
        .count()
}

/// Waits until the scheduler has sent this number of requests that the first fault of the proxy hits.
async fn until_hit(proxy: &FaultProxy, number: usize) {
    let start = Instant::now();
    while proxy.hits()[0] < number {
        assert!(start.elapsed() < PATIENCE, "{:?}", proxy.hits());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

const REFUSED: &str = "the API server refuses to list or watch a kind; trying again";

/// Gives a kubeconfig the token of the second scheduler, as the kubelet replaces a mounted Secret: the file is complete at any moment.
fn rotate(kubeconfig: &Path, proxy: &FaultProxy) -> Result<(), Error> {
    let next = kubeconfig.with_extension("next");
    write_kubeconfig(&next, SCHEDULER_B, &proxy.url(), None)?;
    std::fs::rename(&next, kubeconfig).map_err(Error::file(kubeconfig))
}

#[tokio::test]
async fn a_rotated_token_is_taken_from_the_kubeconfig_and_until_then_the_scheduler_is_not_ready() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    let kubeconfig = proxy.kubeconfig(SCHEDULER, folder.path())?;
    scenario.start_scheduler_with(&Configuration::new(&kubeconfig))?;
    let_time_pass(&scenario, "before").await?;
    until_figure(&scenario, "divvy_leader", 1.0).await;

    proxy.add(Fault::new(Effect::unauthorized(), Frequency::Always, |incoming| {
        incoming.is_by(SCHEDULER)
    }));
    // Watches that begin again are refused before the lease has ended.
    let cause = "nothing is scheduled: Unauthorized";
    until_answer(&scenario, "/readyz", |status, unready| {
        status == 503 && unready.contains("[-]lease failed: ") && unready.contains(cause)
    })
    .await;
    assert_eq!(figure(&scenario, "divvy_leader"), Some(0.0));
    assert_eq!(
        figure(&scenario, "divvy_standby"),
        Some(0.0),
        "no other process holds the lease"
    );
    assert_eq!(lines(&scenario, &["ERROR", "no process holds the lease"]), 1);
    assert_eq!(
        lines(
            &scenario,
            &["a request about the lease failed; trying again", "Unauthorized"]
        ),
        1
    );

    rotate(&kubeconfig, &proxy)?;
    let_time_pass(&scenario, "after").await?;
    until_status(&scenario, "/readyz", 200).await;
    until_figure(&scenario, "divvy_leader", 1.0).await;
    assert_eq!(lines(&scenario, &["the credentials are renewed"]), 1);
    assert_eq!(lines(&scenario, &["the lease is held again; ready"]), 1);
    Ok(())
}

#[tokio::test]
async fn a_token_that_is_rotated_before_the_old_one_ends_is_not_noticed() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    let kubeconfig = proxy.kubeconfig(SCHEDULER, folder.path())?;
    scenario.start_scheduler_with(&Configuration::new(&kubeconfig))?;
    let_time_pass(&scenario, "before").await?;
    rotate(&kubeconfig, &proxy)?;
    let scheduler = scenario.schedulers.last().expect("it was started");
    until_printed(scheduler, "the credentials are renewed").await;
    // Watches go on with what they began with; everything that begins now has the new token.
    proxy.add(Fault::new(Effect::unauthorized(), Frequency::Always, |incoming| {
        incoming.is_by(SCHEDULER)
    }));
    let_time_pass(&scenario, "after").await?;
    assert_eq!(proxy.hits(), [0]);
    assert_eq!(lines(&scenario, &["the lease is lost"]), 0);
    Ok(())
}

#[tokio::test]
async fn a_refused_kind_is_logged_once_also_if_the_api_server_came_up_late() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    proxy.add(Fault::new(Effect::LoseRequest, Frequency::Always, |_| true));
    scenario.start_scheduler_behind(&proxy)?;
    until_hit(&proxy, 12).await;
    for (effect, code, hint) in [
        (Effect::not_served(), "could not find", "custom resource definitions"),
        (Effect::forbidden(), "is forbidden", "apply the ClusterRole"),
        (Effect::unauthorized(), "Unauthorized", "renew its token"),
    ] {
        proxy.clear();
        proxy.add(Fault::new(effect, Frequency::Always, |incoming| {
            incoming.lists(CLUSTER.plural)
        }));
        let of_clusters = [REFUSED, "kind=\"Cluster\"", code];
        // A server that was away may be starting, so the line comes after some seconds.
        let start = Instant::now();
        while lines(&scenario, &of_clusters) == 0 {
            assert!(start.elapsed() < PATIENCE, "{code} is not logged");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let hits = proxy.hits()[0];
        until_hit(&proxy, hits + 2).await;
        assert_eq!(lines(&scenario, &of_clusters), 1, "{code}");
        assert_eq!(
            lines(&scenario, &[REFUSED, "kind=\"Cluster\"", code, hint]),
            1,
            "{code}"
        );
    }
    assert_eq!(lines(&scenario, &[REFUSED]), 3, "no other kind is refused");
    assert_eq!(lines(&scenario, &["the API server does not answer"]), 1);
    assert_eq!(lines(&scenario, &["the API server answers again"]), 1);
    proxy.clear();
    until_status(&scenario, "/readyz", 200).await;
    assert_eq!(
        lines(&scenario, &["does not refuse the kind any more", "kind=\"Cluster\""]),
        1
    );
    let_time_pass(&scenario, "after").await
}

#[tokio::test]
async fn a_command_waits_for_an_overloaded_api_server() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    scenario.start_scheduler()?;
    let policy = templates::duplicated(serde_json::json!({}));
    scenario.deploy("web", 1, policy).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    proxy.add(Fault::new(
        Effect::too_many_requests(),
        Frequency::Next(2),
        |incoming| incoming.lists(CLUSTER.plural),
    ));
    let kubeconfig = proxy.kubeconfig(ADMIN, folder.path())?;
    let mut command = Divvy::command()?;
    command.args(["schedule", "--profile", "karmada", "--plugin-directory"]);
    command.arg(plugins()?).arg("--kubeconfig").arg(kubeconfig);
    // The loopback interface has no proxy, whatever the shell says.
    command
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("HTTP_PROXY", "http://127.0.0.1:9");
    // The proxy is served by this thread.
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.map_err(std::io::Error::other).and_then(|output| output);
    let output = output.map_err(Error::file("divvy"))?;
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(proxy.hits(), [2]);
    Ok(())
}
