//! Claims of resources by policies.
//!
//! A policy that has already claimed the resource, and still selects it, comes first, according to the annotations (or the permanent
//! identifier) that Karmada leaves on the resource and its binding. Otherwise a `PropagationPolicy` in its namespace
//! precedes any `ClusterPropagationPolicy`; among those, the higher priority wins, then the more precise selector, then
//! the name in alphabetical order. Source: `pkg/detector/compare.go` and `pkg/util/selector.go` of karmada-io/karmada.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::defaults::apply_policy_defaults;
use super::index::Index;
use crate::api::{ObjectMeta, PolicyScope, PropagationPolicy, ResourceSelector, StringMap, TypeMeta};
use crate::detector::{Location, PolicyFacts, PolicyLocation};

const POLICY_NAMESPACE: &str = "propagationpolicy.karmada.io/namespace";
const POLICY_NAME: &str = "propagationpolicy.karmada.io/name";
const POLICY_PERMANENT_ID: &str = "propagationpolicy.karmada.io/permanent-id";
const CLUSTER_POLICY_NAME: &str = "clusterpropagationpolicy.karmada.io/name";
const CLUSTER_POLICY_PERMANENT_ID: &str = "clusterpropagationpolicy.karmada.io/permanent-id";

/// Precision with which a selector matches a resource, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
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
    let annotation = |key: &str| metadata.annotations.get(key).map(String::as_str);
    let label = |key: &str| metadata.labels.get(key).map(String::as_str);
    claimed_among(&metadata.namespace, annotation, label)
}

/// The claim in the annotations or labels of an object in this namespace, which are looked up by their keys; `None` if no policy has claimed
/// it.
pub fn claimed_among<'object>(
    namespace: &'object str,
    annotation: impl Fn(&str) -> Option<&'object str>,
    label: impl Fn(&str) -> Option<&'object str>,
) -> Option<Claim<'object>> {
    // Older versions of Karmada wrote names as labels instead of annotations.
    let find = |key: &str| {
        let value = annotation(key).or_else(|| label(key));
        value.filter(|value| !value.is_empty())
    };
    let namespace = find(POLICY_NAMESPACE).unwrap_or(namespace);
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

/// The permanent identifier of a policy of this scope in an object's labels: in a policy's its own, in a binding's that of the
/// policy that claimed it. `None` if there is none.
pub fn permanent_id(scope: PolicyScope, labels: &StringMap) -> Option<&str> {
    let key = match scope {
        PolicyScope::Namespaced => POLICY_PERMANENT_ID,
        PolicyScope::Cluster => CLUSTER_POLICY_PERMANENT_ID,
    };
    labels.get(key).map(String::as_str).filter(|id| !id.is_empty())
}

impl Claim<'_> {
    /// True if the claim is this policy's.
    pub fn is_of(&self, policy: &PropagationPolicy) -> bool {
        match self {
            Self::Name { scope, namespace, name } => {
                policy.scope() == *scope && policy.metadata.namespace == *namespace && policy.metadata.name == *name
            }
            Self::PermanentId { scope, id } => {
                permanent_identifier(policy).is_some_and(|(own, own_id)| own == *scope && own_id == *id)
            }
        }
    }
}

/// Removes every claim from an object, as Karmada does when the policy is deleted.
pub fn release(metadata: &mut ObjectMeta) {
    let is_claim = |key: &String| {
        let keys = [
            POLICY_NAMESPACE,
            POLICY_NAME,
            POLICY_PERMANENT_ID,
            CLUSTER_POLICY_NAME,
            CLUSTER_POLICY_PERMANENT_ID,
        ];
        keys.contains(&key.as_str())
    };
    metadata.labels.retain(|key, _| !is_claim(key));
    metadata.annotations.retain(|key, _| !is_claim(key));
}

/// True if a policy selects a resource, whether or not it claims it.
pub fn selects(policy: &PropagationPolicy, type_meta: &TypeMeta, metadata: &ObjectMeta) -> bool {
    selectors_in_reach(policy, type_meta, metadata).any(|selector| precision(selector, metadata).is_some())
}

/// The selectors of a policy for a resource's type and namespace.
fn selectors_in_reach<'policy>(
    policy: &'policy PropagationPolicy,
    type_meta: &TypeMeta,
    metadata: &ObjectMeta,
) -> impl Iterator<Item = &'policy ResourceSelector> {
    let is_in_scope = policy.scope() == PolicyScope::Cluster || policy.metadata.namespace == metadata.namespace;
    let selectors = policy.spec.resource_selectors.iter().filter(move |_| is_in_scope);
    selectors.filter(move |selector| {
        selector.api_version == type_meta.api_version
            && selector.kind == type_meta.kind
            && (selector.namespace.is_empty() || selector.namespace == metadata.namespace)
    })
}

/// True if a policy may select a resource whose labels are not known.
pub(crate) fn may_select(policy: &PropagationPolicy, type_meta: &TypeMeta, metadata: &ObjectMeta) -> bool {
    selectors_in_reach(policy, type_meta, metadata)
        .any(|selector| selector.name == metadata.name || selector.name.is_empty())
}

/// True if a policy selects a resource whatever its labels are.
pub(crate) fn selects_regardless_of_labels(
    policy: &PropagationPolicy,
    type_meta: &TypeMeta,
    metadata: &ObjectMeta,
) -> bool {
    selectors_in_reach(policy, type_meta, metadata).any(|selector| match selector.name.as_str() {
        "" => selector.label_selector.is_none(),
        name => name == metadata.name,
    })
}

/// The identity of a policy: scope, namespace and name.
type PolicyKey = (PolicyScope, String, String);

/// Policies by scope, namespace and name, by their permanent identifiers, and by what they select.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    policies: BTreeMap<PolicyKey, Arc<KnownPolicy>>,
    identified: BTreeMap<(PolicyScope, String), BTreeSet<PolicyKey>>,
    index: Index,
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
    /// Inserts a policy with its defaults applied, replacing an older version. `location` is its location in the input, for messages.
    pub fn insert(&mut self, mut policy: PropagationPolicy, location: Option<Location>) {
        apply_policy_defaults(&mut policy);
        let key = key_of(&policy);
        let facts = Arc::new(PolicyFacts {
            location: PolicyLocation(location),
            ..PolicyFacts::from(&policy)
        });
        let known = Arc::new(KnownPolicy { policy, facts });
        self.remove_by_key(&key);
        self.index.insert(&known);
        if let Some(identifier) = permanent_identifier(&known.policy) {
            self.identified.entry(identifier).or_default().insert(key.clone());
        }
        self.policies.insert(key, known);
    }

    /// Removes a policy. Does nothing if there is none with that name.
    pub fn remove(&mut self, scope: PolicyScope, namespace: &str, name: &str) {
        self.remove_by_key(&(scope, namespace.to_owned(), name.to_owned()));
    }

    fn remove_by_key(&mut self, key: &PolicyKey) {
        let Some(known) = self.policies.remove(key) else {
            return;
        };
        self.index.remove(&known);
        if let Some(identifier) = permanent_identifier(&known.policy)
            && let Entry::Occupied(mut keys) = self.identified.entry(identifier)
        {
            keys.get_mut().remove(key);
            if keys.get().is_empty() {
                keys.remove();
            }
        }
    }

    /// All policies, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &KnownPolicy> {
        self.policies.values().map(|known| &**known)
    }

    /// The policy with these facts.
    pub(crate) fn named(&self, facts: &PolicyFacts) -> Option<&KnownPolicy> {
        let scopes = [PolicyScope::Namespaced, PolicyScope::Cluster];
        let scope = scopes.into_iter().find(|scope| scope.kind() == facts.kind)?;
        let known = self.policies.get(&(scope, facts.namespace.clone(), facts.name.clone()));
        known.map(|known| &**known)
    }

    /// The policy that has claimed an object; `None` if there is no claim or the policy is unknown.
    pub fn claimant(&self, metadata: &ObjectMeta) -> Option<&KnownPolicy> {
        let known = match claimed_by(metadata)? {
            Claim::Name { scope, namespace, name } => {
                self.policies.get(&(scope, namespace.to_owned(), name.to_owned()))
            }
            Claim::PermanentId { scope, id } => {
                let keys = self.identified.get(&(scope, id.to_owned()))?;
                keys.first().and_then(|key| self.policies.get(key))
            }
        };
        known.map(|known| &**known)
    }

    /// The policy for a resource: the one that has claimed it and still selects it, otherwise the best match. `None` if no policy
    /// matches; the resource then gets no binding.
    pub fn policy_for(&self, type_meta: &TypeMeta, metadata: &ObjectMeta) -> Option<&KnownPolicy> {
        let claimant = self.claimant(metadata);
        let claimant = claimant.filter(|known| selects(&known.policy, type_meta, metadata));
        claimant.or_else(|| {
            let best = |scope| self.index.best(scope, type_meta, metadata).map(|known| &**known);
            best(PolicyScope::Namespaced).or_else(|| best(PolicyScope::Cluster))
        })
    }
}

fn key_of(policy: &PropagationPolicy) -> PolicyKey {
    let ObjectMeta { namespace, name, .. } = &policy.metadata;
    (policy.scope(), namespace.clone(), name.clone())
}

/// Scope and permanent identifier of a policy, by which a claim may refer to it.
fn permanent_identifier(policy: &PropagationPolicy) -> Option<(PolicyScope, String)> {
    let scope = policy.scope();
    permanent_id(scope, &policy.metadata.labels).map(|identifier| (scope, identifier.to_owned()))
}

/// The precision with which a selector matches a resource of its type and in its namespace; `None` if it does not.
pub(super) fn precision(selector: &ResourceSelector, metadata: &ObjectMeta) -> Option<Precision> {
    if !selector.name.is_empty() {
        return (selector.name == metadata.name).then_some(Precision::Name);
    }
    match &selector.label_selector {
        Some(labels) => labels.matches(&metadata.labels).then_some(Precision::Labels),
        None => Some(Precision::All),
    }
}
