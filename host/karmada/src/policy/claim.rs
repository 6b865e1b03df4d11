//! Claims of resources by policies.
//!
//! A policy that has already claimed the resource comes first, according to the annotations (or the permanent
//! identifier) that Karmada leaves on the resource and its binding. Otherwise a `PropagationPolicy` in its namespace
//! precedes any `ClusterPropagationPolicy`; among those, the higher priority wins, then the more precise selector, then
//! the name in alphabetical order. Source: `pkg/detector/compare.go` and `pkg/util/selector.go` of karmada-io/karmada.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::defaults::apply_policy_defaults;
use crate::api::{ObjectMeta, PolicyScope, PropagationPolicy, ResourceSelector, TypeMeta};
use crate::detector::PolicyFacts;

const POLICY_NAMESPACE: &str = "propagationpolicy.karmada.io/namespace";
const POLICY_NAME: &str = "propagationpolicy.karmada.io/name";
const POLICY_PERMANENT_ID: &str = "propagationpolicy.karmada.io/permanent-id";
const CLUSTER_POLICY_NAME: &str = "clusterpropagationpolicy.karmada.io/name";
const CLUSTER_POLICY_PERMANENT_ID: &str = "clusterpropagationpolicy.karmada.io/permanent-id";

/// Precision with which a selector matches a resource, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precision {
    All,
    Labels,
    Name,
}

/// Reference to the policy that claimed a resource or binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<'object> {
    /// By the policy's name.
    Name {
        /// The scope of the policy.
        scope: PolicyScope,
        /// Its namespace; empty for a cluster policy.
        namespace: &'object str,
        /// Its name.
        name: &'object str,
    },
    /// By the permanent identifier that Karmada assigned to the policy.
    PermanentId {
        /// The scope of the policy.
        scope: PolicyScope,
        /// The identifier.
        id: &'object str,
    },
}

/// The claim in an object's annotations or labels; `None` if no policy has claimed it.
pub fn claimed_by(metadata: &ObjectMeta) -> Option<Claim<'_>> {
    // Older versions of Karmada wrote names as labels instead of annotations.
    let find = |key: &str| {
        let value = metadata.annotations.get(key).or_else(|| metadata.labels.get(key));
        value.map(String::as_str).filter(|value| !value.is_empty())
    };
    let namespace = find(POLICY_NAMESPACE).unwrap_or(&metadata.namespace);
    let by_name = |scope, namespace, key| {
        let name = find(key)?;
        Some(Claim::Name { scope, namespace, name })
    };
    let by_id = |scope, key| find(key).map(|id| Claim::PermanentId { scope, id });
    by_name(PolicyScope::Namespaced, namespace, POLICY_NAME)
        .or_else(|| by_name(PolicyScope::Cluster, "", CLUSTER_POLICY_NAME))
        .or_else(|| by_id(PolicyScope::Namespaced, POLICY_PERMANENT_ID))
        .or_else(|| by_id(PolicyScope::Cluster, CLUSTER_POLICY_PERMANENT_ID))
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
    policies: BTreeMap<(PolicyScope, String, String), KnownPolicy>,
}

/// A policy, and its facts, which its bindings share.
#[derive(Debug, Clone)]
pub struct KnownPolicy {
    /// The policy with its defaults.
    pub policy: PropagationPolicy,
    /// The parts of it that its bindings do not contain.
    pub facts: Arc<PolicyFacts>,
}

impl Policies {
    /// Inserts a policy with its defaults applied, replacing an older version.
    pub fn insert(&mut self, mut policy: PropagationPolicy) {
        apply_policy_defaults(&mut policy);
        let ObjectMeta { namespace, name, .. } = &policy.metadata;
        let key = (policy.scope(), namespace.clone(), name.clone());
        let facts = Arc::new(PolicyFacts::from(&policy));
        self.policies.insert(key, KnownPolicy { policy, facts });
    }

    /// Removes a policy. Does nothing if there is none with that name.
    pub fn remove(&mut self, scope: PolicyScope, namespace: &str, name: &str) {
        self.policies.remove(&(scope, namespace.to_owned(), name.to_owned()));
    }

    /// The policy that has claimed an object; `None` if there is no claim or the policy is unknown.
    pub fn claimant(&self, metadata: &ObjectMeta) -> Option<&KnownPolicy> {
        let claim = claimed_by(metadata)?;
        self.policies.values().find(|known| claim.means(&known.policy))
    }

    /// The policy for a resource: the one that has claimed it, otherwise the best match. `None` if no policy matches;
    /// the resource then gets no binding.
    pub fn policy_for(&self, type_meta: &TypeMeta, metadata: &ObjectMeta) -> Option<&KnownPolicy> {
        self.claimant(metadata).or_else(|| {
            let best = |scope| self.best_match(scope, type_meta, metadata);
            best(PolicyScope::Namespaced).or_else(|| best(PolicyScope::Cluster))
        })
    }

    fn best_match(&self, scope: PolicyScope, type_meta: &TypeMeta, metadata: &ObjectMeta) -> Option<&KnownPolicy> {
        let known = self.policies.values();
        known
            .filter(|KnownPolicy { policy, .. }| policy.scope() == scope && !policy.metadata.is_deleting())
            // A namespaced policy reaches only its own namespace, whatever its selectors say.
            .filter(|KnownPolicy { policy, .. }| {
                scope == PolicyScope::Cluster || policy.metadata.namespace == metadata.namespace
            })
            .filter_map(|known| {
                let policy = &known.policy;
                let selectors = policy.spec.resource_selectors.iter();
                let precision = selectors
                    .filter_map(|selector| matches(selector, type_meta, metadata))
                    .max()?;
                let priority = policy.spec.priority.unwrap_or(0);
                Some(((priority, precision, std::cmp::Reverse(&policy.metadata.name)), known))
            })
            .max_by(|(left, _), (right, _)| left.cmp(right))
            .map(|(_, known)| known)
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
