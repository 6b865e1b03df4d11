//! The files that operators read and load, compared with the exposed metrics.

use std::collections::BTreeSet;

use super::everything;
use super::parsed::parse;

/// A file of the folder for operators.
fn deployed(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../examples/deploy")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of metrics in a query, by their prefixes.
fn queried(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let prefixes = ["divvy_", "karmada_", "scheduler_", "process_"];
    words.filter(move |word| prefixes.iter().any(|prefix| word.starts_with(prefix)))
}

/// Every text under a key, anywhere in a document.
fn texts<'a>(document: &'a serde_json::Value, key: &str, found: &mut Vec<&'a str>) {
    match document {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if name == key => found.push(text),
                    _ => texts(value, key, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, key, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_page_for_operators_lists_exactly_what_is_exposed() {
    let parsed = parse(&everything().await.render());
    let page = deployed("METRICS.md");
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: BTreeSet<String> = rows
        .map(|(name, _)| name.to_owned())
        .filter(|name| queried(name).next().is_some())
        .collect();
    assert_eq!(listed, parsed.names());
}

#[tokio::test]
async fn every_metric_of_the_dashboard_exists() {
    let parsed = parse(&everything().await.render());
    let dashboard: serde_json::Value = serde_json::from_str(&deployed("monitoring/dashboard.json")).expect("JSON");
    let mut queries = Vec::new();
    texts(&dashboard, "expr", &mut queries);
    texts(&dashboard, "definition", &mut queries);
    assert!(queries.len() > 30, "the dashboard has {} queries", queries.len());
    let mut used = BTreeSet::new();
    for query in queries {
        let names: Vec<&str> = queried(query).collect();
        assert!(!names.is_empty(), "{query}");
        for name in names {
            assert!(parsed.exposes(name), "`{name}` does not exist: {query}");
            used.insert(name.to_owned());
        }
    }
    // Every metric is on the dashboard, so that no exposed metric goes unused.
    for name in parsed.names() {
        assert!(
            used.iter().any(|known| known.starts_with(&name)),
            "`{name}` is not on the dashboard"
        );
    }
}

#[tokio::test]
async fn every_metric_of_the_alerts_exists() {
    let parsed = parse(&everything().await.render());
    let alerts = deployed("monitoring/alerts.yaml");
    let queries: Vec<&str> = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "))
        .collect();
    assert_eq!(
        queries.len(),
        alerts.matches("- alert: ").count(),
        "each alert has its query on one line"
    );
    for query in queries {
        let names: Vec<&str> = queried(query).collect();
        assert!(!names.is_empty(), "{query}");
        for name in names {
            assert!(parsed.exposes(name), "`{name}` does not exist: {query}");
        }
    }
}
