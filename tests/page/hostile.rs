//! Names and messages from manifests stay text, whatever they contain.

use serde_json::{Value, json};

use super::browser::Browser;
use super::pages;

const MARKUP: &str = "</script><script>window.broken = 1</script><img src=x onerror=\"window.broken = 2\">{{ 7 * 7 }}";

fn manifests() -> Value {
    let cluster = |name: &str| {
        json!({
            "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {"syncMode": "Push", "region": MARKUP},
            "status": {
                "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
                "resourceSummary": {"allocatable": {"cpu": "10", "pods": "100"}}
            }
        })
    };
    let workload = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 4, "template": {"spec": {"containers": []}}}
    });
    let policy = json!({
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}}
        }
    });
    json!({"apiVersion": "v1", "kind": "List", "items": [cluster("a"), cluster("b"), workload, policy]})
}

#[test]
fn markup_in_a_label_stays_text() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let input = folder.path().join("fleet<script>.json");
    std::fs::write(&input, manifests().to_string()).expect("the file can be written");
    let input = input.display().to_string();
    let file = pages::page(
        &["diff", "-f", &input, "--drain", &format!("region={MARKUP}")],
        folder.path(),
    );
    let mut browser = Browser::start();
    browser.open(&file);
    browser.evaluate("document.querySelectorAll('summary').forEach((summary) => summary.click())");
    browser.evaluate("document.querySelectorAll('.grid .cell').forEach((cell) => cell.click())");
    assert_eq!(browser.evaluate("window.broken === undefined"), true);
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0);
    let region = browser.evaluate("document.querySelector('#regions .line .name').textContent");
    assert_eq!(region, MARKUP);
    let command = browser.evaluate("document.querySelector('#command code').textContent");
    assert!(
        command
            .as_str()
            .is_some_and(|command| command.contains(&input) && command.contains("{{ 7 * 7 }}"))
    );
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}
