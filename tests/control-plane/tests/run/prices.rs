//! The strategy Tree and the score `cheapest` on a real API server: results are those of `divvy schedule` on the same objects,
//! and follow the table of prices when it changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use divvy_control_plane_tests::divvy::plugins;
use divvy_control_plane_tests::objects::{CLUSTER, DEPLOYMENT, POLICY};
use divvy_control_plane_tests::scenario::result;
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::{Divvy, Error, Scenario};
use serde_json::{Value, json};

use crate::folder;
use crate::reload::wait_for_reloads;

const PROFILE: &str = "\
[[profile]]
name = 'cost'
extends = 'default'
scores = ['...', { plugin = 'cheapest', weight = 2 }]
[profile.table.prices]
file = 'prices.csv'
[profile.table.prices.columns]
cpu-hour = { type = 'decimal', scale = 6 }
gib-hour = { type = 'decimal', scale = 6 }
gpu-hour = { type = 'decimal', scale = 6 }
";

/// Twice as many replicas in the north as in the south.
const TREE: &str =
    r#"{"by": "region", "children": [{"match": "north", "weight": 2}, {"match": "south", "weight": 1}]}"#;

/// A table of prices per CPU hour, in cents, with the same price for memory everywhere.
fn prices(of_clusters: [(&str, u32); 4]) -> String {
    let rows = of_clusters.map(|(cluster, cents)| format!("{cluster},0.{cents:02},0.001,\n"));
    format!("cluster,cpu-hour,gib-hour,gpu-hour\n{}", rows.concat())
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(file, text).map_err(Error::file(file))
}

/// Deploys a workload that Tree divides over one cluster of each region.
async fn deploy(scenario: &Scenario, name: &str) -> Result<(), Error> {
    let mut placement = templates::divided_by_room(json!({}));
    placement["spreadConstraints"] = json!([
        {"spreadByField": "region", "minGroups": 2, "maxGroups": 2},
        {"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2},
    ]);
    let mut policy = templates::policy("default", name, ("apps/v1", "Deployment", name), placement);
    policy["metadata"]["annotations"] = json!({"divvy.io/strategy": "Tree", "divvy.io/preferences": TREE});
    let workload = templates::deployment("default", name, 6);
    scenario.deploy_under(&policy, &workload).await
}

/// The result of `divvy schedule` on files with the clusters, the policy and the workload that the API server has.
async fn by_schedule(
    scenario: &Scenario,
    folder: &Path,
    profile: &Path,
    name: &str,
) -> Result<BTreeMap<String, i64>, Error> {
    let objects = scenario.objects();
    let mut items = objects.list(CLUSTER, "").await?;
    items.push(objects.get(POLICY, "default", name).await?);
    items.push(objects.get(DEPLOYMENT, "default", name).await?);
    let file: PathBuf = folder.join(format!("{name}.json"));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    write(&file, &list.to_string())?;
    let mut command = Divvy::command()?;
    command.args(["schedule", "-o", "json", "-f"]).arg(&file);
    command.arg("--profile").arg(profile);
    command.arg("--plugin-directory").arg(plugins()?);
    let output = command.output().map_err(Error::file("divvy"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let decisions: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    // Entries of a decision have the names of a binding's.
    let clusters = decisions["bindings"][0]["clusters"].clone();
    Ok(result(&json!({"spec": {"clusters": clusters}})))
}

#[tokio::test]
async fn tree_takes_the_cheapest_cluster_of_each_region_by_the_present_prices() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = [("a", "north"), ("b", "north"), ("c", "south"), ("d", "south")];
    let clusters = clusters.map(|(name, region)| Cluster::new(name).region(region));
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let table = folder.path().join("prices.csv");
    write(&table, &prices([("a", 2), ("b", 8), ("c", 9), ("d", 3)]))?;
    let profile = scenario.start_scheduler_under("profile.toml", PROFILE)?;

    deploy(&scenario, "first").await?;
    let first = scenario.wait_for_result("first", &[("a", 4), ("d", 2)]).await?;
    let expected = by_schedule(&scenario, folder.path(), &profile, "first").await?;
    assert_eq!(result(&first), expected);

    write(&table, &prices([("a", 8), ("b", 2), ("c", 3), ("d", 9)]))?;
    wait_for_reloads(&scenario, "applied", 1.0).await;
    deploy(&scenario, "second").await?;
    let second = scenario.wait_for_result("second", &[("b", 4), ("c", 2)]).await?;
    let expected = by_schedule(&scenario, folder.path(), &profile, "second").await?;
    assert_eq!(result(&second), expected);

    // Prices move nothing that runs.
    let first = scenario.binding("first").await?;
    assert_eq!(
        result(&first),
        BTreeMap::from([("a".to_owned(), 4), ("d".to_owned(), 2)])
    );
    Ok(())
}
