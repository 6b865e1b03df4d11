//! Profiles and plugin files that change while bindings arrive.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use divvy_control_plane_tests::divvy::{fixture_plugin, plugins};
use divvy_control_plane_tests::objects::{BINDING, CLUSTER, Objects};
use divvy_control_plane_tests::scenario::{condition, is_scheduled, result};
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario, templates};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::isolated::hostile;
use crate::{folder, let_time_pass, three_clusters, until_figure};

/// Weights that every profile divides six replicas by. Each combination of the two settings that the profiles change
/// has another result, so that half a set would be seen.
const WEIGHTS: [(&str, u32); 4] = [("a", 7), ("b", 4), ("c", 3), ("tainted", 5)];

/// The first profile: taints count, and one method of rounding.
const FIRST: &str = "\
[[profile]]
name = 'live'
extends = 'default'
filters = ['taint-toleration', 'cluster-affinity']
[profile.plugin.static-weight.configuration]
method = 'even-remainder'
";
const BY_FIRST: [(&str, i64); 3] = [("a", 4), ("b", 1), ("c", 1)];

/// The second one: neither.
const SECOND: &str = "\
[[profile]]
name = 'live'
extends = 'default'
filters = ['cluster-affinity']
[profile.plugin.static-weight.configuration]
method = 'webster'
";
const BY_SECOND: [(&str, i64); 4] = [("a", 2), ("b", 1), ("c", 1), ("tainted", 2)];

/// A profile with another filter in the scheduler's process, whose constructor waits forever.
fn hanging(profile: &str, library: &Path) -> String {
    let lists = profile.replace("filters = [", "filters = ['hostile', ");
    format!(
        "{lists}[profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\n\
         configuration = {{ fault = 'deadlock' }}\n",
        library.display()
    )
}

/// A folder with one file, as the kubelet mounts a ConfigMap: the file is a link through the link `..data`, which is
/// exchanged.
struct Mount {
    folder: PathBuf,
    versions: usize,
}

impl Mount {
    fn new(folder: PathBuf, text: &str) -> Result<Self, Error> {
        std::fs::create_dir(&folder).map_err(Error::file(&folder))?;
        let mut mount = Self { folder, versions: 0 };
        mount.change(text)?;
        symlink("..data/profile.toml", mount.file()).map_err(Error::file(mount.file()))?;
        Ok(mount)
    }

    fn file(&self) -> PathBuf {
        self.folder.join("profile.toml")
    }

    fn change(&mut self, text: &str) -> Result<(), Error> {
        let version = |number: usize| format!("..version{number}");
        self.versions += 1;
        let new = self.folder.join(version(self.versions));
        let link = self.folder.join("..data_tmp");
        let exchange = || {
            std::fs::create_dir(&new)?;
            std::fs::write(new.join("profile.toml"), text)?;
            symlink(version(self.versions), &link)?;
            std::fs::rename(&link, self.folder.join("..data"))?;
            match self.versions {
                1 => Ok(()),
                later => std::fs::remove_dir_all(self.folder.join(version(later - 1))),
            }
        };
        exchange().map_err(Error::file(&self.folder))
    }
}

/// Creates bindings one after the other, each when the one before is scheduled, until it is ended. Returns how many.
fn arrive(objects: Objects) -> (oneshot::Sender<()>, JoinHandle<Result<usize, Error>>) {
    let (end, mut ended) = oneshot::channel();
    let arriving = tokio::spawn(async move {
        let mut number = 0;
        while ended.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
            let name = format!("web{number}");
            let binding = templates::binding(&name, 6, templates::divided_by_weight(&WEIGHTS));
            objects.create(BINDING, &binding).await?;
            objects
                .wait(BINDING, "default", &name, "scheduled", is_scheduled)
                .await?;
            number += 1;
        }
        Ok(number)
    });
    (end, arriving)
}

/// Waits until this number of reloads had this outcome.
pub(crate) async fn wait_for_reloads(scenario: &Scenario, outcome: &str, count: f64) {
    until_figure(scenario, &format!("divvy_reloads_total{{result=\"{outcome}\"}}"), count).await;
}

/// The hash of the profile that decides.
fn profile_hash(scenario: &Scenario) -> String {
    let (_, text) = crate::ask(scenario, "/metrics");
    let line = text.lines().find(|line| line.starts_with("divvy_profile{"));
    let line = line.unwrap_or_else(|| panic!("no profile is named:\n{text}"));
    let (_, rest) = line.split_once("hash=\"").unwrap_or_default();
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn expected(pairs: &[(&str, i64)]) -> BTreeMap<String, i64> {
    pairs
        .iter()
        .map(|(name, replicas)| ((*name).to_owned(), *replicas))
        .collect()
}

/// Copies the bundled plugins into a folder of their own, so that they can be changed.
fn copy_plugins(to: &Path) -> Result<(), Error> {
    std::fs::create_dir(to).map_err(Error::file(to))?;
    let from = plugins()?;
    for entry in std::fs::read_dir(from).map_err(Error::file(from))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("libdivvy_plugin_") && name.ends_with(".so") {
            std::fs::copy(entry.path(), to.join(&name)).map_err(Error::file(to))?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn changed_profiles_and_plugins_decide_and_bad_ones_do_not() -> Result<(), Error> {
    let folder = folder()?;
    let clusters = WEIGHTS.map(|(name, _)| Cluster::new(name));
    let mut scenario = Scenario::new(folder.path(), &clusters).await?;
    let taint = json!({"spec": {"taints": [{"key": "reserved", "effect": "NoSchedule"}]}});
    scenario.objects().merge(CLUSTER, "", "tainted", &taint).await?;
    let libraries = folder.path().join("plugins");
    copy_plugins(&libraries)?;
    let mut mount = Mount::new(folder.path().join("profile"), FIRST)?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = mount.file();
    configuration.plugins = Some(libraries.clone());
    configuration.further.push("--hang-limit=2s".to_owned());
    scenario.start_scheduler_with(&configuration)?;
    let (end, arriving) = arrive(scenario.objects().clone());
    let warm = Duration::from_secs(90);
    let ready = scenario
        .objects()
        .wait(BINDING, "default", "web3", "scheduled", is_scheduled);
    let ready = tokio::time::timeout(warm, ready).await;
    assert_eq!(result(&ready.expect("bindings arrive")?), expected(&BY_FIRST));
    let first = profile_hash(&scenario);

    // A profile that cannot be read, and one whose plugin refuses its configuration.
    mount.change("[[profile]]\nname = 'live'\nextends = 'nothing'\n")?;
    wait_for_reloads(&scenario, "refused", 1.0).await;
    mount.change(&FIRST.replace("even-remainder", "no-such-method"))?;
    wait_for_reloads(&scenario, "refused", 2.0).await;
    // One whose plugin never returns from its constructor, in the scheduler's process.
    mount.change(&hanging(FIRST, &hostile(folder.path())))?;
    wait_for_reloads(&scenario, "refused", 3.0).await;
    assert_eq!(profile_hash(&scenario), first);

    // Another profile.
    mount.change(SECOND)?;
    wait_for_reloads(&scenario, "applied", 1.0).await;
    let second = profile_hash(&scenario);
    assert_ne!(second, first);

    // A plugin file that is cut off, then a sound one with other bytes.
    let library = libraries.join("libdivvy_plugin_static_weight.so");
    let sound = std::fs::read(&library).map_err(Error::file(&library))?;
    std::fs::write(&library, &sound[..sound.len() / 2]).map_err(Error::file(&library))?;
    wait_for_reloads(&scenario, "refused", 4.0).await;
    assert_eq!(profile_hash(&scenario), second);
    std::fs::write(&library, [&sound[..], b"another build"].concat()).map_err(Error::file(&library))?;
    wait_for_reloads(&scenario, "applied", 2.0).await;
    assert_ne!(profile_hash(&scenario), second);

    let _arriving_has_failed = end.send(());
    let count = arriving.await.expect("no panic")?;
    let results: Vec<_> = {
        let mut results = Vec::new();
        for number in 0..count {
            let name = format!("web{number}");
            results.push(result(&scenario.objects().get(BINDING, "default", &name).await?));
        }
        results
    };
    // Every binding was decided by one set or the other, and by the second from some time on.
    let (by_first, by_second) = (expected(&BY_FIRST), expected(&BY_SECOND));
    let turn = results.iter().position(|result| *result == by_second);
    let turn = turn.unwrap_or_else(|| panic!("the second profile decided nothing: {results:?}"));
    assert!(turn > 3 && turn < count, "{turn} of {count}");
    assert!(results[..turn].iter().all(|result| *result == by_first), "{results:?}");
    assert!(results[turn..].iter().all(|result| *result == by_second), "{results:?}");
    let log = scenario.schedulers[0].process.printed();
    assert!(log.contains("no-such-method"), "{log}");
    let hanging = "plugin `hostile` has not returned from its construction for ";
    assert!(log.contains(hanging), "{log}");
    Ok(())
}

/// Under the first profile, neither the JSON of clusters nor the placements of other bindings are kept.
#[tokio::test]
async fn a_changed_profile_may_read_what_was_not_kept_before() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let file = scenario.start_scheduler_under("profile.toml", "[[profile]]\nname = 'live'\nextends = 'karmada'\n")?;
    let mut placement = templates::divided_by_room(json!({}));
    placement["spreadConstraints"] = json!([{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]);
    let binding = |name: &str| templates::binding(name, 2, placement.clone());
    scenario.bind(&binding("first")).await?;
    let first = scenario.wait_for_binding("first", "scheduled", is_scheduled).await?;
    let group = json!({"spec": {"workloadAffinityGroups": {"antiAffinityGroup": "ha=shop"}}});
    scenario.objects().merge(BINDING, "default", "first", &group).await?;
    let is_refused = |object: &serde_json::Value| condition(object, "Scheduled")["status"] == "False";
    scenario.wait_for_binding("first", "refused", is_refused).await?;

    let text = format!(
        "[[profile]]\nname = 'live'\nextends = 'karmada-alpha'\nfilters = ['...', 'curious']\n\
         [profile.plugin.curious]\npath = '{}'\nconfiguration = {{ reads = 'declared-clusters' }}\n",
        fixture_plugin("windows")?.display()
    );
    std::fs::write(&file, text).map_err(Error::file(&file))?;
    wait_for_reloads(&scenario, "applied", 1.0).await;
    scenario.wait_for_binding("first", "scheduled", is_scheduled).await?;
    let mut taken = vec![result(&first)];
    for name in ["second", "third"] {
        let mut apart = binding(name);
        apart["spec"]["workloadAffinityGroups"] = group["spec"]["workloadAffinityGroups"].clone();
        scenario.bind(&apart).await?;
        taken.push(result(
            &scenario.wait_for_binding(name, "scheduled", is_scheduled).await?,
        ));
    }
    let clusters: std::collections::BTreeSet<&String> = taken.iter().flat_map(BTreeMap::keys).collect();
    assert_eq!(clusters.len(), 3, "{taken:?}");
    Ok(())
}

/// A profile is often changed before the file of its new plugin arrives.
#[tokio::test]
async fn a_profile_is_tried_again_when_a_missing_plugin_appears() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let libraries = folder.path().join("plugins");
    copy_plugins(&libraries)?;
    let file = folder.path().join("profile.toml");
    let profile = |lines: &str| format!("[[profile]]\nname = 'live'\nextends = 'default'\n{lines}");
    let write = |lines: &str| std::fs::write(&file, profile(lines)).map_err(Error::file(&file));
    write("")?;
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.profile = file.clone();
    configuration.plugins = Some(libraries.clone());
    scenario.start_scheduler_with(&configuration)?;
    let_time_pass(&scenario, "before").await?;

    // By its name, in the folder of the plugins.
    let library = fixture_plugin("few-per-provider")?;
    write("select = ['few-per-provider', '...']\n")?;
    wait_for_reloads(&scenario, "refused", 1.0).await;
    let copy = |name: &str| std::fs::copy(&library, libraries.join(name)).map_err(Error::file(&libraries));
    copy("libdivvy_plugin_few_per_provider.so")?;
    wait_for_reloads(&scenario, "applied", 1.0).await;

    // By its path.
    let path = libraries.join("given.so");
    let table = format!("[profile.plugin.few-per-provider]\npath = '{}'\n", path.display());
    write(&format!("select = ['few-per-provider', '...']\n{table}"))?;
    wait_for_reloads(&scenario, "refused", 2.0).await;
    copy("given.so")?;
    wait_for_reloads(&scenario, "applied", 2.0).await;
    let_time_pass(&scenario, "after").await?;
    Ok(())
}
