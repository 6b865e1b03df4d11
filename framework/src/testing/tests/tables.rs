//! Tables of a scenario.

use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario, TableBuilder};

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
