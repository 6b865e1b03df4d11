//! Costs of a cluster, of all clusters and of a binding, by the prices of the profile's `[profile.cost]`.
//!
//! A cost is exact until it is written: each of the texts is rounded once, so that rounded parts may differ from a rounded sum in the
//! last digit. A price that is missing is named, and never counts as zero: the known part is then a lower bound.

use std::fmt;
use std::sync::Arc;

use divvy_scheduler::cost::{Cost, CostError, KnownCost, Pricing};
use divvy_scheduler::fleet::Footprint;
use serde::{Serialize, Serializer};

use crate::document::ClusterRow;
use crate::headroom::Subject;
use crate::headroom::document::{HeadroomCost, HeadroomRow};
use crate::situation::{Assignment, Situation};

/// A cost per hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HourlyCost {
    /// The part with known prices, as a decimal number with six digits after the decimal point, or up to nine if it is below 0.00001.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub per_hour: Cost,
    /// Reasons why more is not known, such as `no price per GPU hour`. `perHour` is then a lower bound.
    #[serde(serialize_with = "as_texts", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub unknown: Vec<CostError>,
}

/// Costs in each state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Costs {
    /// Unit of the prices, as the profile names it.
    pub unit: String,
    /// Of the replicas assigned.
    pub before: HourlyCost,
    /// Without the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<HourlyCost>,
    /// With the changes.
    pub after: HourlyCost,
    /// `after` less `base`, or less `before` without a base, in the form of `perHour`. Absent if one of them is not known completely.
    #[serde(serialize_with = "as_optional_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub change: Option<Cost>,
}

fn as_text<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    let digits = cost.digits_from(6) as usize;
    serializer.collect_str(&format_args!("{cost:.digits$}"))
}

fn as_texts<S: Serializer>(errors: &[CostError], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(ToString::to_string))
}

fn as_optional_text<S: Serializer>(cost: &Option<Cost>, serializer: S) -> Result<S::Ok, S::Error> {
    match cost {
        Some(cost) => as_text(cost, serializer),
        None => serializer.serialize_none(),
    }
}

impl From<KnownCost> for HourlyCost {
    fn from(cost: KnownCost) -> Self {
        Self {
            per_hour: cost.known,
            unknown: cost.errors,
        }
    }
}

impl fmt::Display for HourlyCost {
    /// `12.3400`; with a `≥` before it if a price is missing, or `?` if all are.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.unknown.is_empty(), self.per_hour) {
            (true, cost) => write!(formatter, "{cost}"),
            (false, Cost::ZERO) => formatter.write_str("?"),
            (false, cost) => write!(formatter, "≥ {cost}"),
        }
    }
}

impl From<&HourlyCost> for KnownCost {
    fn from(cost: &HourlyCost) -> Self {
        Self {
            known: cost.per_hour,
            errors: cost.unknown.clone(),
        }
    }
}

impl Costs {
    /// The costs of a cluster, a binding or all of them.
    pub fn new(pricing: &Pricing, before: HourlyCost, base: Option<HourlyCost>, after: HourlyCost) -> Self {
        let mut costs = Self {
            unit: pricing.unit().to_owned(),
            before,
            base,
            after,
            change: None,
        };
        let from = costs.from();
        if from.unknown.is_empty() && costs.after.unknown.is_empty() {
            costs.change = costs.after.per_hour.minus(from.per_hour);
        }
        costs
    }

    /// The earlier state: the base, or the replicas assigned without one.
    pub fn from(&self) -> &HourlyCost {
        self.base.as_ref().unwrap_or(&self.before)
    }
}

/// The costs of all clusters; `None` if there are no prices.
pub fn total(rows: &[ClusterRow], pricing: Option<&Arc<Pricing>>) -> Option<Costs> {
    let pricing = pricing?;
    let sum = |read: fn(&Costs) -> &HourlyCost| {
        let costs = rows.iter().filter_map(|row| row.cost.as_ref());
        let sum: KnownCost = costs.map(|costs| KnownCost::from(read(costs))).sum();
        HourlyCost::from(sum)
    };
    let mut costs = rows.iter().filter_map(|row| row.cost.as_ref());
    let has_base = costs.any(|costs| costs.base.is_some());
    let base = has_base.then(|| sum(Costs::from));
    Some(Costs::new(
        pricing,
        sum(|costs| &costs.before),
        base,
        sum(|costs| &costs.after),
    ))
}

/// Adds the costs of each binding to its row: now, and with the largest number of replicas. `rows` are in the order of `subjects`.
pub fn add_to_headroom<'a>(
    rows: impl Iterator<Item = &'a mut HeadroomRow>,
    subjects: &[Subject<'_>],
    situation: &Situation,
    pricing: &Pricing,
) {
    for (row, subject) in rows.zip(subjects) {
        let footprint = Footprint::new(&subject.binding.object.spec);
        let cost = |targets: &mut dyn Iterator<Item = (&str, i64)>| {
            let costs = targets.map(|(name, replicas)| {
                let cluster = situation.clusters.get(name).map(|entry| &entry.object);
                pricing.cost_of_replicas(cluster, &footprint, replicas)
            });
            HourlyCost::from(costs.sum::<KnownCost>())
        };
        let nothing = Assignment::new();
        let present = subject.entry.map_or(&nothing, |entry| &*entry.targets);
        let most = row.most.or(row.fits).is_some();
        row.cost = Some(HeadroomCost {
            unit: pricing.unit().to_owned(),
            now: cost(&mut present.iter().map(|(name, replicas)| (name.as_str(), *replicas))),
            most: most.then(|| {
                let targets = row.clusters.iter();
                cost(&mut targets.map(|target| (target.name.as_str(), target.replicas)))
            }),
        });
    }
}
