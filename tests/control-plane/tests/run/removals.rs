//! Clusters that are being deleted under `[profile.moves]`. Karmada removes the execution namespace first of all, and with it the works and the
//! pods, while the result still names the cluster. Everything is replaced at once, whatever hours and budgets say.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use divvy_control_plane_tests::karmada::late_members::LateMembers;
use divvy_control_plane_tests::objects::{BINDING, CLUSTER, PATIENCE};
use divvy_control_plane_tests::scenario::{is_observed, is_scheduled, result};
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario};
use serde_json::{Value, json};

use crate::folder;

const WORKLOADS: usize = 4;
const REPLICAS: i64 = 20;
/// By these weights, half of the replicas are in `m3`.
const WEIGHTS: [(&str, u32); 3] = [("m1", 1), ("m2", 1), ("m3", 2)];

fn name(number: usize) -> String {
    format!("web{number}")
}

/// Lets members work until every binding is as expected. Returns the bindings.
async fn until(members: &mut LateMembers, expected: impl Fn(&Value, i64) -> bool) -> Result<Vec<Value>, Error> {
    let start = Instant::now();
    loop {
        let bindings = members.pass().await?;
        let is_there = |binding: &Value| {
            let name = binding["metadata"]["name"].as_str().unwrap_or_default();
            expected(binding, members.ready(name))
        };
        if bindings.len() == WORKLOADS && bindings.iter().all(is_there) {
            return Ok(bindings);
        }
        assert!(start.elapsed() < PATIENCE, "{bindings:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Deletes `m3` under a profile whose moves have these settings, as Karmada does.
async fn is_replaced_at_once(settings: &str) -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [Cluster::new("m1"), Cluster::new("m2"), Cluster::new("m3").finalizer()];
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    for number in 0..WORKLOADS {
        let placement = templates::divided_by_weight(&WEIGHTS);
        scenario
            .bind(&templates::binding(&name(number), REPLICAS, placement))
            .await?;
    }
    let profile = format!(
        "[[profile]]\nname = 'removal'\nextends = 'karmada'\n[profile.moves]\npace = 'surge'\nfederated-hpa = false\n{settings}"
    );
    scenario.start_scheduler_under("removal.toml", &profile)?;
    let mut members = LateMembers::new(&scenario.karmada);
    let bindings = until(&mut members, |binding, ready| {
        is_scheduled(binding) && ready == REPLICAS
    })
    .await?;
    for binding in &bindings {
        assert_eq!(result(binding)["m3"], REPLICAS / 2, "{binding}");
    }

    scenario.objects().delete(CLUSTER, "", "m3").await?;
    members.lose("m3");
    until(&mut members, |binding, ready| {
        let result = result(binding);
        let is_replaced = !result.contains_key("m3") && result.values().sum::<i64>() == REPLICAS;
        is_replaced && is_scheduled(binding) && is_observed(binding) && ready == REPLICAS
    })
    .await?;
    // No binding names the cluster any more, so that Karmada lets it go.
    let release = json!({"metadata": {"finalizers": null}});
    scenario.objects().merge(CLUSTER, "", "m3", &release).await?;
    let writes = scenario.control_plane.audit_log().writes_by(SCHEDULER)?;
    for number in 0..WORKLOADS {
        let results = writes.iter().filter(|write| {
            write.name() == name(number)
                && write.object_ref.resource == BINDING.plural
                && write.succeeded()
                && write.request_object.pointer("/spec/clusters").is_some()
        });
        let results: Vec<_> = results.map(|write| result(&write.request_object)).collect();
        assert_eq!(
            results.len(),
            2,
            "one of the beginning, and one that has everything: {results:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_is_gone_with_a_deleted_cluster_is_replaced_at_once_although_the_hours_are_closed() -> Result<(), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // 1970 began on a Thursday.
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let in_three_days = now.as_secs() / 86_400 + 3;
    let day = days
        .into_iter()
        .cycle()
        .nth(usize::try_from(in_three_days % 7).unwrap_or(0));
    let day = day.unwrap_or_default();
    is_replaced_at_once(&format!("hours = ['{day} 10:00-10:01 UTC']\n")).await
}

#[tokio::test]
async fn what_is_gone_with_a_deleted_cluster_is_replaced_at_once_beyond_small_budgets() -> Result<(), Error> {
    is_replaced_at_once("[profile.moves.budgets]\nbindings = 1\nreplicas-per-cluster = 3\n").await
}
