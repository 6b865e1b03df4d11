//! Checks beyond types: objects that an API server or Karmada's webhooks would reject.
//!
//! The rules come from `pkg/util/validation` and the webhooks of karmada-io/karmada, and from
//! `metav1.LabelSelectorAsSelector`. Names of strategies and combinations of preferences are not checked here: such an
//! error concerns one binding and must not invalidate the whole input.

use divvy_spanned::names::quoted_list;
use divvy_spanned::{Cause, Document, Fault, FieldPath, read_value};
use serde_json::Value;

use divvy_karmada::api::{
    Cluster, ClusterAffinity, ClusterPreference, ClusterPreferences, Enumeration, FederatedResourceQuota,
    FieldSelector, LabelSelector, ObjectMeta, OverridePolicy, Placement, PreferenceEntries, PropagationPolicy,
    ResourceBinding, SelectorOperator, SelectorRequirement, SpreadConstraint, Toleration, Word,
};

use divvy_karmada::fields::FieldTree;

use super::refusals::Refused;

/// Maximum length of the name of an affinity group in Karmada, in characters.
const AFFINITY_NAME_LENGTH_MAX: usize = 32;

/// Cluster fields that a field selector may name.
const SELECTABLE_FIELDS: [&str; 3] = ["provider", "region", "zone"];

/// Collects the problems of one object.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) found: Vec<(FieldPath, Cause)>,
}

/// One of Karmada's objects, which may be invalid although all its types are right.
pub(super) trait Validate {
    /// API version, kind and metadata of the object.
    fn head(&mut self) -> (&mut String, &mut String, &mut ObjectMeta);

    /// Adds all problems of the object to `findings`.
    fn validate(&self, findings: &mut Findings);

    /// What Karmada would refuse besides, in an object that did not come from an API server.
    fn refusals(&self, _document: &Document<'_>, _tree: Option<&FieldTree>) -> Vec<Fault> {
        Vec::new()
    }
}

impl Findings {
    fn add(&mut self, path: FieldPath, cause: Cause) {
        self.found.push((path, cause));
    }

    fn invalid(&mut self, path: FieldPath, reason: impl Into<String>) {
        self.add(path, Cause::InvalidValue { reason: reason.into() });
    }

    /// Reports a word that is not one of its enumeration's.
    fn known<E: Enumeration>(&mut self, path: FieldPath, word: &Word<E>) {
        if let Word::Unknown(word) = word {
            let known = quoted_list(Word::<E>::KNOWN);
            self.invalid(path, format!("expected one of {known}, got `{word}`"));
        }
    }

    /// Like [`Self::known`], for a field that may be absent or empty.
    fn optional<E: Enumeration>(&mut self, path: FieldPath, word: Option<&Word<E>>) {
        if let Some(word) = word.filter(|word| !word.as_str().is_empty()) {
            self.known(path, word);
        }
    }

    fn selector(&mut self, path: FieldPath, reason: impl Into<String>) {
        self.add(path, Cause::InvalidSelector { reason: reason.into() });
    }

    /// Reports an empty value as missing.
    fn required(&mut self, path: FieldPath, value: &str, expected: &str) {
        if value.is_empty() {
            let expected = expected.to_owned();
            self.add(path, Cause::Missing { expected });
        }
    }

    /// Checks the metadata of any object.
    pub(super) fn metadata(&mut self, metadata: &ObjectMeta) {
        if metadata.name.is_empty() {
            self.required(FieldPath::dotted("metadata.name"), &metadata.name, "a name");
        }
    }
}

/// The items of a list, each with its path.
fn each<'a, T>(path: &'a FieldPath, items: &'a [T]) -> impl Iterator<Item = (FieldPath, &'a T)> {
    let items = items.iter().enumerate();
    items.map(|(index, item)| (path.index(index), item))
}

impl Validate for Cluster {
    fn head(&mut self) -> (&mut String, &mut String, &mut ObjectMeta) {
        (&mut self.api_version, &mut self.kind, &mut self.metadata)
    }

    fn validate(&self, findings: &mut Findings) {
        findings.metadata(&self.metadata);
        for (path, taint) in each(&FieldPath::dotted("spec.taints"), &self.spec.taints) {
            findings.required(path.key("key"), &taint.key, "the taint's key");
            findings.known(path.key("effect"), &taint.effect);
        }
    }

    fn refusals(&self, document: &Document<'_>, _tree: Option<&FieldTree>) -> Vec<Fault> {
        // Nearly every cluster has no taints, and a large fleet is read without its tree.
        if self.spec.taints.is_empty() {
            return Vec::new();
        }
        let mut refused = Refused::new(document);
        refused.taints(self);
        refused.found()
    }
}

impl Validate for PropagationPolicy {
    fn head(&mut self) -> (&mut String, &mut String, &mut ObjectMeta) {
        (&mut self.api_version, &mut self.kind, &mut self.metadata)
    }

    fn validate(&self, findings: &mut Findings) {
        findings.metadata(&self.metadata);
        let selectors = FieldPath::dotted("spec.resourceSelectors");
        for (path, selector) in each(&selectors, &self.spec.resource_selectors) {
            let version = "an API version like `apps/v1`";
            findings.required(path.key("apiVersion"), &selector.api_version, version);
            findings.required(path.key("kind"), &selector.kind, "a kind like `Deployment`");
            if let Some(labels) = &selector.label_selector {
                validate_labels(labels, &path.key("labelSelector"), findings);
            }
        }
        validate_placement(&self.spec.placement, &FieldPath::dotted("spec.placement"), findings);
    }

    fn refusals(&self, document: &Document<'_>, tree: Option<&FieldTree>) -> Vec<Fault> {
        let mut refused = Refused::by_definition(document, tree);
        refused.policy(self);
        refused.found()
    }
}

impl Validate for OverridePolicy {
    fn head(&mut self) -> (&mut String, &mut String, &mut ObjectMeta) {
        (&mut self.api_version, &mut self.kind, &mut self.metadata)
    }

    fn validate(&self, findings: &mut Findings) {
        findings.metadata(&self.metadata);
    }

    fn refusals(&self, document: &Document<'_>, tree: Option<&FieldTree>) -> Vec<Fault> {
        let mut refused = Refused::by_definition(document, tree);
        refused.overrides(self);
        // No decision depends on these selectors, so that they are no reason to leave out what an API server has taken.
        let mut findings = Findings::default();
        let spec = FieldPath::dotted("spec");
        if let Some(clusters) = &self.spec.target_cluster {
            validate_affinity(clusters, &spec.key("targetCluster"), &mut findings);
        }
        for (path, rule) in each(&spec.key("overrideRules"), &self.spec.override_rules) {
            if let Some(clusters) = &rule.target_cluster {
                validate_affinity(clusters, &path.key("targetCluster"), &mut findings);
            }
        }
        for (path, selector) in each(&spec.key("resourceSelectors"), &self.spec.resource_selectors) {
            if let Some(labels) = &selector.label_selector {
                validate_labels(labels, &path.key("labelSelector"), &mut findings);
            }
        }
        for (path, cause) in findings.found {
            refused.refuse(path, cause);
        }
        refused.found()
    }
}

impl Validate for FederatedResourceQuota {
    fn head(&mut self) -> (&mut String, &mut String, &mut ObjectMeta) {
        (&mut self.api_version, &mut self.kind, &mut self.metadata)
    }

    fn validate(&self, findings: &mut Findings) {
        findings.metadata(&self.metadata);
    }

    fn refusals(&self, document: &Document<'_>, tree: Option<&FieldTree>) -> Vec<Fault> {
        let mut refused = Refused::by_definition(document, tree);
        refused.quota(self);
        refused.found()
    }
}

impl Validate for ResourceBinding {
    fn head(&mut self) -> (&mut String, &mut String, &mut ObjectMeta) {
        (&mut self.api_version, &mut self.kind, &mut self.metadata)
    }

    fn validate(&self, findings: &mut Findings) {
        findings.metadata(&self.metadata);
        let spec = FieldPath::root().key("spec");
        let resource = spec.key("resource");
        let of_resource = &self.spec.resource;
        let version = "the resource's API version";
        findings.required(resource.key("apiVersion"), &of_resource.api_version, version);
        findings.required(resource.key("kind"), &of_resource.kind, "the resource's kind");
        findings.required(resource.key("name"), &of_resource.name, "the resource's name");
        validate_count(self.spec.replicas.unwrap_or(0), spec.key("replicas"), findings);
        for (path, component) in each(&spec.key("components"), &self.spec.components) {
            validate_count(component.replicas, path.key("replicas"), findings);
        }
        let mut names = std::collections::HashSet::new();
        for (path, target) in each(&spec.key("clusters"), &self.spec.clusters) {
            findings.required(path.key("name"), &target.name, "the cluster's name");
            validate_count(target.replicas, path.key("replicas"), findings);
            if !names.insert(&target.name) && !target.name.is_empty() {
                let reason = format!("the cluster `{}` is listed twice", target.name);
                findings.invalid(path.key("name"), reason);
            }
        }
        if let Some(placement) = &self.spec.placement {
            validate_placement(placement, &spec.key("placement"), findings);
        }
    }
}

fn validate_count(count: i32, path: FieldPath, findings: &mut Findings) {
    if count < 0 {
        findings.invalid(path, format!("expected a count of at least 0, got `{count}`"));
    }
}

fn validate_placement(placement: &Placement, path: &FieldPath, findings: &mut Findings) {
    if let Some(affinity) = &placement.cluster_affinity {
        validate_affinity(affinity, &path.key("clusterAffinity"), findings);
        if !placement.cluster_affinities.is_empty() {
            let reason = "`clusterAffinity` and `clusterAffinities` cannot both be given";
            findings.invalid(path.key("clusterAffinities"), reason);
        }
    }
    validate_affinity_terms(placement, &path.key("clusterAffinities"), findings);
    for (path, toleration) in each(&path.key("clusterTolerations"), &placement.cluster_tolerations) {
        validate_toleration(toleration, &path, findings);
    }
    for (path, constraint) in each(&path.key("spreadConstraints"), &placement.spread_constraints) {
        validate_spread(constraint, &path, findings);
    }
    validate_preferences(placement, path, findings);
}

fn validate_affinity_terms(placement: &Placement, path: &FieldPath, findings: &mut Findings) {
    let mut names = std::collections::HashSet::new();
    for (path, term) in each(path, &placement.cluster_affinities) {
        let name = &term.affinity_name;
        findings.required(path.key("affinityName"), name, "the group's name");
        let length = name.chars().count();
        if length > AFFINITY_NAME_LENGTH_MAX {
            let reason = format!("expected at most {AFFINITY_NAME_LENGTH_MAX} characters, got {length}");
            findings.invalid(path.key("affinityName"), reason);
        }
        if !name.is_empty() && !names.insert(name) {
            findings.invalid(path.key("affinityName"), format!("the group `{name}` is given twice"));
        }
        validate_affinity(&term.affinity, &path, findings);
        for (path, tier) in each(&path.key("overflowAffinities"), &term.overflow_affinities) {
            validate_affinity(&tier.affinity, &path, findings);
        }
    }
}

fn validate_affinity(affinity: &ClusterAffinity, path: &FieldPath, findings: &mut Findings) {
    if let Some(labels) = &affinity.label_selector {
        validate_labels(labels, &path.key("labelSelector"), findings);
    }
    if let Some(fields) = &affinity.field_selector {
        validate_fields(fields, &path.key("fieldSelector"), findings);
    }
}

/// Like Karmada, takes operators and values that Kubernetes refuses in label selectors: such a selector matches nothing.
fn validate_labels(selector: &LabelSelector, path: &FieldPath, findings: &mut Findings) {
    for (path, requirement) in each(&path.key("matchExpressions"), &selector.match_expressions) {
        findings.required(path.key("key"), &requirement.key, "a label's key");
    }
}

fn validate_fields(selector: &FieldSelector, path: &FieldPath, findings: &mut Findings) {
    for (path, requirement) in each(&path.key("matchExpressions"), &selector.match_expressions) {
        if !SELECTABLE_FIELDS.contains(&requirement.key.as_str()) {
            let known = quoted_list(SELECTABLE_FIELDS);
            let reason = format!("expected one of {known}, got `{}`", requirement.key);
            findings.selector(path.key("key"), reason);
        }
        match requirement.operator.known() {
            Some(SelectorOperator::In | SelectorOperator::NotIn) => {}
            _ => refuse_operator(requirement, &path, findings),
        }
    }
}

fn refuse_operator(requirement: &SelectorRequirement, path: &FieldPath, findings: &mut Findings) {
    let allowed = quoted_list(&Word::<SelectorOperator>::KNOWN[..2]);
    let operator = &requirement.operator;
    findings.selector(
        path.key("operator"),
        format!("expected one of {allowed}, got `{operator}`"),
    );
}

/// Like Karmada, accepts every combination of fields: an empty key matches any taint with the value, and `Exists` ignores the
/// value.
fn validate_toleration(toleration: &Toleration, path: &FieldPath, findings: &mut Findings) {
    findings.optional(path.key("operator"), toleration.operator.as_ref());
    findings.optional(path.key("effect"), toleration.effect.as_ref());
}

fn validate_spread(constraint: &SpreadConstraint, path: &FieldPath, findings: &mut Findings) {
    let field = constraint.spread_by_field.as_ref();
    findings.optional(path.key("spreadByField"), field);
    let is_known = field.is_some_and(|field| field.known().is_some() || field.as_str().is_empty());
    if is_known && !constraint.spread_by_label.is_empty() {
        let reason = "`spreadByField` and `spreadByLabel` cannot both be given";
        findings.invalid(path.key("spreadByLabel"), reason);
    }
    let (min, max) = (constraint.min_groups, constraint.max_groups);
    for (name, count) in [("minGroups", min), ("maxGroups", max)] {
        if count < 0 {
            findings.invalid(path.key(name), format!("expected at least 0, got `{count}`"));
        }
    }
    if max > 0 && max < min {
        let reason = format!("expected at least `minGroups` ({min}), got `{max}`");
        findings.invalid(path.key("maxGroups"), reason);
    }
}

fn validate_preferences(placement: &Placement, path: &FieldPath, findings: &mut Findings) {
    for (list, entries) in placement.cluster_priority.iter().flatten() {
        let path = path.key("clusterPriority").key(list);
        for (path, entry) in each(&path, entries.as_array().map_or(&[], Vec::as_slice)) {
            validate_written(entry, &path, findings);
        }
    }
    let Some(scheduling) = &placement.replica_scheduling else {
        return;
    };
    let path = path.key("replicaScheduling");
    let kind = scheduling.replica_scheduling_type.as_ref();
    findings.optional(path.key("replicaSchedulingType"), kind);
    if let Some(weights) = &scheduling.weight_preference {
        let path = path.key("weightPreference");
        if !weights.dynamic_weight.is_empty() && !weights.is_dynamic() {
            let known = ClusterPreferences::AVAILABLE_REPLICAS;
            let reason = format!("expected `{known}`, got `{}`", weights.dynamic_weight);
            findings.invalid(path.key("dynamicWeight"), reason);
        }
    }
    // Lists of other strategies are checked too: a wrong affinity is wrong whichever strategy reads the list.
    for given in scheduling.lists() {
        let path = path.key(given.object).key(given.list);
        match given.entries {
            PreferenceEntries::Typed(entries) => {
                each(&path, entries).for_each(|(path, entry)| validate_entry(entry, &path, findings));
            }
            PreferenceEntries::Written(entries) => {
                each(&path, entries).for_each(|(path, entry)| validate_written(entry, &path, findings));
            }
        }
    }
}

/// Checks an entry of a list that this crate does not define, if it looks like a preference.
fn validate_written(entry: &Value, path: &FieldPath, findings: &mut Findings) {
    if entry.get("targetCluster").is_none() {
        return;
    }
    match read_value::<ClusterPreference>(entry) {
        Ok(entry) => validate_entry(&entry, path, findings),
        Err(error) => {
            let fault = Fault::from(error);
            findings.add(path.join(&fault.path), fault.cause);
        }
    }
}

fn validate_entry(entry: &ClusterPreference, path: &FieldPath, findings: &mut Findings) {
    if let Some(target) = &entry.target_cluster {
        validate_affinity(target, &path.key("targetCluster"), findings);
    }
    validate_affinity(&entry.misplaced, path, findings);
}
