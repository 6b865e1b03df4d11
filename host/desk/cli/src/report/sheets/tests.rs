//! Pages of tables: what their remarks and figures say.

use divvy_forecast::document::FailureTotals;

use super::*;

fn document() -> FailuresDocument {
    let row = FailureRow {
        name: "eu-1".to_owned(),
        clusters: 1,
        displaced: 10,
        rehomed: 3,
        removed: 2,
        lost: 12,
        lost_elsewhere: 7,
        missing: 14,
        missing_copies: 2,
        newly_unschedulable: 1,
        newly_in_error: 0,
        beyond_capacity: 0,
        newly_full: 0,
        too_full: false,
        tightest: None,
    };
    let failures = vec![row];
    FailuresDocument {
        format: 1,
        after: SideDocument::default(),
        assumes: true,
        each: "cluster".to_owned(),
        totals: FailureTotals::of(&failures, 0),
        failures,
        errors: 0,
        notes: Vec::new(),
    }
}

#[test]
fn a_page_of_losses_counts_those_beyond_the_top() {
    let remark = |beyond_top| without_each(&document(), beyond_top).tables.remove(0).remark;
    assert!(!remark(0).contains("--top"), "{}", remark(0));
    assert!(
        remark(1).ends_with(" Not shown: 1 more loss, which --top leaves out."),
        "{}",
        remark(1)
    );
    assert!(
        remark(35).ends_with(" Not shown: 35 more losses, which --top leaves out."),
        "{}",
        remark(35)
    );
}

#[test]
fn displaced_replicas_of_a_row_are_rehomed_removed_or_lost() {
    let table = without_each(&document(), 0).tables.remove(0);
    let titles: Vec<&str> = table.columns.iter().map(|column| column.title).collect();
    assert_eq!(
        titles[2..7],
        ["Displaced", "Rehomed", "Removed", "Lost", "Lost elsewhere"]
    );
    assert_eq!(
        table.rows[0][2..7],
        [10, 3, 2, 5, 7].map(|count: i64| Value::from(count))
    );
}
