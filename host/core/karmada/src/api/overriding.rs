//! `OverridePolicy`, `ClusterOverridePolicy` and `FederatedResourceQuota` of `policy.karmada.io/v1alpha1`.
//!
//! No scheduler reads them: overrides change copies of a workload on their way to clusters, and quotas are enforced when a result is
//! written. They are read to report that a result leads to something else. Only overriders that can set a number of replicas are
//! kept: those of images, commands, labels and the like cannot.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ClusterAffinity, ObjectMeta, ObjectReference, ResourceList, ResourceSelector, StringMap, is_default, nullable,
};

/// An override policy of either scope.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OverridePolicy {
    /// `policy.karmada.io/v1alpha1`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// `OverridePolicy` or `ClusterOverridePolicy`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name, namespace, labels, annotations.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// Resources to change, and how.
    #[serde(deserialize_with = "nullable")]
    pub spec: OverrideSpec,
}

/// Desired state of an override policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OverrideSpec {
    /// Selectors of the resources; without any, every resource in reach of the policy.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub resource_selectors: Vec<ResourceSelector>,
    /// Changes, each for some clusters.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub override_rules: Vec<OverrideRule>,
    /// Clusters of [`Self::overriders`]; the older form of a single rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_cluster: Option<ClusterAffinity>,
    /// Changes on [`Self::target_cluster`]; read only without rules.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub overriders: Overriders,
}

/// Changes for some clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OverrideRule {
    /// The clusters; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_cluster: Option<ClusterAffinity>,
    /// The changes.
    #[serde(deserialize_with = "nullable")]
    pub overriders: Overriders,
}

/// Changes of a resource, as far as they can set replicas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Overriders {
    /// Changes of single fields.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub plaintext: Vec<PlaintextOverrider>,
}

/// The change of one field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlaintextOverrider {
    /// The field, as a JSON pointer such as `/spec/replicas`.
    #[serde(deserialize_with = "nullable")]
    pub path: String,
    /// `add`, `remove` or `replace`.
    #[serde(deserialize_with = "nullable")]
    pub operator: String,
    /// The new value; absent for `remove`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub value: Value,
}

impl OverridePolicy {
    /// Kind of the cluster-scoped policy.
    pub const CLUSTER_KIND: &'static str = "ClusterOverridePolicy";

    /// True if the policy changes a resource (`util.ResourceMatches`). Without labels, only a selector that needs none matches.
    pub fn selects(&self, resource: &ObjectReference, labels: Option<&StringMap>) -> bool {
        let is_in_scope = self.kind == Self::CLUSTER_KIND || self.metadata.namespace == resource.namespace;
        let mut selectors = self.spec.resource_selectors.iter();
        is_in_scope
            && (self.spec.resource_selectors.is_empty()
                || selectors.any(|selector| {
                    selector.api_version == resource.api_version
                        && selector.kind == resource.kind
                        && (selector.namespace.is_empty() || selector.namespace == resource.namespace)
                        && match (selector.name.as_str(), &selector.label_selector) {
                            ("", None) => true,
                            ("", Some(wanted)) => labels.is_some_and(|labels| wanted.matches(labels)),
                            (name, _) => name == resource.name,
                        }
                }))
    }

    /// The changes with their clusters; `None` for all.
    pub fn changes(&self) -> impl Iterator<Item = (Option<&ClusterAffinity>, &PlaintextOverrider)> {
        let spec = &self.spec;
        let rules = spec.override_rules.iter();
        let rules = rules.map(|rule| (rule.target_cluster.as_ref(), &rule.overriders));
        let single = (spec.target_cluster.as_ref(), &spec.overriders);
        let single = spec.override_rules.is_empty().then_some(single);
        let all = rules.chain(single);
        all.flat_map(|(clusters, overriders)| overriders.plaintext.iter().map(move |change| (clusters, change)))
    }
}

/// A quota of the results in one namespace, over all clusters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FederatedResourceQuota {
    /// `policy.karmada.io/v1alpha1`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// `FederatedResourceQuota`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name and namespace.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// The limits.
    #[serde(deserialize_with = "nullable")]
    pub spec: QuotaSpec,
    /// The use of them.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: QuotaStatus,
}

/// Limits of a quota.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaSpec {
    /// Limit of each resource over all clusters.
    #[serde(deserialize_with = "nullable")]
    pub overall: ResourceList,
}

/// Use of a quota.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaStatus {
    /// Amount of each resource that the results in the namespace need.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub overall_used: ResourceList,
}
