//! Status that the scheduler reports, and fields that it must not touch.

use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::{BINDING, CLUSTER_ROLE, DEPLOYMENT};
use divvy_control_plane_tests::scenario::{condition, result};
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::{Value, json};

use crate::{let_time_pass, own_writes, scheduling, three_clusters, until_figure};

#[tokio::test]
async fn conditions_of_other_controllers_are_kept() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    scenario.karmada.report().await?;
    let reported = scenario.binding("web").await?;
    assert_eq!(condition(&reported, "FullyApplied")["status"], "True");
    // Scheduled turns False, then True again: each rewrites the list of conditions.
    scenario
        .place("web", templates::divided_by_weight(&[("nowhere", 1)]))
        .await?;
    let failed = scenario.wait_for_reason("web", "NoClusterFit").await?;
    assert_eq!(condition(&failed, "FullyApplied"), condition(&reported, "FullyApplied"));
    assert_eq!(
        failed["status"]["aggregatedStatus"],
        reported["status"]["aggregatedStatus"]
    );
    scenario
        .place("web", templates::divided_by_weight(&[("b", 1), ("a", 2)]))
        .await?;
    let binding = scenario.wait_for_result("web", &[("a", 2), ("b", 1)]).await?;
    assert_eq!(
        condition(&binding, "FullyApplied"),
        condition(&reported, "FullyApplied")
    );
    Ok(())
}

#[tokio::test]
async fn a_binding_that_no_cluster_fits_loses_its_result() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    scenario
        .place("web", templates::divided_by_weight(&[("nowhere", 1)]))
        .await?;
    let binding = scenario.wait_for_reason("web", "NoClusterFit").await?;
    assert!(result(&binding).is_empty(), "{binding:#}");
    assert_eq!(condition(&binding, "Scheduled")["status"], "False");
    let event = scenario
        .wait_for_event(BINDING, "web-deployment", "ScheduleBindingFailed")
        .await?;
    assert_eq!(event["type"], "Warning");
    scenario
        .wait_for_event(DEPLOYMENT, "web", "ScheduleBindingFailed")
        .await?;
    Ok(())
}

#[tokio::test]
async fn a_request_to_reschedule_is_answered_once_even_by_a_slow_clock() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 4, templates::divided_by_room(json!({"clusterNames": ["a"]})))
        .await?;
    scenario.wait_for_result("web", &[("a", 4)]).await?;
    // The request is from an API server whose clock is years ahead.
    let request = "2036-01-01T00:00:00Z";
    let patch = json!({"spec": {"rescheduleTriggeredAt": request}});
    scenario.change_binding("web", &patch).await?;
    let answered = scenario
        .wait("web", "rescheduled", |binding| {
            binding["status"]["lastScheduledTime"] == request
        })
        .await?;
    let writes = own_writes(&scenario, "web")?;
    let_time_pass(&scenario, "later").await?;
    assert_eq!(own_writes(&scenario, "web")?, writes, "{answered:#}");
    Ok(())
}

#[tokio::test]
async fn an_invalid_annotation_is_reported_and_changes_nothing() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    let before = scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    let annotated = |text: Value| json!({"metadata": {"annotations": {"divvy.io/preferences": text}}});
    scenario.change_policy("web", &annotated(json!("{not: [json"))).await?;
    let refused = scenario
        .wait("web", "refused", |binding| {
            condition(binding, "Scheduled")["status"] == "False"
        })
        .await?;
    assert_eq!(refused["spec"], before["spec"]);
    let message = condition(&refused, "Scheduled")["message"].as_str().unwrap_or_default();
    assert!(message.contains("divvy.io/preferences"), "{message}");
    scenario
        .wait_for_event(BINDING, "web-deployment", "ScheduleBindingFailed")
        .await?;
    scenario.change_policy("web", &annotated(Value::Null)).await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    Ok(())
}

#[tokio::test]
async fn what_is_not_read_as_it_is_written_is_reported_once() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let placement = templates::divided_by_weight(&[("a", 1), ("b", 2)]);
    let mut policy = templates::policy("default", "web", ("apps/v1", "Deployment", "web"), placement);
    policy["metadata"]["annotations"] = json!({"divvy.io/preferences.no-such-plugin": "{}"});
    let workload = templates::deployment("default", "web", 3);
    scenario.deploy_under(&policy, &workload).await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    for (kind, name) in [(BINDING, "web-deployment"), (DEPLOYMENT, "web")] {
        let event = scenario.wait_for_event(kind, name, "ScheduleBindingWarning").await?;
        let message = event["message"].as_str().unwrap_or_default();
        assert!(message.contains("no-such-plugin"), "{message}");
        assert_eq!(event["type"], "Warning");
    }
    // Further decisions do not repeat it.
    scenario.scale("web", 6).await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 4)]).await?;
    let printed = scenario.schedulers[0].process.printed();
    let lines = printed.lines().filter(|line| line.contains("no-such-plugin"));
    assert_eq!(lines.count(), 1, "{printed}");
    Ok(())
}

#[tokio::test]
async fn groups_of_workloads_are_refused_visibly() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    let before = scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    let patch = json!({"spec": {"workloadAffinityGroups": {"affinityGroup": "shop"}, "replicas": 6}});
    scenario.change_binding("web", &patch).await?;
    let refused = scenario
        .wait("web", "refused", |binding| {
            condition(binding, "Scheduled")["status"] == "False"
        })
        .await?;
    assert_eq!(refused["spec"]["clusters"], before["spec"]["clusters"]);
    scenario
        .wait_for_event(BINDING, "web-deployment", "ScheduleBindingFailed")
        .await?;
    Ok(())
}

#[tokio::test]
async fn an_eviction_ends_when_its_replacement_is_healthy() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 4, templates::divided_by_weight(&[("a", 1), ("b", 1)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 2)]).await?;
    let _running = scenario.karmada.run();
    scenario.karmada.evict("default", "web-deployment", "a").await?;
    scenario.wait_for_result("web", &[("b", 4)]).await?;
    scenario
        .wait("web", "free of evictions", |binding| {
            binding["spec"]["gracefulEvictionTasks"].is_null()
        })
        .await?;
    Ok(())
}

/// Gives the schedulers exactly these verbs for bindings.
async fn grant(scenario: &Scenario, verbs: &[&str]) -> Result<(), Error> {
    let mut role = scenario.objects().get(CLUSTER_ROLE, "", "divvy").await?;
    let rules = role["rules"].as_array_mut().into_iter().flatten();
    for rule in rules.filter(|rule| rule["resources"][0] == "resourcebindings") {
        rule["verbs"] = json!(verbs);
    }
    let patch = json!({"rules": role["rules"]});
    scenario.objects().merge(CLUSTER_ROLE, "", "divvy", &patch).await?;
    Ok(())
}

#[tokio::test]
async fn a_right_that_is_missing_for_a_minute_is_named_until_it_is_given() -> Result<(), Error> {
    const MISSING: &str = "divvy_missing_right{resource=\"resourcebindings\",verb=\"patch\"}";
    const RULE: &str = "{apiGroups: [work.karmada.io], resources: [resourcebindings], verbs: [patch]}";
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let placement = || templates::divided_by_weight(&[("a", 1), ("b", 2)]);
    scenario.deploy("web", 3, placement()).await?;
    let before = scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    grant(&scenario, &["get", "list", "watch"]).await?;
    scenario.scale("web", 6).await?;
    let start = Instant::now();
    let refused = scenario
        .wait("web", "refused for the missing right", |binding| {
            let message = condition(binding, "Scheduled")["message"].as_str();
            message.is_some_and(|message| message.contains(RULE))
        })
        .await?;
    // Before, it is taken for an API server that is starting.
    assert!(start.elapsed() >= Duration::from_secs(60), "{refused:#}");
    assert_eq!(condition(&refused, "Scheduled")["reason"], "SchedulerError");
    assert_eq!(refused["spec"]["clusters"], before["spec"]["clusters"]);
    until_figure(&scenario, MISSING, 1.0).await;
    let printed = scenario.schedulers[0].process.printed();
    let lines = printed.lines().filter(|line| line.contains("a right is missing"));
    assert_eq!(lines.filter(|line| line.contains(RULE)).count(), 1, "{printed}");

    grant(&scenario, &["get", "list", "watch", "patch"]).await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 4)]).await?;
    until_figure(&scenario, MISSING, 0.0).await;
    Ok(())
}
