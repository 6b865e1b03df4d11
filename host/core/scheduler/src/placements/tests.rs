//! Peers by namespace and group, recorded peers, and affinity that nothing enforces.

use super::*;
use divvy_karmada::api::WorkloadAffinityGroups;
use divvy_karmada::detector::Binding;
use serde_json::{Value, json};

fn binding(kind: &str, namespace: &str, name: &str, groups: Value, clusters: &[(&str, i32)]) -> Binding {
    let clusters: Vec<Value> = clusters
        .iter()
        .map(|(name, replicas)| json!({"name": name, "replicas": replicas}))
        .collect();
    let object = json!({
        "kind": kind,
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"clusters": clusters, "workloadAffinityGroups": groups},
    });
    Binding {
        object: serde_json::from_value(object).expect("a binding"),
        ..Binding::default()
    }
}

fn both(group: &str) -> Value {
    json!({"affinityGroup": group, "antiAffinityGroup": group})
}

fn shop(name: &str, groups: Value, clusters: &[(&str, i32)]) -> Binding {
    binding("ResourceBinding", "shop", name, groups, clusters)
}

/// Each peer: its name, the groups that it shares, and its clusters.
fn described(peers: &Peers) -> String {
    let peers = peers.peers.iter().map(|peer| {
        let groups = match (peer.shares_affinity_group, peer.shares_anti_affinity_group) {
            (true, true) => "+-",
            (true, false) => "+",
            (false, true) => "-",
            (false, false) => "",
        };
        let clusters = peer.clusters.iter();
        let clusters: Vec<String> = clusters
            .map(|target| format!("{}:{}", target.name, target.replicas))
            .collect();
        format!("{}{groups}[{}]", peer.name, clusters.join(" "))
    });
    peers.collect::<Vec<_>>().join(" ")
}

#[test]
fn peers_are_of_the_namespace_and_the_kind_of_group() {
    let bindings = [
        shop("a", json!({"affinityGroup": "app=x"}), &[("m2", 1), ("m1", 3)]),
        shop("b", json!({"antiAffinityGroup": "app=x"}), &[("m3", 1)]),
        shop("c", both("app=x"), &[]),
        shop("d", both("app=y"), &[("m1", 1)]),
        shop("e", Value::Null, &[("m1", 1)]),
        binding("ResourceBinding", "other", "f", both("app=x"), &[("m1", 1)]),
        binding("ClusterResourceBinding", "", "g", both("app=x"), &[("m1", 1)]),
    ];
    let placements = Placements::of(&bindings);
    let peers = |binding: &Binding| described(&placements.peers(binding));
    assert_eq!(peers(&bindings[0]), "c+[]");
    assert_eq!(peers(&bindings[1]), "c-[]");
    assert_eq!(peers(&bindings[2]), "a+[m1:3 m2:1] b-[m3:1]");
    assert_eq!(peers(&shop("new", both("app=x"), &[])), "a+[m1:3 m2:1] b-[m3:1] c+-[]");
    assert_eq!(peers(&bindings[3]), "");
    assert_eq!(peers(&bindings[5]), "");
    assert_eq!(peers(&bindings[6]), "");
}

#[test]
fn a_change_is_reported_only_if_peers_can_see_it() {
    let mut placements = Placements::default();
    let web = |group: &str, clusters| shop("web", both(group), clusters);
    assert!(placements.insert(&web("app=x", &[("m1", 1)]).object));
    assert!(!placements.insert(&web("app=x", &[("m1", 1)]).object));
    assert!(placements.insert(&web("app=x", &[("m1", 2)]).object));
    assert!(placements.insert(&web("app=y", &[("m1", 2)]).object));
    let new = |group| shop("new", both(group), &[]);
    assert_eq!(described(&placements.peers(&new("app=x"))), "");
    assert_eq!(described(&placements.peers(&new("app=y"))), "web+-[m1:2]");
    assert!(placements.insert(&shop("web", Value::Null, &[]).object));
    assert!(!placements.remove("shop", "web"));
    assert_eq!(described(&placements.peers(&new("app=y"))), "");
}

#[test]
fn what_is_not_in_a_group_is_known_without_an_index() {
    let apart = shop("web", Value::Null, &[]);
    assert_eq!(Peers::of(&apart, None), Some(Peers::default()));
    assert_eq!(Peers::recorded(&apart, None), Some(Peers::default()));
    let grouped = shop("web", both("app=x"), &[]);
    assert_eq!(Peers::of(&grouped, None), None);
    assert_eq!(Peers::recorded(&grouped, None), None);
    let recorded = Peers::recorded(&grouped, Some(&[])).expect("the recording has the peers");
    assert_eq!(recorded.groups.affinity_group, "app=x");
}

#[test]
fn a_recorded_peer_is_read_as_it_was_written() {
    let bindings = [shop("a", json!({"affinityGroup": "app=x"}), &[("m2", 1), ("m1", 3)])];
    let peers = Placements::of(&bindings).peers(&shop("new", both("app=x"), &[])).peers;
    let text = serde_json::to_string(&peers).expect("peers are plain data");
    assert_eq!(
        text,
        r#"[{"name":"a","sharesAffinityGroup":true,"clusters":[{"name":"m1","replicas":3},{"name":"m2","replicas":1}]}]"#
    );
    assert_eq!(serde_json::from_str::<Vec<Peer>>(&text).expect("peers"), peers);
}

#[test]
fn affinity_that_no_filter_enforces_is_found() {
    let placement =
        |affinity: Value| serde_json::from_value(json!({"workloadAffinity": affinity})).expect("a placement");
    let term = json!({"groupByLabelKey": "app"});
    let (together, apart) = (
        placement(json!({"affinity": term})),
        placement(json!({"antiAffinity": term})),
    );
    let grouped = WorkloadAffinityGroups {
        anti_affinity_group: "app=x".to_owned(),
        ..WorkloadAffinityGroups::default()
    };
    let none = Enforced::default();
    let all = Enforced {
        affinity: true,
        anti_affinity: true,
    };
    let only_affinity = Enforced { affinity: true, ..none };
    let groups = Some("spec.workloadAffinityGroups.antiAffinityGroup");
    assert_eq!(none.unenforced(Some(&grouped), Some(&apart)), groups);
    assert_eq!(only_affinity.unenforced(Some(&grouped), None), groups);
    assert_eq!(all.unenforced(Some(&grouped), Some(&apart)), None);
    assert_eq!(
        none.unenforced(None, Some(&together)),
        Some("spec.placement.workloadAffinity.affinity")
    );
    assert_eq!(only_affinity.unenforced(None, Some(&together)), None);
    assert_eq!(none.unenforced(Some(&WorkloadAffinityGroups::default()), None), None);
    assert_eq!(none.unenforced(None, None), None);
}
