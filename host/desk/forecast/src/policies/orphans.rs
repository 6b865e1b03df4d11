//! Bindings whose policy the input lacks, or that have none.

use std::collections::BTreeMap;

use divvy_karmada::api::{PolicyScope, ResourceBinding, StringMap};
use divvy_karmada::detector::Binding;
use divvy_karmada::policy::{Claim, claimed_by, permanent_id};
use divvy_spanned::ObjectName;

use super::NAMES_MAX;
use super::document::{Code, Finding};
use super::placement::Remark;
use crate::notes::counted;

/// The findings on bindings.
pub(super) struct Orphans {
    pub(super) findings: Vec<Finding>,
    /// Bindings without their policy.
    pub(super) without_policy: usize,
}

/// Bindings with the same finding.
#[derive(Default)]
struct Group {
    count: usize,
    names: Vec<String>,
}

impl Group {
    fn add(&mut self, binding: &Binding) {
        self.count += 1;
        if self.names.len() < NAMES_MAX {
            self.names.push(binding.key());
        }
    }
}

/// Reviews the claims of bindings. One finding per policy that is gone, and one per namespace of bindings without any.
pub(super) fn review(bindings: &[&Binding]) -> Orphans {
    let mut groups: BTreeMap<(Code, String), Group> = BTreeMap::new();
    let mut without_policy = 0;
    for &binding in bindings {
        let Some((code, object)) = reviewed(binding) else {
            continue;
        };
        without_policy += usize::from(code != Code::StaleClaim);
        groups.entry((code, object)).or_default().add(binding);
    }
    let findings = groups.into_iter().map(|((code, object), group)| {
        let count = counted(group.count, "binding");
        let is_one = group.count == 1;
        let (message, hint) = match code {
            Code::PolicyGone => (
                format!(
                    "the input has no such policy, and {count} {}",
                    if is_one { "is claimed by it" } else { "are claimed by it" }
                ),
                "nothing governs them any more: they keep their placement until another policy claims their workloads",
            ),
            Code::StaleClaim => (
                format!(
                    "{count} {} claimed by an earlier policy of the same name: the permanent identifiers differ",
                    if is_one { "is" } else { "are" }
                ),
                "a policy that was deleted and created again takes effect once Karmada's detector claims the workloads anew",
            ),
            _ => (
                format!("{count} without a policy: nothing claims {}", if is_one { "it" } else { "them" }),
                "add the policies to the input, or delete the bindings if nothing should run",
            ),
        };
        let remark = Remark {
            code,
            message,
            names: group.names,
            hint: Some(hint.to_owned()),
        };
        remark.finding(&object, None)
    });
    Orphans {
        findings: findings.collect(),
        without_policy,
    }
}

/// The finding on one binding, and the object that it is about.
fn reviewed(binding: &Binding) -> Option<(Code, String)> {
    let object = &binding.object;
    let metadata = &object.metadata;
    match (&binding.policy, claimed_by(metadata)) {
        (None, Some(claim)) => Some((Code::PolicyGone, claimed(&claim))),
        (None, None) if follows(object) || metadata.is_deleting() => None,
        (None, None) => {
            let object = match metadata.namespace.as_str() {
                "" => "cluster-scoped bindings".to_owned(),
                namespace => format!("Namespace {namespace}"),
            };
            Some((Code::NoPolicy, object))
        }
        (Some(policy), Some(Claim::Name { scope, .. })) => {
            let differs = differs(scope, &metadata.labels, &policy.labels);
            differs.then(|| (Code::StaleClaim, policy.object_name().to_string()))
        }
        (Some(_), _) => None,
    }
}

/// True if a binding follows others, and needs no policy of its own.
fn follows(binding: &ResourceBinding) -> bool {
    !binding.spec.required_by.is_empty()
}

/// True if both have a permanent identifier, and another one.
fn differs(scope: PolicyScope, binding: &StringMap, policy: &StringMap) -> bool {
    match (permanent_id(scope, binding), permanent_id(scope, policy)) {
        (Some(claimed), Some(own)) => claimed != own,
        _ => false,
    }
}

/// The policy of a claim.
fn claimed(claim: &Claim<'_>) -> String {
    match claim {
        Claim::Name { scope, namespace, name } => ObjectName::new(scope.kind(), namespace, name).to_string(),
        Claim::PermanentId { scope, id } => format!("{} with the permanent identifier {id}", scope.kind()),
    }
}
