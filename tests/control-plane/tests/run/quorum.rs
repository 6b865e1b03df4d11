//! `divvy.io/quorum` on a real API server: a part is written with what is missing, is settled, and is topped up.

use divvy_control_plane_tests::Error;
use divvy_control_plane_tests::objects::{BINDING, CLUSTER};
use divvy_control_plane_tests::scenario::{binding_name, condition};
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::SCHEDULER;
use serde_json::json;

use crate::{let_time_pass, scheduling, writes};

#[tokio::test]
async fn a_part_is_written_settled_and_topped_up() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&[Cluster::new("a").cpu(40), Cluster::new("b").cpu(20)]).await?;
    let placement = templates::divided_by_room(json!({}));
    let mut policy = templates::policy("default", "web", ("apps/v1", "Deployment", "web"), placement);
    policy["metadata"]["annotations"] = json!({"divvy.io/quorum": "60%"});
    let deployment = templates::deployment("default", "web", 100);
    scenario.deploy_under(&policy, &deployment).await?;
    let binding = scenario.wait_for_result("web", &[("a", 40), ("b", 20)]).await?;
    let message = condition(&binding, "Scheduled")["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        message.contains("60 of 100 replicas, 40 missing; 61 were refused"),
        "{message}"
    );
    let event = scenario
        .wait_for_event(BINDING, &binding_name("web"), "ScheduleBindingSucceed")
        .await?;
    let told = event["message"].as_str().unwrap_or_default();
    assert!(told.contains("60 of 100 replicas, 40 missing"), "{told}");
    // The clusters report the pods, and then nothing is written: every other binding is decided before.
    scenario.karmada.report().await?;
    scenario.karmada.account().await?;
    let before = writes(&scenario, SCHEDULER, "web")?;
    let_time_pass(&scenario, "later").await?;
    assert_eq!(writes(&scenario, SCHEDULER, "web")?, before);
    let room = json!({"status": {"resourceSummary": {"allocatable": {"cpu": "500"}}}});
    scenario.objects().merge_status(CLUSTER, "", "b", &room).await?;
    let binding = scenario.wait_for_result("web", &[("a", 40), ("b", 60)]).await?;
    let message = condition(&binding, "Scheduled")["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert_eq!(message, "Binding has been scheduled successfully.");
    Ok(())
}
