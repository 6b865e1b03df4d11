//! Numbers that a newer host may write, as this version reads them: unknown ones never match.

use divvy_framework_view::binding::{Binding, SelectorField, SelectorOperator, SpreadConstraint, SpreadField};
use divvy_framework_view::clusters::ClusterMatcher;

use super::*;
use crate::binding::BindingRecordBuilder;
use crate::snapshot::SnapshotStore;

/// Numbers of which no version knows the meaning.
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
        record.spread_constraints[0].field = number;
        let resolution = Resolution::default();
        let view = cycle_view(&snapshot, &record, &resolution, CycleOptions::default());
        let read: Vec<SpreadConstraint<'_>> = Binding::new(&view).spread_constraints().collect();
        // Not the label "", which every constraint with an unknown number was once.
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
            let affinity = &record.placement_affinities.of(&record.affinities)[0];
            let mut rows = Vec::new();
            ClusterMatcher::compile(snapshot.arena(), affinity, tables(record)).collect_rows(&mut rows);
            rows.len()
        };
        if matches!(operator, NotIn | DoesNotExist) {
            assert_eq!(matching(&record), 1, "{operator:?}: `b` has no region");
        }
        for number in UNHEARD_OF {
            record.expressions[0].source = number;
            assert_eq!(matching(&record), 0, "{operator:?} {number}");
        }
    }
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
        record.expressions[0].operator = number;
        let affinity = &record.placement_affinities.of(&record.affinities)[0];
        let matcher = ClusterMatcher::compile(snapshot.arena(), affinity, tables(&record));
        assert!(snapshot.clusters().rows().all(|row| !matcher.matches(row)), "{number}");
    }
}
