//! Explanations that a running scheduler keeps: every cluster of a small fleet, and the relevant ones of a large fleet.

use divvy_client::explanation::Description;
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, is_scheduled};

/// Clusters of which every second one has the label `tier=silver` instead of `tier=gold`.
fn fleet(clusters: usize) -> Vec<Value> {
    let each = (0..clusters).map(|number| {
        let mut cluster = cluster(&format!("member-{number:03}"), 10);
        if number % 2 == 1 {
            cluster["metadata"]["labels"]["tier"] = "silver".into();
        }
        cluster
    });
    each.collect()
}

fn divided_over(tier: &str, replicas: i32) -> Value {
    let mut specification = super::divided(replicas);
    specification["placement"]["clusterAffinity"] = json!({"labelSelector": {"matchLabels": {"tier": tier}}});
    specification
}

/// Names of the clusters in a list of an explanation.
fn names(list: &Value) -> Vec<&str> {
    let clusters = list.as_array().into_iter().flatten();
    clusters
        .map(|cluster| {
            let name = cluster.as_str().or_else(|| cluster["name"].as_str());
            name.unwrap_or_else(|| panic!("no name: {cluster}"))
        })
        .collect()
}

#[test]
fn a_small_fleet_is_explained_cluster_by_cluster() {
    let mut simulation = Simulation::new(&fleet(200));
    simulation.create("web", divided_over("gold", 12));
    let explanation = simulation.explanation("web");
    assert_eq!(names(&explanation["candidates"]).len(), 100, "{explanation:#}");
    assert!(explanation.get("furtherCandidates").is_none(), "{explanation:#}");
    assert_eq!(explanation["rejected"][0]["count"], 100, "{explanation:#}");
}

#[test]
fn in_a_large_fleet_clusters_of_the_results_are_listed_and_the_others_counted() {
    let mut simulation = Simulation::new(&fleet(300));
    simulation.create("web", divided_over("gold", 12));
    assert!(is_scheduled(&simulation, "web"));
    let result = simulation.result("web");
    assert_eq!(result.values().sum::<i64>(), 12);
    let explanation = simulation.explanation("web");
    let candidates = names(&explanation["candidates"]);
    assert!(result.keys().all(|name| candidates.contains(&name.as_str())));
    let further = explanation["furtherCandidates"].as_u64().unwrap_or(0) as usize;
    assert_eq!(candidates.len(), result.len() + 20, "{explanation:#}");
    assert_eq!(candidates.len() + further, 150, "{explanation:#}");
    for candidate in explanation["candidates"].as_array().into_iter().flatten() {
        assert!(candidate["reasons"][0]["text"].is_string(), "{candidate:#}");
    }
    let rejected = &explanation["rejected"][0];
    assert_eq!(rejected["plugin"], "cluster-affinity");
    assert_eq!(rejected["count"], 150);
    assert_eq!(names(&rejected["clusters"]).len(), 20);

    // The clusters that it leaves are named, however many others are rejected for the same reason.
    let before: Vec<String> = result.into_keys().collect();
    simulation.patch("web", &json!({"spec": divided_over("silver", 12)}));
    let result = simulation.result("web");
    assert!(before.iter().all(|name| !result.contains_key(name)), "{result:?}");
    let explanation = simulation.explanation("web");
    let rejected = &explanation["rejected"][0];
    assert_eq!(rejected["count"], 150, "{explanation:#}");
    let named = names(&rejected["clusters"]);
    assert!(before.iter().all(|name| named.contains(&name.as_str())), "{rejected:#}");
    assert_eq!(named.len(), before.len() + 20, "{rejected:#}");
}

/// `divvy explain` reads the type that the scheduler writes, so nothing that is shown can get another name unnoticed.
#[test]
fn an_explanation_is_read_as_it_was_written() {
    let mut simulation = Simulation::new(&fleet(300));
    for (name, specification) in [("web", divided_over("gold", 12)), ("none", divided_over("lead", 3))] {
        simulation.create(name, specification);
        let written = simulation.explanation(name);
        let read: Description<'_> = serde_json::from_value(written.clone()).expect("an explanation");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), written);
        assert!(read.candidates.is_some() && !read.because.is_empty(), "{read:?}");
    }
}
