//! Karmada's objects that change what a result leads to, although no scheduler reads them: quotas, overrides of replicas, suspended
//! dispatching, override policies that a policy waits for, and resource models that make a cluster full.
//!
//! Only what is certain is reported: a quota is compared with the least that a binding needs, and an override counts only on clusters
//! that the binding has or may get.

mod models;
mod overrides;
mod quotas;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use divvy_karmada::api::{
    Cluster, FederatedResourceQuota, OverridePolicy, PolicyScope, PropagationPolicy, ReplicaSchedulingType, StringMap,
    Suspension,
};
use divvy_karmada::detector::Binding;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_spanned::ObjectName;

use crate::notes::{counted, named};
use crate::policies::document::{Code, Finding};
use crate::situation::{Assignment, assigned};

/// Maximum number of names of one finding.
const NAMES_MAX: usize = 1_000;

/// Objects beside policies and bindings, each with its location as `FILE:LINE`.
#[derive(Debug, Default)]
pub struct Beside<'a> {
    /// The clusters.
    pub clusters: Vec<(&'a Cluster, String)>,
    /// Override policies of both scopes.
    pub overrides: Vec<(&'a OverridePolicy, String)>,
    /// Quotas of namespaces.
    pub quotas: Vec<(&'a FederatedResourceQuota, String)>,
}

/// Everything that the effects depend on.
pub struct Surroundings<'s, 'a> {
    /// Objects beside policies and bindings.
    pub beside: &'s Beside<'a>,
    /// The policies, each with its location as `FILE:LINE`.
    pub policies: &'s [(&'a PropagationPolicy, String)],
    /// The bindings.
    pub bindings: &'s [Binding],
    /// Labels of the workload of a binding that does not have them itself.
    pub labels: &'s dyn Fn(&Binding) -> Option<&'a StringMap>,
    /// The result of a binding, by its index: decided, or the least that it must become.
    pub expected: &'s dyn Fn(usize) -> Expected,
}

/// The result of a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// Its clusters; `None` if they are not known yet.
    pub clusters: Option<Assignment>,
    /// Replicas on all clusters together, or the least number of them.
    pub replicas: i64,
    /// Clusters that run a set of components, or the least number of them.
    pub sets: i64,
}

impl Expected {
    /// The result with these clusters.
    pub fn decided(clusters: Assignment) -> Self {
        Self {
            replicas: clusters.values().fold(0, |sum, replicas| sum.saturating_add(*replicas)),
            sets: i64::try_from(clusters.len()).unwrap_or(i64::MAX),
            clusters: Some(clusters),
        }
    }

    /// The least that a binding becomes if all its replicas are scheduled: once, or on each of its clusters.
    pub fn least(binding: &Binding) -> Self {
        let last = assigned(binding);
        let replicas = i64::from(binding.object.spec.replicas.unwrap_or(0));
        let sets = i64::try_from(last.len()).unwrap_or(i64::MAX).max(1);
        Self {
            replicas: if is_duplicated(binding) {
                replicas.saturating_mul(sets)
            } else {
                replicas
            },
            sets,
            clusters: (!last.is_empty()).then_some(last),
        }
    }

    /// True if the binding runs on a cluster, or may.
    fn may_have(&self, cluster: &str) -> bool {
        self.clusters
            .as_ref()
            .is_none_or(|clusters| clusters.contains_key(cluster))
    }
}

/// True if each cluster of a binding gets all replicas.
fn is_duplicated(binding: &Binding) -> bool {
    let placement = binding.object.spec.placement.as_deref();
    placement.is_none_or(|placement| {
        placement.replica_scheduling.as_ref().is_none_or(|scheduling| {
            let kind = scheduling.replica_scheduling_type.as_ref();
            kind.and_then(|kind| kind.known()) == Some(ReplicaSchedulingType::Duplicated)
        })
    })
}

/// The findings, in the order of their codes.
pub fn effects(surroundings: &Surroundings<'_, '_>) -> Vec<Finding> {
    let mut findings = quotas::findings(surroundings);
    findings.extend(overrides::findings(surroundings));
    findings.extend(dispatching(surroundings));
    findings.extend(dependent_overrides(surroundings));
    findings.extend(models::findings(surroundings));
    findings
}

/// The findings as one sentence per code: the first of them, and the number of the others.
pub fn notes(findings: &[Finding]) -> Vec<String> {
    let mut by_code: BTreeMap<Code, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        by_code.entry(finding.code).or_default().push(finding);
    }
    let notes = by_code.into_values().filter_map(|findings| {
        let (first, others) = findings.split_first()?;
        let source = first.source.as_ref().map(|source| format!(" ({source})"));
        let mut note = format!("{}{} {}", first.object, source.unwrap_or_default(), first.message);
        if !first.names.is_empty() {
            note.push_str(&format!(": {}", named(&first.names)));
        }
        if !others.is_empty() {
            let more = others.len();
            note.push_str(&format!("; and {more} more like it, which `divvy policies` lists"));
        }
        Some(note)
    });
    notes.collect()
}

/// A finding on an object.
fn finding(code: Code, object: String, source: Option<&str>, message: String, mut names: Vec<String>) -> Finding {
    names.truncate(NAMES_MAX);
    Finding {
        severity: code.severity(),
        code,
        object,
        source: source.map(str::to_owned),
        message,
        names,
        hint: None,
    }
}

/// `3 bindings` with the verb that suits their number.
fn bindings(count: usize, one: &str, several: &str) -> String {
    format!(
        "{} {}",
        counted(count, "binding"),
        if count == 1 { one } else { several }
    )
}

/// Indices of the bindings that each policy governs.
fn governed<'a>(surroundings: &'a Surroundings<'_, '_>) -> HashMap<(&'a str, &'a str, &'a str), Vec<usize>> {
    let mut governed: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, binding) in surroundings.bindings.iter().enumerate() {
        if let Some(facts) = &binding.policy {
            let key = (facts.kind.as_str(), facts.namespace.as_str(), facts.name.as_str());
            governed.entry(key).or_default().push(index);
        }
    }
    governed
}

fn key(policy: &PropagationPolicy) -> (&str, &str, &str) {
    let metadata = &policy.metadata;
    (&policy.kind, &metadata.namespace, &metadata.name)
}

fn name(policy: &PropagationPolicy) -> String {
    let (kind, namespace, name) = key(policy);
    ObjectName::new(kind, namespace, name).to_string()
}

/// Policies, and bindings without a known policy, whose results do not reach their clusters.
fn dispatching(surroundings: &Surroundings<'_, '_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let governed = governed(surroundings);
    for (policy, source) in surroundings.policies {
        let Some(suspended) = policy.spec.suspension.as_ref().and_then(suspended) else {
            continue;
        };
        let indices = governed.get(&key(policy)).map_or(&[][..], Vec::as_slice);
        findings.extend(suspension(
            surroundings,
            name(policy),
            Some(source),
            indices,
            &suspended,
        ));
    }
    for (index, binding) in surroundings
        .bindings
        .iter()
        .enumerate()
        .filter(|(_, binding)| binding.policy.is_none())
    {
        let own = binding.object.spec.suspension.as_ref().and_then(|own| {
            suspended(&Suspension {
                dispatching: own.dispatching,
                dispatching_on_clusters: own.dispatching_on_clusters.clone(),
            })
        });
        if let Some(own) = own {
            let metadata = &binding.object.metadata;
            let object = ObjectName::new(&binding.object.kind, &metadata.namespace, &metadata.name).to_string();
            let source = binding
                .source
                .as_ref()
                .map(|source| format!("{}:{}", source.file.display(), source.line));
            findings.extend(suspension(surroundings, object, source.as_deref(), &[index], &own));
        }
    }
    findings
}

/// Clusters to which nothing is dispatched.
enum Suspended {
    All,
    On(Vec<String>),
}

fn suspended(suspension: &Suspension) -> Option<Suspended> {
    if suspension.dispatching == Some(true) {
        return Some(Suspended::All);
    }
    let names = &suspension.dispatching_on_clusters.as_ref()?.cluster_names;
    (!names.is_empty()).then(|| Suspended::On(names.clone()))
}

fn suspension(
    surroundings: &Surroundings<'_, '_>,
    object: String,
    source: Option<&str>,
    indices: &[usize],
    suspended: &Suspended,
) -> Option<Finding> {
    let is_affected = |index: &&usize| match suspended {
        Suspended::All => true,
        Suspended::On(names) => {
            let expected = (surroundings.expected)(**index);
            names.iter().any(|name| expected.may_have(name))
        }
    };
    let affected = indices.iter().filter(is_affected);
    let names: Vec<String> = affected
        .filter_map(|&index| surroundings.bindings.get(index).map(Binding::key))
        .collect();
    let clusters = match suspended {
        Suspended::All => "every cluster".to_owned(),
        Suspended::On(names) => named(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>()),
    };
    let message = format!(
        "suspends dispatching to {clusters}: {} not applied there",
        match names.len() {
            1 => "the result of 1 binding is".to_owned(),
            count => format!("the results of {count} bindings are"),
        }
    );
    (!names.is_empty()).then(|| finding(Code::Suspended, object, source, message, names))
}

/// Policies that wait for override policies that the input lacks.
fn dependent_overrides(surroundings: &Surroundings<'_, '_>) -> Vec<Finding> {
    let governed = governed(surroundings);
    let mut findings = Vec::new();
    for (policy, source) in surroundings.policies {
        let (kind, namespace) = match policy.scope() {
            PolicyScope::Cluster => (OverridePolicy::CLUSTER_KIND, ""),
            PolicyScope::Namespaced => ("OverridePolicy", policy.metadata.namespace.as_str()),
        };
        let is_known = |name: &&String| {
            let overrides = surroundings.beside.overrides.iter();
            overrides.into_iter().any(|(known, _)| {
                known.kind == kind && known.metadata.namespace == namespace && known.metadata.name == **name
            })
        };
        let missing = policy.spec.dependent_overrides.iter().filter(|name| !is_known(name));
        let missing: Vec<String> = missing
            .map(|name| ObjectName::new(kind, namespace, name).to_string())
            .collect();
        if missing.is_empty() {
            continue;
        }
        let count = governed.get(&key(policy)).map_or(0, Vec::len);
        let message = format!(
            "waits for override policies in `dependentOverrides` that the input lacks: until they exist, Karmada applies the policy to \
             nothing ({} here)",
            bindings(count, "depends on it", "depend on it")
        );
        let mut found = finding(
            Code::MissingOverride,
            name(policy),
            Some(source.as_str()),
            message,
            missing,
        );
        found.hint = Some("add the override policies to the input if the control plane has them".to_owned());
        findings.push(found);
    }
    findings
}

/// The table of kinds, for numbers of replicas that overrides set.
fn kinds() -> WorkloadKinds {
    WorkloadKinds::default().reading_components(true)
}
