//! Finds the policy that selects a resource without looking at the others.
//!
//! A large fleet has tens of thousands of policies, most of which name one workload or the value of one label. Their
//! selectors are therefore kept by what a resource must have at least: its type, its namespace, and its name or one of its
//! labels. Selectors that require the same are sorted by the order in which policies claim, so that the first one that
//! matches is the best of them.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::claim::{KnownPolicy, Precision, precision};
use crate::api::{LabelSelector, ObjectMeta, PolicyScope, ResourceSelector, SelectorOperator, TypeMeta};

/// The selectors of policies, by the types that they select.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    namespaced: ByType,
    cluster: ByType,
}

/// By type, then by namespace, which is empty for the selectors of cluster policies that select in any.
type ByType = HashMap<TypeMeta, HashMap<String, Selectors>>;

/// Selectors of one type in one namespace.
#[derive(Debug, Clone, Default)]
struct Selectors {
    by_name: HashMap<String, Ranked>,
    by_label: HashMap<String, HashMap<String, Ranked>>,
    /// Those that no name and no value of a label restricts.
    others: Ranked,
    /// Those that select everything.
    all: Ranked,
}

/// Selectors, the one that claims before the others first.
type Ranked = BTreeSet<Selecting>;

/// One selector of a policy.
#[derive(Debug, Clone)]
struct Selecting {
    policy: Arc<KnownPolicy>,
    selector: usize,
}

/// The location of a selector within [`Selectors`].
#[derive(Debug, Clone, Copy)]
enum Location<'selector> {
    Name(&'selector str),
    Label(&'selector str, &'selector str),
    Others,
    All,
}

impl Selecting {
    fn selector(&self) -> Option<&ResourceSelector> {
        self.policy.policy.spec.resource_selectors.get(self.selector)
    }

    /// The order in which policies claim with selectors of equal precision. The rest makes every selector distinct.
    fn rank(&self) -> (Reverse<i32>, &str, Reverse<&str>, usize) {
        let policy = &self.policy.policy;
        let ObjectMeta { namespace, name, .. } = &policy.metadata;
        let priority = policy.spec.priority.unwrap_or(0);
        (Reverse(priority), name, Reverse(namespace), self.selector)
    }
}

impl Ord for Selecting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Selecting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Selecting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Selecting {}

impl Index {
    /// Adds the selectors of a policy. A policy that is being deleted claims nothing.
    pub(super) fn insert(&mut self, known: &Arc<KnownPolicy>) {
        if known.policy.metadata.is_deleting() {
            return;
        }
        self.each_selector(known, |selectors, selecting, written| {
            let locations = selectors.best_locations(written);
            for location in locations {
                selectors.ranked(location).insert(selecting.clone());
            }
        });
    }

    /// Removes the selectors of a policy.
    pub(super) fn remove(&mut self, known: &Arc<KnownPolicy>) {
        self.each_selector(known, |selectors, selecting, written| {
            // The labels under which a selector is kept depend on the selectors that were added before it.
            for location in alternatives(written).into_iter().flatten() {
                selectors.take(location, selecting);
            }
        });
    }

    fn each_selector(
        &mut self,
        known: &Arc<KnownPolicy>,
        mut with: impl FnMut(&mut Selectors, &Selecting, &ResourceSelector),
    ) {
        let (scope, own) = (known.policy.scope(), &known.policy.metadata.namespace);
        for (number, written) in known.policy.spec.resource_selectors.iter().enumerate() {
            // A namespaced policy reaches only its own namespace, whatever its selectors say.
            let namespace = match scope {
                PolicyScope::Cluster => &written.namespace,
                PolicyScope::Namespaced if written.namespace.is_empty() || written.namespace == *own => own,
                PolicyScope::Namespaced => continue,
            };
            let type_meta = TypeMeta {
                api_version: written.api_version.clone(),
                kind: written.kind.clone(),
            };
            let by_namespace = self.by_type_mut(scope).entry(type_meta).or_default();
            let selectors = by_namespace.entry(namespace.clone()).or_default();
            let selecting = Selecting {
                policy: Arc::clone(known),
                selector: number,
            };
            with(selectors, &selecting, written);
        }
    }

    fn by_type_mut(&mut self, scope: PolicyScope) -> &mut ByType {
        match scope {
            PolicyScope::Namespaced => &mut self.namespaced,
            PolicyScope::Cluster => &mut self.cluster,
        }
    }

    /// The policy of a scope that claims a resource before all others of that scope: the highest priority, then the most
    /// precise selector, then the first name.
    pub(super) fn best<'index>(
        &'index self,
        scope: PolicyScope,
        type_meta: &TypeMeta,
        metadata: &ObjectMeta,
    ) -> Option<&'index Arc<KnownPolicy>> {
        let candidates = self.candidates(scope, type_meta, metadata);
        let best = candidates.filter_map(|(_, best)| best).max_by(|left, right| {
            let rank = |(precision, selecting): &(Precision, &Selecting)| {
                (selecting.policy.policy.spec.priority.unwrap_or(0), *precision)
            };
            // The first selector of the order is the one that claims.
            rank(left).cmp(&rank(right)).then_with(|| right.1.cmp(left.1))
        });
        best.map(|(_, selecting)| &selecting.policy)
    }

    /// For each location of selectors for this resource: the number of selectors tried, and the first that matches.
    fn candidates<'index>(
        &'index self,
        scope: PolicyScope,
        type_meta: &TypeMeta,
        metadata: &ObjectMeta,
    ) -> impl Iterator<Item = (usize, Option<(Precision, &'index Selecting)>)> {
        let by_type = match scope {
            PolicyScope::Namespaced => &self.namespaced,
            PolicyScope::Cluster => &self.cluster,
        };
        let by_namespace = by_type.get(type_meta);
        let namespaces = match (scope, metadata.namespace.as_str()) {
            (PolicyScope::Namespaced, own) => [Some(own), None],
            (PolicyScope::Cluster, "") => [Some(""), None],
            (PolicyScope::Cluster, own) => [Some(own), Some("")],
        };
        let selectors = namespaces
            .into_iter()
            .flatten()
            .filter_map(move |namespace| by_namespace?.get(namespace));
        selectors
            .flat_map(|selectors| selectors.lists(metadata))
            .map(move |ranked| first_match(ranked, metadata))
    }
}

/// The number of selectors tried, and the first that matches.
fn first_match<'index>(
    ranked: &'index Ranked,
    metadata: &ObjectMeta,
) -> (usize, Option<(Precision, &'index Selecting)>) {
    let mut tried = 0;
    for selecting in ranked {
        tried += 1;
        let matched = selecting.selector().and_then(|selector| precision(selector, metadata));
        if let Some(precision) = matched {
            return (tried, Some((precision, selecting)));
        }
    }
    (tried, None)
}

impl Selectors {
    /// The lists that may contain selectors for a resource.
    fn lists<'index>(&'index self, metadata: &ObjectMeta) -> impl Iterator<Item = &'index Ranked> {
        let by_label = metadata.labels.iter();
        let by_label = by_label.filter_map(|(key, value)| self.by_label.get(key)?.get(value));
        let by_name = self.by_name.get(&metadata.name).into_iter();
        by_name.chain(by_label).chain([&self.others, &self.all])
    }

    /// The locations that keep a selector apart from as many others as possible: the label that the fewest share.
    fn best_locations<'selector>(&self, written: &'selector ResourceSelector) -> Vec<Location<'selector>> {
        let length = |location: &Location<'_>| self.find(*location).map_or(0, Ranked::len);
        let longest = |locations: &Vec<Location<'_>>| locations.iter().map(length).max();
        alternatives(written)
            .into_iter()
            .min_by_key(longest)
            .unwrap_or_else(|| vec![Location::Others])
    }

    fn find(&self, location: Location<'_>) -> Option<&Ranked> {
        match location {
            Location::Name(name) => self.by_name.get(name),
            Location::Label(key, value) => self.by_label.get(key)?.get(value),
            Location::Others => Some(&self.others),
            Location::All => Some(&self.all),
        }
    }

    fn ranked(&mut self, location: Location<'_>) -> &mut Ranked {
        match location {
            Location::Name(name) => self.by_name.entry(name.to_owned()).or_default(),
            Location::Label(key, value) => {
                let by_value = self.by_label.entry(key.to_owned()).or_default();
                by_value.entry(value.to_owned()).or_default()
            }
            Location::Others => &mut self.others,
            Location::All => &mut self.all,
        }
    }

    /// Removes a selector, and the list if nothing else is in it.
    fn take(&mut self, location: Location<'_>, selecting: &Selecting) {
        if self.find(location).is_none() {
            return;
        }
        self.ranked(location).remove(selecting);
        match location {
            Location::Name(name) => self.by_name.retain_filled(name),
            Location::Label(key, value) => {
                if let Some(by_value) = self.by_label.get_mut(key) {
                    by_value.retain_filled(value);
                    if by_value.is_empty() {
                        self.by_label.remove(key);
                    }
                }
            }
            Location::Others | Location::All => {}
        }
    }
}

/// Lists by text that drop a list once it is empty.
trait RetainFilled {
    fn retain_filled(&mut self, key: &str);
}

impl RetainFilled for HashMap<String, Ranked> {
    fn retain_filled(&mut self, key: &str) {
        if self.get(key).is_some_and(Ranked::is_empty) {
            self.remove(key);
        }
    }
}

/// The sets of locations at which a selector may be kept. Every resource that it matches is found through at least one
/// location of each set.
fn alternatives(written: &ResourceSelector) -> Vec<Vec<Location<'_>>> {
    if !written.name.is_empty() {
        return vec![vec![Location::Name(&written.name)]];
    }
    let Some(LabelSelector {
        match_labels,
        match_expressions,
    }) = &written.label_selector
    else {
        return vec![vec![Location::All]];
    };
    let labels = match_labels
        .iter()
        .map(|(key, value)| vec![Location::Label(key, value)]);
    let expressions = match_expressions.iter();
    let expressions = expressions.filter(|expression| expression.operator.known() == Some(SelectorOperator::In));
    let expressions = expressions.map(|expression| {
        let values = expression.values.iter();
        values.map(|value| Location::Label(&expression.key, value)).collect()
    });
    let mut sets: Vec<Vec<Location<'_>>> = labels.chain(expressions).collect();
    if sets.is_empty() {
        sets.push(vec![Location::Others]);
    }
    sets
}

#[cfg(test)]
mod tests;
