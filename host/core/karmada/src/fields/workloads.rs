//! The fields of Kubernetes' own workloads, as far down as replicas and requests are read.
//!
//! A misspelt one of them changes a decision without a word: `replica: 3` is one replica, and `contaners` need nothing.

use std::collections::BTreeMap;

use super::{FieldTree, METADATA};

/// The types. A kind's line begins with its API version.
const TEXT: &str = include_str!("../../schemas/kubernetes.txt");

/// Lines of the text, by their names.
type Types = BTreeMap<&'static str, &'static str>;

/// The kinds, each by its API version and its name: `apps/v1 Deployment`.
pub(super) fn read() -> BTreeMap<&'static str, FieldTree> {
    let types = types();
    let kinds = types.keys().filter(|name| name.contains(' '));
    let kinds = kinds.map(|kind| {
        let mut tree = tree(kind, &types);
        for name in METADATA {
            tree.at("metadata").at(name);
        }
        (*kind, tree)
    });
    kinds.collect()
}

fn types() -> Types {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": ")).collect()
}

/// The fields of a type; none, so that any value is accepted, if it has no line.
fn tree(name: &str, types: &Types) -> FieldTree {
    let mut fields = BTreeMap::new();
    for field in types.get(name).into_iter().flat_map(|line| line.split(' ')) {
        let (written, below) = field.split_once(':').unwrap_or((field, ""));
        let below = tree(below, types);
        let (name, below) = match written.strip_suffix("[]") {
            Some(name) => (name, FieldTree::list_of(below)),
            None => (written, below),
        };
        fields.insert(name, below);
    }
    FieldTree {
        fields,
        ..FieldTree::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_a_field_has_a_line() {
        let lines = types();
        let types = lines.values().flat_map(|line| line.split(' '));
        for (_, below) in types.filter_map(|field| field.split_once(':')) {
            assert!(lines.contains_key(below), "{below}");
        }
    }

    #[test]
    fn workloads_have_their_fields_down_to_the_requests() {
        let kinds = read();
        assert_eq!(kinds.len(), 6);
        let deployment = &kinds["apps/v1 Deployment"];
        let pod = &deployment.fields["spec"].fields["template"].fields["spec"];
        let container = pod.fields["containers"].each().expect("it is a list");
        assert!(container.fields["resources"].fields.contains_key("requests"));
        // What is in it is not read.
        let probe = &container.fields["livenessProbe"];
        assert!(probe.fields().is_none() && probe.each().is_none());
        assert!(deployment.fields["metadata"].fields.contains_key("labels"));
        assert!(!kinds.contains_key("batch.volcano.sh/v1alpha1 Job"));
    }
}
