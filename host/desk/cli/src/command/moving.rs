//! Warnings about moves in steps: the bindings that a running scheduler is moving, with where each stands, and annotations of policies that
//! it could not read.
//!
//! The results of such bindings are on the way to others, so that they may have more replicas than requested, and in clusters that they
//! leave.

use std::collections::BTreeMap;

use divvy_command::text::{counted, listed, plural};
use divvy_karmada::api::ResourceBinding;
use divvy_karmada::detector::Binding;
use divvy_manifests::{ObjectName, Warning};
use divvy_profile::{MOVES_ANNOTATION, WrittenAllowances};
use divvy_scheduler::moves::mark::destination;

/// Maximum number of bindings, and of clusters per binding, that are named.
const NAMED_MAX: usize = 5;

/// The warnings.
pub(super) fn warnings(bindings: &[Binding]) -> impl Iterator<Item = Warning> {
    on_their_way(bindings).into_iter().chain(unreadable(bindings))
}

/// Policies whose annotation about moves cannot be read, each once.
fn unreadable(bindings: &[Binding]) -> impl Iterator<Item = Warning> {
    let mut unreadable = BTreeMap::new();
    for policy in bindings.iter().filter_map(|binding| binding.policy.as_deref()) {
        let text = policy.annotations.get(MOVES_ANNOTATION);
        if let Some(Err(error)) = text.map(|text| WrittenAllowances::parse(text)) {
            unreadable.insert((&policy.kind, &policy.namespace, &policy.name), (policy, error));
        }
    }
    unreadable
        .into_iter()
        .map(|((kind, namespace, name), (policy, error))| {
            let message = format!("annotation `{MOVES_ANNOTATION}`: {error}");
            let warning =
                Warning::new(message).with_hint("`divvy run` moves nothing of this policy in steps, or at once");
            Warning {
                source_of: policy
                    .location
                    .0
                    .as_ref()
                    .and_then(|location| location.annotation(MOVES_ANNOTATION)),
                object: Some(ObjectName::new(kind, namespace, name)),
                ..warning
            }
        })
}

/// The warning about bindings on their way; `None` if there are none.
fn on_their_way(bindings: &[Binding]) -> Option<Warning> {
    let moving = bindings.iter().filter_map(|binding| {
        let steps = steps(&binding.object)?;
        Some(format!("`{}` ({steps})", binding.key()))
    });
    let moving: Vec<String> = moving.collect();
    if moving.is_empty() {
        return None;
    }
    let count = counted(moving.len(), "binding");
    let verb = plural(moving.len(), "is", "are");
    let named = listed(moving.iter().map(String::as_str), NAMED_MAX);
    let message = format!("{count} {verb} on the way to another result, by `divvy.io/move`: {named}");
    let hint = "`divvy run` takes the next step once the last one is ready; until the move has ended, `diff`, `headroom` and `survive` leave such a binding as it is";
    Some(Warning::new(message).with_hint(hint))
}

/// The clusters that are not at their target, with the replicas that they have and will have; `None` if the binding is not on its way.
fn steps(binding: &ResourceBinding) -> Option<String> {
    let target = destination(binding)?;
    let present = |name: &str| {
        let own = binding.spec.clusters.iter().find(|own| own.name == name);
        own.map_or(0, |own| i64::from(own.replicas))
    };
    let left = target.iter().filter(|(name, replicas)| present(name) != **replicas);
    let left: Vec<String> = left
        .map(|(name, replicas)| format!("{name} {} → {replicas}", present(name)))
        .collect();
    Some(match left.is_empty() {
        true => "at its target, until clusters have reported".to_owned(),
        false => listed(left.iter().map(String::as_str), NAMED_MAX),
    })
}
