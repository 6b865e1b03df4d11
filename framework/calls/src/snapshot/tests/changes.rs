//! The rows that a snapshot reports as changed since an earlier one.

use std::collections::BTreeSet;

use divvy_framework_view::clusters::Row;
use proptest::prelude::*;

use super::patches::{Step, name, steps};
use super::upsert;
use crate::snapshot::{Snapshot, SnapshotStore, SnapshotVersion};

fn store() -> SnapshotStore {
    let mut store = SnapshotStore::new();
    for name in ["a", "b", "c", "d"] {
        upsert(&mut store, name, "eu");
    }
    store
}

fn changed(snapshot: &Snapshot, earlier: SnapshotVersion) -> Option<Vec<u32>> {
    snapshot.changed_since(earlier).map(Iterator::collect)
}

/// As a scheduler does it: no one holds the last snapshot when the next one is taken.
fn change(store: &mut SnapshotStore, name: &str, region: &str) -> SnapshotVersion {
    upsert(store, name, region);
    store.snapshot().version()
}

#[test]
fn changed_rows_are_those_of_all_patches_since() {
    let mut store = store();
    let first = store.snapshot().version();
    assert_eq!(changed(&store.snapshot(), first), Some(vec![]));
    let second = change(&mut store, "c", "us");
    assert_eq!(changed(&store.snapshot(), first), Some(vec![2]));
    let third = change(&mut store, "a", "us");
    change(&mut store, "c", "eu");
    let last = store.snapshot();
    assert_eq!(changed(&last, first), Some(vec![0, 2]), "ascending, each once");
    assert_eq!(changed(&last, second), Some(vec![0, 2]));
    assert_eq!(changed(&last, third), Some(vec![2]));
    assert_eq!(changed(&last, last.version()), Some(vec![]));
}

#[test]
fn several_changes_make_one_version_and_an_unchanged_cluster_makes_none() {
    let mut store = store();
    let first = store.snapshot().version();
    upsert(&mut store, "d", "us");
    upsert(&mut store, "b", "us");
    upsert(&mut store, "a", "eu");
    let second = store.snapshot();
    assert_eq!(changed(&second, first), Some(vec![1, 3]));
    upsert(&mut store, "a", "eu");
    assert_eq!(store.snapshot().version(), second.version());
}

/// Each copy of the arena is written when the other one is held, and a third one is built while both are.
#[test]
fn every_copy_of_the_arena_knows_what_changed() {
    let mut store = store();
    let first = store.snapshot();
    upsert(&mut store, "a", "us");
    let second = store.snapshot();
    upsert(&mut store, "b", "us");
    let third = store.snapshot();
    for (snapshot, earlier, rows) in [
        (&second, &first, vec![0]),
        (&third, &first, vec![0, 1]),
        (&third, &second, vec![1]),
    ] {
        assert_eq!(changed(snapshot, earlier.version()), Some(rows));
    }
    assert_eq!(changed(&first, third.version()), None, "it is not earlier");
    let versions = [first.version(), second.version(), third.version()];
    drop((first, second));
    // The copy that is free again missed the change of `b`, which is not a change since the third snapshot.
    upsert(&mut store, "c", "us");
    let fourth = store.snapshot();
    let expected = [vec![0, 1, 2], vec![1, 2], vec![2]];
    for (version, rows) in versions.into_iter().zip(expected) {
        assert_eq!(changed(&fourth, version), Some(rows));
    }
}

/// A copy is abandoned if there are too many changes while it is held.
#[test]
fn changes_are_known_however_many_there_were() {
    let mut store = store();
    let first = store.snapshot();
    for step in 0..100 {
        for name in ["d", "b"] {
            change(&mut store, name, ["us", "eu"][step % 2]);
        }
    }
    assert_eq!(changed(&store.snapshot(), first.version()), Some(vec![1, 3]));
}

#[test]
fn anything_may_have_changed_if_a_cluster_was_added_or_removed() {
    let mut store = store();
    let first = store.snapshot().version();
    let second = change(&mut store, "aa", "eu");
    assert_eq!(changed(&store.snapshot(), first), None);
    let third = change(&mut store, "d", "us");
    assert_eq!(changed(&store.snapshot(), second), Some(vec![4]));
    assert!(store.remove("aa"));
    let last = store.snapshot();
    for earlier in [first, second, third] {
        assert_eq!(changed(&last, earlier), None);
    }
    assert!(!store.remove("aa"));
    assert_eq!(store.snapshot().version(), last.version());
}

/// Dropping texts renumbers all others, on which an index may be built.
#[test]
fn anything_may_have_changed_if_unused_texts_were_dropped() {
    let mut store = store();
    let mut earlier = store.snapshot();
    let mut dropped = 0;
    for number in 0..10_000 {
        upsert(&mut store, "d", &format!("region-{number}"));
        let snapshot = store.snapshot();
        let is_smaller = snapshot.clusters().symbol_count() < earlier.clusters().symbol_count();
        let expected = (!is_smaller).then(|| vec![3]);
        assert_eq!(changed(&snapshot, earlier.version()), expected);
        dropped += usize::from(is_smaller);
        earlier = snapshot;
    }
    assert!(dropped > 0);
}

#[test]
fn anything_may_have_changed_since_a_snapshot_of_another_store() {
    let (mut one, mut other) = (store(), store());
    let first = one.snapshot().version();
    let between = other.snapshot().version();
    let second = change(&mut one, "a", "us");
    assert_eq!(changed(&one.snapshot(), between), None);
    assert_eq!(changed(&other.snapshot(), first), None);
    let later = change(&mut other, "a", "us");
    assert_eq!(changed(&other.snapshot(), second), None);
    assert_eq!(changed(&one.snapshot(), later), None);
    assert_ne!(
        SnapshotStore::new().snapshot().version(),
        SnapshotStore::new().snapshot().version()
    );
}

/// A stand-in for an index over a row: numbers that only this store understands, and contents.
fn entry(snapshot: &Snapshot, row: u32) -> String {
    let (clusters, row) = (snapshot.clusters(), Row::from_index(row as usize));
    let cluster = clusters.get(row);
    let taints: Vec<_> = clusters.taints().of(row).map(|taint| taint.key).collect();
    format!(
        "{:?} {:?} {:?} {:?} {taints:?} {:?} {:?} {:?} {:?} {:?}",
        clusters.names()[row],
        clusters.regions()[row],
        clusters.providers()[row],
        clusters.api_sets()[row],
        cluster.labels().collect::<Vec<_>>(),
        cluster.conditions().collect::<Vec<_>>(),
        cluster.resources().collect::<Vec<_>>(),
        cluster.is_deleting(),
        cluster.raw_json(),
    )
}

fn index(snapshot: &Snapshot) -> Vec<String> {
    (0..snapshot.clusters().len() as u32)
        .map(|row| entry(snapshot, row))
        .collect()
}

proptest! {
    /// Replaying the changed rows onto the index of an earlier snapshot gives the index of this one.
    #[test]
    fn an_index_is_kept_up_by_the_changed_rows_alone(steps in steps()) {
        let mut store = SnapshotStore::new();
        // Held or released, but remembered: the version, its index, and the clusters written since.
        let mut known: Vec<(SnapshotVersion, Vec<String>, BTreeSet<String>)> = Vec::new();
        let mut held = Vec::new();
        for step in steps {
            match step {
                Step::Upsert(number, cluster) => {
                    store.upsert(&name(number), |writer| cluster.write(writer));
                    known.iter_mut().for_each(|(_, _, written)| _ = written.insert(name(number)));
                }
                Step::Remove(number) => _ = store.remove(&name(number)),
                Step::Hold => {
                    let snapshot = store.snapshot();
                    let fresh = index(&snapshot);
                    for (version, index, written) in &known {
                        let Some(rows) = changed(&snapshot, *version) else { continue };
                        prop_assert!(rows.is_sorted_by(|one, next| one < next));
                        let mut index = index.clone();
                        prop_assert_eq!(index.len(), fresh.len());
                        for row in rows {
                            let cluster = snapshot.clusters().get(Row::from_index(row as usize));
                            prop_assert!(written.contains(cluster.name()), "{} was not written", cluster.name());
                            index[row as usize] = entry(&snapshot, row);
                        }
                        prop_assert_eq!(&index, &fresh);
                    }
                    known.push((snapshot.version(), fresh, BTreeSet::new()));
                    held.push(snapshot);
                }
                Step::Release(number) if !held.is_empty() => _ = held.swap_remove(number % held.len()),
                Step::Release(_) => {}
            }
        }
    }
}
