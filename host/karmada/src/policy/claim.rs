//! Which policy claims a resource.
//!
//! First a policy that already did, by the annotations (or the permanent identifier) that Karmada leaves on the
//! resource and its binding; then a `PropagationPolicy` of its namespace before any
//! `ClusterPropagationPolicy`; among those the higher priority, then the more precise selector, then the name.
//! Source: `pkg/detector/compare.go` and `pkg/util/selector.go` of karmada-io/karmada.

use std::collections::BTreeMap;

use super::defaults::apply_policy_defaults;
use crate::api::{ObjectMeta, PolicyScope, PropagationPolicy, ResourceSelector, TypeMeta};

const POLICY_NAMESPACE: &str = "propagationpolicy.karmada.io/namespace";
const POLICY_NAME: &str = "propagationpolicy.karmada.io/name";
const POLICY_PERMANENT_ID: &str = "propagationpolicy.karmada.io/permanent-id";
const CLUSTER_POLICY_NAME: &str = "clusterpropagationpolicy.karmada.io/name";
const CLUSTER_POLICY_PERMANENT_ID: &str = "clusterpropagationpolicy.karmada.io/permanent-id";

/// How precisely a selector means a resource, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precision {
    All,
    Labels,
    Name,
}

/// What a resource or binding says of the policy that claimed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<'object> {
    /// By name.
    Name {
        /// The scope of the policy.
        scope: PolicyScope,
        /// Its namespace; empty for a cluster policy.
        namespace: &'object str,
        /// Its name.
        name: &'object str,
    },
    /// By the identifier that Karmada gave to the policy.
    PermanentId {
        /// The scope of the policy.
        scope: PolicyScope,
        /// The identifier.
        id: &'object str,
    },
}

/// The policy that an object's annotations or labels name, if they name one.
pub fn claimed_by(metadata: &ObjectMeta) -> Option<Claim<'_>> {
    // Karmada wrote names as labels before it wrote them as annotations.
    let find = |key: &str| {
        let value = metadata.annotations.get(key).or_else(|| metadata.labels.get(key));
        value.map(String::as_str).filter(|value| !value.is_empty())
    };
    if let Some(name) = find(POLICY_NAME) {
        let namespace = find(POLICY_NAMESPACE).unwrap_or(&metadata.namespace);
        return Some(Claim::Name {
            scope: PolicyScope::Namespaced,
            namespace,
            name,
        });
    }
    if let Some(name) = find(CLUSTER_POLICY_NAME) {
        return Some(Claim::Name {
            scope: PolicyScope::Cluster,
            namespace: "",
            name,
        });
    }
    if let Some(id) = find(POLICY_PERMANENT_ID) {
        return Some(Claim::PermanentId {
            scope: PolicyScope::Namespaced,
            id,
        });
    }
    find(CLUSTER_POLICY_PERMANENT_ID).map(|id| Claim::PermanentId {
        scope: PolicyScope::Cluster,
        id,
    })
}

impl Claim<'_> {
    fn means(&self, policy: &PropagationPolicy) -> bool {
        match self {
            Self::Name { scope, namespace, name } => {
                policy.scope() == *scope && policy.metadata.namespace == *namespace && policy.metadata.name == *name
            }
            Self::PermanentId { scope, id } => {
                let key = match scope {
                    PolicyScope::Namespaced => POLICY_PERMANENT_ID,
                    PolicyScope::Cluster => CLUSTER_POLICY_PERMANENT_ID,
                };
                policy.scope() == *scope && policy.metadata.labels.get(key).is_some_and(|own| own == id)
            }
        }
    }
}

/// Policies by scope, namespace and name.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    policies: BTreeMap<(PolicyScope, String, String), PropagationPolicy>,
}

impl Policies {
    /// Takes a policy in, in place of an older version, and applies its defaults.
    pub fn insert(&mut self, mut policy: PropagationPolicy) {
        apply_policy_defaults(&mut policy);
        let ObjectMeta { namespace, name, .. } = &policy.metadata;
        let key = (policy.scope(), namespace.clone(), name.clone());
        self.policies.insert(key, policy);
    }

    /// Takes a policy out.
    pub fn remove(&mut self, scope: PolicyScope, namespace: &str, name: &str) {
        self.policies.remove(&(scope, namespace.to_owned(), name.to_owned()));
    }

    /// The policy that an object says has claimed it, if it is in the input.
    pub fn claimant(&self, metadata: &ObjectMeta) -> Option<&PropagationPolicy> {
        let claim = claimed_by(metadata)?;
        self.policies.values().find(|policy| claim.means(policy))
    }

    /// The policy for a resource: the one that claimed it, or else the one that matches best.
    pub fn policy_for(&self, type_meta: &TypeMeta, metadata: &ObjectMeta) -> Option<&PropagationPolicy> {
        self.claimant(metadata).or_else(|| {
            let best = |scope| self.best_match(scope, type_meta, metadata);
            best(PolicyScope::Namespaced).or_else(|| best(PolicyScope::Cluster))
        })
    }

    fn best_match(
        &self,
        scope: PolicyScope,
        type_meta: &TypeMeta,
        metadata: &ObjectMeta,
    ) -> Option<&PropagationPolicy> {
        self.policies
            .values()
            .filter(|policy| policy.scope() == scope && !policy.metadata.is_deleting())
            // A policy reaches no other namespace than its own, whatever its selectors say.
            .filter(|policy| scope == PolicyScope::Cluster || policy.metadata.namespace == metadata.namespace)
            .filter_map(|policy| {
                let selectors = policy.spec.resource_selectors.iter();
                let precision = selectors
                    .filter_map(|selector| matches(selector, type_meta, metadata))
                    .max()?;
                let priority = policy.spec.priority.unwrap_or(0);
                Some(((priority, precision, std::cmp::Reverse(&policy.metadata.name)), policy))
            })
            .max_by(|(left, _), (right, _)| left.cmp(right))
            .map(|(_, policy)| policy)
    }
}

fn matches(selector: &ResourceSelector, type_meta: &TypeMeta, metadata: &ObjectMeta) -> Option<Precision> {
    let is_of_type = selector.api_version == type_meta.api_version && selector.kind == type_meta.kind;
    let is_in_namespace = selector.namespace.is_empty() || selector.namespace == metadata.namespace;
    if !is_of_type || !is_in_namespace {
        return None;
    }
    if !selector.name.is_empty() {
        return (selector.name == metadata.name).then_some(Precision::Name);
    }
    match &selector.label_selector {
        Some(labels) => labels.matches(&metadata.labels).then_some(Precision::Labels),
        None => Some(Precision::All),
    }
}
