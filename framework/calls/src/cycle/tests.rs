//! Numbers that a newer host may write, as this version reads them: unknown ones never match.

use divvy_framework_memory::{Packed, Packer, packed_words};
use divvy_framework_view::binding::{Binding, SelectorField, SelectorOperator, SpreadConstraint, SpreadField};
use divvy_framework_view::clusters::{ClusterMatcher, LabelColumn};

use super::*;
use crate::binding::BindingRecordBuilder;
use crate::snapshot::SnapshotStore;

/// Numbers that no version knows.
const UNHEARD_OF: [u32; 3] = [77, 1 << 31, u32::MAX];

fn snapshot() -> Snapshot {
    let mut store = SnapshotStore::new();
    store.upsert("a", |cluster| {
        cluster.region("eu").zone("eu-1").label("tier", "gold");
    });
    store.upsert("b", |_| {});
    store.snapshot()
}

#[test]
fn an_unknown_field_of_a_spread_constraint_reads_as_unknown() {
    let snapshot = snapshot();
    let mut builder = BindingRecordBuilder::new();
    builder.spread_constraint(SpreadConstraint::by(SpreadField::Region, 1, 2));
    let mut record = builder.build();
    for number in UNHEARD_OF {
        change(&mut record.spread_constraints, |row| row.field = number);
        let resolution = Resolution::default();
        let view = cycle_view(&snapshot, &record, &resolution, CycleOptions::default());
        let read: Vec<SpreadConstraint<'_>> = Binding::new(&view).spread_constraints().collect();
        // Not the label "", as which unknown numbers used to be read.
        assert_eq!(read, [SpreadConstraint::by(SpreadField::Unknown, 1, 2)], "{number}");
    }
}

#[test]
fn an_expression_with_an_unknown_source_matches_no_cluster() {
    use SelectorOperator::{DoesNotExist, Exists, Gt, In, Lt, NotIn};
    let snapshot = snapshot();
    for operator in [In, NotIn, Exists, DoesNotExist, Gt, Lt] {
        let mut builder = BindingRecordBuilder::new();
        builder.placement_affinity(|affinity| {
            affinity.field(SelectorField::Region, operator, ["eu"]);
        });
        let mut record = builder.build();
        let matching = |record: &BindingRecord| {
            let affinity = &record.head.placement_affinities.of(&record.affinities)[0];
            let mut rows = Vec::new();
            let matcher = ClusterMatcher::compile(snapshot.arena(), affinity, tables(record));
            matcher.collect_rows(&mut LabelColumn::default(), &mut rows);
            rows.len()
        };
        if matches!(operator, NotIn | DoesNotExist) {
            assert_eq!(matching(&record), 1, "{operator:?}: `b` has no region");
        }
        for number in UNHEARD_OF {
            change(&mut record.expressions, |row| row.source = number);
            assert_eq!(matching(&record), 0, "{operator:?} {number}");
        }
    }
}

/// Replaces a table by one whose first row is changed.
fn change<T: Copy>(table: &mut Packed<T>, change: impl FnOnce(&mut T)) {
    let mut rows = table.to_vec();
    change(&mut rows[0]);
    *table = Packer::new(packed_words(&rows)).table(&rows);
}

#[test]
fn an_unknown_operator_matches_no_cluster() {
    let snapshot = snapshot();
    let mut builder = BindingRecordBuilder::new();
    builder.placement_affinity(|affinity| {
        affinity.field(SelectorField::Region, SelectorOperator::NotIn, ["us"]);
    });
    let mut record = builder.build();
    for number in UNHEARD_OF {
        change(&mut record.expressions, |row| row.operator = number);
        let affinity = &record.head.placement_affinities.of(&record.affinities)[0];
        let matcher = ClusterMatcher::compile(snapshot.arena(), affinity, tables(&record));
        assert!(snapshot.clusters().rows().all(|row| !matcher.matches(row)), "{number}");
    }
}

/// A fleet whose clusters have labels in different orders, `tier` among them in most.
fn labelled(names: [&str; 5]) -> Snapshot {
    let mut store = SnapshotStore::new();
    let labels: [&[(&str, &str)]; 5] = [
        &[("env", "prod"), ("tier", "gold")],
        &[("tier", "silver")],
        &[("env", "prod")],
        &[("a", "gold"), ("env", "test"), ("tier", "gold")],
        &[("env", "prod"), ("tier", "")],
    ];
    for (name, labels) in names.into_iter().zip(labels) {
        store.upsert(name, |cluster| {
            for (key, value) in labels {
                cluster.label(key, value);
            }
        });
    }
    store.snapshot()
}

#[test]
fn rules_about_one_label_match_as_if_each_were_alone() {
    let mut builder = BindingRecordBuilder::new();
    for (key, value) in [
        ("tier", "gold"),
        ("tier", "silver"),
        ("env", "prod"),
        ("tier", "gold"),
        ("tier", "unknown"),
        ("tier", ""),
    ] {
        builder.rule("list", "list[0]", [("weight", 1)], |affinity| {
            affinity.label(key, SelectorOperator::In, [value]);
        });
    }
    let record = builder.build();
    let mut resolution = Resolution::default();
    let rows = |resolution: &Resolution, rule| -> Vec<usize> {
        resolution.rule_rows(rule).iter().map(|row| row.index()).collect()
    };
    // The second snapshot has the same clusters in another order, and other numbers for the same texts.
    for (names, expected) in [
        (
            ["a", "b", "c", "d", "e"],
            [&[0, 3][..], &[1], &[0, 2, 4], &[0, 3], &[], &[4]],
        ),
        (
            ["e", "d", "c", "b", "a"],
            [&[1, 4][..], &[3], &[0, 2, 4], &[1, 4], &[], &[0]],
        ),
    ] {
        let snapshot = labelled(names);
        resolution.resolve(&snapshot, &record);
        for (rule, expected) in expected.into_iter().enumerate() {
            assert_eq!(rows(&resolution, rule), expected, "rule {rule} of {names:?}");
        }
    }
}
