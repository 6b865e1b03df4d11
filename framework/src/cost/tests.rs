//! Requests of a binding by its shape, and prices by row.

use super::{Amounts, COLUMNS, PriceTable, Prices, requests};
use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario, TableBuilder};

/// Explains the requests of the binding, and the prices of each cluster.
#[derive(Default)]
struct Reader;

impl Plugin for Reader {
    const NAME: &'static str = "reader";
    const DESCRIPTION: &'static str = "reads prices";
}

impl ScorePlugin for Reader {
    const NEEDS: Needs = Needs::NONE.tables(&[Table::new("prices", COLUMNS)]);

    fn score(&self, context: &ScoreContext<'_, Self>, _: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let prices = PriceTable::read(context.table("prices")?)?;
        context.note(|| format!("{:?}", requests(&context.binding(), "gpu")));
        for candidate in context.candidates() {
            context.explain(candidate, || format!("{:?}", prices.prices(context.rows()[candidate])));
        }
        Ok(())
    }
}

fn scenario() -> Scenario {
    let prices = TableBuilder::new("prices")
        .decimals("cpu-hour", 6, &[("a", 30_000)])
        .decimals("gib-hour", 6, &[("b", 4_000)])
        .decimals("gpu-hour", 6, &[("a", 2_500_000)]);
    Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"))
        .table(prices)
}

#[track_caller]
fn check_requests(scenario: Scenario, expected: Amounts) {
    let (_, said) = scenario.scores_explained(&Reader).expect("it scores");
    assert_eq!(said.notes, [format!("{expected:?}")]);
}

fn amounts(cpu: i64, memory: i64, gpu: i64) -> Amounts {
    Amounts::default()
        .with("cpu", cpu, "gpu")
        .with("memory", memory, "gpu")
        .with("gpu", gpu, "gpu")
}

#[test]
fn a_divided_binding_requests_what_a_replica_requests() {
    let divided = scenario().requests(&[("cpu", 500), ("gpu", 2), ("pods", 1)]);
    check_requests(divided.clone(), amounts(500, 0, 2));
    check_requests(divided.component("worker", 4, &[("memory", 64)]), amounts(500, 0, 2));
    check_requests(scenario(), amounts(0, 0, 0));
}

#[test]
fn a_binding_of_components_requests_a_set_of_them() {
    let driver = scenario().component("driver", 1, &[("memory", 64)]);
    check_requests(driver.clone(), amounts(0, 64, 0));
    let set = driver.component("worker", 4, &[("cpu", 250), ("memory", 10)]);
    check_requests(set.clone(), amounts(1000, 104, 0));
    check_requests(set.requests(&[("cpu", 1)]), amounts(1000, 104, 0));
}

#[test]
fn prices_are_those_of_a_row() {
    let (_, said) = scenario().scores_explained(&Reader).expect("it scores");
    let texts: Vec<&str> = said.explanations.iter().map(|(_, text)| text.as_str()).collect();
    let expected = [(Some(30_000), None, Some(2_500_000)), (None, Some(4_000), None)];
    let expected = expected.map(|(cpu, memory, gpu)| format!("{:?}", Prices { cpu, memory, gpu }));
    assert_eq!(texts, expected);
}
