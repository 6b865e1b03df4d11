//! Accurate estimators of a live scheduler: up, slow, dead, and back, each found by a Service in Karmada's API.

// The estimators of the client's own tests, which also need what is not used here.
#[allow(dead_code, reason = "shared with the client's own tests, which use all of it")]
#[path = "../../../../host/live/estimator/tests/estimators/server.rs"]
mod server;

use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::{PATIENCE, SERVICE};
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::json;
use server::{Behaviour, Estimator};

use crate::{figure, folder, three_clusters};

/// Time for an estimator's answer: short enough for a test, long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_millis(800);

/// Makes the Service by which a cluster's estimator is found.
async fn publish(scenario: &Scenario, cluster: &str, port: u16) -> Result<(), Error> {
    let service = json!({
        "metadata": {"name": format!("karmada-scheduler-estimator-{cluster}"), "namespace": "karmada-system"},
        "spec": {
            "type": "ExternalName",
            "externalName": "127.0.0.1",
            "ports": [{"port": 10352, "targetPort": port}],
        },
    });
    scenario.objects().create(SERVICE, &service).await?;
    Ok(())
}

/// Starts a scheduler that asks estimators.
fn start(scenario: &mut Scenario, further: &[&str]) -> Result<(), Error> {
    let mut configuration = scenario.configuration(SCHEDULER).holding();
    configuration.further = vec![
        "--estimators".to_owned(),
        format!("--estimator-timeout={}ms", TIMEOUT.as_millis()),
    ];
    configuration
        .further
        .extend(further.iter().map(|one| (*one).to_owned()));
    scenario.start_scheduler_with(&configuration)
}

/// Deploys pods that request this number of CPUs each, divided by room over all clusters.
async fn deploy(scenario: &Scenario, name: &str, replicas: u32, cpu: &str) -> Result<(), Error> {
    let placement = templates::divided_by_room(json!({}));
    let policy = templates::policy("default", name, ("apps/v1", "Deployment", name), placement);
    let mut workload = templates::deployment("default", name, replicas);
    workload["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu.into();
    scenario.deploy_under(&policy, &workload).await
}

/// Deploys one workload after another, for each of which the estimators are asked, until a cluster's breaker is in a
/// state.
async fn until_breaker(scenario: &Scenario, cluster: &str, state: f64) -> Result<(), Error> {
    let series = format!("divvy_estimator_breaker{{cluster=\"{cluster}\"}}");
    let start = Instant::now();
    let mut number = 0;
    while figure(scenario, &series) != Some(state) {
        assert!(
            start.elapsed() < PATIENCE,
            "the breaker is {:?}",
            figure(scenario, &series)
        );
        number += 1;
        deploy(scenario, &format!("probe-{state}-{number}"), 1, "1").await?;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    Ok(())
}

#[tokio::test]
async fn an_estimator_that_fails_costs_its_own_cluster_the_estimate() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let [a, b, c] = [
        Estimator::start(Behaviour::Count(2)).await,
        Estimator::start(Behaviour::Count(4)).await,
        Estimator::start(Behaviour::Count(0)).await,
    ];
    for (cluster, estimator) in [("a", &a), ("b", &b), ("c", &c)] {
        publish(&scenario, cluster, estimator.port).await?;
    }
    start(&mut scenario, &[])?;

    // Up: each cluster gets what its estimator says, though the clusters report room for a hundred.
    deploy(&scenario, "up", 6, "1").await?;
    scenario.wait_for_result("up", &[("a", 2), ("b", 4)]).await?;
    assert_eq!(figure(&scenario, "divvy_estimator_breaker{cluster=\"a\"}"), Some(0.0));

    // Slow, and never asked for these requirements before: the general estimate of that cluster alone.
    a.behave(Behaviour::Slow(Duration::from_secs(60), 2));
    b.behave(Behaviour::Count(0));
    deploy(&scenario, "slow", 6, "2").await?;
    scenario.wait_for_result("slow", &[("a", 6)]).await?;

    // Dead: nothing listens. Once its breaker is open, it is not waited for.
    let port = a.port;
    a.stop().await;
    until_breaker(&scenario, "a", 2.0).await?;
    b.behave(Behaviour::Count(5));
    deploy(&scenario, "dead", 8, "3").await?;
    let binding = scenario.wait_until_scheduled("dead").await?;
    let result = divvy_control_plane_tests::scenario::result(&binding);
    assert_eq!(result.values().sum::<i64>(), 8, "{result:?}");
    assert!(
        result.contains_key("a") && result["b"] <= 5 && !result.contains_key("c"),
        "{result:?}"
    );

    // Back at the same address: after the breaker's pause it is asked again.
    let a = Estimator::start_at(port, Behaviour::Count(3), None).await;
    until_breaker(&scenario, "a", 0.0).await?;
    b.behave(Behaviour::Count(1));
    deploy(&scenario, "back", 4, "4").await?;
    scenario.wait_for_result("back", &[("a", 3), ("b", 1)]).await?;
    assert!(!a.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_last_known_estimate_lacks_what_was_taken_since() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let [a, b, c] = [
        Estimator::start(Behaviour::Count(6)).await,
        Estimator::start(Behaviour::Count(0)).await,
        Estimator::start(Behaviour::Count(0)).await,
    ];
    for (cluster, estimator) in [("a", &a), ("b", &b), ("c", &c)] {
        publish(&scenario, cluster, estimator.port).await?;
    }
    start(&mut scenario, &["--estimator-age=10m"])?;
    deploy(&scenario, "first", 4, "1").await?;
    scenario.wait_for_result("first", &[("a", 4)]).await?;
    a.behave(Behaviour::Refuse(tonic::Code::Unavailable));
    // Four of the six have been taken since.
    deploy(&scenario, "too-many", 3, "1").await?;
    scenario.wait_for_reason("too-many", "Unschedulable").await?;
    deploy(&scenario, "enough", 2, "1").await?;
    scenario.wait_for_result("enough", &[("a", 2)]).await?;
    Ok(())
}

#[tokio::test]
async fn the_estimators_of_clusters_that_are_gone_are_forgotten() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    start(&mut scenario, &[])?;
    deploy(&scenario, "web", 3, "1").await?;
    scenario.wait_until_scheduled("web").await?;
    let state = |cluster: &str| figure(&scenario, &format!("divvy_estimator_breaker{{cluster=\"{cluster}\"}}"));
    assert!(state("b").is_some() && state("c").is_some());
    // In two steps, as Karmada deletes a cluster.
    let finalizers = |list: serde_json::Value| json!({"metadata": {"finalizers": list}});
    let cluster = divvy_control_plane_tests::objects::CLUSTER;
    scenario
        .objects()
        .merge(cluster, "", "c", &finalizers(json!(["karmada.io/cluster-controller"])))
        .await?;
    scenario.objects().delete(cluster, "", "c").await?;
    scenario
        .objects()
        .merge(cluster, "", "c", &finalizers(json!(null)))
        .await?;
    let start = Instant::now();
    while state("c").is_some() {
        assert!(
            start.elapsed() < PATIENCE,
            "the estimator of a cluster that is gone is still shown"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(state("b").is_some());
    Ok(())
}

#[tokio::test]
async fn requests_list_workloads_that_do_not_run_yet_if_requested() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &[Cluster::new("a")]).await?;
    let a = Estimator::start(Behaviour::Count(50)).await;
    publish(&scenario, "a", a.port).await?;
    start(&mut scenario, &["--estimator-assumed-workloads"])?;
    deploy(&scenario, "first", 4, "1").await?;
    scenario.wait_for_result("first", &[("a", 4)]).await?;
    assert_eq!(a.assumed(), []);
    deploy(&scenario, "second", 2, "1").await?;
    scenario.wait_for_result("second", &[("a", 2)]).await?;
    let assumed = a.assumed();
    let [workload] = assumed.as_slice() else {
        panic!("{assumed:?}")
    };
    assert_eq!(workload.namespace, "default");
    let components: Vec<(&str, i32)> = workload
        .components
        .iter()
        .map(|one| (one.name.as_str(), one.replicas))
        .collect();
    assert_eq!(components, [("first", 4)]);
    Ok(())
}
