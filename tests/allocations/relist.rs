//! Memory of a relist: clusters that did not change are not written again.

use std::sync::Arc;
use std::time::Instant;

use divvy_controller::engine::{ActiveProfile, Engine, Moment};
use divvy_controller::objects::{Kind, Object};
use divvy_controller::observe::Metrics;
use divvy_controller::panel::Panel;
use divvy_controller::watch::Change;
use divvy_karmada::api::Timestamp;
use divvy_scheduler::profile::ProfileConfiguration;
use serde_json::{Value, json};

use crate::counter::bytes_kept;
use crate::scheduling::Host;

const CLUSTERS: usize = 200;

/// Kinds that a cluster serves.
const APIS: usize = 300;

fn cluster(number: usize, version: &str) -> Value {
    let apis: Vec<Value> = (0..APIS)
        .map(|api| json!({"name": format!("things{api}"), "kind": format!("Thing{api}")}))
        .collect();
    json!({
        "metadata": {"name": format!("member-{number:04}"), "uid": number.to_string(), "resourceVersion": version},
        "status": {
            "apiEnablements": [{"groupVersion": "things.example/v1", "resources": apis}],
            "resourceSummary": {"allocatable": {"cpu": "10", "pods": "100"}},
        },
    })
}

/// Bytes that the engine keeps of a list of all clusters.
fn list(engine: &mut Engine, version: &str) -> i64 {
    let moment = Moment {
        instant: Instant::now(),
        wall: Timestamp::from_seconds(0),
        milliseconds: 0,
    };
    let (bytes, ()) = bytes_kept(|| {
        engine.observe(Change::ListBegins(Kind::Cluster), &moment);
        for number in 0..CLUSTERS {
            let fetched = serde_json::from_value(cluster(number, version)).expect("an object");
            let object = Object::read(Kind::Cluster, fetched).expect("a cluster");
            engine.observe(Change::Listed(Kind::Cluster, object), &moment);
        }
        engine.observe(Change::ListEnds(Kind::Cluster), &moment);
    });
    bytes
}

#[test]
fn a_relist_keeps_nothing_of_clusters_that_did_not_change() {
    let configuration: ProfileConfiguration = toml::from_str("name = 'test'").expect("a profile");
    let active = ActiveProfile::new(Host::built_in().shared(), &configuration);
    let panel = Panel::new(Arc::new(Metrics::new("test", None)));
    let mut engine = Engine::new(active, Arc::new(panel));
    let first = list(&mut engine, "1");
    assert!(first > 100_000, "{first} bytes");
    let again = list(&mut engine, "1");
    assert!(again * 100 < first, "{again} bytes after {first}");
    // A newer version of each is written.
    let changed = list(&mut engine, "2");
    eprintln!("kept: {first} bytes of the first list, {again} of the same again, {changed} of changed clusters");
}
