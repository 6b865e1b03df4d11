//! A review of policies: those that govern nothing, or that name what does not exist, and bindings without their policy.
//!
//! The bindings are those of `divvy_karmada::detector`, so that the policy of each is the one under which it is scheduled: an
//! existing claim first, then a namespaced policy before a cluster policy, the higher priority, the more precise selector, and the
//! name in alphabetical order.
//!
//! - [`reach`]: the objects that policies select. [`placement`]: clusters, labels and regions that placements name.
//! - [`annotations`]: annotations that no profile can read. [`orphans`]: bindings without their policy.
//! - [`document`]: the result as JSON. [`suggestions`]: similar names.

mod annotations;
pub mod document;
pub mod effects;
mod orphans;
mod placement;
mod reach;
mod suggestions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use divvy_karmada::api::{Cluster, PolicyScope, PropagationPolicy, ResourceSelector, StringMap, TypeMeta};
use divvy_karmada::detector::{Binding, is_managed_by_another, is_reserved};
use divvy_karmada::policy::is_cluster_scoped;
use divvy_spanned::ObjectName;

use document::{Code, Finding, PoliciesDocument, PolicyRow, PolicyTotals};
use placement::{Fleet, Remark};
use reach::{Object, Reach};
use suggestions::Suggestions;

use crate::document::FORMAT;
use crate::notes::counted;
use crate::policies::effects::{Beside, Expected, Surroundings, effects};

/// Maximum number of names of one finding.
const NAMES_MAX: usize = 1_000;
/// Maximum number of policies that a finding names beside its own. Thousands of policies can be shadowed by thousands.
const RIVALS_MAX: usize = 10;
/// Maximum number of selectors that a message describes.
const DESCRIBED_MAX: usize = 3;

/// The objects to review.
pub struct Subjects<'a> {
    /// The policies, each with its location as `FILE:LINE`.
    pub policies: Vec<(&'a PropagationPolicy, String)>,
    /// Location of an annotation of a policy, by the policy's index and the annotation's name.
    pub annotation_location: &'a dyn Fn(usize, &str) -> Option<String>,
    /// All bindings, including those that a detector makes for workloads without one.
    pub bindings: &'a [Binding],
    /// Labels of the workload of a binding that does not have them itself.
    pub labels: &'a dyn Fn(&Binding) -> Option<&'a StringMap>,
    /// Resources that no policy selects.
    pub unmatched: &'a [ObjectName],
    /// Resources in namespaces from which nothing is propagated.
    pub reserved: &'a [ObjectName],
    /// The clusters; without any, nothing that placements name is reviewed.
    pub clusters: Vec<&'a Cluster>,
    /// Objects that change what results lead to.
    pub beside: Beside<'a>,
}

/// A policy and what is known about it.
struct Policy<'a> {
    object: &'a PropagationPolicy,
    source: &'a str,
    selects: usize,
    governs: usize,
    /// Objects that it selects and governs.
    holds: usize,
    /// Policies that govern other objects that it selects, by index, at most [`RIVALS_MAX`].
    rivals: Vec<usize>,
}

/// Reviews policies.
pub fn review(subjects: &Subjects<'_>) -> PoliciesDocument {
    // No policy can select what another controller has taken over.
    let bindings: Vec<&Binding> = subjects
        .bindings
        .iter()
        .filter(|binding| {
            let labels = binding.workload.as_ref().map(|workload| &workload.labels);
            !is_managed_by_another(&binding.object.metadata.labels, labels)
        })
        .collect();
    let objects: Vec<&PropagationPolicy> = subjects.policies.iter().map(|(policy, _)| *policy).collect();
    let indices: HashMap<(PolicyScope, &str, &str), usize> =
        objects.iter().map(|policy| key(policy)).zip(0..).collect();
    let governors: Vec<Option<usize>> = bindings
        .iter()
        .map(|binding| {
            let facts = binding.policy.as_ref()?;
            let scope = match facts.kind == PolicyScope::Cluster.kind() {
                true => PolicyScope::Cluster,
                false => PolicyScope::Namespaced,
            };
            indices
                .get(&(scope, facts.namespace.as_str(), facts.name.as_str()))
                .copied()
        })
        .collect();
    let propagated: Vec<Object<'_>> = bindings
        .iter()
        .map(|binding| Object::of(binding, (subjects.labels)(binding)))
        .collect();
    let reach = Reach::new(&objects, &propagated);
    let policies = count(subjects, &governors, &reach);
    let mut fleet = Fleet::new(subjects.clusters.clone());
    let mut suggestions = Suggestions::default();
    let known = Known::of(&propagated, subjects.unmatched, subjects.reserved);
    let mut findings = Vec::new();
    let mut totals = PolicyTotals {
        policies: policies.len(),
        governing: policies.iter().filter(|policy| policy.governs > 0).count(),
        bindings: subjects.bindings.len(),
        unmatched: subjects.unmatched.len(),
        ..PolicyTotals::default()
    };
    let effects = effects(&Surroundings {
        beside: &subjects.beside,
        policies: &subjects.policies,
        bindings: subjects.bindings,
        labels: subjects.labels,
        expected: &|index| {
            subjects
                .bindings
                .get(index)
                .map_or_else(Expected::default, Expected::least)
        },
    });
    let mut codes_of: HashMap<&str, Vec<Code>> = HashMap::new();
    for effect in &effects {
        codes_of.entry(&effect.object).or_default().push(effect.code);
    }
    let mut rows = Vec::with_capacity(policies.len());
    for (index, policy) in policies.iter().enumerate() {
        let name = name(policy.object);
        let (mut remarks, mut unreadable) = (Vec::new(), Vec::new());
        if !policy.object.metadata.is_deleting() {
            let location = |annotation: &str| (subjects.annotation_location)(index, annotation);
            unreadable = annotations::review(policy.object, &name, location);
            let reviewed = usage(index, &policies, &reach, &known, &mut suggestions);
            totals.dead += usize::from(reviewed.iter().any(|remark| remark.code == Code::Dead));
            totals.shadowed += usize::from(reviewed.iter().any(|remark| remark.code == Code::Shadowed));
            totals.overlapping += usize::from(reviewed.iter().any(|remark| remark.code == Code::Overlap));
            remarks.extend(reviewed);
        }
        let clusters = (!fleet.is_empty()).then(|| {
            let (clusters, reviewed) = fleet.review(policy.object, &mut suggestions);
            remarks.extend(reviewed);
            clusters
        });
        let mut codes: Vec<Code> = remarks.iter().map(|remark| remark.code).collect();
        codes.extend(unreadable.iter().map(|finding| finding.code));
        codes.extend(codes_of.get(name.as_str()).into_iter().flatten());
        codes.sort_unstable();
        codes.dedup();
        findings.extend(unreadable);
        findings.extend(
            remarks
                .into_iter()
                .map(|remark| remark.finding(&name, Some(policy.source))),
        );
        rows.push(PolicyRow {
            policy: name,
            source: policy.source.to_owned(),
            priority: policy.object.spec.priority.unwrap_or(0),
            selects: policy.selects,
            governs: policy.governs,
            clusters,
            findings: codes,
        });
    }
    drop(codes_of);
    findings.extend(effects);
    let orphans = orphans::review(&bindings);
    totals.without_policy = orphans.without_policy;
    findings.extend(orphans.findings);
    findings.sort_by(|left, right| {
        let rank = |finding: &Finding| (std::cmp::Reverse(finding.severity), finding.code);
        rank(left)
            .cmp(&rank(right))
            .then_with(|| left.object.cmp(&right.object))
    });
    rows.sort_by(|left, right| left.policy.cmp(&right.policy));
    for finding in &findings {
        match finding.severity {
            document::Severity::Error => totals.errors += 1,
            document::Severity::Warning => totals.warnings += 1,
            document::Severity::Info => totals.infos += 1,
        }
    }
    PoliciesDocument {
        format: FORMAT,
        findings,
        policies: rows,
        totals,
        notes: notes(subjects, &propagated, &reach, policies.len()),
    }
}

/// Counts what each policy selects and governs.
fn count<'a>(subjects: &'a Subjects<'_>, governors: &[Option<usize>], reach: &Reach<'_>) -> Vec<Policy<'a>> {
    let mut policies: Vec<Policy<'a>> = subjects
        .policies
        .iter()
        .map(|(object, source)| Policy {
            object,
            source,
            selects: 0,
            governs: 0,
            holds: 0,
            rivals: Vec::new(),
        })
        .collect();
    for &governor in governors.iter().flatten() {
        policies[governor].governs += 1;
    }
    for (group, members) in reach.groups() {
        let mut held: BTreeMap<usize, usize> = BTreeMap::new();
        for governor in members.iter().filter_map(|&member| governors[member as usize]) {
            *held.entry(governor).or_default() += 1;
        }
        for index in group {
            let holds = held.get(&index).copied().unwrap_or(0);
            let rivals = held.keys().copied().filter(|rival| *rival != index).take(RIVALS_MAX);
            policies[index].rivals = rivals.collect();
            policies[index].selects = members.len();
            policies[index].holds = holds;
        }
    }
    policies
}

/// The findings about what a policy selects and governs.
fn usage(
    index: usize,
    policies: &[Policy<'_>],
    reach: &Reach<'_>,
    known: &Known<'_>,
    suggestions: &mut Suggestions,
) -> Vec<Remark> {
    let policy = &policies[index];
    let others = policy.selects - policy.holds;
    let mut remarks = Vec::new();
    if policy.selects == 0 && policy.governs == 0 {
        if !reach.is_uncertain(index) {
            let unmatched: Vec<usize> = (0..policy.object.spec.resource_selectors.len()).collect();
            remarks.push(Remark {
                code: Code::Dead,
                message: format!(
                    "selects nothing: {}",
                    reasons(index, policy, &unmatched, reach, known, suggestions)
                ),
                names: Vec::new(),
                hint: None,
            });
        }
        return remarks;
    }
    if policy.holds == 0 && others > 0 && policy.governs == 0 {
        remarks.push(shadowed(policy, policies));
    } else if others > 0 {
        let belong = if others == 1 { "belongs" } else { "belong" };
        let of = counted(policy.selects, "object");
        remarks.push(Remark {
            code: Code::Overlap,
            message: format!("{others} of {of} that it selects {belong} to other policies"),
            names: policy
                .rivals
                .iter()
                .map(|&rival| name(policies[rival].object))
                .collect(),
            hint: None,
        });
    }
    let unmatched: Vec<usize> = reach.unmatched_selectors(index).collect();
    if !unmatched.is_empty() {
        let all = policy.object.spec.resource_selectors.len();
        remarks.push(Remark {
            code: Code::DeadSelector,
            message: format!(
                "{} of {all} selectors {} nothing: {}",
                unmatched.len(),
                if unmatched.len() == 1 { "matches" } else { "match" },
                reasons(index, policy, &unmatched, reach, known, suggestions)
            ),
            names: Vec::new(),
            hint: None,
        });
    }
    remarks
}

/// The finding about a policy all of whose objects belong to others.
fn shadowed(policy: &Policy<'_>, policies: &[Policy<'_>]) -> Remark {
    let mut message = match policy.selects {
        1 => "the object that it selects belongs to another policy".to_owned(),
        selects => format!("all {selects} objects that it selects belong to other policies"),
    };
    let mut hint = None;
    if let Some(rival) = policy.rivals.first().map(|&rival| policies[rival].object) {
        message.push_str(match precedence(policy.object, rival) {
            Precedence::Rival(reason) => reason,
            Precedence::Own if policy.selects == 1 => ", which claimed it earlier",
            Precedence::Own => ", which claimed them earlier",
        });
        if precedence(policy.object, rival) == Precedence::Own {
            hint = Some(match policy.object.spec.preemption.as_str() {
                "Always" => "`preemption: Always` takes them if Karmada's feature gate PropagationPolicyPreemption is on; this is not \
                             forecast"
                    .to_owned(),
                _ => "a claim lasts until its policy is deleted, or until a policy with `preemption: Always` takes the objects".to_owned(),
            });
        }
    }
    Remark {
        code: Code::Shadowed,
        message,
        names: policy
            .rivals
            .iter()
            .map(|&rival| name(policies[rival].object))
            .collect(),
        hint,
    }
}

/// Which of two policies comes first for an object that none has claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// The policy itself, for certain.
    Own,
    /// The other one, for this reason.
    Rival(&'static str),
}

fn precedence(own: &PropagationPolicy, rival: &PropagationPolicy) -> Precedence {
    let priority = |policy: &PropagationPolicy| policy.spec.priority.unwrap_or(0);
    match (own.scope(), rival.scope()) {
        (PolicyScope::Namespaced, PolicyScope::Cluster) => Precedence::Own,
        (PolicyScope::Cluster, PolicyScope::Namespaced) => {
            Precedence::Rival(": a PropagationPolicy comes before any ClusterPropagationPolicy")
        }
        _ => match priority(own).cmp(&priority(rival)) {
            std::cmp::Ordering::Greater => Precedence::Own,
            std::cmp::Ordering::Less => Precedence::Rival(" of higher priority"),
            std::cmp::Ordering::Equal => Precedence::Rival(
                " of the same priority, with a more precise selector, an earlier name, or an earlier claim",
            ),
        },
    }
}

/// What is known about the objects of the input, for reasons why a selector matches none.
struct Known<'a> {
    /// Names of the objects of each kind.
    names: HashMap<&'a str, HashSet<&'a str>>,
    /// API versions of each kind; `None` if an object's is not known.
    versions: HashMap<&'a str, HashSet<Option<&'a str>>>,
    /// Kinds with objects that have no namespace.
    cluster_scoped: HashSet<&'a str>,
    /// Kind, name and namespace of objects in reserved namespaces.
    reserved: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> Known<'a> {
    fn of(objects: &[Object<'a>], unmatched: &'a [ObjectName], reserved: &'a [ObjectName]) -> Self {
        let reserved = reserved.iter().map(|object| {
            let ObjectName { kind, namespace, name } = object;
            (kind.as_str(), name.as_str(), namespace.as_str())
        });
        let without_namespace = objects
            .iter()
            .filter(|object| object.namespace.is_empty())
            .map(|object| object.kind);
        let unselected = unmatched.iter().filter(|object| object.namespace.is_empty());
        let mut known = Self {
            names: HashMap::new(),
            versions: HashMap::new(),
            cluster_scoped: without_namespace
                .chain(unselected.map(|object| object.kind.as_str()))
                .collect(),
            reserved: reserved.collect(),
        };
        let propagated = objects
            .iter()
            .map(|object| (object.kind, object.name, Some(object.api_version)));
        let others = unmatched
            .iter()
            .map(|object| (object.kind.as_str(), object.name.as_str(), None));
        for (kind, name, version) in propagated.chain(others) {
            known.names.entry(kind).or_default().insert(name);
            known.versions.entry(kind).or_default().insert(version);
        }
        known
    }

    /// The reason why a selector can match nothing, whatever else is in the input.
    fn impossible(&self, policy: &PropagationPolicy, selector: &ResourceSelector) -> Option<String> {
        let kind = format!("{} ({})", selector.kind, selector.api_version);
        let type_meta = TypeMeta {
            api_version: selector.api_version.clone(),
            kind: selector.kind.clone(),
        };
        let is_namespaced = policy.scope() == PolicyScope::Namespaced;
        if is_namespaced && (is_cluster_scoped(&type_meta) || self.cluster_scoped.contains(selector.kind.as_str())) {
            return Some(format!(
                "{kind} is cluster-scoped, and only a ClusterPropagationPolicy can select it"
            ));
        }
        let namespace = match selector.namespace.as_str() {
            "" if is_namespaced => &policy.metadata.namespace,
            namespace => namespace,
        };
        if is_reserved(namespace) {
            return Some(format!(
                "namespace `{namespace}` is reserved, and Karmada propagates nothing from it"
            ));
        }
        let labels = selector.label_selector.as_ref().filter(|_| selector.name.is_empty());
        if let Some(reason) = labels.and_then(|labels| labels.unmatchable()) {
            return Some(format!("{reason}, so that the selector matches nothing"));
        }
        let is_meant = |(kind, name, _): &&(&str, &str, &str)| {
            *kind == selector.kind && (selector.name.is_empty() || *name == selector.name)
        };
        let has_others = self
            .names
            .get(selector.kind.as_str())
            .is_some_and(|names| selector.name.is_empty() || names.contains(selector.name.as_str()));
        let (_, _, namespace) = self
            .reserved
            .iter()
            .find(is_meant)
            .filter(|_| namespace.is_empty() && !has_others)?;
        Some(format!(
            "{kind} is only in the reserved namespace `{namespace}`, from which Karmada propagates nothing"
        ))
    }

    /// The API versions of a kind, if it has none that a selector could mean.
    fn other_versions(&self, kind: &str, api_version: &str) -> Option<Vec<&'a str>> {
        let versions = self.versions.get(kind)?;
        if versions.contains(&None) || versions.contains(&Some(api_version)) {
            return None;
        }
        let mut others: Vec<&str> = versions.iter().flatten().copied().collect();
        others.sort_unstable();
        Some(others)
    }
}

/// Reasons why these selectors of a policy match nothing.
fn reasons(
    index: usize,
    policy: &Policy<'_>,
    unmatched: &[usize],
    reach: &Reach<'_>,
    known: &Known<'_>,
    suggestions: &mut Suggestions,
) -> String {
    let selectors = &policy.object.spec.resource_selectors;
    let mut texts: Vec<String> = Vec::new();
    for &number in unmatched {
        if texts.len() == DESCRIBED_MAX {
            break;
        }
        let Some(selector) = selectors.get(number) else {
            continue;
        };
        if let Some(text) = known.impossible(policy.object, selector) {
            if !texts.contains(&text) {
                texts.push(text);
            }
            continue;
        }
        let kind = format!("{} ({})", selector.kind, selector.api_version);
        let names = known.names.get(selector.kind.as_str());
        let others = known.other_versions(&selector.kind, &selector.api_version);
        let text = match (reach.is_out_of_reach(index, number), names, others) {
            (true, ..) => format!(
                "{kind} in namespace `{}`, which is not the policy's own",
                selector.namespace
            ),
            (false, None, _) => {
                let near = suggestions.nearest(&selector.kind, known.names.keys().copied());
                format!("no {kind} in the input{}", did_you_mean(near))
            }
            (false, Some(_), Some(versions)) => format!("no {kind} in the input, only in {}", versions.join(", ")),
            (false, Some(names), None) => match (selector.name.as_str(), &selector.label_selector) {
                ("", Some(_)) => format!("no {kind} in its reach has the labels"),
                ("", None) => format!("no {kind} in its namespace"),
                (name, _) if names.contains(name) => format!("{kind} `{name}` is only in other namespaces"),
                (name, _) => {
                    let near = suggestions.nearest(name, names.iter().copied());
                    format!("no {kind} `{name}`{}", did_you_mean(near))
                }
            },
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let more = unmatched.len().saturating_sub(DESCRIBED_MAX);
    match (texts.is_empty(), more) {
        (true, _) => "it has no selector".to_owned(),
        (false, 0) => texts.join("; "),
        (false, more) => format!("{}; and {more} more", texts.join("; ")),
    }
}

fn did_you_mean(name: Option<String>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

/// Notes on what could not be reviewed.
fn notes(subjects: &Subjects<'_>, objects: &[Object<'_>], reach: &Reach<'_>, policies: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if subjects.clusters.is_empty() {
        notes.push(
            "the input has no clusters, so that the clusters, labels and regions of placements are not checked"
                .to_owned(),
        );
    }
    if objects.is_empty() {
        notes.push(
            "the input has no bindings and no workloads that a policy selects, so that every policy counts as dead"
                .to_owned(),
        );
    }
    let uncertain = (0..policies).filter(|&policy| reach.is_uncertain(policy)).count();
    if uncertain > 0 {
        let unknown = objects.iter().filter(|object| object.labels.is_none()).count();
        notes.push(format!(
            "the labels of {} are not in the input, so that {} may select more than is counted",
            counted(unknown, "workload"),
            match uncertain {
                1 => "1 policy that selects by labels".to_owned(),
                count => format!("{count} policies that select by labels"),
            }
        ));
    }
    notes
}

fn key(policy: &PropagationPolicy) -> (PolicyScope, &str, &str) {
    (policy.scope(), &policy.metadata.namespace, &policy.metadata.name)
}

/// Kind, namespace and name of a policy.
fn name(policy: &PropagationPolicy) -> String {
    ObjectName::new(&policy.kind, &policy.metadata.namespace, &policy.metadata.name).to_string()
}

impl Remark {
    /// The remark as a finding on an object.
    fn finding(self, object: &str, source: Option<&str>) -> Finding {
        let mut names = self.names;
        names.truncate(NAMES_MAX);
        Finding {
            severity: self.code.severity(),
            code: self.code,
            object: object.to_owned(),
            source: source.map(str::to_owned),
            message: self.message,
            names,
            hint: self.hint,
        }
    }
}
