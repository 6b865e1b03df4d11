//! Small inputs from a running Karmada (v1.19-rc), each a `kubectl get … -o json` list cut down to one workload, with the
//! decisions of its scheduler.

use super::{divvy, text};

/// Karmada's targets as `name=replicas`, or its reason for having none. In 04 and 05 Karmada follows the constraint by cluster
/// alone.
const DECISIONS: [(&str, &str); 9] = [
    ("01-zero-replicas-no-requests", "r-a=0 r-b=0 r-c=0 r-d=0"),
    ("02-rollout-not-a-workload-for-karmada", "r-a=0 r-b=0 r-c=0 r-d=0"),
    ("03-empty-weightPreference-with-spread", "r-b=4 r-c=4"),
    ("04-provider-constraint", "r-b=3 r-c=5"),
    ("05-zone-constraint", "r-b=3 r-c=5"),
    ("06-label-constraint", "Unschedulable"),
    ("09-sidecar-requests-workload-alone", "r-a=3 r-b=6 r-c=10 r-d=1"),
    ("10-pod-level-requests-workload-alone", "r-a=2 r-b=3 r-c=4 r-d=1"),
    ("11-reserved-namespace", "no binding"),
];

#[test]
fn decisions_equal_a_running_karmadas() {
    for (name, expected) in DECISIONS {
        let file = format!("tests/conformance/plane/{name}.json");
        let profile = "karmada";
        let output = divvy(&["schedule", "-f", &file, "--profile", profile, "-o", "json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{name}: {error}: {}", text(&output.stderr)));
        let bindings = document["bindings"].as_array().expect("a list of bindings");
        let actual = match bindings.as_slice() {
            [] => "no binding".to_owned(),
            [binding] if binding["result"] == "Scheduled" => {
                let clusters = binding["clusters"].as_array().expect("a list of clusters");
                let targets: Vec<String> = clusters
                    .iter()
                    .map(|target| format!("{}={}", target["name"].as_str().unwrap_or_default(), target["replicas"]))
                    .collect();
                targets.join(" ")
            }
            [binding] => binding["result"].as_str().unwrap_or_default().to_owned(),
            several => panic!("{name}: {} bindings", several.len()),
        };
        assert_eq!(actual, expected, "{name}");
    }
}
