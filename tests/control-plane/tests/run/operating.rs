//! The operators' view of a running scheduler: probes, metrics, explanations, logs.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use divvy_control_plane_tests::divvy::binary;
use divvy_control_plane_tests::objects::{BINDING, CLUSTER, PATIENCE};
use divvy_control_plane_tests::scenario::result;
use divvy_control_plane_tests::users::{SCHEDULER, SCHEDULER_B};
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::{Value, json};

use crate::{
    ask, deploy_nowhere, figure, folder, let_time_pass, scheduling, three_clusters, until_figure, until_status,
};

/// Runs `divvy explain` against the last scheduler that was started.
fn explain(scenario: &Scenario, arguments: &[&str]) -> Result<Output, Error> {
    command(scenario, "explain", arguments)
}

/// Runs a command that asks the last scheduler that was started.
fn command(scenario: &Scenario, name: &str, arguments: &[&str]) -> Result<Output, Error> {
    let address = scenario
        .schedulers
        .last()
        .map(|divvy| divvy.address.clone())
        .unwrap_or_default();
    let output = Command::new(binary()?)
        .arg(name)
        .arg(format!("--address={address}"))
        .args(arguments)
        .output();
    output.map_err(Error::file(binary()?))
}

#[tokio::test]
async fn probes_and_metrics_show_what_happens() -> Result<(), Error> {
    let (_folder, mut scenario) = scheduling(&three_clusters()).await?;
    assert_eq!(until_status(&scenario, "/healthz", 200).await, "ok\n");
    until_status(&scenario, "/readyz", 200).await;
    let gold = json!({"labelSelector": {"matchLabels": {"tier": "gold"}}});
    scenario.deploy("web", 4, templates::divided_by_room(gold)).await?;
    scenario.wait_for_result("web", &[("a", 2), ("b", 2)]).await?;
    scenario.scale("web", 6).await?;
    scenario.wait_for_result("web", &[("a", 3), ("b", 3)]).await?;
    deploy_nowhere(&scenario).await?;
    scenario
        .wait_for_event(BINDING, "nowhere-deployment", "ScheduleBindingFailed")
        .await?;
    let_time_pass(&scenario, "later").await?;

    for (result, kind, expected) in [
        ("scheduled", "ReconcileSchedule", 2.0),
        ("scheduled", "ScaleSchedule", 1.0),
        ("error", "ReconcileSchedule", 1.0),
    ] {
        let labels = format!("{{result=\"{result}\",schedule_type=\"{kind}\"}}");
        let attempts = format!("karmada_scheduler_schedule_attempts_total{labels}");
        // Counted when the answer to the write is there, which the test may see before the scheduler does.
        until_figure(&scenario, &attempts, expected).await;
    }
    for (series, expected) in [
        ("divvy_leader", 1.0),
        ("divvy_leader_term", 1.0),
        ("divvy_bindings", 3.0),
        ("divvy_clusters", 3.0),
        ("divvy_missing_clusters", 0.0),
        ("scheduler_pending_bindings{queue=\"active\"}", 0.0),
        ("scheduler_pending_bindings{queue=\"unschedulable\"}", 1.0),
        // One cluster for each of two decisions about `web`, three for `nowhere`.
        (
            "divvy_plugin_rejections_total{plugin=\"cluster-affinity\",extension_point=\"Filter\"}",
            5.0,
        ),
        (
            "divvy_write_duration_seconds_count{kind=\"specification\",result=\"written\"}",
            4.0,
        ),
    ] {
        until_figure(&scenario, series, expected).await;
    }
    // Three successes and one failure, about the binding and about its Deployment each.
    let events = "divvy_write_duration_seconds_count{kind=\"event\",result=\"written\"}";
    until_figure(&scenario, events, 8.0).await;
    let (_, text) = ask(&scenario, "/metrics");
    assert!(text.contains("divvy_profile{profile=\"karmada\",hash=\""), "{text}");
    for histogram in [
        "karmada_scheduler_plugin_execution_duration_seconds_count{plugin=\"cluster-affinity\",extension_point=\"Filter\",result=\"Success\"}",
        "karmada_scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Assign\",result=\"Success\"}",
        "karmada_scheduler_scheduling_algorithm_duration_seconds_count{schedule_step=\"Filter\"}",
        "divvy_queue_wait_duration_seconds_count",
    ] {
        let count = figure(&scenario, histogram);
        assert!(count.is_some_and(|count| count >= 1.0), "{histogram} is {count:?}");
    }

    // A standby is ready without the lease, and leads nothing.
    let standby = scenario.configuration(SCHEDULER_B);
    scenario.start_scheduler_with(&standby)?;
    until_status(&scenario, "/readyz", 200).await;
    assert_eq!(figure(&scenario, "divvy_leader"), Some(0.0));
    Ok(())
}

#[tokio::test]
async fn a_decision_is_explained_by_the_running_scheduler() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    deploy_nowhere(&scenario).await?;

    let output = explain(&scenario, &["default/web-deployment"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    for part in [
        "strategy StaticWeight",
        "a: 1",
        "b: 2",
        "cluster(s) did not match the placement cluster affinity",
    ] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
    let output = explain(&scenario, &["-n", "default", "web-deployment", "-o", "json"])?;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(
        answer["outcome"]["clusters"],
        json!([{"name": "a", "replicas": 1}, {"name": "b", "replicas": 2}]),
        "{answer:#}"
    );
    let output = explain(&scenario, &["default/nowhere-deployment"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("NoClusterFit"), "{text}");
    let output = explain(&scenario, &["default/unknown"])?;
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("default/unknown"), "{text}");
    Ok(())
}

#[tokio::test]
async fn each_line_of_the_log_is_json_if_requested() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.further = vec!["--log-format=json".to_owned(), "-v".to_owned()];
    scenario.start_scheduler_with(&configuration)?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    let_time_pass(&scenario, "later").await?;
    let printed = scenario.schedulers[0].process.printed();
    let mut lines = Vec::new();
    for line in printed.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for field in ["timestamp", "level", "message"] {
            assert!(line[field].is_string(), "no `{field}`: {line}");
        }
        lines.push(line);
    }
    let about: Vec<&Value> = lines
        .iter()
        .filter(|line| line["binding"] == "default/web-deployment")
        .collect();
    assert!(about.iter().any(|line| line["message"] == "scheduled"), "{printed}");
    // A message that mentions a binding in the text names it in the field.
    for line in &lines {
        let names_it = line["message"]
            .as_str()
            .is_some_and(|message| message.contains("web-deployment"));
        assert!(!names_it || line["binding"].is_string(), "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn a_person_confirms_that_missing_clusters_are_gone() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scenario
        .deploy("everywhere", 2, templates::duplicated(json!({})))
        .await?;
    let all = [("a", 2), ("b", 2), ("c", 2)];
    scenario.wait_for_result("everywhere", &all).await?;
    let missing = |scenario: &Scenario| -> Result<String, Error> {
        let output = command(scenario, "missing-clusters", &[])?;
        assert!(output.status.success(), "{output:?}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(missing(&scenario)?, "");
    for cluster in ["b", "c"] {
        scenario.objects().delete(CLUSTER, "", cluster).await?;
    }
    scenario.scale("everywhere", 1).await?;
    let held = scenario.wait_for_reason("everywhere", "SchedulerError").await?;
    assert_eq!(result(&held).len(), 3);
    let start = Instant::now();
    while missing(&scenario)? != "b\nc\n" {
        assert!(
            start.elapsed() < PATIENCE,
            "the missing clusters are {:?}",
            missing(&scenario)
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    // Nothing is confirmed by mistake.
    let output = command(&scenario, "missing-clusters", &["--confirm=b", "--confirm=a"])?;
    assert_eq!(output.status.code(), Some(2));
    let reason = String::from_utf8_lossy(&output.stderr);
    assert!(
        reason.contains("cluster `a` is not missing; missing clusters: b, c"),
        "{reason}"
    );
    assert!(
        command(&scenario, "missing-clusters", &["--confirm=b"])?
            .status
            .success()
    );
    assert_eq!(missing(&scenario)?, "c\n");
    let_time_pass(&scenario, "later").await?;
    assert_eq!(result(&scenario.binding("everywhere").await?).len(), 3);

    assert!(
        command(&scenario, "missing-clusters", &["--confirm=c"])?
            .status
            .success()
    );
    scenario.wait_for_result("everywhere", &[("a", 1)]).await?;
    assert_eq!(missing(&scenario)?, "");
    Ok(())
}
