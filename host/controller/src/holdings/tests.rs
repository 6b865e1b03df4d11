//! Held capacity, and the events that give it back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::{BindingScope, Cluster, TargetCluster};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot, Footprint};
use serde_json::json;

use super::{HOLD_MAX, Holdings, REPORT_MAX};
use crate::objects::{AggregatedStatus, BindingKey, Health};

fn key() -> Arc<BindingKey> {
    Arc::new(BindingKey {
        scope: BindingScope::Namespaced,
        namespace: "default".to_owned(),
        name: "web".to_owned(),
    })
}

fn targets(list: &[(&str, i32)]) -> Vec<TargetCluster> {
    let target = |(name, replicas): &(&str, i32)| TargetCluster {
        name: (*name).to_owned(),
        replicas: *replicas,
        ..TargetCluster::default()
    };
    list.iter().map(target).collect()
}

fn status(cluster: &str, health: Health, fingerprint: u64) -> AggregatedStatus {
    AggregatedStatus {
        cluster: cluster.to_owned(),
        health,
        fingerprint,
    }
}

fn fleet(names: &[&str]) -> FleetSnapshot {
    let mut fleet = Fleet::new(false);
    for name in names {
        let mut cluster = Cluster::default();
        cluster.metadata.name = (*name).to_owned();
        fleet.upsert(&cluster);
    }
    fleet.snapshot()
}

/// Replicas of one CPU.
fn cpu() -> Footprint {
    let specification = json!({"replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}});
    Footprint::new(&serde_json::from_value(specification).expect("a specification"))
}

#[test]
fn only_growth_is_held() {
    let (mut holdings, key, now) = (Holdings::default(), key(), Instant::now());
    holdings.take(
        &key,
        &targets(&[("a", 5), ("b", 1)]),
        &targets(&[("a", 3), ("b", 4)]),
        &[],
        &cpu(),
        now,
    );
    assert_eq!((holdings.held(&key, "a"), holdings.held(&key, "b")), (2, 0));
    // A further decision adds to what is still not reported, or takes it away again.
    holdings.take(&key, &targets(&[("a", 6)]), &targets(&[("a", 5)]), &[], &cpu(), now);
    assert_eq!(holdings.held(&key, "a"), 3);
    holdings.take(&key, &targets(&[("a", 4)]), &targets(&[("a", 6)]), &[], &cpu(), now);
    assert_eq!(holdings.held(&key, "a"), 1);
}

#[test]
fn the_ledger_follows_the_rows() {
    let (mut holdings, key, now) = (Holdings::default(), key(), Instant::now());
    holdings.take(&key, &targets(&[("b", 2)]), &[], &[], &cpu(), now);
    let ledger = holdings.ledger(&fleet(&["a", "b"]), 1);
    assert_eq!((ledger.taken("cpu", 1), ledger.taken("pods", 1)), (2000, 2));
    let ledger = holdings.ledger(&fleet(&["b"]), 2);
    assert_eq!((ledger.taken("cpu", 0), ledger.taken("pods", 0)), (2000, 2));
    let before = holdings.take(&key, &targets(&[("b", 3)]), &targets(&[("b", 2)]), &[], &cpu(), now);
    assert_eq!(holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 3000);
    // The write failed.
    holdings.give_back(&key, before);
    assert_eq!(holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 2000);
    holdings.remove(&key);
    assert_eq!(holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 0);
}

/// A resource with several pod templates takes room, though its result counts no replicas.
#[test]
fn all_components_are_held_wherever_they_are_new() {
    let component = |name: &str, replicas: i32, cpu: &str| json!({"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}});
    let footprint = |workers: i32| {
        let specification = json!({"components": [component("manager", 1, "500m"), component("worker", workers, "2")]});
        Footprint::new(&serde_json::from_value(specification).expect("a specification"))
    };
    let listing = |workers: i32| {
        let target = json!({"name": "a", "components": [
            {"name": "manager", "replicas": 1}, {"name": "worker", "replicas": workers},
        ]});
        vec![serde_json::from_value::<TargetCluster>(target).expect("a target")]
    };
    let (mut holdings, key, now) = (Holdings::default(), key(), Instant::now());
    let taken = |holdings: &mut Holdings| {
        let ledger = holdings.ledger(&fleet(&["a", "b"]), 1);
        [0, 1].map(|row| (ledger.taken("cpu", row), ledger.taken("pods", row)))
    };
    // Listed or not, the components are those of the binding.
    for result in [targets(&[("a", 0)]), listing(3)] {
        holdings.take(&key, &result, &[], &[], &footprint(3), now);
        assert_eq!(taken(&mut holdings), [(6500, 4), (0, 0)], "{result:?}");
    }
    // Two workers more, and a further cluster.
    holdings.clear();
    holdings.take(&key, &listing(5), &listing(3), &[], &footprint(5), now);
    assert_eq!(taken(&mut holdings), [(4000, 2), (0, 0)]);
    let both = targets(&[("a", 0), ("b", 0)]);
    holdings.take(&key, &both, &targets(&[("a", 0)]), &[], &footprint(5), now);
    assert_eq!(taken(&mut holdings), [(4000, 2), (10500, 6)]);
    holdings.remove(&key);
    assert_eq!(taken(&mut holdings), [(0, 0), (0, 0)]);
}

#[test]
fn a_report_after_health_gives_back() {
    let (mut holdings, key, now) = (Holdings::default(), key(), Instant::now());
    let before = [status("a", Health::Healthy, 1)];
    holdings.take(&key, &targets(&[("a", 5)]), &targets(&[("a", 3)]), &before, &cpu(), now);
    // The entry is the one from before the decision.
    holdings.observe(&key, &before, now);
    assert!(!holdings.reported("a"));
    holdings.observe(&key, &[status("a", Health::Unhealthy, 2)], now);
    assert!(!holdings.reported("a"));
    holdings.observe(&key, &[status("a", Health::Healthy, 3)], now);
    assert!(!holdings.reported("b"));
    assert!(holdings.reported("a"));
    assert!(holdings.is_empty());
}

#[test]
fn time_gives_back() {
    let (mut holdings, key, now) = (Holdings::default(), key(), Instant::now());
    holdings.take(&key, &targets(&[("a", 5)]), &[], &[], &cpu(), now);
    assert!(!holdings.expire(now + HOLD_MAX - Duration::from_secs(1)));
    assert!(holdings.expire(now + HOLD_MAX));

    holdings.take(&key, &targets(&[("a", 5)]), &[], &[], &cpu(), now);
    holdings.observe(&key, &[status("a", Health::Healthy, 1)], now);
    assert!(!holdings.expire(now + REPORT_MAX - Duration::from_secs(1)));
    assert!(holdings.expire(now + REPORT_MAX));
}
