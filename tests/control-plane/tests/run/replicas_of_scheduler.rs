//! Two schedulers at once: one leads, the other waits.

use divvy_control_plane_tests::objects::BINDING;
use divvy_control_plane_tests::users::{SCHEDULER, SCHEDULER_B};
use divvy_control_plane_tests::{Error, Scenario, templates};

use crate::{folder, scheduling, three_clusters, writes};

/// Deploys a workload with 3 replicas, and waits for their division.
async fn divide(scenario: &Scenario, name: &str) -> Result<(), Error> {
    let weights = templates::divided_by_weight(&[("a", 1), ("b", 2)]);
    scenario.deploy(name, 3, weights).await?;
    scenario.wait_for_result(name, &[("a", 1), ("b", 2)]).await?;
    Ok(())
}

#[tokio::test]
async fn a_standby_takes_over_from_a_leader_that_was_killed() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    scenario.start_scheduler()?;
    divide(&scenario, "first").await?;
    let standby = scenario.configuration(SCHEDULER_B);
    scenario.start_scheduler_with(&standby)?;
    divide(&scenario, "second").await?;
    assert_eq!(writes(&scenario, SCHEDULER_B, "second")?, (0, 0));
    drop(scenario.schedulers.remove(0));
    divide(&scenario, "third").await?;
    assert_eq!(writes(&scenario, SCHEDULER_B, "third")?, (1, 1));
    Ok(())
}

#[tokio::test]
async fn a_leader_that_was_paused_writes_nothing_afterwards() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    scenario.start_scheduler()?;
    divide(&scenario, "first").await?;
    scenario.schedulers[0].process.pause();
    let standby = scenario.configuration(SCHEDULER_B);
    scenario.start_scheduler_with(&standby)?;
    divide(&scenario, "second").await?;
    scenario.schedulers[0].process.resume();
    for name in ["third", "fourth"] {
        divide(&scenario, name).await?;
    }
    let log = scenario.control_plane.audit_log();
    let late = log
        .writes_by(SCHEDULER)?
        .into_iter()
        .filter(|write| write.object_ref.resource == BINDING.plural && !write.name().starts_with("first-"));
    assert_eq!(late.count(), 0);
    Ok(())
}

#[tokio::test]
async fn a_leader_that_is_asked_to_end_hands_over_at_once() -> Result<(), Error> {
    let (_folder, mut scenario) = scheduling(&three_clusters()).await?;
    divide(&scenario, "first").await?;
    let start = std::time::Instant::now();
    let status = scenario.schedulers.remove(0).process.terminate()?;
    assert!(status.success(), "{status}");
    assert!(start.elapsed().as_secs() < 10, "it took {:?}", start.elapsed());
    let next = scenario.configuration(SCHEDULER_B);
    scenario.start_scheduler_with(&next)?;
    divide(&scenario, "second").await?;
    Ok(())
}
