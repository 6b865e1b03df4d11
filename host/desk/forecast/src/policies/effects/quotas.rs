//! Results that a FederatedResourceQuota refuses, if Karmada's feature gate FederatedQuotaEnforcement is on.
//!
//! The rule is that of the webhook for bindings (`pkg/webhook/resourcebinding`): a result that changes what a binding needs is refused
//! if the use of any limited resource, with the change, is above its limit. A result that is taken counts for the next ones; here, in
//! the order in which bindings are scheduled.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use divvy_karmada::api::{FederatedResourceQuota, Quantity, ReplicaRequirements};
use divvy_karmada::detector::Binding;
use divvy_spanned::ObjectName;

use super::{Expected, Surroundings, finding};
use crate::policies::document::{Code, Finding};
use crate::situation::assigned;

/// Amounts by resource, in billionths.
type Amounts<'a> = BTreeMap<&'a str, i128>;

/// One finding per quota that refuses results, or is exceeded already.
pub(super) fn findings(surroundings: &Surroundings<'_, '_>) -> Vec<Finding> {
    let quotas = surroundings.beside.quotas.iter();
    quotas
        .filter_map(|(quota, source)| review(quota, source, surroundings))
        .collect()
}

fn review(quota: &FederatedResourceQuota, source: &str, surroundings: &Surroundings<'_, '_>) -> Option<Finding> {
    let namespace = &quota.metadata.namespace;
    let limits = &quota.spec.overall;
    let own = surroundings.bindings.iter().enumerate();
    let own = own.filter(|(_, binding)| binding.object.metadata.namespace == *namespace);
    let mut own: Vec<(usize, &Binding)> = own.collect();
    own.sort_by_key(|(_, binding)| {
        let priority = binding.object.spec.schedule_priority.map_or(0, |own| own.priority);
        (Reverse(priority), &binding.object.metadata.name)
    });
    let had: Vec<Amounts<'_>> = own
        .iter()
        .map(|(_, binding)| needs(binding, &Expected::decided(assigned(binding))))
        .collect();
    // Without a status, the use is what the webhook would have counted.
    let mut used = Amounts::new();
    if quota.status.overall_used.is_empty() {
        had.iter()
            .flatten()
            .for_each(|(name, amount)| add(&mut used, name, *amount));
    } else {
        let reported = quota.status.overall_used.iter();
        used.extend(reported.map(|(name, amount)| (name.as_str(), amount.as_nano())));
    }
    let exceeded = |used: &Amounts<'_>| {
        let mut exceeded = limits.iter();
        exceeded.find_map(|(name, limit)| {
            let amount = used.get(name.as_str()).copied().unwrap_or(0);
            (amount > limit.as_nano()).then(|| (name.clone(), amount, *limit))
        })
    };
    let mut first = exceeded(&used).map(|exceeded| (exceeded, true));
    let mut refused = Vec::new();
    for ((index, binding), had) in own.iter().zip(&had) {
        let has = needs(binding, &(surroundings.expected)(*index));
        let mut wanted = used.clone();
        let mut is_changed = false;
        for name in limits.keys() {
            let (had, has) = (had.get(name.as_str()), has.get(name.as_str()));
            let change = has.copied().unwrap_or(0).saturating_sub(had.copied().unwrap_or(0));
            is_changed |= change != 0;
            add(&mut wanted, name, change);
        }
        match exceeded(&wanted) {
            _ if !is_changed => {}
            Some(exceeded) => {
                first.get_or_insert((exceeded, false));
                refused.push(binding.key());
            }
            None => used = wanted,
        }
    }
    let ((resource, amount, limit), is_already) = first?;
    let amount = shown(amount);
    let refuses = format!(
        "with Karmada's feature gate FederatedQuotaEnforcement, {} refused",
        match refused.len() {
            1 => "the result of 1 binding is".to_owned(),
            count => format!("the results of {count} bindings are"),
        }
    );
    let message = match (is_already, refused.is_empty()) {
        (true, true) => format!("is exceeded: {amount} of {limit} `{resource}` are used"),
        (true, false) => format!("is exceeded, {amount} of {limit} `{resource}` are used: {refuses}"),
        (false, _) => format!("would be exceeded, by {amount} of {limit} `{resource}`: {refuses}"),
    };
    let object = ObjectName::new(&quota.kind, namespace, &quota.metadata.name).to_string();
    Some(finding(Code::QuotaExceeded, object, Some(source), message, refused))
}

/// What a result of a binding needs on all clusters together.
fn needs<'a>(binding: &'a Binding, expected: &Expected) -> Amounts<'a> {
    let spec = &binding.object.spec;
    let mut needs = Amounts::new();
    let mut add_all = |requirements: Option<&'a ReplicaRequirements>, replicas: i64| {
        for (name, amount) in requirements.iter().flat_map(|own| &own.resource_request) {
            add(
                &mut needs,
                name,
                amount.as_nano().saturating_mul(i128::from(replicas.max(0))),
            );
        }
    };
    if spec.components.is_empty() {
        add_all(spec.replica_requirements.as_deref(), expected.replicas);
    }
    for component in &spec.components {
        let replicas = i64::from(component.replicas).saturating_mul(expected.sets);
        add_all(component.replica_requirements.as_ref(), replicas);
    }
    needs
}

fn add<'a>(amounts: &mut Amounts<'a>, name: &'a str, amount: i128) {
    let sum = amounts.entry(name).or_default();
    *sum = sum.saturating_add(amount);
}

/// An amount of billionths as a quantity is written.
fn shown(nano: i128) -> String {
    const MILLI: i128 = 1_000_000;
    match i64::try_from(nano / MILLI / 1_000) {
        Ok(units) if nano % (MILLI * 1_000) == 0 => Quantity::from_units(units).to_string(),
        _ => format!("{}m", nano / MILLI),
    }
}
