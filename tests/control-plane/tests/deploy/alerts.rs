//! The alerts of `examples/deploy/monitoring`, each shown to fire and not to fire by Prometheus' own test runner.

use std::path::Path;
use std::process::Command;

use divvy_control_plane_tests::source_folder;
use divvy_scheduler::moves::step::Reason;

use super::Failure;

/// The rules without the Kubernetes object around them, as Prometheus reads them.
fn rules(object: &str) -> Option<String> {
    let (_, rules) = object.split_once("\nspec:\n")?;
    let lines = rules.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    Some(lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// Rules without their annotations, which Prometheus' test runner would compare.
fn without_annotations(rules: &str) -> String {
    let mut kept = String::new();
    let mut annotations: Option<usize> = None;
    for line in rules.lines() {
        let indent = line.len() - line.trim_start().len();
        if annotations.is_some_and(|outer| indent > outer) {
            continue;
        }
        annotations = (line.trim() == "annotations:").then_some(indent);
        if annotations.is_none() {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn promtool(arguments: &[&str], folder: &Path) -> Result<(), Failure> {
    let output = Command::new("promtool").args(arguments).current_dir(folder).output();
    let output =
        output.map_err(|error| format!("promtool, of Debian's package `prometheus`, cannot be run: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(()),
        false => Err(printed.into()),
    }
}

/// A case for each reason for which a move can wait, after which the alert fires: none is left out, whatever reasons there are later.
fn long_waits() -> String {
    let mut cases = String::new();
    for reason in Reason::WORDS {
        cases.push_str(&format!(
            r#"  - interval: 1m
    input_series:
      - series: 'divvy_leader{{namespace="karmada-system", job="divvy"}}'
        values: '1x10'
      - series: 'divvy_move_wait_seconds{{namespace="karmada-system", job="divvy", reason="{reason}"}}'
        values: '300000x10'
    alert_rule_test:
      - alertname: DivvyMoveWaits
        exp_alerts:
          - exp_labels: {{namespace: karmada-system, job: divvy, reason: {reason}, severity: warning}}
        eval_time: 10m
"#
        ));
    }
    cases
}

#[test]
fn each_alert_fires_when_it_should_and_only_then() -> Result<(), Failure> {
    let object = std::fs::read_to_string(source_folder().join("../../examples/deploy/monitoring/alerts.yaml"))?;
    let cases = include_str!("alerts.yaml");
    for alert in object.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let case = format!("alertname: {alert}\n");
        let fires = cases
            .split(&case)
            .skip(1)
            .filter(|rest| rest.trim_start().starts_with("exp_alerts:\n"));
        assert!(fires.count() > 0, "no case in which {alert} fires");
        let silent = cases
            .split(&case)
            .skip(1)
            .filter(|rest| rest.trim_start().starts_with("exp_alerts: []"));
        assert!(silent.count() > 0, "no case in which {alert} does not fire");
    }
    let folder = tempfile::tempdir()?;
    let rules = rules(&object).ok_or("the object has no `spec`")?;
    std::fs::write(folder.path().join("all.yaml"), &rules)?;
    std::fs::write(folder.path().join("rules.yaml"), without_annotations(&rules))?;
    std::fs::write(folder.path().join("cases.yaml"), cases.to_owned() + &long_waits())?;
    promtool(&["check", "rules", "all.yaml"], folder.path())?;
    promtool(&["test", "rules", "cases.yaml"], folder.path())
}
