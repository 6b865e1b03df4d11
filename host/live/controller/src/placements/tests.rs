//! The life of a placement: in flight, written, taken back, gone; and the bindings that a change affects.

use divvy_karmada::detector::Binding;
use serde_json::json;

use super::*;

fn key(name: &str) -> Arc<BindingKey> {
    Arc::new(BindingKey {
        scope: BindingScope::Namespaced,
        namespace: "shop".to_owned(),
        name: name.to_owned(),
    })
}

fn binding(name: &str, anti_affinity_group: &str, clusters: &[&str]) -> Binding {
    let clusters: Vec<_> = clusters
        .iter()
        .map(|name| json!({"name": name, "replicas": 1}))
        .collect();
    let object = json!({
        "kind": "ResourceBinding",
        "metadata": {"namespace": "shop", "name": name},
        "spec": {"clusters": clusters, "workloadAffinityGroups": {"antiAffinityGroup": anti_affinity_group}},
    });
    Binding {
        object: serde_json::from_value(object).expect("a binding"),
        ..Binding::default()
    }
}

fn result(clusters: &[&str]) -> Vec<TargetCluster> {
    binding("any", "", clusters).object.spec.clusters
}

/// Names and clusters of the peers that `of` sees.
fn seen(placements: &LivePlacements, of: &Binding) -> Vec<(String, Vec<String>)> {
    let peers = placements.index().peers(of).peers.into_iter();
    let clusters = |targets: Targets| targets.iter().map(|target| target.name.clone()).collect();
    peers.map(|peer| (peer.name, clusters(peer.clusters))).collect()
}

fn sees(placements: &LivePlacements, expected: &[(&str, &[&str])]) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, clusters)| ((*name).to_owned(), owned(clusters)))
        .collect();
    assert_eq!(seen(placements, &binding("new", "app=x", &[])), expected);
}

fn observe(placements: &mut LivePlacements, binding: &Binding) {
    let key = key(&binding.object.metadata.name);
    let spec = &binding.object.spec;
    let observed = read_placement(&key, spec.workload_affinity_groups.as_ref(), || spec.clusters.clone());
    placements.observe(&key, observed);
}

#[test]
fn a_decision_in_flight_counts_until_it_is_taken_back() {
    let mut placements = LivePlacements::default();
    observe(&mut placements, &binding("web", "app=x", &["a"]));
    sees(&placements, &[("web", &["a"])]);
    placements.assume(&key("web"), &result(&["b"]));
    sees(&placements, &[("web", &["b"])]);
    placements.take_back(&key("web"));
    sees(&placements, &[("web", &["a"])]);
    // There is nothing left to take back.
    placements.take_back(&key("web"));
    sees(&placements, &[("web", &["a"])]);
}

#[test]
fn a_decision_that_is_written_stays() {
    let mut placements = LivePlacements::default();
    observe(&mut placements, &binding("web", "app=x", &[]));
    placements.assume(&key("web"), &result(&["b"]));
    placements.keep(&key("web"));
    placements.take_back(&key("web"));
    sees(&placements, &[("web", &["b"])]);
}

#[test]
fn versions_that_arrive_meanwhile_count_once_nothing_is_in_flight() {
    let mut placements = LivePlacements::default();
    observe(&mut placements, &binding("web", "app=x", &[]));
    placements.assume(&key("web"), &result(&["b"]));
    // A status update of an earlier version.
    observe(&mut placements, &binding("web", "app=x", &["c"]));
    sees(&placements, &[("web", &["b"])]);
    placements.assume(&key("web"), &result(&["d"]));
    placements.take_back_all();
    sees(&placements, &[("web", &["c"])]);
}

#[test]
fn a_binding_that_is_gone_or_leaves_its_group_is_not_a_peer() {
    let mut placements = LivePlacements::default();
    observe(&mut placements, &binding("web", "app=x", &["a"]));
    placements.assume(&key("web"), &result(&["b"]));
    placements.forget(&key("web"));
    sees(&placements, &[]);
    placements.take_back(&key("web"));
    sees(&placements, &[]);
    observe(&mut placements, &binding("web", "app=x", &["a"]));
    observe(&mut placements, &binding("web", "app=y", &["a"]));
    sees(&placements, &[]);
    // A binding in no group is never placed.
    observe(&mut placements, &binding("web", "", &["a"]));
    placements.assume(&key("web"), &result(&["b"]));
    sees(&placements, &[]);
}

#[test]
fn a_change_affects_the_peers_before_and_after_it() {
    let mut placements = LivePlacements::default();
    for (name, group) in [("a", "app=x"), ("b", "app=x"), ("c", "app=y"), ("d", "app=z")] {
        observe(&mut placements, &binding(name, group, &[]));
    }
    placements.take_affected();
    let affected = |placements: &mut LivePlacements| {
        let affected = placements.take_affected().into_iter();
        affected.map(|key| key.name).collect::<Vec<_>>()
    };
    observe(&mut placements, &binding("a", "app=x", &[]));
    assert_eq!(affected(&mut placements), [""; 0]);
    observe(&mut placements, &binding("a", "app=x", &["one"]));
    assert_eq!(affected(&mut placements), ["b"]);
    observe(&mut placements, &binding("a", "app=y", &["one"]));
    assert_eq!(affected(&mut placements), ["b", "c"]);
    placements.forget(&key("a"));
    assert_eq!(affected(&mut placements), ["c"]);
}
