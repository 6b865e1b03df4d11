//! Groups of columns that have not changed since an earlier snapshot, and reading only some of them.

use std::fmt::Debug;

use divvy_framework_abi::arena::{GROUPS, Restriction, column, group};
use divvy_framework_view::clusters::{Clusters, Condition, Resource, Taint};
use divvy_framework_view::words::{ConditionStatus, TaintEffect};
use proptest::prelude::*;

use super::patches::{Step, name, steps};
use crate::snapshot::{ClusterWriter, Snapshot, SnapshotStore, SnapshotVersion};

/// All groups but that of names, which never changes.
fn groups() -> impl Iterator<Item = u64> {
    (1..group::COUNT).map(|number| 1 << number)
}

fn listed(items: impl Iterator<Item: Debug>) -> String {
    format!("{:?}", items.collect::<Vec<_>>())
}

/// Everything that the views read from the columns of one group, with the groups that they tried to read without
/// permission.
fn read(snapshot: &Snapshot, group: u64) -> (Vec<String>, u64) {
    let restriction = Restriction::new(snapshot.arena(), group);
    let clusters = Clusters::new(restriction.arena(snapshot.arena()));
    let seen = clusters.iter().map(|cluster| {
        let row = cluster.row();
        let of_group = match group {
            group::UID => cluster.uid().to_owned(),
            group::FLAGS => format!(
                "{:?}",
                [
                    cluster.is_deleting(),
                    cluster.is_ready(),
                    cluster.has_complete_api_enablements(),
                    cluster.has_resource_summary(),
                ]
            ),
            group::LOCATION => format!(
                "{:?} {:?} {} {} {} {}",
                clusters.regions()[row],
                clusters.providers()[row],
                cluster.region(),
                cluster.provider(),
                cluster.zone(),
                listed(cluster.zones()),
            ),
            group::LABELS => listed(cluster.labels()) + &listed(cluster.label_symbols()),
            group::ANNOTATIONS => listed(cluster.annotations()),
            group::TAINTS => format!(
                "{} {} {}",
                listed(cluster.taints()),
                listed(clusters.taints().of(row)),
                clusters.any_tainted()
            ),
            group::APIS => format!(
                "{:?} {} {}",
                clusters.api_sets()[row],
                clusters.api_set_count(),
                listed(cluster.api_enablements())
            ),
            group::CONDITIONS => listed(cluster.conditions()),
            group::RESOURCES => listed(cluster.resources()) + &listed(clusters.resource_names()),
            group::MODELS => format!(
                "{} {:?} {} {}",
                cluster.model_set(),
                cluster.models(),
                listed(cluster.modelings()),
                clusters.any_modelings()
            ),
            _ => format!("{:?}", cluster.raw_json()),
        };
        format!("{} {of_group}", cluster.name())
    });
    (seen.collect(), restriction.refused())
}

/// Reads the groups one by one. No view reads a column of another group on the way.
fn read_each(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let read = groups().map(|group| {
        let (seen, refused) = read(snapshot, group);
        assert_eq!(refused, 0, "group {group:#x}");
        seen
    });
    read.collect()
}

proptest! {
    /// A value that is made from some columns, and kept as long as none of their groups has changed, equals a new
    /// value.
    #[test]
    fn a_value_that_is_kept_while_its_columns_do_not_change_is_right(steps in steps()) {
        let mut store = SnapshotStore::new();
        let mut known: Vec<(SnapshotVersion, Vec<Vec<String>>)> = Vec::new();
        let mut held = Vec::new();
        for step in steps {
            match step {
                Step::Upsert(number, cluster) => store.upsert(&name(number), |writer| cluster.write(writer)),
                Step::Remove(number) => _ = store.remove(&name(number)),
                Step::Hold => {
                    let snapshot = store.snapshot();
                    let fresh = read_each(&snapshot);
                    for (version, kept) in &known {
                        let unchanged = snapshot.unchanged_since(*version);
                        for (number, group) in groups().enumerate() {
                            if unchanged & group != 0 {
                                prop_assert_eq!(&kept[number], &fresh[number], "group {:#x}", group);
                            }
                        }
                    }
                    known.push((snapshot.version(), fresh));
                    held.push(snapshot);
                }
                Step::Release(number) if !held.is_empty() => _ = held.swap_remove(number % held.len()),
                Step::Release(_) => {}
            }
        }
    }
}

/// Writes a cluster with something in every group, or with one group changed.
fn write(writer: &mut ClusterWriter<'_>, changed: u64) {
    let text = |group: u64| if changed == group { "changed" } else { "first" };
    let number = |group: u64| if changed == group { 2 } else { 1 };
    writer
        .uid(text(group::UID))
        .region(text(group::LOCATION))
        .label("tier", text(group::LABELS))
        .annotation("note", text(group::ANNOTATIONS))
        .taint(Taint::new(text(group::TAINTS), "", TaintEffect::NoSchedule))
        .apis(text(group::APIS), ["Deployment"])
        .condition(Condition::new("Other", ConditionStatus::True, text(group::CONDITIONS)))
        .modeling(0, number(group::MODELS))
        .raw_json(text(group::RAW));
    let mut cpu = Resource::new("cpu");
    cpu.allocatable = Some(number(group::RESOURCES));
    writer.resource(cpu);
    if changed == group::FLAGS {
        writer.deleting();
    }
}

#[test]
fn a_change_of_one_group_leaves_the_others_unchanged() {
    let mut store = SnapshotStore::new();
    for name in ["a", "b", "c"] {
        store.upsert(name, |writer| write(writer, 0));
    }
    for changed in groups() {
        let first = store.snapshot().version();
        assert_eq!(store.snapshot().unchanged_since(first), group::ALL);
        let before = read_each(&store.snapshot());
        store.upsert("b", |writer| write(writer, changed));
        let second = store.snapshot();
        assert_eq!(
            second.unchanged_since(first),
            group::ALL & !changed,
            "group {changed:#x}"
        );
        for (number, group) in groups().enumerate() {
            let is_equal = before[number] == read_each(&second)[number];
            assert_eq!(is_equal, group != changed, "group {group:#x}, changed {changed:#x}");
        }
        store.upsert("b", |writer| write(writer, 0));
        // Changed and changed back.
        assert_eq!(store.snapshot().unchanged_since(first), group::ALL & !changed);
    }
}

#[test]
fn nothing_is_known_of_another_numbering_or_a_later_snapshot() {
    let mut store = SnapshotStore::new();
    store.upsert("a", |writer| write(writer, 0));
    let first = store.snapshot();
    store.upsert("a", |writer| write(writer, group::LABELS));
    let second = store.snapshot();
    assert_eq!(
        first.unchanged_since(second.version()),
        0,
        "the other one is not earlier"
    );
    store.upsert("b", |_| {});
    assert_eq!(store.snapshot().unchanged_since(second.version()), 0);
    let mut other = SnapshotStore::new();
    assert_eq!(other.snapshot().unchanged_since(first.version()), 0);
}

#[test]
fn a_column_of_another_group_reads_as_empty_and_is_noted() {
    let mut store = SnapshotStore::new();
    store.upsert("a", |writer| write(writer, 0));
    let snapshot = store.snapshot();
    for (column, &group) in GROUPS.iter().enumerate() {
        let restriction = Restriction::new(snapshot.arena(), group::ALL & !group);
        let arena = restriction.arena(snapshot.arena());
        let bytes: &[u8] = arena.column(column);
        if group == group::NAMES {
            assert_eq!(
                (bytes, restriction.refused()),
                (snapshot.arena().column::<u8>(column), 0)
            );
        } else {
            assert_eq!((bytes, restriction.refused()), (&[][..], group));
        }
        assert!(
            arena.column::<u8>(column::COUNT).is_empty(),
            "no column of this version"
        );
        assert_eq!(arena.generation(), 0, "the value outlives the generation");
    }
}
