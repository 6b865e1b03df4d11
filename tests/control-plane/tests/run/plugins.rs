//! Other profiles: a plugin that is not bundled, components, and a scheduler that only watches.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use divvy_control_plane_tests::objects::BINDING;
use divvy_control_plane_tests::scenario::{condition, is_scheduled};
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::users::{SCHEDULER, SCHEDULER_B};
use divvy_control_plane_tests::{Error, Scenario, source_folder, templates};
use serde_json::{Value, json};

use crate::{folder, three_clusters};

/// Builds the plugin outside the workspace as its author would. Returns the folder with the library.
fn out_of_tree_plugin() -> PathBuf {
    let root = source_folder().join("../..");
    let target = root.join("target/out-of-tree-plugin");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(root.join("examples/out-of-tree-plugin/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .stdin(Stdio::null())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the plugin does not build");
    target.join("debug")
}

#[tokio::test]
async fn a_plugin_that_is_not_bundled_decides() -> Result<(), Error> {
    let folder = folder()?;
    let library = out_of_tree_plugin();
    let clusters = ["cheap", "dear", "luxury"].map(|name| Cluster::new(name).cpu(10));
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let prices = folder.path().join("prices.csv");
    let cells = "cluster,cpu-hour,gib-hour,gpu-hour\ncheap,0.01,0.001,\ndear,0.04,0.001,\nluxury,0.9,0.001,\n";
    std::fs::write(&prices, cells).map_err(Error::file(&prices))?;
    // The plugin's own profile, with prices of these clusters.
    let profile = source_folder().join("../../examples/out-of-tree-plugin/profile.toml");
    let text = std::fs::read_to_string(&profile).map_err(Error::file(&profile))?;
    let path = folder.path().join("cheapest-first.toml");
    let text = text.replace("../cost/prices.csv", &prices.display().to_string());
    std::fs::write(&path, text).map_err(Error::file(&path))?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = path;
    configuration.further = vec![format!("--plugin-directory={}", library.display())];
    scenario.start_scheduler_with(&configuration)?;
    let placement = templates::divided_by_room(json!({}));
    let mut policy = templates::policy("default", "web", ("apps/v1", "Deployment", "web"), placement);
    policy["metadata"]["annotations"] = json!({
        "divvy.io/strategy": "CheapestFirst",
        "divvy.io/preferences": r#"{"maximumPrice": 0.5}"#,
    });
    let workload = templates::deployment("default", "web", 14);
    scenario.deploy_under(&policy, &workload).await?;
    scenario.wait_for_result("web", &[("cheap", 10), ("dear", 4)]).await?;
    Ok(())
}

#[tokio::test]
async fn all_components_go_to_one_cluster_with_room_for_them() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [Cluster::new("small").cpu(3), Cluster::new("large").cpu(20)];
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = "tests/control-plane/holding.toml#holding-alpha".into();
    scenario.start_scheduler_with(&configuration.with_rare_reports())?;
    let component = |name: &str, replicas: u32| json!({"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}});
    let mut placement = templates::divided_by_room(json!({}));
    placement["spreadConstraints"] = json!([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]);
    let set = |name: &str, workers: u32| {
        let mut binding = templates::binding(name, 0, placement.clone());
        binding["spec"]["replicas"] = Value::Null;
        binding["spec"]["components"] = json!([component("manager", 1), component("worker", workers)]);
        binding
    };
    scenario.bind(&set("job", 4)).await?;
    let binding = scenario.wait_for_binding("job", "scheduled", is_scheduled).await?;
    let clusters = binding["spec"]["clusters"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(clusters.len(), 1, "{binding:#}");
    assert_eq!(clusters[0]["name"], "large");
    // What it takes is held, though its result counts no replicas: 15 are left, then 3.
    for (name, workers, reason) in [
        ("second", 11, "Success"),
        ("third", 4, "NoClusterFit"),
        ("fourth", 2, "Success"),
    ] {
        scenario.bind(&set(name, workers)).await?;
        let is_decided = |binding: &Value| !condition(binding, "Scheduled").is_null();
        let decided = scenario.wait_for_binding(name, "decided", is_decided).await?;
        let actual = &condition(&decided, "Scheduled")["reason"];
        assert!(
            actual == reason || reason != "Success" && actual != "Success",
            "{name}: {decided:#}"
        );
    }
    Ok(())
}

/// Three workloads that share no cluster, for two clusters: the third waits until one of the others is gone.
#[tokio::test]
async fn workloads_that_are_kept_apart_wait_for_a_free_cluster() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [Cluster::new("one").cpu(20), Cluster::new("two").cpu(20)];
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = "karmada-alpha".into();
    scenario.start_scheduler_with(&configuration)?;
    let mut placement = templates::divided_by_room(json!({}));
    placement["spreadConstraints"] = json!([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]);
    let binding = |name: &str| {
        let mut binding = templates::binding(name, 2, placement.clone());
        binding["spec"]["workloadAffinityGroups"] = json!({"antiAffinityGroup": "ha=shop"});
        binding
    };
    let cluster_of = |binding: &Value| binding["spec"]["clusters"][0]["name"].as_str().map(str::to_owned);
    scenario.bind(&binding("first")).await?;
    scenario.bind(&binding("second")).await?;
    let first = scenario.wait_for_binding("first", "scheduled", is_scheduled).await?;
    let second = scenario.wait_for_binding("second", "scheduled", is_scheduled).await?;
    assert_ne!(cluster_of(&first), cluster_of(&second));
    scenario.bind(&binding("third")).await?;
    let is_refused = |binding: &Value| condition(binding, "Scheduled")["reason"] == "NoClusterFit";
    scenario.wait_for_binding("third", "refused", is_refused).await?;
    scenario.objects().delete(BINDING, "default", "first").await?;
    let third = scenario.wait_for_binding("third", "scheduled", is_scheduled).await?;
    assert_eq!(cluster_of(&third), cluster_of(&first));
    Ok(())
}

#[tokio::test]
async fn a_dry_run_writes_nothing() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let mut watching = scenario.configuration(SCHEDULER_B);
    watching.further = vec!["--dry-run".to_owned()];
    scenario.start_scheduler_with(&watching)?;
    scenario.start_scheduler()?;
    for number in 0..5 {
        let name = format!("web{number}");
        let placement = templates::divided_by_weight(&[("a", 1), ("b", 2)]);
        scenario.deploy(&name, 3, placement).await?;
        scenario.wait_for_result(&name, &[("a", 1), ("b", 2)]).await?;
    }
    assert!(scenario.schedulers[0].process.exit_status().is_none());
    let log = scenario.control_plane.audit_log();
    assert_eq!(log.writes_by(SCHEDULER_B)?.len(), 0);
    Ok(())
}
