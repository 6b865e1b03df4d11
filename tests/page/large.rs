//! A thousand clusters and five thousand bindings: a small file, of which the browser draws only the part in the
//! window.

use serde_json::{Value, json};

use super::browser::Browser;
use super::pages;

const CLUSTERS: usize = 1000;
const BINDINGS: usize = 5000;
const REGIONS: usize = 8;
/// Cells, rows and controls of a page of any size. A table of all cells would take a hundred times as many.
const ELEMENTS_MAX: u64 = 6000;
const BYTES_MAX: usize = 20_000_000;

fn cluster_name(number: usize) -> String {
    format!("region-{}-cluster-{number:04}", number % REGIONS)
}

fn cluster(number: usize) -> Value {
    let cores = 64 + 32 * (number % 7);
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": cluster_name(number)},
        "spec": {"syncMode": "Push", "region": format!("region-{}", number % REGIONS)},
        "status": {
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
            "resourceSummary": {
                "allocatable": {"cpu": cores.to_string(), "memory": format!("{}Gi", 4 * cores), "pods": "660"},
                "allocated": {"cpu": (cores / 2).to_string(), "pods": "100"}
            }
        }
    })
}

/// A binding on a few clusters of several regions, which may use some more.
fn binding(number: usize) -> Value {
    let own: Vec<usize> = (0..2 + number % 8)
        .map(|index| (number * 7 + index * 61) % CLUSTERS)
        .collect();
    let targets: Vec<Value> = own
        .iter()
        .map(|&cluster| json!({"name": cluster_name(cluster), "replicas": 1 + (number + cluster) % 9}))
        .collect();
    let replicas: u64 = targets.iter().filter_map(|target| target["replicas"].as_u64()).sum();
    let others = (0..4).map(|index| (number * 13 + index * 101) % CLUSTERS);
    let allowed: Vec<String> = own.iter().copied().chain(others).map(cluster_name).collect();
    let namespace = format!("team-{:02}", number % 60);
    let name = format!("service-{number:04}");
    json!({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": format!("{name}-deployment"), "namespace": namespace, "generation": 2},
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace, "name": name},
            "replicas": replicas,
            "replicaRequirements": {"resourceRequest": {"cpu": "250m", "memory": "512Mi"}},
            "clusters": targets,
            "placement": {
                "clusterAffinity": {"clusterNames": allowed},
                "replicaScheduling": {
                    "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                    "weightPreference": {"dynamicWeight": "AvailableReplicas"}
                }
            }
        },
        "status": {"schedulerObservedGeneration": 2}
    })
}

#[test]
fn a_large_page_is_small_and_makes_only_what_is_in_the_window() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let input = folder.path().join("fleet.json");
    let items: Vec<Value> = (0..CLUSTERS).map(cluster).chain((0..BINDINGS).map(binding)).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(&input, list.to_string()).expect("the file can be written");
    let input = input.display().to_string();
    let file = pages::page(&["diff", "-f", &input, "--without", "region=region-3"], folder.path());
    let bytes = std::fs::metadata(&file).expect("the page is there").len();
    assert!(
        usize::try_from(bytes).is_ok_and(|bytes| bytes < BYTES_MAX),
        "{bytes} bytes"
    );

    let mut browser = Browser::start();
    browser.open(&file);
    let marks = browser.evaluate(
        "performance.getEntriesByType('mark').map(({name, startTime}) => `${name} ${Math.round(startTime)} ms`)",
    );
    println!("{bytes} bytes, {marks}");
    let elements = |browser: &mut Browser| {
        browser
            .evaluate("document.querySelectorAll('*').length")
            .as_u64()
            .unwrap_or(u64::MAX)
    };
    assert!(elements(&mut browser) < ELEMENTS_MAX);
    browser.evaluate("document.querySelector('#bindings input[type=checkbox]').click()");
    let size = browser.evaluate("(({ariaRowCount, ariaColCount}) => [ariaRowCount, ariaColCount].map(Number))(document.querySelector('#bindings .grid'))");
    assert_eq!(size, json!([BINDINGS + 1, CLUSTERS + 1]));
    // To the last row and the last column.
    let focus = "document.querySelector('#bindings .cell[tabindex=\"0\"]').focus()";
    browser.evaluate(focus);
    let press = |key: &str| {
        format!(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', ctrlKey: true, bubbles: true}}))"
        )
    };
    browser.evaluate(&press("End"));
    let place = browser.evaluate(
        "[document.activeElement.parentElement.ariaRowIndex, document.activeElement.ariaColIndex].map(Number)",
    );
    assert_eq!(place, json!([BINDINGS + 1, CLUSTERS + 1]));
    let is_visible = browser.evaluate("(() => {
        const [cell, view] = [document.activeElement, document.querySelector('#bindings .grid')].map((node) => node.getBoundingClientRect());
        return cell.right <= view.right && cell.bottom <= view.bottom && cell.left >= view.left && cell.top >= view.top;
    })()");
    assert_eq!(is_visible, true);
    assert!(elements(&mut browser) < ELEMENTS_MAX);
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}
