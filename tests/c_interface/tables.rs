//! A plugin in C reads a table of the profile, and one that declares none sees none.

use super::library;
use crate::artifacts::repository;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, read};

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
