//! The clusters whose changes concern a binding: Karmada's `enqueueAffectedBindings` (`pkg/scheduler/event_handler.go`).

use divvy_framework_view::words::SelectorOperator;
use divvy_karmada::api::{Cluster, ClusterAffinity, ClusterAffinityTerm, Placement, SelectorRequirement, StringMap};

/// The properties of a cluster that affinities read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterProperties {
    /// Name.
    pub name: String,
    /// Labels.
    pub labels: StringMap,
    /// Cloud provider.
    pub provider: String,
    /// Region.
    pub region: String,
    /// Zones.
    pub zones: Vec<String>,
}

impl From<&Cluster> for ClusterProperties {
    fn from(cluster: &Cluster) -> Self {
        let spec = &cluster.spec;
        Self {
            name: cluster.metadata.name.clone(),
            labels: cluster.metadata.labels.clone(),
            provider: spec.provider.clone(),
            region: spec.region.clone(),
            zones: spec.zones.clone(),
        }
    }
}

/// True if a change of a cluster concerns a binding: its affinity matches the cluster.
///
/// If there are several affinity groups, only the one in use counts, which is the first if none is recorded. A
/// placement without an affinity is concerned by every cluster.
pub fn concerns(placement: &Placement, observed_group: &str, cluster: &ClusterProperties) -> bool {
    let groups = &placement.cluster_affinities;
    let group = groups
        .iter()
        .find(|group| group.affinity_name == observed_group)
        .or(groups.first());
    match (group, &placement.cluster_affinity) {
        (Some(group), _) => group_matches(group, cluster),
        (None, Some(affinity)) => matches(affinity, cluster),
        (None, None) => true,
    }
}

/// True if any affinity of a placement selects a cluster, regardless of the group in use.
pub fn selects(placement: &Placement, cluster: &ClusterProperties) -> bool {
    let groups = &placement.cluster_affinities;
    match &placement.cluster_affinity {
        Some(affinity) => matches(affinity, cluster),
        None => groups.is_empty() || groups.iter().any(|group| group_matches(group, cluster)),
    }
}

/// True if an affinity group selects a cluster, itself or by one of its tiers.
fn group_matches(group: &ClusterAffinityTerm, cluster: &ClusterProperties) -> bool {
    let tiers = group.overflow_affinities.iter().map(|tier| &tier.affinity);
    std::iter::once(&group.affinity)
        .chain(tiers)
        .any(|affinity| matches(affinity, cluster))
}

/// True if an affinity selects a cluster (`util.ClusterMatches`).
pub fn matches(affinity: &ClusterAffinity, cluster: &ClusterProperties) -> bool {
    if affinity.exclude_clusters.contains(&cluster.name) {
        return false;
    }
    let labels = affinity.label_selector.as_ref();
    let fields = affinity
        .field_selector
        .iter()
        .flat_map(|selector| &selector.match_expressions);
    let is_named = affinity.cluster_names.is_empty() || affinity.cluster_names.contains(&cluster.name);
    is_named
        && labels.is_none_or(|selector| selector.is_met_by(&cluster.labels))
        && fields
            .into_iter()
            .all(|requirement| field_matches(requirement, cluster))
        // Last, because it reads texts, and most clusters have failed before.
        && affinity.unmatchable().is_none()
}

fn field_matches(requirement: &SelectorRequirement, cluster: &ClusterProperties) -> bool {
    let listed = |value: &String| requirement.values.contains(value);
    let value = match requirement.key.as_str() {
        "provider" => &cluster.provider,
        "region" => &cluster.region,
        // All of a cluster's zones must be listed, or none of them.
        "zone" => {
            return match requirement.operator.known() {
                Some(SelectorOperator::In) => !cluster.zones.is_empty() && cluster.zones.iter().all(listed),
                Some(SelectorOperator::NotIn) => !cluster.zones.iter().any(listed),
                Some(SelectorOperator::Exists) => !cluster.zones.is_empty(),
                Some(SelectorOperator::DoesNotExist) => cluster.zones.is_empty(),
                _ => true,
            };
        }
        _ => return false,
    };
    match requirement.operator.known() {
        Some(SelectorOperator::In) => listed(value),
        Some(SelectorOperator::NotIn) => !listed(value),
        Some(SelectorOperator::Exists) => !value.is_empty(),
        Some(SelectorOperator::DoesNotExist) => value.is_empty(),
        // Waking a binding needlessly costs little; not waking it would lose a change.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> ClusterProperties {
        ClusterProperties {
            name: "m1".to_owned(),
            labels: StringMap::from([("tier".to_owned(), "gold".to_owned())]),
            provider: "aws".to_owned(),
            region: "eu".to_owned(),
            zones: vec!["a".to_owned(), "b".to_owned()],
        }
    }

    #[test]
    fn a_binding_is_concerned_by_the_clusters_of_its_affinity() {
        let cases = [
            (r#"{}"#, "", true),
            (r#"{"clusterAffinity":{"clusterNames":["m1"]}}"#, "", true),
            (r#"{"clusterAffinity":{"clusterNames":["m2"]}}"#, "", false),
            (r#"{"clusterAffinity":{"exclude":["m1"]}}"#, "", false),
            (
                r#"{"clusterAffinity":{"labelSelector":{"matchLabels":{"tier":"gold"}}}}"#,
                "",
                true,
            ),
            (
                r#"{"clusterAffinity":{"labelSelector":{"matchLabels":{"tier":"iron"}}}}"#,
                "",
                false,
            ),
            (
                r#"{"clusterAffinity":{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"In","values":["eu"]}]}}}"#,
                "",
                true,
            ),
            (
                r#"{"clusterAffinity":{"fieldSelector":{"matchExpressions":[{"key":"region","operator":"NotIn","values":["South Europe"]}]}}}"#,
                "",
                false,
            ),
            (
                r#"{"clusterAffinity":{"labelSelector":{"matchExpressions":[{"key":"bad key","operator":"DoesNotExist"}]}}}"#,
                "",
                false,
            ),
            (
                r#"{"clusterAffinity":{"fieldSelector":{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}}}"#,
                "",
                false,
            ),
            (
                r#"{"clusterAffinity":{"fieldSelector":{"matchExpressions":[{"key":"zone","operator":"NotIn","values":["c"]}]}}}"#,
                "",
                true,
            ),
            (
                r#"{"clusterAffinities":[{"affinityName":"one","clusterNames":["m2"]},{"affinityName":"two","clusterNames":["m1"]}]}"#,
                "two",
                true,
            ),
            (
                r#"{"clusterAffinities":[{"affinityName":"one","clusterNames":["m2"]},{"affinityName":"two","clusterNames":["m1"]}]}"#,
                "one",
                false,
            ),
            (
                r#"{"clusterAffinities":[{"affinityName":"one","clusterNames":["m2"],"overflowAffinities":[{"affinityName":"x","clusterNames":["m1"]}]}]}"#,
                "one",
                true,
            ),
        ];
        for (placement, observed, expected) in cases {
            let parsed: Placement = serde_json::from_str(placement).unwrap();
            assert_eq!(concerns(&parsed, observed, &cluster()), expected, "{placement}");
        }
    }
}
