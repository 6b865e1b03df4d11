//! Tables of a scenario.

use crate::prelude::*;
use crate::testing::{ClusterBuilder, RowBuilder, Scenario, TableBuilder};

const CONTRACTS: Table = Table::new(
    "contracts",
    &[
        TableColumn::integer("seats"),
        TableColumn::decimal("price", 2),
        TableColumn::text("owner"),
        TableColumn::boolean("open"),
    ],
);

/// Reads every type of column at Score, and at Filter a table that it declares at Score alone.
#[derive(Default)]
struct Reader;

impl Plugin for Reader {
    const NAME: &'static str = "reader";
    const DESCRIPTION: &'static str = "reads a table";
}

impl FilterPlugin for Reader {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        context.table("contracts").map(|_| ())
    }
}

impl ScorePlugin for Reader {
    const NEEDS: Needs = Needs::NONE.tables(&[CONTRACTS]);

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let table = context.table("contracts")?;
        let (seats, prices) = (table.integers("seats")?, table.decimals("price")?);
        let (owners, open) = (table.texts("owner")?, table.booleans("open")?);
        for candidate in context.candidates() {
            let row = context.rows()[candidate];
            let cells = (seats.get(row), prices.get(row), owners.get(row), open.get(row));
            context.explain(candidate, || format!("{cells:?}"));
            result.set(candidate, seats.get(row).unwrap_or(0));
        }
        assert_eq!(
            (
                seats.as_slice(),
                seats.is_missing(context.rows()[Candidate::from_index(1)])
            ),
            (&[7, 0][..], true)
        );
        for (read, expected) in [
            (
                table.integers("price").map(|_| ()),
                "reads column `price` of the table `contracts` as integers, but declares it as decimal with scale 2",
            ),
            (
                table.texts("seats").map(|_| ()),
                "reads column `seats` of the table `contracts` as texts, but declares it as integer",
            ),
            (
                table.texts("name").map(|_| ()),
                "reads column `name` of the table `contracts` without declaring it: `Needs::tables`",
            ),
            (
                context.table("prices").map(|_| ()),
                "reads the table `prices` without declaring it: `Needs::tables`",
            ),
        ] {
            assert_eq!(read.map_err(|failure| failure.to_string()), Err(expected.to_owned()));
        }
        Ok(())
    }
}

fn scenario() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"))
}

fn contracts() -> TableBuilder {
    TableBuilder::new("contracts")
        .integers("seats", &[("a", 7)])
        .decimals("price", 2, &[("a", 1250), ("b", -1)])
        .texts("owner", &[("b", "someone")])
        .booleans("open", &[("a", false)])
}

#[test]
fn a_declared_table_is_read_by_the_rows_of_clusters() {
    let (scores, explanation) = scenario()
        .table(contracts())
        .scores_explained(&Reader)
        .expect("it has its table");
    assert_eq!(scores, [7, 0]);
    let said: Vec<&str> = explanation.explanations.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        said,
        [
            "(Some(7), Some(1250), None, Some(false))",
            "(None, Some(-1), Some(\"someone\"), None)"
        ]
    );
}

#[test]
fn what_is_not_declared_or_not_provided_is_an_error() {
    let failed = |scenario: Scenario| {
        scenario
            .scores(&Reader)
            .map_err(|failure| failure.to_string())
            .unwrap_err()
    };
    assert_eq!(failed(scenario()), "the scenario has no table `contracts`");
    let integers = |name: &str| TableBuilder::new("contracts").integers(name, &[]);
    assert_eq!(
        failed(scenario().table(integers("chairs"))),
        "the table `contracts` of the scenario has no column `seats`"
    );
    assert_eq!(
        failed(scenario().table(integers("seats").decimals("price", 3, &[]))),
        "column `price` of the table `contracts` of the scenario is decimal with scale 3, but the plugin declares decimal \
         with scale 2"
    );
    assert_eq!(
        failed(scenario().table(contracts().integers("more", &[("c", 1)]))),
        "the table `contracts` has a cell for `c`, which is not a cluster of the scenario"
    );
    // Filter declares nothing.
    let filtered = scenario().table(contracts()).feasible(&Reader);
    assert_eq!(
        filtered.map_err(|failure| failure.to_string()),
        Err("reads the table `contracts` without declaring it: `Needs::tables`".to_owned())
    );
}

const WINDOWS: Table = Table::new(
    "windows",
    &[
        TableColumn::time("begins"),
        TableColumn::weekly("weekly"),
        TableColumn::text("note"),
    ],
)
.with_several_rows();

/// Rejects clusters with a row whose hours include 1970-01-05T00:00:00Z, a Monday. Promises to judge each cluster alone.
#[derive(Default)]
struct Closed;

impl Plugin for Closed {
    const NAME: &'static str = "closed";
    const DESCRIPTION: &'static str = "rejects clusters by a table with several rows";
}

const MONDAY: i64 = 4 * 86_400_000;

impl FilterPlugin for Closed {
    const NEEDS: Needs = Needs::NONE.tables(&[WINDOWS]);
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let table = context.table("windows")?;
        let (begins, weekly, notes) = (table.times("begins")?, table.weekly("weekly")?, table.texts("note")?);
        for row in context.clusters().rows() {
            assert_eq!(weekly.count(row), notes.count(row));
            for number in 0..weekly.count(row) {
                let Some(hours) = weekly.nth(row, number) else {
                    if begins.nth(row, number).is_none() {
                        return Err(table
                            .refuse(row, number, None, "has neither")
                            .with_hint("give one")
                            .into());
                    }
                    continue;
                };
                if hours.at(MONDAY).is_some() {
                    let note = notes.nth(row, number).unwrap_or("no note");
                    let reason =
                        || Reason::from(format!("cluster(s) were closed: {note}")).figure("row", number as i64);
                    result.reject(row, reason);
                }
            }
        }
        assert_eq!(weekly.nth(Row::from_index(0), 9), None);
        Ok(())
    }
}

fn regions() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("a").region("eu").provider("x"))
        .cluster(ClusterBuilder::new("b").region("us").label("tier", "gold"))
        .cluster(ClusterBuilder::new("c").region("eu"))
}

#[test]
fn a_table_has_several_rows_for_each_value_of_a_property() {
    let table = || TableBuilder::new("windows").with_several_rows();
    let closed = || {
        RowBuilder::new()
            .weekly("weekly", "Sun 22:00-02:00 UTC")
            .text("note", "weekend")
    };
    let open = || {
        RowBuilder::new()
            .weekly("weekly", "Mon 00:00-02:00 +02:00")
            .time("begins", 7)
    };
    let rows = |table: TableBuilder, key: &str| table.row(key, open()).row(key, closed());
    for (table, rejected) in [
        (rows(table().by_region(), "eu"), vec!["a", "c"]),
        (rows(table().by_provider(), "x"), vec!["a"]),
        (rows(table().by_label("tier"), "gold"), vec!["b"]),
        (rows(table(), "c"), vec!["c"]),
        (table().by_region().texts("note", &[]).row("eu", open()), vec![]),
    ] {
        let rejections = regions()
            .table(table)
            .rejections_checked(&Closed)
            .expect("it has its table");
        let names: Vec<&str> = rejections.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, rejected);
        assert!(
            rejections
                .iter()
                .all(|(_, reason)| reason == "cluster(s) were closed: weekend")
        );
    }
    // The figures of a rejection are data.
    let scenario = regions().table(rows(table().by_region(), "eu"));
    let (_, explanation) = scenario.feasible_explained(&Closed).expect("it has its table");
    let rows: Vec<_> = explanation
        .details
        .iter()
        .map(|(row, reason)| (*row, reason.value("row")))
        .collect();
    assert_eq!(rows, [(0, Some(1)), (2, Some(1))]);
}

#[test]
fn rows_that_are_misspelt_or_too_many_are_errors_of_the_scenario() {
    let failed = |table: TableBuilder| {
        let failure = regions()
            .table(table)
            .feasible(&Closed)
            .expect_err("the table is wrong");
        failure.to_string()
    };
    let row = || {
        RowBuilder::new()
            .weekly("weekly", "Mon 00:00-02:00 UTC")
            .text("note", "")
            .time("begins", 1)
    };
    let several = || TableBuilder::new("windows").by_region().with_several_rows();
    assert_eq!(
        failed(several().row("mars", row())),
        "the table `windows` has a row for the region `mars`, which no cluster of the scenario has"
    );
    assert_eq!(
        failed(TableBuilder::new("windows").row("a", row())),
        "the plugin declares the table `windows` with several rows per key"
    );
    assert_eq!(
        failed(several().row("eu", row().weekly("weekly", "Mon 00:00-02:00 Europe/Berlin"))),
        "column `weekly` of the table `windows`: expected the zone `UTC` or an offset such as `+02:00`, got `Mon 00:00-02:00 \
         Europe/Berlin`"
    );
    assert_eq!(
        failed(
            several()
                .row("eu", row())
                .row("us", RowBuilder::new().text("note", "x"))
        ),
        "the table `windows` for cluster `b`, row 0: has neither"
    );
}

/// Cordons every cluster; without the need, that is an error.
#[derive(Default)]
struct Cordons;

impl Plugin for Cordons {
    const NAME: &'static str = "cordons";
    const DESCRIPTION: &'static str = "cordons every cluster";
}

impl FilterPlugin for Cordons {
    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        for row in context.clusters().rows() {
            result.cordon(row, || Reason::from("cluster(s) were cordoned").figure("since", 3))?;
        }
        Ok(())
    }
}

#[test]
fn a_cordon_keeps_the_clusters_of_the_last_result_and_must_be_declared() {
    let scenario = regions().cluster(ClusterBuilder::new("a").last(0));
    let failure = scenario.feasible(&Cordons).expect_err("it is not declared");
    assert_eq!(
        failure.to_string(),
        "reads the column of cordoned clusters without declaring `Needs::cordons`"
    );
    let scenario = scenario.needs(Needs::NONE.cordons());
    assert_eq!(scenario.cordoned(&Cordons), Ok(vec!["a".to_owned()]));
    let rejected = scenario.rejections_checked(&Cordons).expect("it is declared");
    let names: Vec<&str> = rejected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
    let (feasible, explanation) = scenario.feasible_explained(&Cordons).expect("it is declared");
    assert_eq!(feasible, ["a"]);
    assert_eq!(explanation.details.len(), 3);
}
