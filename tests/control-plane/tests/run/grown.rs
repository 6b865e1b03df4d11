//! A fleet that has grown: some workloads wait although there is room for all. `divvy rebalance` plans it, and a scheduler that is killed twice
//! carries it out. What it did is read from the audit log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use divvy_control_plane_tests::audit::Write;
use divvy_control_plane_tests::divvy::plugins;
use divvy_control_plane_tests::karmada::members::Members;
use divvy_control_plane_tests::objects::{BINDING, CLUSTER};
use divvy_control_plane_tests::scenario::{condition, result};
use divvy_control_plane_tests::templates::{self, Cluster};
use divvy_control_plane_tests::users::{ADMIN, SCHEDULER};
use divvy_control_plane_tests::{Divvy, Error, Scenario};
use serde_json::{Value, json};

use super::planned::{is_planned, rebalance, reported, until};
use crate::folder;

const PROFILE_FILE: &str = "grown.toml";
/// No replica may be missing, and what a result takes is held until its cluster reports it.
const PROFILE: &str = "[[profile]]\nname = 'grown'\nextends = 'karmada'\nwhile-capacity-is-unreported = 'hold'\n[profile.moves]\n\
                       pace = 'surge'\nmax-surge = '50%'\nmax-unavailable = 0\nfederated-hpa = false\n[profile.moves.budgets]\nbindings = 20\n";

/// Sizes of the fleet.
struct Sizes {
    /// Clusters that the fleet began with, and those that joined later.
    old: usize,
    new: usize,
    /// Bindings that may run anywhere, and those that came last, each for two of the old clusters.
    anywhere: usize,
    bound: usize,
}

impl Sizes {
    /// Forty clusters and 500 bindings, or a share of them.
    fn chosen() -> Self {
        let whole = Self {
            old: 30,
            new: 10,
            anywhere: 400,
            bound: 100,
        };
        let share = Self {
            old: 8,
            new: 2,
            anywhere: 48,
            bound: 12,
        };
        divvy_built::cases(share, whole)
    }

    /// CPUs of each cluster: what may run anywhere takes 19 of 20 of those that the fleet began with.
    fn cpu(&self) -> usize {
        let replicas: usize = (0..self.anywhere).map(|number| 1 + number % 5).sum();
        (replicas * 20).div_ceil(19 * self.old)
    }

    fn clusters(&self, numbers: std::ops::Range<usize>) -> Vec<Cluster> {
        let cpu = u32::try_from(self.cpu()).expect("a cluster is not large");
        numbers.map(|number| Cluster::new(&cluster(number)).cpu(cpu)).collect()
    }

    /// Bindings that may run anywhere.
    fn anywhere(&self) -> Vec<Value> {
        let bindings = (0..self.anywhere).map(|number| binding(&format!("web{number:03}"), 1 + number % 5, json!({})));
        bindings.collect()
    }

    /// Bindings that may run in two clusters. Together they ask for about a sixth of the old ones.
    fn bound(&self) -> Vec<Value> {
        let bindings = (0..self.bound).map(|number| {
            let two = [number % self.old, (number * 7 + 3) % self.old].map(cluster);
            binding(
                &format!("late{number:03}"),
                1 + number % 3,
                json!({"clusterNames": two}),
            )
        });
        bindings.collect()
    }
}

fn cluster(number: usize) -> String {
    format!("m{number:02}")
}

/// A binding whose replicas request a CPU each, in as few clusters as have room.
fn binding(name: &str, replicas: usize, affinity: Value) -> Value {
    let replicas = i64::try_from(replicas).expect("a binding is not large");
    let placement = json!({
        "clusterAffinity": affinity,
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
    });
    let mut binding = templates::binding(name, replicas, placement);
    binding["spec"]["replicaRequirements"] = json!({"resourceRequest": {"cpu": "1"}});
    binding
}

fn name(binding: &Value) -> &str {
    binding["metadata"]["name"].as_str().unwrap_or_default()
}

fn replicas(binding: &Value) -> i64 {
    binding["spec"]["replicas"].as_i64().unwrap_or(0)
}

/// True if a binding has all its replicas, and its clusters have reported them.
fn runs(binding: &Value) -> bool {
    result(binding).values().sum::<i64>() == replicas(binding) && reported(binding) == replicas(binding)
}

/// True if a binding waits for room.
fn waits(binding: &Value) -> bool {
    condition(binding, "Scheduled")["status"] == "False"
}

/// A fleet that has grown, at rest.
async fn grow(folder: &Path, sizes: &Sizes) -> Result<(Scenario, Members), Error> {
    let mut scenario = Scenario::new(folder, &sizes.clusters(0..sizes.old)).await?;
    scenario.start_scheduler_under(PROFILE_FILE, PROFILE)?;
    for binding in sizes.anywhere() {
        scenario.bind(&binding).await?;
    }
    let mut members = Members::new(&scenario.karmada, 1);
    until(&mut members, |bindings, _| bindings.iter().all(runs)).await?;
    for cluster in sizes.clusters(sizes.old..sizes.old + sizes.new) {
        scenario.objects().create(CLUSTER, cluster.object()).await?;
    }
    for binding in sizes.bound() {
        scenario.bind(&binding).await?;
    }
    until(&mut members, |bindings, _| {
        bindings.iter().all(|binding| runs(binding) || waits(binding))
    })
    .await?;
    Ok((scenario, members))
}

/// The plan that places what waits, made from the control plane.
fn plan(scenario: &Scenario, folder: &Path) -> Result<(PathBuf, Value), Error> {
    let output = Divvy::command()?
        .args(["rebalance", "--place", "-o", "json", "--kubeconfig"])
        .arg(scenario.control_plane.kubeconfig(ADMIN))
        .arg("--profile")
        .arg(scenario.control_plane.folder().join(PROFILE_FILE))
        .arg("--plugin-directory")
        .arg(plugins()?)
        .output()
        .map_err(Error::file("divvy"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "all that waits can be placed: {errors}");
    let path = folder.join("plan.json");
    std::fs::write(&path, &output.stdout).map_err(Error::file(&path))?;
    let plan = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    Ok((path, plan))
}

type Results = BTreeMap<String, BTreeMap<String, i64>>;

/// The replicas that left their clusters by these writes, which begin with these results. No write brings a cluster above its CPUs, or takes a
/// binding below its replicas that had all.
fn moved(mut results: Results, writes: &[Write], cpu: usize) -> i64 {
    let cpu = i64::try_from(cpu).expect("a cluster is not large");
    let totals: BTreeMap<String, i64> = results
        .iter()
        .map(|(name, result)| (name.clone(), result.values().sum()))
        .collect();
    let mut moved = 0;
    for write in writes {
        let next = result(&write.response_object);
        let before = results
            .insert(write.name().to_owned(), next.clone())
            .unwrap_or_default();
        let left = before
            .iter()
            .map(|(cluster, count)| (count - next.get(cluster).copied().unwrap_or(0)).max(0));
        moved += left.sum::<i64>();
        let sum: i64 = next.values().sum();
        let total = totals.get(write.name()).copied().unwrap_or(0);
        assert!(sum >= total, "{} has {sum} of {total}: {next:?}", write.name());
        for cluster in next.keys() {
            let taken = results.values().filter_map(|result| result.get(cluster));
            let taken: i64 = taken.sum();
            assert!(taken <= cpu, "{} brings {cluster} to {taken} of {cpu}", write.name());
        }
    }
    moved
}

/// The scheduler's successful writes of bindings, without those of their status.
fn own_writes(scenario: &Scenario) -> Result<Vec<Write>, Error> {
    let writes = scenario.control_plane.audit_log().writes_by(SCHEDULER)?;
    let of_bindings =
        |write: &Write| write.object_ref.resource == BINDING.plural && write.object_ref.subresource.is_empty();
    Ok(writes
        .into_iter()
        .filter(|write| write.succeeded() && of_bindings(write))
        .collect())
}

#[tokio::test]
async fn what_waits_in_a_fleet_that_has_grown_is_placed_by_the_moves_of_the_plan() -> Result<(), Error> {
    let folder = folder()?;
    let sizes = Sizes::chosen();
    let (mut scenario, mut members) = grow(folder.path(), &sizes).await?;
    let (path, plan) = plan(&scenario, folder.path())?;
    let totals = &plan["totals"];
    let count = |field: &str| totals[field].as_i64().unwrap_or(0);
    assert!(count("waiting") > 0 && count("moved") > 0, "{totals}");
    assert_eq!(totals["placed"], totals["waiting"]);

    let before = members.pass().await?;
    let before: Results = before
        .iter()
        .filter(|binding| runs(binding))
        .map(|binding| (name(binding).to_owned(), result(binding)))
        .collect();
    let written = own_writes(&scenario)?.len();
    let (code, stdout, stderr) = rebalance(&scenario, "--apply", &path)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");

    // Killed once a third of all has what it lacked or left what it has, and once two thirds have.
    let planned = |list: &str| plan[list].as_array().map_or(0, Vec::len);
    let all = planned("waiting") + planned("moves");
    let mut kills = vec![all / 3, all * 2 / 3];
    let mut failure = None;
    until(&mut members, |bindings, members| {
        for (name, result) in &before {
            let (ready, floor) = (members.ready(name), result.values().sum::<i64>());
            assert!(ready >= floor, "{name}: {ready} of {floor} are ready");
        }
        let remaining = bindings.iter().filter(|binding| is_planned(binding)).count();
        if kills.first().is_some_and(|count| all - remaining >= *count) {
            kills.remove(0);
            scenario.schedulers.clear();
            if let Err(error) = scenario.start_scheduler_under(PROFILE_FILE, PROFILE) {
                failure = Some(error);
                return true;
            }
        }
        remaining == 0 && bindings.iter().all(runs)
    })
    .await?;
    if let Some(error) = failure {
        return Err(error);
    }
    assert_eq!(kills, [0; 0], "the scheduler was killed twice");

    let writes = own_writes(&scenario)?;
    assert_eq!(moved(before, &writes[written..], sizes.cpu()), count("moved"));
    let (code, stdout, stderr) = rebalance(&scenario, "--status", &path)?;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    // At rest, there is nothing to plan any more.
    let (_, next) = self::plan(&scenario, folder.path())?;
    assert_eq!((&next["waiting"], &next["moves"]), (&json!([]), &json!([])));
    Ok(())
}
