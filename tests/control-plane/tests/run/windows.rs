//! A maintenance window on a real API server, by the wall clock: bindings are decided when it begins and ends, and no others.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use divvy_control_plane_tests::divvy::plugins;
use divvy_control_plane_tests::objects::BINDING;
use divvy_control_plane_tests::scenario::binding_name;
use divvy_control_plane_tests::templates::{Cluster, divided_by_weight};
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario};
use divvy_karmada::api::Timestamp;
use serde_json::Value;

use crate::{folder, let_time_pass, writes};

/// Longest time that a decision and its write may take on a busy machine.
const LATENESS: Duration = Duration::from_secs(10);

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time until which the latest decision on a binding holds, in milliseconds since 1970.
async fn valid_until(scenario: &Scenario, name: &str) -> Result<Option<i64>, Error> {
    let binding = scenario.objects().get(BINDING, "default", &binding_name(name)).await?;
    let applied = binding["metadata"]["annotations"]["divvy.io/applied-policy"].as_str();
    let applied: Value = applied
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    Ok(applied["validUntil"].as_i64())
}

#[tokio::test]
async fn a_window_empties_a_cluster_on_time_and_concerns_no_other_binding() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [Cluster::new("a").region("north"), Cluster::new("b").region("south")];
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    scenario
        .deploy("web", 4, divided_by_weight(&[("a", 1), ("b", 1)]))
        .await?;
    scenario.deploy("far", 4, divided_by_weight(&[("b", 1)])).await?;
    // Whatever is not built yet is built before the clock counts.
    plugins()?;
    let begins = now().as_secs() as i64 + 20;
    let ends = begins + 15;
    let file = folder.path().join("windows.csv");
    let table = format!(
        "region,announced,begins,ends,weekly,evict,announced-by\nnorth,,{},{},,true,ops\n",
        Timestamp::from_seconds(begins),
        Timestamp::from_seconds(ends)
    );
    std::fs::write(&file, table).map_err(Error::file(&file))?;
    let profile = "[[profile]]\nname = 'windows'\nextends = 'default'\nfilters = ['...', 'maintenance-windows']\n\
                   [profile.table.windows]\nfile = 'windows.csv'\nkey = 'region'\nrows = 'several'\n\
                   columns = { announced = 'time', begins = 'time', ends = 'time', weekly = 'weekly', evict = 'boolean', \
                   announced-by = 'text' }\n";
    scenario.start_scheduler_under("profile.toml", profile)?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 2)]).await?;
    scenario.wait_for_result("far", &[("b", 4)]).await?;
    assert_eq!(valid_until(&scenario, "web").await?, Some(begins * 1_000));
    assert_eq!(valid_until(&scenario, "far").await?, None);
    let_time_pass(&scenario, "before").await?;
    let of_far = writes(&scenario, SCHEDULER, "far")?;

    for (time, expected) in [(begins, &[("b", 4)][..]), (ends, &[("a", 2), ("b", 2)][..])] {
        let due = Duration::from_secs(time as u64);
        scenario.wait_for_result("web", expected).await?;
        let late = now().checked_sub(due);
        assert!(late.is_some_and(|late| late < LATENESS), "{late:?} after {time}");
    }
    assert_eq!(valid_until(&scenario, "web").await?, None);
    let_time_pass(&scenario, "after").await?;
    assert_eq!(writes(&scenario, SCHEDULER, "far")?, of_far);
    Ok(())
}
