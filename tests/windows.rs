//! Maintenance windows: the bundled filter with its table, through the real loader, and what the host makes of a cordon.

use std::fs;
use std::path::Path;

use divvy_profile::table::time_zone_version;
use divvy_recordings::{
    CaseRunner, Expectation, read_recording, recorded_case, recorded_fleet, recorded_header, recorded_tables,
};
use divvy_scheduler::decision::{Decision, decide};
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, list};
use crate::scheduling::{Host, configuration, detected, filters_with, name_libraries, read, told};

/// 2026-03-14T02:00:00Z, a Saturday, and the end of its window.
const BEGINS: i64 = 1_773_453_600_000;
const ENDS: i64 = BEGINS + 4 * 3_600_000;

const HEADER: &str = "region,announced,begins,ends,weekly,evict,announced-by";

/// The lines of a profile with the filter and this table, whose file is written into a folder.
fn lines(folder: &Path, rows: &str) -> String {
    let file = folder.join("windows.csv");
    fs::write(&file, format!("{HEADER}\n{rows}")).expect("the table can be written");
    format!(
        "{}[profile.table.windows]\nfile = '{}'\nkey = 'region'\nrows = 'several'\n\
         columns = {{ announced = 'time', begins = 'time', ends = 'time', weekly = 'weekly', evict = 'boolean', announced-by = \
         'text' }}\n",
        filters_with(&["maintenance-windows"]),
        file.display()
    )
}

fn host(rows: &str) -> Host {
    let folder = tempfile::tempdir().expect("a folder");
    Host::extending(&lines(folder.path(), rows))
}

/// `a` and `b` in the region `eu`, `c` and `d` in others.
fn clusters() -> [Value; 4] {
    [("a", "eu"), ("b", "eu"), ("c", "us"), ("d", "")].map(|(name, region)| cluster(name, 9).region(region).into())
}

fn decided(host: &Host, binding: Binding, time: i64) -> Decision {
    let (bindings, fleet) = read(&list(clusters().into_iter().chain([binding.into()])));
    let mut scheduler = host.scheduler().explaining(true).deciding_at(Some(time));
    let mut decisions = decide(&mut scheduler, &bindings, &fleet);
    decisions.remove(0)
}

fn web(strategy: &str, replicas: i64) -> Binding {
    binding("web", replicas).strategy(strategy).last([("a", 3), ("c", 2)])
}

const ONCE: &str = "eu,,2026-03-14T02:00:00Z,2026-03-14T06:00:00Z,,,storage team\n";
const WEEKLY: &str = "eu,,,,Sat 03:00-07:00 Europe/Berlin,,\n";

#[test]
fn a_cluster_in_a_window_keeps_its_replicas_and_takes_no_more() {
    for rows in [ONCE, WEEKLY] {
        let host = host(rows);
        // Weights of 1 would give each three or four of 11; without the window, they do.
        let result = |strategy: &str, time| told(&decided(&host, web(strategy, 11), time));
        assert_eq!(result("DynamicWeight", BEGINS).split(' ').next(), Some("a=3"));
        assert!(result("DynamicWeight", BEGINS).contains("c=") && !result("DynamicWeight", BEGINS).contains("b="));
        assert_eq!(result("StaticWeight", BEGINS), "a=3 c=4 d=4");
        assert!(result("StaticWeight", ENDS).contains("b="));
        assert_eq!(result("Duplicated", BEGINS), "a=3 c=11 d=11");
        assert_eq!(result("Duplicated", ENDS), "a=11 b=11 c=11 d=11");
        // It shrinks with the binding.
        let shrunk = told(&decided(&host, web("Duplicated", 2), BEGINS));
        assert_eq!(shrunk, "a=2 c=2 d=2");
    }
    let evicting = host(&ONCE.replace(",,storage", ",true,storage"));
    assert_eq!(told(&decided(&evicting, web("StaticWeight", 6), BEGINS)), "c=3 d=3");
    assert_eq!(told(&decided(&evicting, web("Duplicated", 6), BEGINS)), "c=6 d=6");
}

#[test]
fn a_strategy_that_cannot_divide_the_rest_is_no_fault_of_the_policy() {
    let host = host(ONCE);
    let counts = json!({ "staticSpecifyList": [
        { "targetCluster": { "clusterNames": ["a"] }, "replicas": 5 },
        { "targetCluster": { "clusterNames": ["c"] }, "replicas": 2 },
    ] });
    let specified = || web("Specified", 7).preferences(&counts);
    let refused = told(&decided(&host, specified(), BEGINS));
    assert_eq!(
        refused,
        "Unschedulable: cluster(s) take no further replicas: a; 4 of the 7 replicas are left for the other candidates, which cannot take \
         them: the specified counts sum to 7, but the binding has 4 replicas"
    );
    assert_eq!(told(&decided(&host, specified(), ENDS)), "a=5 c=2");
    // Only clusters in the window could take the rest.
    let eu = json!({ "clusterNames": ["a"] });
    let alone = web("StaticWeight", 5).placement("clusterAffinity", eu);
    assert_eq!(
        told(&decided(&host, alone, BEGINS)),
        "Unschedulable: 5 replicas requested, 3 fit in the candidate clusters; cluster(s) take no further replicas: a"
    );
}

/// The strategy divides the rest in a call of its own, in which no cluster has a weight.
#[test]
fn the_rest_of_static_weights_does_not_go_to_clusters_without_weight() {
    let host = host(ONCE);
    let weighted = |names: Value| {
        let weights = json!({ "staticWeightList": [{ "targetCluster": { "clusterNames": names }, "weight": 2 }] });
        told(&decided(&host, web("StaticWeight", 11).preferences(&weights), BEGINS))
    };
    assert_eq!(
        weighted(json!(["a"])),
        "Unschedulable: cluster(s) take no further replicas: a; 8 of the 11 replicas are left for the other candidates, which cannot take \
         them: 8 replicas requested, and none of these candidates has a positive weight"
    );
    assert_eq!(weighted(json!(["a", "d"])), "a=3 d=8");
}

/// Select would rather have a cluster with room, and then the cordon would have taken replicas away.
#[test]
fn a_cordoned_cluster_is_not_left_out_for_its_lack_of_room() {
    let host = host(ONCE);
    let two = json!([{ "spreadByField": "cluster", "minGroups": 2, "maxGroups": 2 }]);
    for strategy in ["DynamicWeight", "Aggregated"] {
        let result = |replicas, time| {
            let asked = web(strategy, replicas).placement("spreadConstraints", two.clone());
            told(&decided(&host, asked, time))
        };
        // There is room for 14 on both, and for 20 on the two others.
        assert_eq!(result(14, BEGINS), "a=3 c=11");
        let refused = result(17, BEGINS);
        assert!(
            refused.starts_with("Unschedulable: 17 replicas requested, 14 fit"),
            "{strategy}: {refused}"
        );
        assert!(result(17, ENDS).starts_with("a="), "{strategy}");
    }
}

#[test]
fn the_answer_holds_until_it_changes_for_the_binding() {
    let host = host(ONCE);
    let until = |binding: Binding, time| decided(&host, binding, time).valid_until;
    assert_eq!(until(web("Duplicated", 2), BEGINS - 1), Some(BEGINS));
    assert_eq!(until(web("Duplicated", 2), BEGINS), Some(ENDS));
    assert_eq!(until(web("Duplicated", 2), ENDS), None);
    // A binding that cannot go to the region is not concerned.
    let us = json!({ "clusterNames": ["c", "d"] });
    let elsewhere = || binding("web", 2).placement("clusterAffinity", us.clone());
    assert_eq!(until(elsewhere(), BEGINS), None);
}

#[test]
fn an_explanation_has_the_end_and_the_announcement_with_figures() {
    let host = host(&ONCE.replace("eu,,", "eu,2026-03-10T00:00:00Z,"));
    let decision = decided(&host, web("DynamicWeight", 5), BEGINS);
    let explanation = decision.explanation.as_ref().expect("it was requested");
    let text = "cluster(s) take no further replicas until 2026-03-14T06:00:00Z: maintenance from 2026-03-14T02:00:00Z, announced \
                by storage team";
    for (number, is_rejected) in [(0, false), (1, true)] {
        let cluster = &explanation.clusters[number];
        let reason = cluster
            .reasons
            .iter()
            .find(|reason| reason.plugin == "maintenance-windows");
        let reason = reason.expect("the plugin gives a reason");
        assert_eq!(reason.text, text);
        let figures: Vec<(&str, i64)> = reason
            .figures
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        assert_eq!(
            figures,
            [("announced", 1_773_100_800_000), ("begins", BEGINS), ("ends", ENDS)]
        );
        assert_eq!(
            cluster.rejected.as_ref().map(|rejected| rejected.text.as_str()),
            is_rejected.then_some(text)
        );
        assert_eq!(cluster.fits_now, (!is_rejected).then_some(0));
    }
}

/// Every bad cell is an error of the profile, before anything is decided, with the file and the line.
#[test]
fn a_bad_table_is_refused_when_the_profile_loads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = format!("{}/", folder.path().display());
    let errors = |rows: &str| -> Vec<String> {
        let errors = Host::try_extending(&lines(folder.path(), rows))
            .err()
            .unwrap_or_default();
        let text = |error: &divvy_scheduler::profile::RegistryError| match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        };
        errors.iter().map(|error| text(error).replace(&path, "")).collect()
    };
    assert_eq!(errors(&format!("{ONCE}{WEEKLY}{ONCE}")), [""; 0]);
    assert_eq!(
        errors(&format!(
            "{ONCE}eu,soon,,,,,\neu,,2026-03-29 02:30 Europe/Berlin,2026-10-25 02:30 Europe/Berlin,,,\n\
             eu,,,,Sat 22-6 UTC,,\neu,,,,Sat 22:00-06:00 Europe/Berln,,\n"
        )),
        [
            "windows.csv:3: row `eu`, column `announced`: expected a time, got `soon` (such as `2026-12-24T20:00:00+01:00` or \
             `2026-12-24 20:00 Europe/Berlin`)",
            "windows.csv:4: row `eu`, column `begins`: the clocks are put forward past `2026-03-29 02:30 Europe/Berlin` (give its \
             offset from UTC, such as `2026-10-25T02:30:00+02:00`)",
            "windows.csv:4: row `eu`, column `ends`: the clocks are put back and show `2026-10-25 02:30 Europe/Berlin` twice (give \
             its offset from UTC, such as `2026-10-25T02:30:00+02:00`)",
            "windows.csv:5: row `eu`, column `weekly`: expected hours from `00:00` to `24:00`, such as `22:00-06:00`, got `Sat 22-6 \
             UTC`",
            "windows.csv:6: row `eu`, column `weekly`: the time zone database has no `Europe/Berln` (did you mean \
             `Europe/Berlin`?)",
        ]
    );
    // What only the plugin knows to be wrong.
    assert_eq!(
        errors(&format!(
            "us,,,,Sat 22:00-06:00 UTC,,\n{ONCE}eu,2026-03-14T01:00:00Z,,,{},,\n",
            "Sat 22:00-06:00 UTC"
        )),
        [
            "windows.csv:4: row `eu`, column `announced`: expected none beside `weekly` (the plugin's `lead-minutes` announces \
             every window)"
        ]
    );
    assert_eq!(
        errors("nowhere,,,,,,\n"),
        [
            "windows.csv:2: row `nowhere`: expected `weekly`, or `begins` and `ends` (such as `Sat 22:00-06:00 Europe/Berlin` in \
             `weekly`)"
        ]
    );
    // One row per key is another table.
    let one = lines(folder.path(), ONCE).replace("rows = 'several'\n", "");
    let errors = Host::try_extending(&one).expect_err("the plugin reads several rows");
    assert_eq!(
        errors[0].to_string(),
        "plugin `maintenance-windows` reads several rows per key of the table `windows`"
    );
    assert_eq!(errors[0].hint().as_deref(), Some("set its `rows = \"several\"`"));
}

#[test]
fn an_isolated_plugin_decides_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = format!("{ONCE}{WEEKLY}");
    let isolated = format!(
        "{}[profile.plugin.maintenance-windows]\nisolation = 'process'\n",
        lines(folder.path(), &rows)
    );
    let isolated = Host::extending(&isolated);
    let host = host(&rows);
    for (strategy, time) in [("StaticWeight", BEGINS), ("Duplicated", BEGINS), ("StaticWeight", ENDS)] {
        let (here, there) = (
            decided(&host, web(strategy, 11), time),
            decided(&isolated, web(strategy, 11), time),
        );
        assert_eq!(told(&there), told(&here));
        assert_eq!(there.valid_until, here.valid_until);
        assert_eq!(there.explanation, here.explanation);
    }
}

#[test]
fn a_recording_names_the_time_zone_database_and_replays_without_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut configuration = configuration(&format!("extends = 'default'\n{}", lines(folder.path(), WEEKLY)));
    name_libraries(&mut configuration);
    let host = Host::new(&configuration, &divvy_loader::PluginDirectories::default()).expect("a profile");
    let objects = list(clusters().into_iter().chain([web("StaticWeight", 11).into()]));
    let (manifests, found) = detected(&objects);
    let (_, fleet) = read(&objects);
    let decision = host
        .scheduler()
        .deciding_at(Some(BEGINS))
        .schedule(&found.bindings[0], &fleet);
    assert_eq!(told(&decision), "a=3 c=4 d=4");
    let expect = Expectation::from_counts([("a", 3), ("c", 4), ("d", 4)].into_iter());
    let clusters = manifests.clusters.iter().map(|cluster| cluster.object.clone());
    let mut lines = vec![
        recorded_header(host.profile(), &configuration).expect("the profile is TOML"),
        recorded_fleet("fleet", clusters.collect()).expect("it is JSON"),
    ];
    lines.extend(recorded_tables(host.profile()).expect("it is JSON"));
    lines.push(recorded_case(&found.bindings[0], &decision, "fleet", expect.clone()).expect("it is JSON"));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = lines.join("\n");
    assert!(
        text.contains(&format!("\"timeZones\":\"{}\"", time_zone_version())),
        "{text}"
    );
    fs::write(file.path(), &text).expect("the recording can be written");
    folder.close().expect("the folder can be deleted");
    let recording = read_recording(file.path()).expect("the recording can be read");
    assert_eq!(
        recording.time_zones.iter().map(String::as_str).collect::<Vec<_>>(),
        [time_zone_version()]
    );
    let mut runner = CaseRunner::new(host.shared()).with_tables(&recording.tables);
    let prepared = runner.prepare(&recording.cases[0]);
    assert_eq!(runner.try_decide(&prepared, &fleet), Ok((expect, String::new())));
}
