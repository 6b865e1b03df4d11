//! The judge on invented logs: each rule, kept and broken.

use serde_json::{Value, json};

use super::*;

fn write(user: &str, second: u32, kind: &str, subresource: &str, object: Value) -> Write {
    let time = format!("2026-11-01T00:00:{second:02}.000000Z");
    let entry = json!({
        "verb": "patch",
        "user": {"username": user},
        "userAgent": format!("divvy/1 {user}"),
        "objectRef": {"resource": kind, "namespace": "default", "name": object["metadata"]["name"], "subresource": subresource},
        "responseStatus": {"code": 200},
        "responseObject": object,
        "requestReceivedTimestamp": time,
        "stageTimestamp": time,
    });
    serde_json::from_value(entry).expect("it is an entry")
}

fn binding(generation: i64, clusters: &[(&str, i64)]) -> Value {
    let clusters: Vec<Value> = clusters
        .iter()
        .map(|(name, count)| json!({"name": name, "replicas": count}))
        .collect();
    json!({
        "metadata": {"name": "web", "generation": generation},
        "spec": {"clusters": clusters, "replicaRequirements": {"resourceRequest": {"cpu": "500m"}}},
    })
}

fn lease(holder: &str, second: u32) -> Write {
    let object = json!({"metadata": {"name": "leader"}, "spec": {"holderIdentity": holder}});
    write(holder, second, "leases", "", object)
}

fn rules(lease: Option<&str>) -> Rules {
    Rules {
        cpu: BTreeMap::from([("a".to_owned(), "1".parse().expect("it is a quantity"))]),
        lease: lease.map(ToOwned::to_owned),
    }
}

#[test]
fn one_move_for_each_change_is_right() {
    let log = [
        write("karmada", 1, "resourcebindings", "", binding(1, &[])),
        write("scheduler", 2, "resourcebindings", "", binding(2, &[("a", 2)])),
        write("scheduler", 2, "resourcebindings", "status", binding(2, &[("a", 2)])),
        write("scheduler", 3, "resourcebindings", "", binding(2, &[("a", 2)])),
        write("karmada", 4, "resourcebindings", "", binding(3, &[("a", 2)])),
        write("scheduler", 5, "resourcebindings", "", binding(4, &[("a", 1)])),
    ];
    assert_eq!(violations(&log, &rules(None)), Vec::<String>::new());
    let twice = [
        log.to_vec(),
        vec![write("scheduler", 6, "resourcebindings", "", binding(5, &[("a", 2)]))],
    ]
    .concat();
    let found = violations(&twice, &rules(None));
    assert!(
        found[0].starts_with("default/web was moved 2 times for generation 3"),
        "{found:?}"
    );
}

#[test]
fn a_full_cluster_is_noticed() {
    let log = [
        write("karmada", 1, "resourcebindings", "", binding(1, &[])),
        write("scheduler", 2, "resourcebindings", "", binding(2, &[("a", 3)])),
    ];
    assert_eq!(
        violations(&log, &rules(None)),
        ["default/web brought a to 1500m of 1000m CPU"]
    );
}

#[test]
fn a_write_without_the_lease_is_noticed() {
    let scheduled = |user: &str, second: u32| write(user, second, "resourcebindings", "", binding(2, &[("a", 1)]));
    let judged = |log: &[Write]| violations(log, &rules(Some("leader")));
    assert_eq!(
        judged(&[lease("scheduler", 1), scheduled("scheduler", 9)]),
        Vec::<String>::new()
    );
    assert!(judged(&[scheduled("scheduler", 9)])[0].contains("when nobody held"));
    assert!(judged(&[lease("scheduler-b", 1), scheduled("scheduler", 9)])[0].contains("when scheduler-b held"));
    assert!(judged(&[lease("scheduler", 1), scheduled("scheduler", 17)])[0].contains("that it renewed"));
    // Others need no lease.
    assert_eq!(judged(&[scheduled("karmada", 9)]), Vec::<String>::new());
}
