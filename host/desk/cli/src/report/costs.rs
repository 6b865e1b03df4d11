//! Costs in tables and data: of bindings, of clusters, and of all of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_command::text::{counted, listed};
use divvy_forecast::cost::{Costs, HourlyCost};
use divvy_forecast::document::ClusterRow;
use divvy_forecast::movement::Movement;
use divvy_forecast::verdict::Tone;
use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;
use divvy_page::figure::Figure;
use divvy_scheduler::cost::{Cost, CostError, KnownCost, Pricing};
use divvy_scheduler::fleet::Footprint;
use serde::Serialize;

use super::clusters::shares::Share;

/// Digits after the decimal point of a cost in a table, at least.
const DIGITS: u32 = 4;

/// Clusters or bindings that are named before the rest is counted.
const NAMED_MAX: usize = 3;

/// Counts the costs of bindings.
#[derive(Debug)]
pub(crate) struct Pricer<'a> {
    pricing: Arc<Pricing>,
    clusters: HashMap<&'a str, &'a Cluster>,
}

/// Costs of a binding as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BindingCosts<'a> {
    #[serde(flatten)]
    costs: Costs,
    /// Of the clusters of the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_cluster: Vec<ClusterCost<'a>>,
}

#[derive(Debug, Serialize)]
struct ClusterCost<'a> {
    name: &'a str,
    #[serde(flatten)]
    cost: HourlyCost,
}

impl<'a> Pricer<'a> {
    /// Prices for these clusters.
    pub(crate) fn new(pricing: &Arc<Pricing>, clusters: impl Iterator<Item = &'a Cluster>) -> Self {
        Self {
            pricing: Arc::clone(pricing),
            clusters: clusters
                .map(|cluster| (cluster.metadata.name.as_str(), cluster))
                .collect(),
        }
    }

    /// The costs of a binding: with its last replicas, and with those that it gets. `shares` are those of its result; `None` if it was
    /// not scheduled.
    pub(super) fn costs<'share>(&self, binding: &Binding, shares: Option<&[Share<'share>]>) -> BindingCosts<'share> {
        let footprint = Footprint::new(&binding.object.spec);
        let cost = |name: &str, replicas: i64| {
            let cluster = self.clusters.get(name).copied();
            self.pricing.cost_of_replicas(cluster, &footprint, replicas)
        };
        let before: KnownCost = binding.last().map(|(name, replicas)| cost(name, replicas)).sum();
        let before = HourlyCost::from(before);
        let placed = shares.unwrap_or_default().iter();
        let placed = placed.filter_map(|share| Some((share.cluster, share.replicas?)));
        let by_cluster: Vec<(&str, KnownCost)> = placed.map(|(name, replicas)| (name, cost(name, replicas))).collect();
        let after = match shares {
            Some(_) => by_cluster
                .iter()
                .map(|(_, cost)| cost.clone())
                .sum::<KnownCost>()
                .into(),
            None => before.clone(),
        };
        let by_cluster = by_cluster.into_iter().map(|(name, cost)| ClusterCost {
            name,
            cost: cost.into(),
        });
        BindingCosts {
            costs: Costs::new(&self.pricing, before, None, after),
            by_cluster: by_cluster.collect(),
        }
    }
}

/// `12.3400 → 13.1000`, or one amount if both are the same.
pub(super) fn both(from: &HourlyCost, to: &HourlyCost) -> String {
    let (from, to) = (from.to_string(), to.to_string());
    match from == to {
        true => to,
        false => format!("{from} → {to}"),
    }
}

/// `cost: 12.3400 → 13.1000 USD per hour (+0.7600)`, and a line for prices that are missing.
///
/// A cost that falls because replicas run nowhere afterwards is not a saving, so their part is named:
/// `(−7.1838: −8.5000 for 8 replicas lost, +1.3162 for the others)`.
pub(crate) fn totals(costs: &Costs, rows: &[ClusterRow]) -> Vec<String> {
    let mut lines = vec![format!(
        "cost: {} {} per hour{}",
        both(costs.from(), &costs.after),
        costs.unit,
        change(costs)
    )];
    let of_clusters = rows.iter().filter_map(|row| {
        let costs = row.cost.as_ref()?;
        let reasons = costs.from().unknown.iter().chain(&costs.after.unknown);
        Some((row.name.as_str(), reasons))
    });
    lines.extend(unknown("on", of_clusters));
    lines
}

/// What all clusters cost afterwards, for the top of a page.
pub(super) fn figure(costs: &Costs) -> Figure {
    Figure {
        name: "cost",
        label: "Cost afterwards",
        value: costs.after.to_string(),
        detail: format!("{} per hour{}", costs.unit, change(costs)),
        tone: Tone::Neutral,
    }
}

/// ` (+0.7600)`, or with its parts; empty if nothing changes.
fn change(costs: &Costs) -> String {
    match (costs.change, parts(costs).as_slice()) {
        (Some(Cost::ZERO), []) => String::new(),
        (Some(change), []) => format!(" ({})", signed(change)),
        (Some(_), [all]) => format!(" ({all})"),
        (Some(change), parts) => format!(" ({}: {})", signed(change), parts.join(", ")),
        (None, _) => match gone(&costs.movement).as_slice() {
            [] => String::new(),
            gone => format!(" (afterwards without {})", gone.join(", ")),
        },
    }
}

/// Replicas that run nowhere afterwards: `8 replicas lost`.
fn gone(movement: &Movement) -> Vec<String> {
    let gone = [
        (movement.lost, "lost"),
        (movement.waiting, "waiting"),
        (movement.removed, "removed"),
        (movement.stranded, "stranded"),
    ];
    let gone = gone.into_iter().filter(|(count, _)| *count > 0);
    gone.map(|(count, word)| format!("{} {word}", replicas(count)))
        .collect()
}

/// The parts of a change; none if no replica runs nowhere afterwards, or if they cost nothing.
fn parts(costs: &Costs) -> Vec<String> {
    let (Some(change), Some(parts)) = (costs.change, costs.parts) else {
        return Vec::new();
    };
    let (parts, digits) = parts.written(change, DIGITS);
    let movement = &costs.movement;
    let lost = match (movement.lost, movement.waiting) {
        (0, 1..) => "waiting",
        (_, 0) => "lost",
        _ => "lost or waiting",
    };
    let gone = [
        (parts.lost, movement.lost + movement.waiting, lost),
        (parts.removed, movement.removed, "removed"),
        (parts.stranded, movement.stranded, "stranded"),
    ];
    let gone = gone.into_iter().filter(|(part, ..)| *part != Cost::ZERO);
    let mut texts: Vec<String> = gone
        .map(|(part, count, word)| {
            // Components are in each of their clusters as a whole, without replicas.
            let what = if count == 0 {
                "components".to_owned()
            } else {
                replicas(count)
            };
            format!("{} for {what} {word}", signed_to(part, digits))
        })
        .collect();
    if !texts.is_empty() && parts.placed != Cost::ZERO {
        texts.push(format!("{} for the others", signed_to(parts.placed, digits)));
    }
    texts
}

fn replicas(count: i64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "replica")
}

/// `not counted: no price per GPU hour on eu-1, eu-2`, or `for` bindings; `None` if everything is counted.
pub(super) fn unknown<'a>(
    preposition: &str,
    of_each: impl Iterator<Item = (&'a str, impl Iterator<Item = &'a CostError>)>,
) -> Option<String> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, reasons) in of_each {
        for reason in reasons {
            let names = by_reason.entry(reason.to_string()).or_default();
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
    }
    let parts = by_reason.into_iter().map(|(reason, names)| {
        let named = listed(names.into_iter(), NAMED_MAX);
        format!("{reason} {preposition} {named}")
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("not counted: {}", parts.join("; ")))
}

/// A change with its sign, as typographers write it.
pub(super) fn signed(change: Cost) -> String {
    format!("{change:+}").replace('-', "−")
}

/// The same, with so many digits after the decimal point.
fn signed_to(change: Cost, digits: u32) -> String {
    format!("{change:+.digits$}", digits = digits as usize).replace('-', "−")
}
