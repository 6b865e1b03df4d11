//! Columns that a plugin declares for its snapshot value, as the test kit enforces them.

use super::ClusterColumns;
use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario};

/// Reads columns for its value that it does not declare.
#[derive(Default)]
struct Reader<const DECLARED: usize> {
    reads: Reads,
}

#[derive(Default, Clone, Copy)]
enum Reads {
    #[default]
    Labels,
    /// A column by index, which panics if it is empty.
    Regions,
    /// Taints, with an error of its own on the way.
    TaintsAndFails,
    Names,
    Resources,
}

const DECLARED: [ClusterColumns; 3] = [
    ClusterColumns::NONE.labels(),
    ClusterColumns::NONE.location().taints(),
    ClusterColumns::ALL,
];

impl<const COLUMNS: usize> Plugin for Reader<COLUMNS> {
    const NAME: &'static str = "reader";
    const DESCRIPTION: &'static str = "reads columns for a value";
}

impl<const COLUMNS: usize> SnapshotValuePlugin for Reader<COLUMNS> {
    type SnapshotValue = usize;
    const READS: ClusterColumns = DECLARED[COLUMNS];

    fn snapshot_value(&self, context: &SnapshotValueContext<'_>, _: Option<&usize>) -> Result<usize, Failure> {
        let clusters = context.clusters();
        Ok(match self.reads {
            Reads::Labels => clusters
                .iter()
                .filter(|cluster| cluster.label("a-text-of-no-cluster").is_none())
                .count(),
            Reads::Resources => usize::from(clusters.remaining("a-text-of-no-cluster").is_some()),
            Reads::Regions => clusters.rows().map(|row| clusters.regions()[row].index()).sum(),
            Reads::TaintsAndFails if clusters.any_tainted() => 0,
            Reads::TaintsAndFails => return Err(Failure::internal("no cluster is tainted")),
            Reads::Names => clusters.iter().map(|cluster| cluster.name().len()).sum(),
        })
    }
}

impl<const COLUMNS: usize> FilterPlugin for Reader<COLUMNS> {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        context.snapshot_value().map(|_| ())
    }
}

fn outcome<const COLUMNS: usize>(reads: Reads) -> Result<Vec<String>, Failure> {
    let cluster = ClusterBuilder::new("a").region("eu").label("tier", "gold");
    Scenario::new().cluster(cluster).feasible(&Reader::<COLUMNS> { reads })
}

#[test]
fn a_value_may_read_the_columns_that_it_declares_and_names() {
    for outcome in [
        outcome::<0>(Reads::Labels),
        outcome::<1>(Reads::Regions),
        outcome::<0>(Reads::Names),
        outcome::<1>(Reads::Names),
        outcome::<2>(Reads::Labels),
        outcome::<2>(Reads::Regions),
    ] {
        assert_eq!(outcome, Ok(vec!["a".to_owned()]));
    }
    assert_eq!(
        outcome::<1>(Reads::TaintsAndFails),
        Err(Failure::internal("no cluster is tainted"))
    );
}

/// Regardless of the consequences of an empty column, the error is the missing declaration.
#[test]
fn reading_a_column_that_is_not_declared_is_an_error() {
    for (outcome, method) in [
        (outcome::<1>(Reads::Labels), "labels"),
        (outcome::<0>(Reads::Regions), "location"),
        (outcome::<0>(Reads::TaintsAndFails), "taints"),
        (outcome::<0>(Reads::Resources), "resources"),
    ] {
        let message = format!("reads columns for its snapshot value that `READS` does not declare: `{method}`");
        assert_eq!(outcome, Err(Failure::internal(message)));
    }
}

#[test]
fn all_columns_and_one_more_are_all_columns() {
    assert_eq!(ClusterColumns::ALL.labels(), ClusterColumns::ALL);
    assert_ne!(ClusterColumns::NONE.labels(), ClusterColumns::NONE);
}
