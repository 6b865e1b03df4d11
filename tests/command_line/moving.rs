//! Bindings that a running scheduler moves in steps: the commands say where each stands, and leave it as it is.

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::decide::stored_hash::result_hash;
use serde_json::json;
use snapbox::str;

use super::{check, run};

/// A file with a binding of eight replicas, of which six are in `east-1` and three in `west-1`, on the way to four each.
fn moving(generation: i64) -> tempfile::NamedTempFile {
    let result = [("east-1", 6), ("west-1", 3)].map(|(name, replicas)| TargetCluster {
        name: name.to_owned(),
        replicas,
        components: Vec::new(),
    });
    let mark = json!({
        "version": 1, "generation": 3, "asked": "0", "result": result_hash(&result), "at": 1_800_000_000_000_i64,
        "clusters": {"east-1": [4], "west-1": [4, 2]},
    });
    let weights = ["east-1", "west-1"].map(|name| json!({"targetCluster": {"clusterNames": [name]}, "weight": 1}));
    let placement = json!({"replicaScheduling": {
        "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights},
    }});
    let binding = json!({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {
            "namespace": "shop", "name": "moving-deployment", "generation": generation,
            "annotations": {
                "divvy.io/move": mark.to_string(),
                "policy.karmada.io/applied-placement": placement.to_string(),
            },
        },
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "moving"},
            "replicas": 8, "clusters": result, "placement": placement,
        },
    });
    let file = tempfile::Builder::new()
        .suffix(".json")
        .tempfile()
        .expect("a temporary file");
    std::fs::write(file.path(), binding.to_string()).expect("it can be written");
    file
}

#[test]
fn diff_leaves_a_binding_on_its_way_and_says_where_it_stands() {
    let file = moving(3);
    let path = file.path().display().to_string();
    check(
        &["diff", "-f", "fleet.yaml", "-f", &path],
        0,
        str![[r#"
the assigned clusters → profile default

nothing changes
latent: 1 binding would be placed differently if rescheduled (--latent lists them)

"#]],
        str![[r#"
warning: 1 binding is on the way to another result, by `divvy.io/move`: `shop/moving-deployment` (east-1 6 → 4, west-1 3 → 4)
  hint: `divvy run` takes the next step once the last one is ready; until the move has ended, `diff`, `headroom` and `survive` leave such a binding as it is

"#]],
    );
    for command in ["schedule", "headroom"] {
        let (_, _, warnings) = run(&[command, "-f", "fleet.yaml", "-f", &path]);
        let expected = "(east-1 6 → 4, west-1 3 → 4)";
        assert!(warnings.contains(expected), "{command}: {warnings}");
    }
}

#[test]
fn a_binding_that_someone_else_changed_is_decided_anew() {
    let file = moving(4);
    let path = file.path().display().to_string();
    let (_, changes, warnings) = run(&["diff", "-f", "fleet.yaml", "-f", &path]);
    assert!(!warnings.contains("on the way"), "{warnings}");
    assert!(changes.contains("east-1 −2  west-1 +1"), "{changes}");
}

#[test]
fn a_policy_whose_moves_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("policy.yaml");
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: paced}
spec: {replicas: 2}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  namespace: shop
  name: paced
  annotations:
    divvy.io/moves: '{\"maxSurge\": \"many\"}'
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: paced}]
  placement: {}
";
    std::fs::write(&path, text).expect("it can be written");
    let path = path.display().to_string();
    let (_, _, warnings) = run(&["schedule", "-f", "fleet.yaml", "-f", &path]);
    for expected in [
        "annotation `divvy.io/moves`: maxSurge: ",
        &format!("in: PropagationPolicy shop/paced ({path}:12)"),
    ] {
        assert!(warnings.contains(expected), "{warnings}");
    }
}
