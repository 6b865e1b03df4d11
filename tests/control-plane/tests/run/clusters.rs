//! Changes of clusters: labels, taints, deletion, capacity, loss.

use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::CLUSTER;
use divvy_control_plane_tests::scenario::result;
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::{Value, json};

use crate::{folder, let_time_pass, own_writes, scheduling, three_clusters};

#[tokio::test]
async fn labels_move_only_what_goes_to_every_candidate() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let gold = json!({"labelSelector": {"matchLabels": {"tier": "gold"}}});
    scenario
        .deploy("divided", 4, templates::divided_by_room(gold.clone()))
        .await?;
    scenario.deploy("everywhere", 2, templates::duplicated(gold)).await?;
    scenario.wait_for_result("divided", &[("a", 2), ("b", 2)]).await?;
    scenario.wait_for_result("everywhere", &[("a", 2), ("b", 2)]).await?;

    let label = |tier: &str| json!({"metadata": {"labels": {"tier": tier}}});
    scenario.objects().merge(CLUSTER, "", "c", &label("gold")).await?;
    scenario
        .wait_for_result("everywhere", &[("a", 2), ("b", 2), ("c", 2)])
        .await?;
    scenario.objects().merge(CLUSTER, "", "a", &label("silver")).await?;
    scenario.wait_for_result("everywhere", &[("b", 2), ("c", 2)]).await?;
    // A satisfied binding stays where it is, as in Karmada.
    let_time_pass(&scenario, "later").await?;
    assert_eq!(result(&scenario.binding("divided").await?).len(), 2);
    assert_eq!(own_writes(&scenario, "divided")?.0, 1);
    Ok(())
}

#[tokio::test]
async fn a_taint_keeps_new_replicas_away() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let both = json!({"clusterNames": ["a", "b"]});
    scenario
        .deploy("before", 2, templates::duplicated(both.clone()))
        .await?;
    scenario.wait_for_result("before", &[("a", 2), ("b", 2)]).await?;
    let taint = json!({"spec": {"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}});
    scenario.objects().merge(CLUSTER, "", "b", &taint).await?;
    scenario.deploy("after", 2, templates::duplicated(both)).await?;
    scenario.wait_for_result("after", &[("a", 2)]).await?;
    scenario.wait_for_result("before", &[("a", 2), ("b", 2)]).await?;
    Ok(())
}

#[tokio::test]
async fn replicas_leave_a_cluster_that_is_being_deleted() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [Cluster::new("a").finalizer(), Cluster::new("b"), Cluster::new("c")];
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    scenario.start_scheduler()?;
    scenario
        .deploy("web", 6, templates::divided_by_weight(&[("a", 1), ("b", 1), ("c", 1)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 2), ("c", 2)]).await?;
    scenario.objects().delete(CLUSTER, "", "a").await?;
    scenario.wait_for_result("web", &[("b", 3), ("c", 3)]).await?;
    let release = json!({"metadata": {"finalizers": null}});
    scenario.objects().merge(CLUSTER, "", "a", &release).await?;
    scenario.scale("web", 8).await?;
    scenario.wait_for_result("web", &[("b", 4), ("c", 4)]).await?;
    Ok(())
}

#[tokio::test]
async fn clusters_that_vanish_take_no_replicas_with_them() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    let weights = [("a", 1), ("b", 2)];
    scenario
        .deploy("web", 3, templates::divided_by_weight(&weights))
        .await?;
    scenario
        .deploy("everywhere", 2, templates::duplicated(json!({})))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    scenario
        .wait_for_result("everywhere", &[("a", 2), ("b", 2), ("c", 2)])
        .await?;
    for cluster in ["a", "b", "c"] {
        scenario.objects().delete(CLUSTER, "", cluster).await?;
    }
    scenario.scale("web", 6).await?;
    // There is nothing to wait for: for a while, nothing must be written.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        assert_eq!(result(&scenario.binding("web").await?).len(), 2);
        assert_eq!(result(&scenario.binding("everywhere").await?).len(), 3);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // They come back, and so does scheduling.
    for cluster in three_clusters() {
        scenario.objects().create(CLUSTER, cluster.object()).await?;
    }
    scenario.wait_for_result("web", &[("a", 2), ("b", 4)]).await?;
    Ok(())
}

#[tokio::test]
async fn freed_capacity_wakes_what_did_not_fit() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [Cluster::new("a").cpu(2), Cluster::new("b").cpu(2)];
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    scenario.start_scheduler()?;
    scenario
        .deploy("web", 10, templates::divided_by_room(json!({})))
        .await?;
    let waiting = scenario.wait_for_reason("web", "Unschedulable").await?;
    assert_eq!(waiting["spec"]["clusters"], Value::Null);

    // Heartbeats change nothing that could help: no further decision, so no further write.
    for _ in 0..3 {
        scenario.karmada.heartbeat().await?;
    }
    let_time_pass(&scenario, "small").await?;
    let before = own_writes(&scenario, "web")?;
    assert_eq!(before, (0, 1), "{:#}", scenario.binding("web").await?);

    let room = json!({"status": {"resourceSummary": {"allocatable": {"cpu": "40"}}}});
    scenario.objects().merge_status(CLUSTER, "", "a", &room).await?;
    let binding = scenario.wait_until_scheduled("web").await?;
    assert_eq!(result(&binding).values().sum::<i64>(), 10);
    Ok(())
}

#[tokio::test]
async fn what_was_decided_just_now_counts_as_taken() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &[Cluster::new("a").cpu(10), Cluster::new("b").cpu(10)]).await?;
    // All arrive at once, and no cluster reports anything before all are decided.
    for number in 0..6 {
        scenario
            .deploy(&format!("web{number}"), 5, templates::divided_by_room(json!({})))
            .await?;
    }
    scenario.start_holding_scheduler()?;
    for number in 0..6 {
        let expectation = "decided";
        scenario
            .wait(&format!("web{number}"), expectation, |binding| {
                !divvy_control_plane_tests::scenario::condition(binding, "Scheduled").is_null()
            })
            .await?;
    }
    let mut taken = std::collections::BTreeMap::new();
    for number in 0..6 {
        for (cluster, replicas) in result(&scenario.binding(&format!("web{number}")).await?) {
            *taken.entry(cluster).or_insert(0) += replicas;
        }
    }
    assert_eq!(taken.values().sum::<i64>(), 20, "{taken:?}");
    assert!(taken.values().all(|replicas| *replicas <= 10), "{taken:?}");
    Ok(())
}
