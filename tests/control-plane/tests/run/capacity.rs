//! Capacity counts once: scenes from a running Karmada, each decided like karmada-scheduler, with and without held capacity.

use divvy_control_plane_tests::objects::CLUSTER;
use divvy_control_plane_tests::scenario::{condition, result};
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario, templates};
use divvy_karmada::api::Timestamp;
use serde_json::{Value, json};

use crate::folder;

/// Built-in profiles: one holds capacity, the other does not.
const PROFILES: [&str; 2] = ["default", "karmada"];

/// A scheduler that gives up what it holds only after longer than the test: whatever is scheduled fits by reports.
async fn start(folder: &std::path::Path, profile: &str, clusters: &[Cluster]) -> Result<Scenario, Error> {
    let mut scenario = Scenario::new(folder, clusters).await?;
    let mut configuration = scenario.configuration(SCHEDULER).with_rare_reports();
    configuration.profile = profile.into();
    scenario.start_scheduler_with(&configuration)?;
    Ok(scenario)
}

/// Karmada's default models, by which a cluster is estimated: each CPU that no pod is bound to is a node of its own.
async fn report_models(scenario: &Scenario, cluster: &str, free: u32) -> Result<(), Error> {
    let range = |min: &str, max: &str| {
        let max_memory = if max == "1" { "1Gi" } else { max };
        let min_memory = if min == "1" { "1Gi" } else { min };
        json!([{"name": "cpu", "min": min, "max": max}, {"name": "memory", "min": min_memory, "max": max_memory}])
    };
    let specification = json!({"spec": {"resourceModels": [
        {"grade": 0, "ranges": range("0", "1")},
        {"grade": 1, "ranges": range("1", "9223372036854775807")},
    ]}});
    scenario.objects().merge(CLUSTER, "", cluster, &specification).await?;
    let status = json!({"status": {"resourceSummary": {"allocatableModelings": [
        {"grade": 0, "count": 0}, {"grade": 1, "count": free},
    ]}}});
    scenario.objects().merge_status(CLUSTER, "", cluster, &status).await?;
    Ok(())
}

#[tokio::test]
async fn reported_capacity_is_neither_free_nor_taken_twice() -> Result<(), Error> {
    for profile in PROFILES {
        for has_models in [false, true] {
            let folder = folder()?;
            let clusters = ["a", "b"].map(|name| Cluster::new(name).cpu(100));
            let scenario = start(folder.path(), profile, &clusters).await?;
            if has_models {
                for cluster in ["a", "b"] {
                    report_models(&scenario, cluster, 100).await?;
                }
            }
            scenario
                .deploy("first", 100, templates::divided_by_room(json!({})))
                .await?;
            scenario.wait_for_result("first", &[("a", 50), ("b", 50)]).await?;
            scenario.karmada.report().await?;
            if has_models {
                for cluster in ["a", "b"] {
                    report_models(&scenario, cluster, 50).await?;
                }
            }
            scenario.karmada.account().await?;
            scenario
                .deploy("second", 60, templates::divided_by_room(json!({})))
                .await?;
            scenario.wait_for_result("second", &[("a", 30), ("b", 30)]).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_burst_that_fits_is_scheduled_at_once() -> Result<(), Error> {
    for profile in PROFILES {
        let folder = folder()?;
        let clusters = ["a", "b", "c"].map(|name| Cluster::new(name).cpu(1000).memory(2000));
        let scenario = start(folder.path(), profile, &clusters).await?;
        for number in 0..30 {
            let placement = templates::divided_by_room(json!({}));
            scenario.deploy(&format!("web{number}"), 100, placement).await?;
            // The clusters report meanwhile what runs on them by then.
            if number % 10 == 9 {
                scenario.karmada.account().await?;
            }
        }
        for number in 0..30 {
            let binding = scenario.wait_until_scheduled(&format!("web{number}")).await?;
            assert_eq!(result(&binding).values().sum::<i64>(), 100, "{profile}");
        }
    }
    Ok(())
}

/// The first affinity group matches nothing, and the second is full of the workload's own pods.
#[tokio::test]
async fn a_running_workload_that_is_rescheduled_keeps_its_replicas() -> Result<(), Error> {
    for profile in PROFILES {
        let folder = folder()?;
        let clusters = ["a", "b"].map(|name| Cluster::new(name).cpu(100));
        let scenario = start(folder.path(), profile, &clusters).await?;
        let mut placement = templates::divided_by_room(json!({}));
        placement
            .as_object_mut()
            .map(|placement| placement.remove("clusterAffinity"));
        placement["clusterAffinities"] = json!([
            {"affinityName": "nowhere", "clusterNames": ["nowhere"]},
            {"affinityName": "here", "clusterNames": ["a", "b"]},
        ]);
        scenario.deploy("web", 200, placement).await?;
        let everything = [("a", 100), ("b", 100)];
        scenario.wait_for_result("web", &everything).await?;
        scenario.karmada.report().await?;
        scenario.karmada.account().await?;
        let before = scenario.binding("web").await?["status"]["lastScheduledTime"].clone();
        let requested = a_minute_after(&before);
        scenario
            .change_binding("web", &json!({"spec": {"rescheduleTriggeredAt": requested}}))
            .await?;
        let binding = scenario
            .wait("web", "rescheduled", |binding| {
                binding["status"]["lastScheduledTime"] != before
            })
            .await?;
        assert_eq!(
            condition(&binding, "Scheduled")["reason"],
            "Success",
            "{profile}: {binding:#}"
        );
        scenario.wait_for_result("web", &everything).await?;
    }
    Ok(())
}

/// A time a minute after another, in the notation of Kubernetes: the request must be of a later second than the result.
fn a_minute_after(time: &Value) -> String {
    let before: Timestamp = serde_json::from_value(time.clone()).expect("the time of a result");
    Timestamp::from_seconds(before.seconds() + 60).to_string()
}
