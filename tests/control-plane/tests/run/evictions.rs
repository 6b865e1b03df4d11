//! Many workloads leave a cluster at once, gracefully: Karmada keeps their old copies until what replaces them is Healthy. Works and reports
//! follow a result seconds later, and until then, reports still say Healthy of what was before.

use std::time::{Duration, Instant};

use divvy_control_plane_tests::karmada::late_members::LateMembers;
use divvy_control_plane_tests::objects::{BINDING, CLUSTER, PATIENCE};
use divvy_control_plane_tests::scenario::is_scheduled;
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::{Error, Scenario};
use serde_json::{Value, json};

use crate::folder;

const WORKLOADS: usize = 12;
const REPLICAS: i64 = 9;
/// As karmada-scheduler decides, without moves.
const PROFILE: &str = "[[profile]]\nname = 'plain'\nextends = 'karmada'\n";

fn name(number: usize) -> String {
    format!("web{number:02}")
}

fn has_tasks(binding: &Value) -> bool {
    !binding["spec"]["gracefulEvictionTasks"].is_null()
}

/// Lets members work until every binding is as expected. No workload may ever have fewer ready replicas than it asks for, once it has had
/// them.
async fn until(
    scenario: &Scenario,
    members: &mut LateMembers,
    has_run: bool,
    expected: impl Fn(&Value) -> bool,
) -> Result<(), Error> {
    let start = Instant::now();
    loop {
        let bindings = members.pass().await?;
        let ready = |number: usize| members.ready(&name(number));
        let below = (0..WORKLOADS).filter(|number| ready(*number) < REPLICAS);
        let below: Vec<(String, i64)> = below.map(|number| (name(number), ready(number))).collect();
        assert!(!has_run || below.is_empty(), "below {REPLICAS}: {below:?}");
        if below.is_empty() && bindings.iter().all(&expected) {
            return Ok(());
        }
        assert!(start.elapsed() < PATIENCE, "{below:?} {bindings:?}");
        scenario.karmada.purge_evictions().await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn workloads_that_leave_a_cluster_at_once_keep_their_ready_replicas() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = ["m1", "m2", "m3"].map(Cluster::new);
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let placement = || templates::divided_by_weight(&[("m1", 1), ("m2", 1), ("m3", 1)]);
    for number in 0..WORKLOADS {
        let binding = templates::binding(&name(number), REPLICAS, placement());
        scenario.bind(&binding).await?;
    }
    scenario.start_scheduler_under("plain.toml", PROFILE)?;
    let mut members = LateMembers::new(&scenario.karmada);
    until(&scenario, &mut members, false, is_scheduled).await?;
    let taint = json!({"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}});
    scenario.objects().merge(CLUSTER, "", "m2", &taint).await?;
    for number in 0..WORKLOADS {
        scenario.karmada.evict("default", &name(number), "m2").await?;
    }
    until(&scenario, &mut members, true, |binding| {
        is_scheduled(binding) && !has_tasks(binding)
    })
    .await?;
    let left = scenario.objects().get(BINDING, "default", &name(0)).await?;
    assert!(!left["spec"]["clusters"].to_string().contains("m2"), "{left}");
    Ok(())
}
