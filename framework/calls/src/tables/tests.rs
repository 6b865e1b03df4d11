//! Resolving tables: from the rows of a file to the rows of a snapshot.

use std::sync::Arc;

use divvy_framework_abi::Slice;
use divvy_framework_abi::view::CycleView;
use divvy_framework_view::clusters::Row;
use divvy_framework_view::tables::{self, ColumnType};

use super::{Cell, PluginTables, ResolvedTables, TableContents, TableKey};
use crate::snapshot::SnapshotStore;

/// Clusters with a region each.
fn store(regions: &[(&str, &str)]) -> SnapshotStore {
    let mut store = SnapshotStore::new();
    for (name, region) in regions {
        store.upsert(name, |writer| _ = writer.region(region));
    }
    store
}

fn by_region() -> Arc<TableContents> {
    let columns = [("intensity", ColumnType::Integer), ("unit", ColumnType::Text)];
    let mut contents = TableContents::new(TableKey::Region, columns);
    for (region, intensity, unit) in [("eu", Some(12), "g"), ("us", None, "kg"), ("asia", Some(-3), "g")] {
        let row = contents.row(region);
        if let Some(intensity) = intensity {
            assert!(contents.set(row, 0, Cell::Number(intensity)));
        }
        assert!(contents.set(row, 1, Cell::Text(unit)));
    }
    assert!(!contents.set(0, 0, Cell::Text("12")));
    assert!(!contents.set(9, 0, Cell::Number(1)));
    assert!(!contents.set(0, 9, Cell::Number(1)));
    Arc::new(contents)
}

/// Every cell of the two columns, as a plugin reads them.
fn cells(
    tables: &PluginTables,
    snapshot: &crate::snapshot::Snapshot,
    resolved: &ResolvedTables,
) -> Vec<(Option<i64>, Option<String>)> {
    let view = CycleView {
        snapshot: Slice::new(snapshot.words()),
        ..CycleView::DEFAULT
    };
    let view = tables.seen_in(view, resolved);
    let intensity = tables::column::<i64>(&view, "carbon", "intensity", ColumnType::Integer).expect("it is there");
    let unit = tables::column::<&str>(&view, "carbon", "unit", ColumnType::Text).expect("it is there");
    assert!(tables::column::<&str>(&view, "carbon", "intensity", ColumnType::Text).is_none());
    assert!(tables::column::<i64>(&view, "carbons", "intensity", ColumnType::Integer).is_none());
    (0..snapshot.arena().rows())
        .map(Row::from_index)
        .map(|row| (intensity.get(row), unit.get(row).map(str::to_owned)))
        .collect()
}

#[test]
fn cells_follow_the_clusters_of_a_snapshot() {
    let contents = by_region();
    let mut tables = PluginTables::default();
    // Another text column before it, so that the texts do not begin at 0.
    assert!(tables.push("other", &contents, 1));
    assert!(tables.push("carbon", &contents, 0) && tables.push("carbon", &contents, 1));
    assert!(!tables.push("carbon", &contents, 2));
    let mut store = store(&[("a", "eu"), ("b", "us"), ("c", "mars"), ("d", "")]);
    let first = store.snapshot();
    let resolved = tables.resolve(&first, None);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        cells(&tables, &first, &resolved),
        [(Some(12), text("g")), (None, text("kg")), (None, None), (None, None)]
    );
    // A changed cluster: the others are taken over, and the result equals a new one.
    store.upsert("c", |writer| _ = writer.region("asia"));
    store.upsert("a", |writer| _ = writer.region("mars"));
    let second = store.snapshot();
    let (changed, anew) = (tables.resolve(&second, Some(&resolved)), tables.resolve(&second, None));
    let expected = [(None, None), (None, text("kg")), (Some(-3), text("g")), (None, None)];
    assert_eq!(cells(&tables, &second, &changed), expected);
    assert_eq!(cells(&tables, &second, &anew), expected);
    assert_eq!(changed.snapshot(), second.version());
    // Another set of clusters: rows get new numbers.
    store.upsert("0", |writer| _ = writer.region("eu"));
    let third = store.snapshot();
    let resolved = tables.resolve(&third, Some(&changed));
    assert_eq!(cells(&tables, &third, &resolved)[0], (Some(12), text("g")));
    assert_eq!(cells(&tables, &third, &resolved)[1..], expected);
}

#[test]
fn presence_has_one_bit_per_cluster_however_many_there_are() {
    let mut contents = TableContents::new(TableKey::Cluster, [("number", ColumnType::Boolean)]);
    let names: Vec<String> = (0..130).map(|number| format!("c{number:03}")).collect();
    for name in names.iter().step_by(3) {
        let row = contents.row(name);
        assert!(contents.set(row, 0, Cell::Boolean(true)));
    }
    let contents = Arc::new(contents);
    let mut tables = PluginTables::default();
    assert!(tables.push("first", &contents, 0) && tables.push("second", &contents, 0));
    let mut store = SnapshotStore::new();
    for name in &names {
        store.upsert(name, |_| {});
    }
    let snapshot = store.snapshot();
    let resolved = tables.resolve(&snapshot, None);
    let view = CycleView {
        snapshot: Slice::new(snapshot.words()),
        ..CycleView::DEFAULT
    };
    let view = tables.seen_in(view, &resolved);
    for table in ["first", "second"] {
        let cells = tables::column::<bool>(&view, table, "number", ColumnType::Boolean).expect("it is there");
        for number in 0..200 {
            let expected = (number < 130 && number % 3 == 0).then_some(true);
            assert_eq!(cells.get(Row::from_index(number)), expected, "{table} {number}");
        }
    }
}
