//! A plugin call that does not return.

use std::fs::File;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::divvy::fixture_plugin;
use divvy_control_plane_tests::objects::{BINDING, PATIENCE};
use divvy_control_plane_tests::scenario::is_scheduled;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::json;

use crate::{ask, figure, folder, let_time_pass, three_clusters};

/// Waits until the scheduler's answer to a path is as expected, and returns its body.
async fn until(scenario: &Scenario, path: &str, is_expected: impl Fn(u16, &str) -> bool) -> String {
    let start = Instant::now();
    loop {
        let (status, body) = ask(scenario, path);
        if is_expected(status, &body) {
            return body;
        }
        assert!(start.elapsed() < PATIENCE, "{path}: {status} {body}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_plugin_that_hangs_is_named_and_does_not_hold_up_the_exit() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let profile = folder.path().join("profile.toml");
    let text = format!(
        "[[profile]]\nname = 'hanging'\nextends = 'default'\nfilters = ['cluster-affinity', 'faulty']\n\
         [profile.plugin.faulty]\npath = '{}'\n",
        fixture_plugin("faulty")?.display()
    );
    std::fs::write(&profile, text).map_err(Error::file(&profile))?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = profile;
    scenario.start_scheduler_with(&configuration)?;
    let_time_pass(&scenario, "before").await?;
    until(&scenario, "/readyz", |status, _| status == 200).await;

    let obstacle = folder.path().join("obstacle");
    File::create(&obstacle).map_err(Error::file(&obstacle))?;
    let binding = json!({
        "metadata": {
            "namespace": "default",
            "name": "stuck",
            "labels": {"propagationpolicy.karmada.io/permanent-id": "5f0f5d3c-0000-4000-8000-000000000000"},
            "annotations": {"faulty.example/fault": format!("hang while there is: {}", obstacle.display())},
        },
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "stuck"},
            "schedulerName": "default-scheduler",
            "replicas": 2,
            "placement": templates::duplicated(json!({})),
        },
    });
    scenario.objects().create(BINDING, &binding).await?;
    // Probes, metrics and explanations do not wait for the thread that decides.
    let body = until(&scenario, "/readyz", |status, _| status == 503).await;
    assert!(
        body.contains("[-]watchdog failed: plugin `faulty` has not returned from Filter for 1"),
        "{body}"
    );
    assert_eq!(ask(&scenario, "/healthz").0, 200);
    assert_eq!(
        ask(&scenario, "/explain/resourcebinding/default/before-deployment").0,
        200
    );
    let log = |text: &str| scenario.schedulers[0].process.printed().contains(text);
    let start = Instant::now();
    while !log("a plugin call does not return") {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "the log does not mention the call"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        figure(&scenario, "divvy_plugin_hangs_total{plugin=\"faulty\"}"),
        Some(1.0)
    );

    // It returns, and everything goes on.
    std::fs::remove_file(&obstacle).map_err(Error::file(&obstacle))?;
    scenario
        .objects()
        .wait(BINDING, "default", "stuck", "scheduled", is_scheduled)
        .await?;
    until(&scenario, "/readyz", |status, _| status == 200).await;
    assert!(log("a plugin call that hung has returned"));

    // It hangs again, and the process is to end.
    File::create(&obstacle).map_err(Error::file(&obstacle))?;
    let again = json!({"spec": {"replicas": 3}});
    scenario.objects().merge(BINDING, "default", "stuck", &again).await?;
    until(&scenario, "/readyz", |status, _| status == 503).await;
    let start = Instant::now();
    let Some(divvy) = scenario.schedulers.pop() else {
        panic!("the scheduler is running")
    };
    let status = divvy.process.terminate()?;
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "it took {:?} to end",
        start.elapsed()
    );
    assert!(status.success(), "{status}");
    Ok(())
}
