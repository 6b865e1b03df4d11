//! The store, and clusters as they appear in a snapshot.

use divvy_framework_view::clusters::{Resource, Row, Symbol};

use super::{ClusterWriter, SnapshotStore};

mod changes;
mod groups;
mod patches;

fn upsert(store: &mut SnapshotStore, name: &str, region: &str) {
    store.upsert(name, |cluster| write(cluster, name, region));
}

fn write(cluster: &mut ClusterWriter<'_>, name: &str, region: &str) {
    let mut resource = Resource::new("cpu");
    resource.allocatable = Some(4000);
    resource.allocated = Some(1500);
    resource.remaining = Some(2500);
    cluster
        .region(region)
        .label("tier", &format!("{name}-tier"))
        .apis("apps/v1", ["Deployment"])
        .resource(resource)
        .modeling(0, 3);
}

#[test]
fn rows_are_sorted_by_name_whatever_the_order_of_arrival() {
    let mut store = SnapshotStore::new();
    for (name, region) in [("b", "eu"), ("a", "us"), ("b", "asia"), ("aa", "eu")] {
        upsert(&mut store, name, region);
    }
    let snapshot = store.snapshot();
    let clusters = snapshot.clusters();
    let names: Vec<&str> = clusters.iter().map(|cluster| cluster.name()).collect();
    assert_eq!(names, ["a", "aa", "b"]);
    assert_eq!(
        clusters.get(Row::from_index(2)).region(),
        "asia",
        "the later of two clusters wins"
    );
    assert_eq!(clusters.row("b"), Some(Row::from_index(2)));
    assert_eq!(clusters.row("eu"), None, "a text, but not a cluster's name");
    assert_eq!(clusters.row("nowhere"), None);
}

/// A plugin that keeps a value per snapshot sees by the generation whether the value is still right.
#[test]
fn a_changed_snapshot_has_another_generation() {
    let mut store = SnapshotStore::new();
    upsert(&mut store, "a", "us");
    upsert(&mut store, "b", "us");
    let first = store.snapshot().arena().generation();
    assert_ne!(first, 0);
    assert_eq!(store.snapshot().arena().generation(), first);
    upsert(&mut store, "a", "us");
    assert_eq!(store.snapshot().arena().generation(), first, "nothing changed");
    // In place, then by a rebuild.
    upsert(&mut store, "a", "eu");
    let second = store.snapshot().arena().generation();
    store.remove("b");
    let third = store.snapshot().arena().generation();
    assert!(first < second && second < third, "{first} {second} {third}");
    let mut other = SnapshotStore::new();
    upsert(&mut other, "a", "eu");
    assert_ne!(
        other.snapshot().arena().generation(),
        third,
        "stores do not share generations"
    );
}

#[test]
fn symbols_compare_as_their_texts_do() {
    let mut store = SnapshotStore::new();
    for (number, region) in ["", "us", "eu", "eu-west", "Eu", "éu", "😀", "eu\u{0}"]
        .iter()
        .enumerate()
    {
        upsert(&mut store, &format!("cluster-{number}"), region);
    }
    let snapshot = store.snapshot();
    let clusters = snapshot.clusters();
    let symbols: Vec<Symbol> = clusters.regions().iter().map(|(_, symbol)| symbol).collect();
    for &left in &symbols {
        for &right in &symbols {
            let (left_text, right_text) = (clusters.text(left), clusters.text(right));
            let expected = left_text.cmp(right_text);
            assert_eq!(
                clusters.compare_texts(left, right),
                expected,
                "`{left_text}` and `{right_text}`"
            );
        }
    }
}

#[test]
fn a_cluster_reads_back_as_it_was() {
    let mut store = SnapshotStore::new();
    upsert(&mut store, "a", "us");
    let snapshot = store.snapshot();
    let read = snapshot.clusters().get(Row::from_index(0));
    assert_eq!(read.label("tier"), Some("a-tier"));
    assert_eq!(read.label("absent"), None);
    assert_eq!(read.api_enablements().collect::<Vec<_>>(), [("apps/v1", "Deployment")]);
    let cpu = read.resource("cpu").expect("the summary has cpu");
    let amounts = [cpu.allocatable, cpu.allocating, cpu.remaining];
    assert_eq!(amounts, [Some(4000), None, Some(2500)]);
    assert_eq!(read.modelings().collect::<Vec<_>>(), [(0, 3)]);
    assert_eq!(read.raw_json(), Ok(""));
    let beyond = snapshot.clusters().get(Row::from_index(7));
    assert_eq!((beyond.name(), beyond.region()), ("", ""));
}

#[test]
fn a_snapshot_does_not_change_when_the_store_does() {
    let mut store = SnapshotStore::new();
    upsert(&mut store, "a", "us");
    let before = store.snapshot();
    upsert(&mut store, "a", "eu");
    assert!(store.remove("nothing").eq(&false));
    let after = store.snapshot();
    assert_eq!(before.clusters().get(Row::from_index(0)).region(), "us");
    assert_eq!(after.clusters().get(Row::from_index(0)).region(), "eu");
    assert!(store.remove("a"));
    assert!(store.snapshot().clusters().is_empty());
}

#[test]
fn equal_sets_of_apis_are_kept_once() {
    let mut store = SnapshotStore::new();
    upsert(&mut store, "a", "x");
    upsert(&mut store, "b", "y");
    let snapshot = store.snapshot();
    let clusters = snapshot.clusters();
    assert_eq!(
        clusters.api_sets()[Row::from_index(0)],
        clusters.api_sets()[Row::from_index(1)]
    );
    assert_eq!(clusters.api_set_count(), 2, "the empty set and the shared one");
}

#[test]
fn resources_are_found_by_name_whether_there_are_few_or_many() {
    for count in [1, 8, 9, 40] {
        let mut store = SnapshotStore::new();
        let names: Vec<String> = (0..count).map(|number| format!("vendor.io/r{number}")).collect();
        store.upsert("a", |cluster| {
            cluster.label("vendor.io/other", "");
            for (name, amount) in names.iter().zip(1..) {
                let mut resource = Resource::new(name);
                resource.remaining = Some(amount);
                cluster.resource(resource);
            }
        });
        // A removed cluster leaves an unused slot for its resource.
        store.upsert("b", |cluster| {
            cluster.resource(Resource::new("vendor.io/gone"));
        });
        store.remove("b");
        let snapshot = store.snapshot();
        let clusters = snapshot.clusters();
        let remaining = |name: &str| clusters.remaining(name).map(|column| column[Row::from_index(0)]);
        for (name, amount) in names.iter().zip(1..) {
            assert_eq!(remaining(name), Some(amount), "{name} of {count}");
        }
        for absent in ["", "vendor.io/other", "vendor.io/r", "vendor.io/r40", "cpu"] {
            assert_eq!(remaining(absent), None, "{absent} among {count}");
        }
    }
}
