//! Quotas, webhooks, conflicts, lost answers, crashes: every binding ends scheduled, and is moved once.

use std::time::Duration;

use divvy_control_plane_tests::audit::Write;
use divvy_control_plane_tests::divvy::Configuration;
use divvy_control_plane_tests::judge::{self, Rules};
use divvy_control_plane_tests::objects::BINDING;
use divvy_control_plane_tests::proxy::{Effect, Fault, FaultProxy, Frequency};
use divvy_control_plane_tests::scenario::{is_scheduled, result};
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{ControlPlane, Error, Scenario, templates};
use divvy_karmada::api::Quantity;
use serde_json::{Value, json};

use crate::{folder, let_time_pass, own_writes, three_clusters};

#[tokio::test]
async fn a_quota_is_reported_and_tried_again() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    proxy.add(Fault::new(Effect::quota_exceeded(), Frequency::Always, |incoming| {
        incoming.patches(BINDING.plural) && incoming.path.contains("/web-deployment")
    }));
    scenario.start_scheduler_behind(&proxy)?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    let refused = scenario.wait_for_reason("web", "QuotaExceeded").await?;
    assert!(result(&refused).is_empty());
    let_time_pass(&scenario, "other").await?;
    proxy.clear();
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    Ok(())
}

#[tokio::test]
async fn writes_survive_refusals_and_lost_answers() -> Result<(), Error> {
    let effects = Effect::passing(Duration::from_secs(2));
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    scenario.start_scheduler_behind(&proxy)?;
    let_time_pass(&scenario, "first").await?;
    for (number, effect) in effects.into_iter().enumerate() {
        for is_status in [false, true] {
            proxy.clear();
            let name = format!("web{number}{}", if is_status { "-status" } else { "" });
            let path = format!("/{name}-deployment");
            proxy.add(Fault::new(effect.clone(), Frequency::Next(2), move |incoming| {
                let is_patch = if is_status {
                    incoming.patches_status(BINDING.plural)
                } else {
                    incoming.patches(BINDING.plural)
                };
                is_patch && incoming.path.contains(&path)
            }));
            scenario
                .deploy(&name, 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
                .await?;
            let waited = scenario.wait_for_result(&name, &[("a", 1), ("b", 2)]).await;
            waited.inspect_err(|_| eprintln!("under {effect:?}, is_status: {is_status}"))?;
            assert!(proxy.hits()[0] > 0, "{effect:?} hit nothing");
            // A write whose answer was lost is read before it is repeated.
            assert_eq!(own_writes(&scenario, &name)?.0, 1, "{effect:?}, is_status: {is_status}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn broken_and_expired_watches_are_resumed() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    proxy.add(Fault::new(Effect::Expire, Frequency::OneIn(3), |incoming| {
        incoming.is_watch()
    }));
    proxy.add(Fault::new(
        Effect::BreakOff(Duration::from_millis(700)),
        Frequency::Always,
        |incoming| incoming.is_watch(),
    ));
    scenario.start_scheduler_behind(&proxy)?;
    for number in 0..8 {
        let name = format!("web{number}");
        scenario
            .deploy(&name, 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
            .await?;
        scenario.wait_for_result(&name, &[("a", 1), ("b", 2)]).await?;
        assert_eq!(own_writes(&scenario, &name)?, (1, 1));
    }
    assert!(proxy.hits().iter().all(|hits| *hits > 0), "{:?}", proxy.hits());
    Ok(())
}

#[tokio::test]
async fn what_a_crash_left_half_written_is_completed() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, 1).await?;
    // The result is written, the status never is.
    proxy.add(Fault::new(Effect::Hang, Frequency::Always, |incoming| {
        incoming.patches_status(BINDING.plural)
    }));
    scenario.start_scheduler_behind(&proxy)?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    let half = scenario
        .wait("web", "half written", |binding| !result(binding).is_empty())
        .await?;
    assert_eq!(half["status"], Value::Null);
    scenario.schedulers.clear();
    scenario.start_scheduler()?;
    let binding = scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    assert_eq!(binding["metadata"]["generation"], half["metadata"]["generation"]);
    assert_eq!(own_writes(&scenario, "web")?.0, 1);
    Ok(())
}

/// Fails if the log breaks a rule. Every cluster has `cpu` CPUs.
fn judge(control_plane: &ControlPlane, cpu: u32) -> Result<(), Error> {
    let rules = Rules {
        cpu: ["a", "b", "c"]
            .into_iter()
            .map(|cluster| (cluster.to_owned(), Quantity::from_units(cpu.into())))
            .collect(),
        lease: None,
    };
    let found = judge::violations(&control_plane.audit_log().writes()?, &rules);
    assert!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}

#[tokio::test]
async fn under_random_faults_every_binding_is_scheduled_once() -> Result<(), Error> {
    let seed = std::process::id().into();
    eprintln!("seed {seed}");
    let folder = folder()?;
    let clusters = ["a", "b", "c"].map(|name| Cluster::new(name).cpu(60));
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let proxy = FaultProxy::start(&scenario.control_plane, seed).await?;
    let write = |effect: Effect| Fault::new(effect, Frequency::OneIn(12), |incoming| incoming.is_write());
    for effect in Effect::passing(Duration::from_millis(300)) {
        proxy.add(write(effect));
    }
    proxy.add(Fault::new(
        Effect::BreakOff(Duration::from_secs(2)),
        Frequency::OneIn(2),
        |incoming| incoming.is_watch(),
    ));
    let configuration = Configuration::new(&proxy.kubeconfig(SCHEDULER, folder.path())?);
    scenario.start_scheduler_with(&configuration.holding().with_rare_reports())?;
    for number in 0..40 {
        scenario
            .deploy(&format!("web{number}"), 4, templates::divided_by_room(json!({})))
            .await?;
    }
    for number in 0..40 {
        let name = format!("web{number}");
        let binding = scenario.wait(&name, "scheduled", is_scheduled).await?;
        assert_eq!(result(&binding).values().sum::<i64>(), 4);
    }
    judge(&scenario.control_plane, 60)
}

#[tokio::test]
async fn killed_servers_and_schedulers_lose_nothing() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = ["a", "b", "c"].map(|name| Cluster::new(name).cpu(60));
    let mut scenario = Scenario::with_own_servers(folder.path(), &clusters).await?;
    scenario.start_holding_scheduler()?;
    for number in 0..30 {
        scenario
            .deploy(&format!("web{number}"), 4, templates::divided_by_room(json!({})))
            .await?;
        match number {
            8 => {
                scenario.schedulers.clear();
                scenario.start_holding_scheduler()?;
            }
            16 => {
                scenario.control_plane.kill_api_server();
                scenario.control_plane.start_api_server().await?;
            }
            24 => {
                scenario.control_plane.kill_etcd();
                scenario.control_plane.start_etcd()?;
                scenario.control_plane.wait_until_ready().await?;
            }
            _ => {}
        }
    }
    for number in 0..30 {
        let name = format!("web{number}");
        let binding = scenario.wait(&name, "scheduled", is_scheduled).await?;
        assert_eq!(result(&binding).values().sum::<i64>(), 4);
    }
    judge(&scenario.control_plane, 60)
}

/// The API server is killed while bindings wait, and comes back after a while. It then refuses everything until it has loaded its roles.
#[tokio::test]
async fn an_outage_is_a_line_at_its_start_and_one_at_its_end() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::with_own_servers(folder.path(), &three_clusters()).await?;
    scenario.start_scheduler()?;
    scenario
        .deploy("before", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_until_scheduled("before").await?;
    let printed = |scenario: &Scenario<ControlPlane>| {
        scenario
            .schedulers
            .last()
            .map(|divvy| divvy.process.printed())
            .unwrap_or_default()
    };
    let before = printed(&scenario).lines().count();
    scenario.control_plane.kill_api_server();
    // The outage itself: long enough for several attempts of each request.
    tokio::time::sleep(Duration::from_secs(10)).await;
    scenario.control_plane.start_api_server().await?;
    for number in 0..20 {
        let name = format!("after{number}");
        scenario
            .deploy(&name, 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
            .await?;
    }
    for number in 0..20 {
        scenario.wait_until_scheduled(&format!("after{number}")).await?;
    }
    let log = printed(&scenario);
    let lines: Vec<&str> = log.lines().skip(before).collect();
    let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(count("the API server does not answer"), 1, "{lines:#?}");
    assert_eq!(count("the API server answers again"), 1, "{lines:#?}");
    assert_eq!(count("refuses the result"), 0, "{lines:#?}");
    // The lease is lost and won again, and a watch or two of a starting server fail once more. Requests about the lease fail for one or two
    // reasons, each of which is a line. What is said at a start, such as the plugins that are loaded, is not a complaint.
    let is_complaint = |line: &&&str| line.contains(" WARN ") || line.contains(" ERROR ");
    let is_about_lease = |line: &&&str| line.contains("a request about the lease failed");
    let complaints: Vec<&&str> = lines
        .iter()
        .filter(is_complaint)
        .filter(|line| !is_about_lease(line))
        .collect();
    assert!((1..8).contains(&complaints.len()), "{lines:#?}");
    let refused = scenario.control_plane.audit_log().writes()?;
    let is_error = |write: &Write| write.request_object.to_string().contains("SchedulerError");
    assert_eq!(refused.iter().filter(|write| is_error(write)).count(), 0);
    Ok(())
}
