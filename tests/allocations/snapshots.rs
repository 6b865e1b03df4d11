//! Memory of a snapshot of realistic clusters, store and arena together.

use divvy_karmada::api::Cluster;
use divvy_recordings::read_recording;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};

use crate::artifacts::repository;
use crate::counter::bytes_kept;

/// Maximum bytes per cluster.
const CLUSTER_MAXIMUM: i64 = 3 * 1024;

/// 5,000 clusters that serve 29 API groups each.
const FLEET: &str = "n5000-api1";

fn realistic_clusters() -> Vec<Cluster> {
    let file = repository().join("tests/conformance/bench.jsonl.gz");
    let mut recording = read_recording(&file).unwrap_or_else(|error| panic!("{error}"));
    recording
        .fleets
        .remove(FLEET)
        .expect("the recording has the fleet")
        .clusters
}

/// Bytes per cluster, and the values that hold them.
fn bytes_a_cluster(clusters: &[Cluster], keeps_raw: bool) -> (i64, (Fleet, FleetSnapshot)) {
    let (bytes, kept) = bytes_kept(|| {
        let mut fleet = Fleet::new(keeps_raw);
        fleet.extend(clusters);
        let snapshot = fleet.snapshot();
        (fleet, snapshot)
    });
    (bytes / clusters.len() as i64, kept)
}

#[test]
fn a_snapshot_of_realistic_clusters_is_small_and_keeps_json_only_if_requested() {
    let clusters = realistic_clusters();
    assert_eq!(clusters.len(), 5_000);
    let (bytes, (_fleet, snapshot)) = bytes_a_cluster(&clusters, false);
    println!("{bytes} bytes per cluster");
    assert!((1..=CLUSTER_MAXIMUM).contains(&bytes), "{bytes} bytes per cluster");
    assert!(
        snapshot
            .snapshot()
            .clusters()
            .iter()
            .all(|cluster| cluster.raw_json() == Ok(""))
    );

    // Only a few clusters, because JSON takes far more memory than everything else.
    let few = &clusters[..100];
    let (bytes, (_fleet, snapshot)) = bytes_a_cluster(few, true);
    println!("{bytes} bytes per cluster with its JSON");
    assert!(bytes > CLUSTER_MAXIMUM, "{bytes} bytes per cluster with its JSON");
    let first = snapshot
        .snapshot()
        .clusters()
        .get(divvy_framework_view::clusters::Row::from_index(0));
    assert!(
        first
            .raw_json()
            .is_ok_and(|json| json.contains("group27.example.io/v1"))
    );
}
