//! Memory of changes: the allocations of one change, and in the long run, the release of outdated cluster data.

use std::time::Instant;

use divvy_framework_calls::snapshot::{ClusterWriter, Snapshot, SnapshotStore};
use divvy_framework_view::clusters::{Condition, Resource, Taint};
use divvy_framework_view::words::{ConditionStatus, TaintEffect};

use crate::counter::{allocations, bytes_kept};

const CLUSTERS: usize = 1_000;

/// Total number of changes, in the gate and in all.
const CHANGES: (usize, usize) = (200_000, 1_000_000);

/// Changes until every cluster has had a unique string in each kind of field. Memory must not grow after that.
const WARM_UP: usize = 50_000;

/// Permitted growth of memory in percent: lists that have just grown are up to half empty.
const SLACK_PERCENT: i64 = 15;

/// Writes cluster `number` with one string that no cluster had before, in a field that changes from time to time.
fn write(writer: &mut ClusterWriter<'_>, number: usize, change: usize) {
    let unheard = format!("never-seen-before-{change}");
    let in_turn = |turn: usize| if change % 7 == turn { unheard.as_str() } else { "known" };
    writer
        .region(["eu", "us", "asia"][number % 3])
        .label("tier", in_turn(0));
    writer.taint(Taint::new(in_turn(1), "", TaintEffect::NoSchedule));
    writer.condition(Condition::new("Ready", ConditionStatus::True, in_turn(2)));
    writer.apis("apps/v1", ["Deployment", in_turn(3)]);
    for name in ["cpu", "memory", in_turn(4)] {
        let mut resource = Resource::new(name);
        resource.allocatable = Some(change as i64);
        resource.remaining = Some(change as i64);
        writer.resource(resource);
    }
}

/// Changes one cluster after another. Every third change happens while the previous snapshot is still in use.
fn run(store: &mut SnapshotStore, changes: std::ops::Range<usize>) {
    let mut held: Option<Snapshot> = None;
    for change in changes {
        let number = change % CLUSTERS;
        store.upsert(&format!("member-{number:04}"), |writer| write(writer, number, change));
        let snapshot = store.snapshot();
        held = (change % 3 == 0).then_some(snapshot);
    }
    drop(held);
}

#[test]
fn many_changes_leave_memory_where_it_was() {
    let changes = divvy_built::cases(CHANGES.0, CHANGES.1);
    let start = Instant::now();
    let (before, mut store) = bytes_kept(|| {
        let mut store = SnapshotStore::new();
        run(&mut store, 0..WARM_UP);
        store
    });
    let step = (changes - WARM_UP) / 5;
    let mut grown = 0;
    for first in (WARM_UP..changes).step_by(step) {
        let (bytes, ()) = bytes_kept(|| run(&mut store, first..first + step));
        grown += bytes;
        println!(
            "{} changes: {} KiB, {:?}",
            first + step,
            (before + grown) / 1024,
            start.elapsed()
        );
        assert!(
            grown * 100 < before * SLACK_PERCENT,
            "{before} bytes after {WARM_UP} changes, {} after {}",
            before + grown,
            first + step
        );
    }
    let snapshot = store.snapshot();
    assert_eq!(snapshot.clusters().len(), CLUSTERS);
    assert!(
        snapshot.clusters().symbol_count() < 10 * CLUSTERS,
        "{} symbols",
        snapshot.clusters().symbol_count()
    );
}

/// Maximum allocations per change of one cluster. Measured: its four lists, and the text that [`write`] makes.
const CHANGE_MAXIMUM: u64 = 5;

/// Allocations of a change that brings no new text, while the last snapshot is held or not, and the rows that it changed.
fn allocations_of_change(clusters: usize, is_held: bool) -> u64 {
    let names: Vec<String> = (0..clusters).map(|number| format!("member-{number:04}")).collect();
    let mut store = SnapshotStore::new();
    // Every seventh change has known texts only.
    for (number, name) in names.iter().enumerate() {
        store.upsert(name, |writer| write(writer, number, 6));
    }
    let mut held = Some(store.snapshot());
    let mut counts = Vec::with_capacity(16);
    for change in (13..).step_by(7).take(16) {
        let number = change % clusters;
        let earlier = store.snapshot().version();
        if !is_held {
            held = None;
        }
        let (count, changed) = allocations(|| {
            store.upsert(&names[number], |writer| write(writer, number, change));
            let snapshot = store.snapshot();
            let rows = snapshot
                .changed_since(earlier)
                .map(|mut rows| (rows.next(), rows.next()));
            held = Some(snapshot);
            rows
        });
        assert_eq!(changed, Some((Some(number as u32), None)));
        counts.push(count);
    }
    drop(held);
    counts.last().copied().unwrap_or_default()
}

#[test]
fn a_change_allocates_the_same_in_any_fleet() {
    for is_held in [false, true] {
        let counts = [100, 1_000, 5_000].map(|clusters| allocations_of_change(clusters, is_held));
        println!("{counts:?} allocations, held: {is_held}");
        assert!(
            counts
                .iter()
                .all(|&count| count == counts[0] && count <= CHANGE_MAXIMUM),
            "{counts:?}"
        );
    }
}
