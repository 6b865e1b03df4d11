//! Facts about policies that their bindings lack, by name and by permanent identifier.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_karmada::api::{PolicyScope, PropagationPolicy, StringMap};
use divvy_karmada::detector::PolicyFacts;
use divvy_karmada::policy::Claim;
use divvy_profile::MOVES_ANNOTATION;
use divvy_scheduler::strategy::{
    AFFINITY_GROUPS_ANNOTATION, PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION, QUORUM_ANNOTATION,
    STRATEGY_ANNOTATION,
};

use super::claim_text;

/// Labels with the permanent identifier, by scope.
const PERMANENT_IDS: [&str; 2] = [
    "propagationpolicy.karmada.io/permanent-id",
    "clusterpropagationpolicy.karmada.io/permanent-id",
];

/// Identity of a policy: scope, namespace and name.
pub(crate) type PolicyKey = (PolicyScope, String, String);

/// The policies of a control plane.
#[derive(Debug, Default)]
pub(crate) struct PolicyStore {
    facts: HashMap<PolicyKey, Entry>,
    by_id: HashMap<(PolicyScope, String), PolicyKey>,
    /// Number of the last relist, by scope.
    epochs: [u64; 2],
    /// True if plugins see labels and annotations of policies.
    keeps_metadata: bool,
}

#[derive(Debug)]
struct Entry {
    facts: Arc<PolicyFacts>,
    id: Option<String>,
    epoch: u64,
}

impl PolicyStore {
    /// Keeps all labels and annotations, for plugins that read them, instead of the annotations that decisions read.
    #[must_use]
    pub(crate) fn keeping_metadata(mut self, keeps: bool) -> Self {
        self.keeps_metadata = keeps;
        self
    }

    /// Like [`Self::keeping_metadata`], for policies that are inserted from now on.
    pub(crate) fn keep_metadata(&mut self, keeps: bool) {
        self.keeps_metadata = keeps;
    }

    /// True if all labels and annotations are kept.
    pub(crate) fn keeps_metadata(&self) -> bool {
        self.keeps_metadata
    }

    /// Inserts a policy. Returns the claims by which bindings name it, as in [`claim_text`], if what
    /// they take from it changed.
    pub(crate) fn upsert(&mut self, policy: &PropagationPolicy) -> Option<Vec<String>> {
        let scope = policy.scope();
        let key = (scope, policy.metadata.namespace.clone(), policy.metadata.name.clone());
        let id = policy
            .metadata
            .labels
            .get(permanent_id(scope))
            .filter(|id| !id.is_empty());
        let mut facts = PolicyFacts::from(policy);
        if !self.keeps_metadata {
            // Only these annotations are read. Others may be large, and change independently.
            let read = [
                STRATEGY_ANNOTATION,
                PREFERENCES_ANNOTATION,
                AFFINITY_GROUPS_ANNOTATION,
                QUORUM_ANNOTATION,
                MOVES_ANNOTATION,
            ];
            let is_read = |key: &str| read.contains(&key) || key.starts_with(PLUGIN_PREFERENCES_PREFIX);
            facts.annotations.retain(|key, _| is_read(key));
            facts.labels = StringMap::new();
        }
        let old = self.facts.get(&key);
        let is_changed = match old {
            Some(old) => *old.facts != facts,
            None => !is_plain(&facts),
        };
        if let Some(id) = old.and_then(|old| old.id.clone()) {
            self.by_id.remove(&(scope, id));
        }
        if let Some(id) = id {
            self.by_id.insert((scope, id.clone()), key.clone());
        }
        let entry = Entry {
            facts: Arc::new(facts),
            id: id.cloned(),
            epoch: self.epochs[slot(scope)],
        };
        let by_id = entry
            .id
            .as_deref()
            .map(|id| claim_text(Claim::PermanentId { scope, id }));
        let (_, namespace, name) = &key;
        let by_name = claim_text(Claim::Name { scope, namespace, name });
        self.facts.insert(key, entry);
        is_changed.then(|| by_id.into_iter().chain([by_name]).collect())
    }

    /// Removes a policy. Bindings keep the applied request until Karmada removes the claim from them.
    pub(crate) fn remove(&mut self, key: &PolicyKey) {
        if let Some(Entry { id: Some(id), .. }) = self.facts.remove(key) {
            self.by_id.remove(&(key.0, id));
        }
    }

    /// The policy of a claim, if there is one; `Err` if the policy is not known.
    pub(crate) fn of(&self, claim: Option<Claim<'_>>) -> Result<Option<&Arc<PolicyFacts>>, UnknownPolicy> {
        let Some(claim) = claim else {
            return Ok(None);
        };
        let found = match claim {
            Claim::Name { scope, namespace, name } => self.facts.get(&(scope, namespace.to_owned(), name.to_owned())),
            Claim::PermanentId { scope, id } => {
                let key = self.by_id.get(&(scope, id.to_owned()));
                key.and_then(|key| self.facts.get(key))
            }
        };
        found.map(|entry| Some(&entry.facts)).ok_or(UnknownPolicy)
    }

    /// Begins a relist.
    pub(crate) fn begin_relist(&mut self, scope: PolicyScope) {
        self.epochs[slot(scope)] += 1;
    }

    /// Counts a policy as named by the relist, although it is not stored.
    pub(crate) fn mark_listed(&mut self, key: &PolicyKey) {
        let epoch = self.epochs[slot(key.0)];
        if let Some(entry) = self.facts.get_mut(key) {
            entry.epoch = epoch;
        }
    }

    /// Ends a relist of the policies of one scope: those that it did not mention are removed.
    pub(crate) fn end_relist(&mut self, scope: PolicyScope) {
        let epoch = self.epochs[slot(scope)];
        let gone = |(key, entry): &(&PolicyKey, &Entry)| key.0 == scope && entry.epoch != epoch;
        let mut gone: Vec<PolicyKey> = self.facts.iter().filter(gone).map(|(key, _)| key.clone()).collect();
        gone.sort_unstable();
        for key in &gone {
            self.remove(key);
        }
    }
}

/// A policy that claims an object but is not known, or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownPolicy;

fn slot(scope: PolicyScope) -> usize {
    match scope {
        PolicyScope::Namespaced => 0,
        PolicyScope::Cluster => 1,
    }
}

fn permanent_id(scope: PolicyScope) -> &'static str {
    match scope {
        PolicyScope::Namespaced => PERMANENT_IDS[0],
        PolicyScope::Cluster => PERMANENT_IDS[1],
    }
}

/// True if a policy requests nothing beyond its placement.
fn is_plain(facts: &PolicyFacts) -> bool {
    facts.annotations.is_empty()
        && facts.annotation.is_none()
        && facts.replicas.is_none()
        && facts.activation_preference.is_empty()
}
