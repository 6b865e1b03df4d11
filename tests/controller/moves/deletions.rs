//! Clusters that are being deleted while moves wait or are under way. Karmada removes what runs in such a cluster first of all, so that
//! nothing is gained by leaving it in steps.

use serde_json::{Value, json};

use super::super::clusters;
use super::super::simulation::Simulation;
use super::{binding, place, ready_cluster, report, report_ready};

/// Moves begin on another day, at most one replica at a time, and excluded clusters are left in steps.
const CLOSED: &str = "[profile.moves]\npace = 'surge'\nfederated-hpa = false\non-exclusion = 'steps'\nhours = ['Sun 00:00-01:00 UTC']\n\
                      [profile.moves.budgets]\nreplicas-per-cluster = 1\n";

fn deleting(name: &str) -> Value {
    let mut cluster = ready_cluster(name);
    cluster["metadata"]["generation"] = json!(2);
    cluster["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
    cluster
}

fn in_all(lines: &str) -> Simulation {
    let mut simulation = Simulation::with_profile(lines, &["a", "b", "c"].map(ready_cluster));
    simulation.create("web", binding(12, &[("a", 1), ("b", 1), ("c", 2)]));
    assert_eq!(simulation.result("web"), clusters(&[("a", 3), ("b", 3), ("c", 6)]));
    report(&mut simulation, &[("a", 3, 3), ("b", 3, 3), ("c", 6, 6)]);
    simulation
}

#[test]
fn a_cluster_that_is_being_deleted_is_left_at_once_outside_of_hours_and_budgets() {
    let mut simulation = in_all(CLOSED);
    simulation.cluster(&deleting("c"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("b", 6)]));
    // An edit that excludes a cluster is still a move, which waits.
    place(&mut simulation, &[("a", 1)]);
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("b", 6)]));
}

#[test]
fn a_move_under_way_leaves_a_cluster_at_once_whose_deletion_begins() {
    let mut simulation = in_all("[profile.moves]\npace = 'surge'\nmax-surge = 2\nfederated-hpa = false\n");
    place(&mut simulation, &[("a", 1), ("b", 1)]);
    assert_eq!(simulation.result("web").values().sum::<i64>(), 14);
    assert_eq!(simulation.result("web")["c"], 6);
    simulation.cluster(&deleting("c"));
    assert_eq!(simulation.result("web"), clusters(&[("a", 6), ("b", 6)]));

    // A move whose target has the cluster is decided anew.
    let mut simulation = in_all("[profile.moves]\npace = 'surge'\nmax-surge = 2\nfederated-hpa = false\n");
    place(&mut simulation, &[("c", 1), ("a", 1)]);
    assert_eq!(simulation.result("web").values().sum::<i64>(), 14);
    simulation.cluster(&deleting("c"));
    assert!(
        !simulation.result("web").contains_key("c"),
        "{:?}",
        simulation.result("web")
    );
    // What Karmada has removed is replaced at once; what runs in `b`, which the policy excludes, still leaves in steps.
    let result = simulation.result("web");
    assert_eq!(result.values().sum::<i64>(), 14, "{result:?}");
    assert!(result["a"] >= 9, "{result:?}");
    for _ in 0..8 {
        report_ready(&mut simulation);
    }
    assert_eq!(simulation.result("web"), clusters(&[("a", 12)]));
}
