//! Maintenance windows in a live scheduler: it decides on the minute, and only the bindings whose answer changes.

use std::time::Duration;

use divvy_karmada::api::Timestamp;
use divvy_world::plane::EPOCH;
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

fn weighted(affinity: Value) -> Value {
    json!({
        "replicas": 2,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {
            "clusterAffinity": affinity,
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"},
        },
    })
}

#[test]
fn bindings_are_decided_when_a_window_is_announced_begins_and_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("windows.csv");
    let at = |seconds: u64| Timestamp::from_seconds(EPOCH + seconds as i64);
    let text = format!(
        "name,announced,begins,ends,weekly,evict,announced-by\na,{},{},{},,true,\n",
        at(MINUTE),
        at(HOUR),
        at(2 * HOUR)
    );
    std::fs::write(&file, text).expect("the table can be written");
    let lines = format!(
        "filters = ['cluster-affinity', 'maintenance-windows']\ntable.windows.file = '{}'\ntable.windows.rows = 'several'\n\
         table.windows.columns = {{ announced = 'time', begins = 'time', ends = 'time', weekly = 'weekly', evict = 'boolean', \
         announced-by = 'text' }}\n",
        file.display()
    );
    let mut simulation = Simulation::with_profile(&lines, &[cluster("a", 10), cluster("b", 10)]);
    simulation.create("web", weighted(json!({})));
    simulation.create("far", weighted(json!({"clusterNames": ["b"]})));
    let (all, apart) = (clusters(&[("a", 1), ("b", 1)]), clusters(&[("b", 2)]));
    assert_eq!(
        (simulation.result("web"), simulation.result("far")),
        (all.clone(), apart.clone())
    );
    let of_far = simulation.writes("far");

    let before = simulation.writes("web");
    simulation.pass(Duration::from_secs(MINUTE - 1));
    assert_eq!(simulation.writes("web"), before);
    simulation.pass(Duration::from_secs(1));
    // It keeps what it has; only the time until which the answer holds is written.
    assert_ne!(simulation.writes("web"), before);
    assert_eq!(simulation.result("web"), all);
    // It takes no more.
    simulation.patch("web", &json!({"spec": {"replicas": 4}}));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 3)]));

    let before = simulation.writes("web");
    simulation.pass(Duration::from_secs(HOUR - MINUTE - 1));
    assert_eq!(simulation.writes("web"), before);
    simulation.pass(Duration::from_secs(1));
    assert_eq!(simulation.result("web"), clusters(&[("b", 4)]));

    simulation.pass(Duration::from_secs(HOUR - 1));
    assert_eq!(simulation.result("web"), clusters(&[("b", 4)]));
    simulation.pass(Duration::from_secs(1));
    assert_eq!(simulation.result("web"), clusters(&[("a", 2), ("b", 2)]));
    simulation.pass(Duration::from_secs(100 * HOUR));
    assert_eq!(simulation.writes("far"), of_far);
}
