//! Capacity that one binding holds on one cluster, in words.

use std::fmt;
use std::sync::Arc;

use divvy_karmada::api::Timestamp;

use crate::objects::BindingKey;

const MEBIBYTE: i64 = 1 << 20;
const GIBIBYTE: i64 = 1 << 30;

/// Capacity that a binding holds on one cluster, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldPart<'a> {
    /// The binding.
    pub binding: &'a Arc<BindingKey>,
    /// The cluster.
    pub cluster: &'a str,
    /// Time of the decision.
    pub began: Timestamp,
    /// Quantity of each resource that is not reported yet, in the units of estimates.
    pub resources: Vec<(&'a str, i64)>,
}

impl fmt::Display for HeldPart<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            binding,
            cluster,
            began,
            resources,
        } = self;
        let resources: Vec<String> = resources
            .iter()
            .map(|(name, quantity)| described(name, *quantity))
            .collect();
        write!(
            formatter,
            "{} on {cluster} by {binding} since {began}",
            resources.join(" and ")
        )
    }
}

/// A quantity in the units of estimates, as Kubernetes writes it.
pub(crate) fn described(resource: &str, quantity: i64) -> String {
    match resource {
        "cpu" if quantity % 1000 != 0 => format!("{resource} {quantity}m"),
        "cpu" => format!("{resource} {}", quantity / 1000),
        "memory" | "ephemeral-storage" if quantity % GIBIBYTE == 0 => format!("{resource} {}Gi", quantity / GIBIBYTE),
        "memory" | "ephemeral-storage" if quantity % MEBIBYTE == 0 => format!("{resource} {}Mi", quantity / MEBIBYTE),
        _ => format!("{resource} {quantity}"),
    }
}
