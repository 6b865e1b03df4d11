//! Commands that read a live control plane once: `schedule`, `diff` and `headroom`.

use std::process::Output;

use divvy_control_plane_tests::divvy::plugins;
use divvy_control_plane_tests::users::{ADMIN, SCHEDULER, User};
use divvy_control_plane_tests::{Divvy, Error, Scenario, templates};
use serde_json::Value;

use crate::{scheduling, three_clusters};

/// Runs a command on the control plane as a user, with the profile that the scheduler has.
fn run(scenario: &Scenario, user: User, command: &[&str]) -> Result<Output, Error> {
    let (name, arguments) = command.split_first().expect("the name of a command");
    let output = Divvy::command()?
        .arg(name)
        .args(arguments)
        .args(["--profile", "karmada"])
        .arg("--plugin-directory")
        .arg(plugins()?)
        .arg("--kubeconfig")
        .arg(scenario.control_plane.kubeconfig(user))
        .output();
    output.map_err(Error::file("divvy"))
}

/// The JSON that a command prints. `code` is its exit code.
fn document(scenario: &Scenario, user: User, command: &[&str], code: i32) -> Result<Value, Error> {
    let output = run(scenario, user, &[command, &["-o", "json"]].concat())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {errors}");
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command:?}: {error}: {errors}")))
}

/// Names in a field of each entry.
fn names<'a>(entries: &'a Value, field: &str) -> Vec<&'a str> {
    let entries = entries.as_array().into_iter().flatten();
    entries.map(|entry| entry[field].as_str().unwrap_or_default()).collect()
}

/// Two scheduled Deployments, of which one is of the tier `gold`.
async fn scheduled(scenario: &Scenario) -> Result<(), Error> {
    for (name, tier) in [("web", "gold"), ("api", "silver")] {
        let placement = templates::divided_by_weight(&[("a", 1), ("b", 2)]);
        let policy = templates::policy("default", name, ("apps/v1", "Deployment", name), placement);
        let mut workload = templates::deployment("default", name, 3);
        workload["metadata"]["labels"]["tier"] = tier.into();
        scenario.deploy_under(&policy, &workload).await?;
    }
    for name in ["web", "api"] {
        scenario.wait_for_result(name, &[("a", 1), ("b", 2)]).await?;
    }
    Ok(())
}

#[tokio::test]
async fn commands_read_a_live_control_plane() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scheduled(&scenario).await?;
    let everything = ["default/api-deployment", "default/web-deployment"];

    let decisions = document(&scenario, ADMIN, &["schedule"], 0)?;
    assert_eq!(names(&decisions["bindings"], "binding"), everything);
    let of_web = document(&scenario, ADMIN, &["schedule", "deployment/web", "-n", "default"], 0)?;
    assert_eq!(names(&of_web["bindings"], "binding"), ["default/web-deployment"]);

    // Nothing moves today, and a drained cluster loses what it has.
    let today = document(&scenario, ADMIN, &["diff", "--drain", "c"], 0)?;
    assert_eq!(today["totals"]["moved"], 0, "{today:#}");
    let drained = document(&scenario, ADMIN, &["diff", "--drain", "a", "-n", "default"], 0)?;
    assert_eq!(drained["totals"]["moved"], 2, "{drained:#}");
    let moved: Vec<&Value> = drained["bindings"].as_array().into_iter().flatten().collect();
    assert_eq!(moved.len(), 2, "{drained:#}");

    // The context of the kubeconfig is that of its user.
    let context = ["headroom", "deployment/web", "--context", "admin"];
    let headroom = document(&scenario, ADMIN, &context, 0)?;
    assert_eq!(
        names(&headroom["bindings"], "binding"),
        ["default/web-deployment"],
        "{headroom:#}"
    );
    let output = run(&scenario, ADMIN, &["schedule", "--context", "nowhere"])?;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = run(&scenario, ADMIN, &["schedule", "-n", "nowhere"])?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("no binding is in the namespace `nowhere`"), "{errors}");
    Ok(())
}

/// Bindings do not have the labels of their workloads, which are listed for this alone.
#[tokio::test]
async fn bindings_are_chosen_by_the_labels_of_live_workloads() -> Result<(), Error> {
    let (_folder, scenario) = scheduling(&three_clusters()).await?;
    scheduled(&scenario).await?;
    for command in [
        &["schedule", "-l", "tier=gold"][..],
        &["schedule", "-l", "tier in (gold),app", "-n", "default"],
        &["headroom", "-l", "tier=gold"],
        &["diff", "-l", "tier=gold", "--drain", "a"],
    ] {
        let document = document(&scenario, ADMIN, command, 0)?;
        assert_eq!(
            names(&document["bindings"], "binding"),
            ["default/web-deployment"],
            "{command:?}: {document:#}"
        );
    }
    let output = run(&scenario, ADMIN, &["schedule", "-l", "tier=bronze"])?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("no workload has labels that match `tier=bronze`"),
        "{errors}"
    );

    // The scheduler's own user may not list Deployments: that is said, with the kind and the cause.
    let output = run(&scenario, SCHEDULER, &["schedule", "-l", "tier=gold"])?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    for part in [
        "the labels of Deployment objects (apps/v1) are unknown",
        "forbidden",
        "labels are unknown",
    ] {
        assert!(errors.contains(part), "`{part}` is missing: {errors}");
    }
    Ok(())
}
