//! From a binding to clusters: first scheduling, scaling, changes of the policy, groups, cluster-scoped resources.

use divvy_control_plane_tests::objects::{BINDING, CLUSTER_BINDING, CLUSTER_POLICY, DEPLOYMENT};
use divvy_control_plane_tests::scenario::{APPLIED_PLACEMENT, condition, is_scheduled, result};
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::{Value, json};

use crate::{folder, let_time_pass, own_writes, scheduling, three_clusters};

#[tokio::test]
async fn a_new_binding_is_scheduled_with_two_writes() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let placement = templates::divided_by_weight(&[("a", 1), ("b", 2)]);
    scenario.deploy("web", 3, placement).await?;
    let binding = scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;

    let applied = binding["metadata"]["annotations"][APPLIED_PLACEMENT]
        .as_str()
        .unwrap_or_default();
    let applied: Value = serde_json::from_str(applied).unwrap_or_default();
    assert_eq!(applied, binding["spec"]["placement"]);
    let scheduled = condition(&binding, "Scheduled");
    assert_eq!(
        (&scheduled["status"], &scheduled["reason"]),
        (&json!("True"), &json!("Success"))
    );
    assert!(binding["status"]["lastScheduledTime"].is_string());
    assert_eq!(binding["status"]["schedulerObservingAffinityName"], Value::Null);
    let event = scenario
        .wait_for_event(BINDING, "web-deployment", "ScheduleBindingSucceed")
        .await?;
    assert_eq!(event["type"], "Normal");
    scenario
        .wait_for_event(DEPLOYMENT, "web", "ScheduleBindingSucceed")
        .await?;

    // Its own writes wake no binding, and neither do heartbeats.
    scenario.karmada.heartbeat().await?;
    let_time_pass(&scenario, "later").await?;
    assert_eq!(own_writes(&scenario, "web")?, (1, 1));
    Ok(())
}

#[tokio::test]
async fn bindings_that_exist_before_the_scheduler_are_scheduled() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    for number in 0..5 {
        let placement = templates::divided_by_weight(&[("a", 1), ("c", 1)]);
        scenario.deploy(&format!("web{number}"), 4, placement).await?;
    }
    scenario.start_scheduler()?;
    for number in 0..5 {
        scenario
            .wait_for_result(&format!("web{number}"), &[("a", 2), ("c", 2)])
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_scaled_workload_is_divided_again() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let placement = templates::divided_by_weight(&[("a", 1), ("b", 2)]);
    scenario.deploy("web", 3, placement).await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    scenario.scale("web", 9).await?;
    scenario.wait_for_result("web", &[("a", 3), ("b", 6)]).await?;
    scenario.scale("web", 6).await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 4)]).await?;
    let_time_pass(&scenario, "later").await?;
    assert_eq!(own_writes(&scenario, "web")?, (3, 3));
    Ok(())
}

#[tokio::test]
async fn a_changed_placement_is_applied() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    scenario
        .place("web", templates::divided_by_weight(&[("b", 1), ("c", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("b", 1), ("c", 2)]).await?;
    scenario
        .place("web", templates::duplicated(json!({"clusterNames": ["a", "c"]})))
        .await?;
    scenario.wait_for_result("web", &[("a", 3), ("c", 3)]).await?;
    Ok(())
}

#[tokio::test]
async fn the_strategy_in_an_annotation_of_the_policy_counts() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 8, templates::divided_by_weight(&[("a", 1), ("b", 3)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 6)]).await?;
    let annotated = |strategy: Value| json!({"metadata": {"annotations": {"divvy.io/strategy": strategy}}});
    // Nothing in the binding changes: the policy alone wakes it.
    scenario.change_policy("web", &annotated(json!("Average"))).await?;
    scenario.wait_for_result("web", &[("a", 4), ("b", 4)]).await?;
    scenario.change_policy("web", &annotated(Value::Null)).await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 6)]).await?;
    Ok(())
}

#[tokio::test]
async fn a_lazy_policy_waits_for_its_workload() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let placement = templates::divided_by_weight(&[("a", 1), ("b", 3)]);
    let mut policy = templates::policy("default", "web", ("apps/v1", "Deployment", "web"), placement);
    policy["spec"]["activationPreference"] = "Lazy".into();
    let workload = templates::deployment("default", "web", 8);
    scenario.deploy_under(&policy, &workload).await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 6)]).await?;
    let average = json!({"metadata": {"annotations": {"divvy.io/strategy": "Average"}}});
    scenario.change_policy("web", &average).await?;
    let_time_pass(&scenario, "later").await?;
    assert_eq!(own_writes(&scenario, "web")?.0, 1);
    scenario.scale("web", 10).await?;
    scenario.wait_for_result("web", &[("a", 5), ("b", 5)]).await?;
    Ok(())
}

#[tokio::test]
async fn the_next_group_of_clusters_is_used_if_the_first_fits_nothing() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let mut placement = templates::divided_by_room(json!({}));
    placement["clusterAffinity"] = Value::Null;
    placement["clusterAffinities"] = json!([
        {"affinityName": "first", "clusterNames": ["nowhere"]},
        {"affinityName": "second", "clusterNames": ["c"]},
    ]);
    scenario.deploy("web", 3, placement).await?;
    let binding = scenario.wait_for_result("web", &[("c", 3)]).await?;
    assert_eq!(binding["status"]["schedulerObservingAffinityName"], "second");
    Ok(())
}

#[tokio::test]
async fn a_cluster_scoped_resource_goes_to_every_candidate() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let gold = json!({"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "gold"}}}});
    let mut policy = templates::policy(
        "",
        "roles",
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "view"),
        gold,
    );
    policy["metadata"]["namespace"] = Value::Null;
    scenario.objects().create(CLUSTER_POLICY, &policy).await?;
    scenario.karmada.detect().await?;
    let binding = scenario
        .objects()
        .wait(CLUSTER_BINDING, "", "view-clusterrole", "scheduled", is_scheduled)
        .await?;
    let names: Vec<String> = result(&binding).into_keys().collect();
    assert_eq!(names, ["a", "b"]);
    scenario
        .wait_for_event(CLUSTER_BINDING, "view-clusterrole", "ScheduleBindingSucceed")
        .await?;
    Ok(())
}
