//! A plugin call that does not return.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::divvy::fixture_plugin;
use divvy_control_plane_tests::objects::{BINDING, PATIENCE};
use divvy_control_plane_tests::scenario::is_scheduled;
use divvy_control_plane_tests::users::{SCHEDULER, SCHEDULER_B};
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::{Value, json};

use crate::{ask, figure, folder, let_time_pass, three_clusters, until_printed, until_status, writes};

/// The profile of a plugin that hangs on request.
fn hanging() -> Result<String, Error> {
    Ok(format!(
        "[[profile]]\nname = 'hanging'\nextends = 'default'\nfilters = ['cluster-affinity', 'faulty']\n\
         [profile.plugin.faulty]\npath = '{}'\nisolation = 'none'\n",
        fixture_plugin("faulty")?.display()
    ))
}

/// A binding at which the plugin hangs while there is a file.
fn stuck(obstacle: &Path) -> Value {
    let mut binding = templates::binding("stuck", 2, templates::duplicated(json!({})));
    let fault = format!("hang while there is: {}", obstacle.display());
    binding["metadata"]["annotations"] = json!({"faulty.example/fault": fault});
    binding
}

#[tokio::test]
async fn a_plugin_that_hangs_is_named_and_does_not_hold_up_the_exit() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    scenario.start_scheduler_under("profile.toml", &hanging()?)?;
    let_time_pass(&scenario, "before").await?;
    until_status(&scenario, "/readyz", 200).await;

    let obstacle = folder.path().join("obstacle");
    File::create(&obstacle).map_err(Error::file(&obstacle))?;
    scenario.bind(&stuck(&obstacle)).await?;
    // Probes, metrics and explanations do not wait for the thread that decides.
    let body = until_status(&scenario, "/readyz", 503).await;
    assert!(
        body.contains(
            "[-]watchdog failed: plugin `faulty` has not returned from Filter of binding `default/stuck` for 1"
        ),
        "{body}"
    );
    assert_eq!(ask(&scenario, "/healthz").0, 200);
    assert_eq!(
        ask(&scenario, "/explain/resourcebinding/default/before-deployment").0,
        200
    );
    until_printed(&scenario.schedulers[0], "a plugin call does not return").await;
    assert_eq!(
        figure(&scenario, "divvy_plugin_hangs_total{plugin=\"faulty\"}"),
        Some(1.0)
    );

    // It returns, and everything goes on.
    std::fs::remove_file(&obstacle).map_err(Error::file(&obstacle))?;
    scenario.wait_for_binding("stuck", "scheduled", is_scheduled).await?;
    until_status(&scenario, "/readyz", 200).await;
    until_printed(&scenario.schedulers[0], "a plugin call that hung has returned").await;

    // It hangs again, and the process is to end.
    File::create(&obstacle).map_err(Error::file(&obstacle))?;
    let again = json!({"spec": {"replicas": 3}});
    scenario.objects().merge(BINDING, "default", "stuck", &again).await?;
    until_status(&scenario, "/readyz", 503).await;
    let start = Instant::now();
    let Some(divvy) = scenario.schedulers.pop() else {
        panic!("the scheduler is running")
    };
    let status = divvy.process.terminate()?;
    // The plugin never returns. Kubernetes ends a pod by force after so long.
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "it took {:?} to end",
        start.elapsed()
    );
    assert!(status.success(), "{status}");
    Ok(())
}

/// A leader that renews its lease and decides nothing would keep every standby out for ever.
#[tokio::test]
async fn a_standby_takes_over_from_a_leader_that_hangs() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let profile = folder.path().join("profile.toml");
    std::fs::write(&profile, hanging()?).map_err(Error::file(&profile))?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = profile;
    configuration.further = vec!["--hang-limit=12s".to_owned()];
    scenario.start_scheduler_with(&configuration)?;
    let_time_pass(&scenario, "before").await?;
    // Its profile has no plugin that hangs.
    let standby = scenario.configuration(SCHEDULER_B);
    scenario.start_scheduler_with(&standby)?;
    until_status(&scenario, "/readyz", 200).await;
    assert_eq!(figure(&scenario, "divvy_leader"), Some(0.0));

    let obstacle = folder.path().join("obstacle");
    File::create(&obstacle).map_err(Error::file(&obstacle))?;
    scenario.bind(&stuck(&obstacle)).await?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = scenario.schedulers[0].process.exit_status() {
            break status;
        }
        assert!(
            start.elapsed() < PATIENCE,
            "{}",
            scenario.schedulers[0].process.printed()
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(status.code(), Some(3), "{status}");
    let printed = scenario.schedulers[0].process.printed();
    assert!(
        printed.contains("plugin `faulty` has not returned from Filter"),
        "{printed}"
    );
    // The lease was released, so that it need not expire.
    assert!(printed.contains("the lease is released"), "{printed}");
    scenario.wait_for_binding("stuck", "scheduled", is_scheduled).await?;
    let_time_pass(&scenario, "after").await?;
    assert_eq!(writes(&scenario, SCHEDULER_B, "after")?, (1, 1));
    Ok(())
}
