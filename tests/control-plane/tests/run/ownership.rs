//! Bindings that the scheduler takes or leaves: suspended ones, those of other schedulers, those without a policy.

use divvy_control_plane_tests::objects::{BINDING, NAMESPACE, POLICY};
use divvy_control_plane_tests::scenario::{is_scheduled, result};
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::{Value, json};

use crate::{folder, let_time_pass, own_writes, scheduling, three_clusters};

#[tokio::test]
async fn a_suspended_binding_waits() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    let suspend = |is_suspended: bool| json!({"spec": {"suspension": {"scheduling": is_suspended}}});
    scenario.change_binding("web", &suspend(true)).await?;
    scenario.scale("web", 9).await?;
    let_time_pass(&scenario, "later").await?;
    let waiting = scenario.binding("web").await?;
    assert_eq!(result(&waiting).values().sum::<i64>(), 3);
    scenario.change_binding("web", &suspend(false)).await?;
    scenario.wait_for_result("web", &[("a", 3), ("b", 6)]).await?;
    Ok(())
}

#[tokio::test]
async fn bindings_of_others_are_left_alone() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    // Another scheduler's.
    let placement = templates::divided_by_weight(&[("a", 1)]);
    let mut policy = templates::policy(
        "default",
        "foreign",
        ("apps/v1", "Deployment", "foreign"),
        placement.clone(),
    );
    policy["spec"]["schedulerName"] = "another".into();
    scenario.objects().create(POLICY, &policy).await?;
    let workload = templates::deployment("default", "foreign", 2);
    scenario
        .objects()
        .create(divvy_control_plane_tests::objects::DEPLOYMENT, &workload)
        .await?;
    scenario.karmada.detect().await?;
    assert_eq!(scenario.binding("foreign").await?["spec"]["schedulerName"], "another");
    // One that follows another binding: without a label of a policy, and without a placement.
    let resource = json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "follower"});
    let follower = json!({
        "metadata": {"namespace": "default", "name": "follower-deployment"},
        "spec": {
            "resource": resource,
            "schedulerName": "default-scheduler",
            "requiredBy": [{"namespace": "default", "name": "foreign-deployment"}],
        },
    });
    scenario.objects().create(BINDING, &follower).await?;

    let_time_pass(&scenario, "later").await?;
    for name in ["foreign", "follower"] {
        let binding = scenario.binding(name).await?;
        assert_eq!(own_writes(&scenario, name)?, (0, 0), "{binding:#}");
        assert_eq!(binding["status"], Value::Null);
    }
    Ok(())
}

#[tokio::test]
async fn a_binding_in_a_namespace_that_ends_stops_nothing() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let objects = scenario.objects().clone();
    objects
        .create(NAMESPACE, &json!({"metadata": {"name": "ending"}}))
        .await?;
    let placement = templates::divided_by_weight(&[("a", 1)]);
    objects
        .create(
            POLICY,
            &templates::policy("ending", "web", ("apps/v1", "Deployment", "web"), placement),
        )
        .await?;
    let workload = templates::deployment("ending", "web", 2);
    objects
        .create(divvy_control_plane_tests::objects::DEPLOYMENT, &workload)
        .await?;
    scenario.karmada.detect().await?;
    // Nothing here removes the namespace's content, so it stays in this state. Events cannot be created in it.
    objects.delete(NAMESPACE, "", "ending").await?;
    scenario.start_scheduler()?;
    objects
        .wait(BINDING, "ending", "web-deployment", "scheduled", is_scheduled)
        .await?;
    let_time_pass(&scenario, "later").await?;
    assert!(scenario.schedulers[0].process.exit_status().is_none());
    Ok(())
}
