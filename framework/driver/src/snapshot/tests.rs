//! The store and what clusters look like through a snapshot.

use super::{ClusterRecord, ResourceRecord, ResourceSummaryRecord, SnapshotStore};

fn cluster(name: &str, region: &str) -> ClusterRecord {
    ClusterRecord {
        name: name.to_owned(),
        region: region.to_owned(),
        labels: vec![("tier".to_owned(), format!("{name}-tier"))],
        api_enablements: vec![("apps/v1".to_owned(), "Deployment".to_owned())],
        resource_summary: Some(ResourceSummaryRecord {
            resources: vec![ResourceRecord {
                name: "cpu".to_owned(),
                allocatable: Some(4000),
                allocated: Some(1500),
                allocating: None,
                remaining: Some(2500),
            }],
            modelings: vec![(0, 3)],
        }),
        ..ClusterRecord::default()
    }
}

#[test]
fn rows_are_sorted_by_name_whatever_the_order_of_arrival() {
    let mut store = SnapshotStore::new();
    store.extend(&[cluster("b", "eu"), cluster("a", "us"), cluster("b", "asia")]);
    store.upsert(&cluster("aa", "eu"));
    let snapshot = store.snapshot();
    let clusters = snapshot.clusters();
    let names: Vec<&str> = clusters.iter().map(|cluster| cluster.name()).collect();
    assert_eq!(names, ["a", "aa", "b"]);
    assert_eq!(clusters.get(2).region(), "asia", "of two with one name the last stays");
    assert_eq!(clusters.row("b"), Some(2));
    assert_eq!(clusters.row("eu"), None, "a text that is no cluster's name");
    assert_eq!(clusters.row("nowhere"), None);
}

#[test]
fn a_cluster_reads_back_as_it_was() {
    let mut store = SnapshotStore::new();
    store.upsert(&cluster("a", "us"));
    let snapshot = store.snapshot();
    let read = snapshot.clusters().get(0);
    assert_eq!(read.label("tier"), Some("a-tier"));
    assert_eq!(read.label("absent"), None);
    assert_eq!(read.api_enablements().collect::<Vec<_>>(), [("apps/v1", "Deployment")]);
    let cpu = read.resource("cpu").expect("the summary has cpu");
    assert_eq!(
        (cpu.allocatable, cpu.allocating, cpu.remaining),
        (Some(4000), None, Some(2500))
    );
    assert_eq!(read.modelings().collect::<Vec<_>>(), [(0, 3)]);
    assert_eq!(read.raw_json(), "");
    let beyond = snapshot.clusters().get(7);
    assert_eq!((beyond.name(), beyond.region()), ("", ""));
}

#[test]
fn a_snapshot_does_not_change_when_the_store_does() {
    let mut store = SnapshotStore::new();
    store.upsert(&cluster("a", "us"));
    let before = store.snapshot();
    store.upsert(&cluster("a", "eu"));
    assert!(store.remove("nothing").eq(&false));
    let after = store.snapshot();
    assert_eq!(before.clusters().get(0).region(), "us");
    assert_eq!(after.clusters().get(0).region(), "eu");
    assert!(store.remove("a"));
    assert!(store.snapshot().clusters().is_empty());
}

#[test]
fn equal_sets_of_apis_are_kept_once() {
    let mut store = SnapshotStore::new();
    store.extend(&[cluster("a", "x"), cluster("b", "y")]);
    let snapshot = store.snapshot();
    let clusters = snapshot.clusters();
    assert_eq!(clusters.api_sets()[0], clusters.api_sets()[1]);
    assert_eq!(clusters.api_set_count(), 2, "the empty set and theirs");
}
