//! The worked examples of the four proposals, from manifests to decisions.

mod average;
mod cluster_priority;
mod priority_aggregated;
mod specified;
mod specified_manifests;
mod static_weight;

use crate::artifacts::repository;

/// A manifest exactly as printed in a proposal.
pub(crate) fn printed(name: &str) -> String {
    let path = repository()
        .join("tests/fixtures/manifests")
        .join(format!("{name}.yaml"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The YAML of a Deployment.
fn deployment(namespace: &str, name: &str, replicas: i64) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{replicas: {replicas}}}\n"
    )
}

/// Joins documents into one YAML file.
fn documents(documents: &[&str]) -> String {
    documents.join("\n---\n")
}
