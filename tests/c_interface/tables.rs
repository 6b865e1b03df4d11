//! Plugins in C read tables of the profile, with one row per key and with several; one that declares none sees none.

use divvy_karmada::api::Timestamp;

use super::compile::library;
use crate::artifacts::repository;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, read, told};

#[test]
fn a_score_in_c_reads_a_table_and_a_filter_that_declares_none_sees_none() {
    let library = library("seats", &[repository().join("tests/fixtures/seats.c")]);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("contracts.toml");
    std::fs::write(
        &table,
        "[a]\nseats = 30\nowner = 'us'\n[b]\nseats = 70\nowner = 'them'\n[c]\nowner = 'us'\n",
    )
    .expect("the table can be written");
    let host = Host::extending(&format!(
        "filters = ['blind']\nscores = [{{ plugin = 'seats' }}]\n\
         [profile.plugin.seats]\npath = '{0}'\nallow-uncertified = true\n\
         [profile.plugin.blind]\npath = '{0}'\nallow-uncertified = true\n\
         [profile.table.contracts]\nfile = '{1}'\ncolumns = {{ owner = 'text', seats = 'integer' }}\n",
        library.display(),
        table.display()
    ));
    let objects = ["a", "b", "c", "d"].map(|name| cluster(name, 4).into());
    let (bindings, fleet) = read(&list(objects.into_iter().chain([binding("web", 4).into()])));
    let decision = host.scheduler().explaining(true).schedule(&bindings[0], &fleet);
    let explanation = decision.explanation.expect("it was requested");
    let scores: Vec<Option<i64>> = explanation.clusters.iter().map(|cluster| cluster.score).collect();
    assert_eq!(scores, [Some(30), Some(0), Some(1), Some(1)]);
}

#[test]
fn a_filter_in_c_reads_several_rows_per_key_and_cordons() {
    let library = library("turns", &[repository().join("tests/fixtures/turns.c")]);
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("turns.json");
    std::fs::write(
        &table,
        r#"{"a": [{"begins": "2026-03-14T02:00:00Z", "ends": "2026-03-14T03:00:00Z"},
                  {"begins": "2026-03-14T04:00:00Z", "ends": "2026-03-14T05:00:00Z"}],
            "b": [{"ends": "2026-03-14T05:00:00Z"}, {"begins": "2026-03-14 05:00 Europe/Berlin"}],
            "c": []}"#,
    )
    .expect("the table can be written");
    let profile = |isolation: &str| {
        Host::extending(&format!(
            "filters = ['turns']\n[profile.plugin.turns]\npath = '{}'\nallow-uncertified = true\nisolation = '{isolation}'\n\
             [profile.table.turns]\nfile = '{}'\nrows = 'several'\ncolumns = {{ begins = 'time', ends = 'time' }}\n",
            library.display(),
            table.display()
        ))
    };
    for host in [profile("none"), profile("process")] {
        let result = |time: &str| {
            let objects = ["a", "b", "c"].map(|name| cluster(name, 9).into());
            let web = binding("web", 7).strategy("StaticWeight").last([("a", 1)]);
            let (bindings, fleet) = read(&list(objects.into_iter().chain([web.into()])));
            let time = time.parse::<Timestamp>().expect("a timestamp").milliseconds();
            told(&host.scheduler().deciding_at(Some(time)).schedule(&bindings[0], &fleet))
        };
        // Between its turns, `a` grows; `b` has one without an end, from 04:00Z on.
        assert_eq!(result("2026-03-14T02:30:00Z").split(' ').count(), 3);
        assert!(result("2026-03-14T02:30:00Z").starts_with("a=1 b=3 c=3"));
        assert!(!result("2026-03-14T03:00:00Z").starts_with("a=1 "));
        assert_eq!(result("2026-03-14T04:30:00Z"), "a=1 c=6");
        assert!(!result("2026-03-14T05:00:00Z").contains("b="));
    }
}
