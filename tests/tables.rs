//! Tables of the profile, read by plugins from outside the workspace through the real loader.

use std::fs;
use std::path::Path;

use divvy_loader::PluginDirectories;
use divvy_recordings::{
    CaseRunner, Expectation, read_recording, recorded_case, recorded_fleet, recorded_header, recorded_tables,
};
use divvy_scheduler::decision::{Decision, Scheduler};
use divvy_scheduler::fleet::Fleet;
use divvy_scheduler::profile::{Profile, registry};
use serde_json::Value;

use crate::artifacts::fixture;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, configuration, detected, name_libraries, read, told};

/// Prices by cluster; `c` has none.
const POWER: &str = "name,price,note,full\na,60.00,,\nb,10.50,\"leased, for now\",false\nc,,,\n";
/// Intensities by region.
const CARBON: &str = "{\"eu\": {\"g\": 100}, \"us\": {\"g\": 300}}";

/// A folder with both tables.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("power.csv"), POWER).expect("the table can be written");
    fs::write(folder.path().join("carbon.json"), CARBON).expect("the table can be written");
    folder
}

/// The lines of a profile with both tables, of which the plugin knows one under another name.
fn lines(folder: &Path) -> String {
    format!(
        "filters = ['cheap-power', 'cluster-affinity']\nscores = [{{ plugin = 'cheap-power', weight = 1 }}]\n\
         [profile.plugin.cheap-power]\npath = '{library}'\ntables = {{ carbon = 'grid' }}\n\
         [profile.table.power]\nfile = '{folder}/power.csv'\n\
         columns = {{ price = {{ type = 'decimal', scale = 2 }}, note = 'text', full = 'boolean' }}\n\
         [profile.table.grid]\nfile = '{folder}/carbon.json'\nkey = 'region'\n\
         columns = {{ intensity = {{ type = 'integer', from = 'g' }} }}\n",
        library = fixture("cheap-power").display(),
        folder = folder.display(),
    )
}

fn clusters() -> [Value; 3] {
    [
        cluster("a", 4).region("eu").into(),
        cluster("b", 4).region("us").into(),
        cluster("c", 4).region("eu").into(),
    ]
}

/// A binding that goes to the cluster with the best score.
fn web() -> Value {
    let one = serde_json::json!([{ "spreadByField": "cluster", "maxGroups": 1 }]);
    binding("web", 1).placement("spreadConstraints", one).into()
}

/// The decision on a binding, explained.
fn decide(scheduler: &mut Scheduler, clusters: impl IntoIterator<Item = Value>) -> Decision {
    let (bindings, fleet) = read(&list(clusters.into_iter().chain([web()])));
    scheduler.schedule(&bindings[0], &fleet)
}

/// The scores of all clusters, by name; `-` for those that were left out.
fn scores(decision: &Decision) -> Vec<String> {
    let explanation = decision.explanation.as_ref().expect("it was requested");
    let clusters = explanation.clusters.iter();
    let score = |score: Option<i64>| score.map_or("-".to_owned(), |score| score.to_string());
    clusters
        .map(|cluster| format!("{}={}", cluster.name, score(cluster.score)))
        .collect()
}

#[test]
fn a_plugin_reads_tables_by_cluster_and_by_region() {
    let folder = folder();
    let host = Host::extending(&lines(folder.path()));
    let decision = decide(&mut host.scheduler().explaining(true), clusters());
    // 100 minus whole euros minus a tenth of the grams; `c` has no price.
    assert_eq!(scores(&decision), ["a=30", "b=60", "c=0"]);
    assert_eq!(told(&decision), "b=1");
    let tables = host.profile().tables().expect("plugins read tables");
    let rows: Vec<(&str, usize)> = tables
        .tables()
        .iter()
        .map(|table| (table.name(), table.rows()))
        .collect();
    assert_eq!(rows, [("grid", 2), ("power", 3)]);

    // Another table: the profile is loaded again.
    fs::write(
        folder.path().join("power.csv"),
        POWER.replace("60.00,,", "60.00,\"a fire\",true"),
    )
    .expect("written");
    let host = Host::extending(&lines(folder.path()));
    let decision = decide(&mut host.scheduler().explaining(true), clusters());
    assert_eq!(scores(&decision), ["a=-", "b=60", "c=0"]);
    let explanation = decision.explanation.expect("it was requested");
    let rejected = explanation.clusters[0].rejected.as_ref().expect("it is full");
    assert_eq!(
        (rejected.plugin.as_str(), rejected.text.as_str()),
        ("cheap-power", "cluster(s) were full: a fire")
    );
}

#[test]
fn what_is_not_declared_cannot_be_read() {
    let folder = folder();
    for (reads, expected) in [
        ("table", "reads the table `power` without declaring it: `Needs::tables`"),
        (
            "column",
            "reads column `price` of the table `carbon` without declaring it: `Needs::tables`",
        ),
        (
            "type",
            "reads column `intensity` of the table `carbon` as texts, but declares it as integer",
        ),
    ] {
        let lines = format!(
            "filters = ['nosy']\n[profile.plugin.nosy]\npath = '{}'\nconfiguration = {{ reads = '{reads}' }}\n\
             [profile.table.carbon]\nfile = '{}/carbon.json'\nkey = 'region'\n\
             columns = {{ intensity = {{ type = 'integer', from = 'g' }} }}\n",
            fixture("cheap-power").display(),
            folder.path().display()
        );
        let decision = decide(&mut Host::extending(&lines).scheduler(), clusters());
        assert_eq!(told(&decision), format!("Error: plugin `nosy` failed: {expected}"));
    }
}

/// A kept value is made anew if the tables change, and otherwise updated with the changed rows.
#[test]
fn a_kept_value_follows_the_tables_and_the_clusters() {
    let folder = folder();
    let host = Host::extending(&lines(folder.path()));
    let changed = POWER.replace("10.50", "99.00");
    let source = |text: &str| divvy_profile::table::TableSource::new("power.csv".into(), text);
    let other = |text: &str| -> Profile {
        let grid = divvy_profile::table::TableSource::new("carbon.json".into(), CARBON);
        let sources = [source(text), grid];
        let versions = [("power", 0), ("grid", 1)];
        let versions = versions.map(|(name, index)| (name.to_owned(), sources[index].version.clone()));
        let sources = sources.map(|source| (source.version.clone(), source));
        let profile = host.profile().with_tables(&versions.into(), &sources.into());
        profile.unwrap_or_else(|error| panic!("{error}"))
    };
    let note = |decision: &Decision| {
        let explanation = decision.explanation.as_ref().expect("it was requested");
        let note = explanation.notes.iter().find(|note| note.plugin == "cheap-power");
        (
            scores(decision).join(" "),
            note.expect("the plugin says it").text.clone(),
        )
    };
    let (manifests, found) = detected(&list(clusters().into_iter().chain([web()])));
    let mut fleet = Fleet::new(false);
    fleet.extend(manifests.clusters.iter().map(|cluster| &cluster.object));
    let said = |text: &str, note: &str| (text.to_owned(), note.to_owned());
    let mut first = host.scheduler().explaining(true);
    let mut second = Scheduler::new(other(&changed).into()).explaining(true);
    let snapshot = fleet.snapshot();
    for _ in 0..2 {
        let decision = first.schedule(&found.bindings[0], &snapshot);
        assert_eq!(note(&decision), said("a=30 b=60 c=0", "scores 1, changes known: false"));
    }
    // The same instance of the plugin and the same snapshot, but another table.
    let decision = second.schedule(&found.bindings[0], &snapshot);
    assert_eq!(note(&decision), said("a=30 b=0 c=0", "scores 2, changes known: false"));
    // Another snapshot, in which `a` is in another region.
    let moved: divvy_karmada::api::Cluster =
        serde_json::from_value(cluster("a", 4).region("us").into()).expect("a cluster");
    fleet.upsert(&moved);
    let decision = second.schedule(&found.bindings[0], &fleet.snapshot());
    assert_eq!(note(&decision), said("a=10 b=0 c=0", "scores 3, changes known: true"));
    // The region is the key of a table, so it counts although the plugin declares no column of clusters. Free capacity does not.
    let elsewhere: divvy_karmada::api::Cluster =
        serde_json::from_value(cluster("a", 9).region("us").into()).expect("a cluster");
    fleet.upsert(&elsewhere);
    let decision = second.schedule(&found.bindings[0], &fleet.snapshot());
    assert_eq!(note(&decision), said("a=10 b=0 c=0", "scores 3, changes known: true"));
}

/// A recording has the text of each table once, and every case names its versions.
#[test]
fn a_replay_gives_the_same_answer_without_the_files() {
    let folder = folder();
    let mut configuration = configuration(&format!("extends = 'default'\n{}", lines(folder.path())));
    name_libraries(&mut configuration);
    let host = Host::new(&configuration, &PluginDirectories::default()).expect("a profile");
    let (manifests, found) = detected(&list(clusters().into_iter().chain([web()])));
    let objects = || manifests.clusters.iter().map(|cluster| cluster.object.clone());
    let mut fleet = Fleet::new(false);
    fleet.extend(&objects().collect::<Vec<_>>());
    let fleet = fleet.snapshot();
    let decision = host.scheduler().schedule(&found.bindings[0], &fleet);
    assert_eq!(told(&decision), "b=1");
    let expect = Expectation::from_counts([("b", 1)].into_iter());
    let mut lines = vec![
        recorded_header(host.profile(), &configuration).expect("the profile is TOML"),
        recorded_fleet("fleet", objects().collect()).expect("it is JSON"),
    ];
    lines.extend(recorded_tables(host.profile()).expect("it is JSON"));
    lines.push(recorded_case(&found.bindings[0], &decision, "fleet", expect.clone()).expect("it is JSON"));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = lines.join("\n");
    assert_eq!(text.matches("leased, for now").count(), 1);
    fs::write(file.path(), &text).expect("the recording can be written");
    // The files are gone, and the profile without its tables decides nothing.
    folder.close().expect("the folder can be deleted");
    assert!(Host::new(&configuration, &PluginDirectories::default()).is_err());
    let profile = registry::build_without_tables(&configuration, &PluginDirectories::default()).expect("a profile");
    let profile = std::sync::Arc::new(profile);
    let told_without = told(&Scheduler::new(profile.clone()).schedule(&found.bindings[0], &fleet));
    assert_eq!(
        told_without,
        "Error: plugin `cheap-power` reads the table `power`, which is not known"
    );

    let mut recording = read_recording(file.path()).expect("the recording can be read");
    assert_eq!(recording.tables.len(), 2);
    let names: Vec<&str> = recording.cases[0].tables.keys().map(String::as_str).collect();
    assert_eq!(names, ["grid", "power"]);
    let mut runner = CaseRunner::new(profile).with_tables(&recording.tables);
    let prepared = runner.prepare(&recording.cases[0]);
    assert_eq!(runner.try_decide(&prepared, &fleet), Ok((expect, String::new())));
    // Another version of the table, in a recording that was made from two.
    let other = divvy_profile::table::TableSource::new("power.csv".into(), &POWER.replace("10.50", "99.00"));
    let mut later = recording.cases[0].clone();
    later.tables.insert("power".to_owned(), other.version.clone());
    recording.tables.insert(other.version.clone(), other);
    let mut runner = runner.with_tables(&recording.tables);
    let prepared = runner.prepare(&later);
    let (decided, _) = runner.try_decide(&prepared, &fleet).expect("it has its tables");
    assert_eq!(decided, Expectation::from_counts([("a", 1)].into_iter()));
    // An older recording has none.
    let case = &mut recording.cases[0];
    case.tables.clear();
    let prepared = runner.prepare(case);
    let error = runner
        .try_decide(&prepared, &fleet)
        .expect_err("a plugin reads a table");
    assert_eq!(
        error.to_string(),
        "a plugin reads the table `grid`, which was not recorded"
    );
    assert!(error.is_input_fault());

    // A table that was edited in the recording, and a case whose table is missing.
    let problem = |text: &str| {
        fs::write(file.path(), text).expect("the recording can be written");
        let error = read_recording(file.path())
            .expect_err("the recording is invalid")
            .to_string();
        error.replace(&file.path().display().to_string(), "r")
    };
    let edited = problem(&text.replace("leased, for now", "leased"));
    assert!(
        edited.starts_with("r:4: the text of table `power` has version "),
        "{edited}"
    );
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("leased")).collect();
    assert_eq!(
        problem(&without.join("\n")),
        "r:4: case `default/web` names a version of table `power` which no earlier line defines"
    );
}
