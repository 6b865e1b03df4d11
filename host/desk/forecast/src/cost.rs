//! Costs by the prices of the profile's `[profile.cost]`, in the form in which documents have them.
//!
//! A cost is exact until it is written: each of the texts is rounded once, so that rounded parts may differ from a rounded sum in the
//! last digit. A price that is missing is named, and never counts as zero: the known part is then a lower bound.

use std::fmt;

use divvy_scheduler::cost::{Cost, CostError, KnownCost, Pricing};
use serde::{Serialize, Serializer};

use crate::movement::Movement;

/// Digits after the decimal point of a cost in a document, at least.
const DIGITS: u32 = 6;

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
    /// Parts of `change`. Only of all clusters together, and absent if `change` is.
    #[serde(serialize_with = "as_parts", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "WrittenParts"))]
    pub parts: Option<CostParts>,
    /// Replicas that move, come or go between the states that `change` compares.
    #[serde(skip)]
    pub movement: Movement,
}

/// Costs in the earlier state of replicas that run nowhere in the later one, by the reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoneCosts {
    /// Of replicas that a decision removes.
    pub removed: KnownCost,
    /// Of replicas that are lost, or that wait, because a decision failed.
    pub lost: KnownCost,
    /// Of replicas of bindings that are not scheduled.
    pub stranded: KnownCost,
    /// The replicas.
    pub movement: Movement,
}

/// Parts of a change of costs, which add up to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostParts {
    /// Of replicas that a decision removes: what they cost before, as a negative number.
    pub removed: Cost,
    /// Of replicas that are lost, or that wait, because a decision failed, in the same way.
    pub lost: Cost,
    /// Of replicas of bindings that are not scheduled, in the same way.
    pub stranded: Cost,
    /// Of all other replicas, which stay, move or are added.
    pub placed: Cost,
}

/// Parts of a change of costs, which add up to it, each in the form of `perHour`. All but `placed` are what replicas cost that run
/// nowhere afterwards, as negative numbers: a lower cost because of them is not a saving.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CostParts"))]
struct WrittenParts {
    /// Of replicas that a decision removes, such as those of a workload with fewer replicas.
    removed: String,
    /// Of replicas that are lost, or that wait, because a decision failed.
    lost: String,
    /// Of replicas of bindings that are not scheduled.
    stranded: String,
    /// Of all other replicas, which stay, move or are added.
    placed: String,
}

impl CostParts {
    /// The parts of a change. `None` if it is not known what the replicas cost that are gone.
    pub(crate) fn new(change: Cost, gone: &GoneCosts) -> Option<Self> {
        let saved = |cost: &KnownCost| match cost.errors.is_empty() {
            true => Cost::ZERO.minus(cost.known),
            false => None,
        };
        let parts = Self {
            removed: saved(&gone.removed)?,
            lost: saved(&gone.lost)?,
            stranded: saved(&gone.stranded)?,
            placed: Cost::ZERO,
        };
        let placed = change.minus(parts.removed)?.minus(parts.lost)?.minus(parts.stranded)?;
        Some(Self { placed, ..parts })
    }

    /// The parts as they are written, with the number of digits after the decimal point, at least `least`. They add up to `change` as it
    /// is written: the last part takes what the others lose by rounding.
    pub fn written(&self, change: Cost, least: u32) -> (Self, u32) {
        let gone = [self.removed, self.lost, self.stranded];
        let all = gone.into_iter().chain([change]).map(|part| part.digits_from(least));
        let digits = all.max().unwrap_or(least);
        let [removed, lost, stranded] = gone.map(|part| rounded(part, digits));
        let change = rounded(change, change.digits_from(least));
        let placed = [removed, lost, stranded].into_iter().try_fold(change, Cost::minus);
        let placed = placed.unwrap_or(self.placed);
        let parts = Self {
            removed,
            lost,
            stranded,
            placed,
        };
        (parts, digits)
    }
}

/// A cost as it is read back from its text.
fn rounded(cost: Cost, digits: u32) -> Cost {
    let text = format!("{cost:.digits$}", digits = digits as usize);
    let read = match text.strip_prefix('-') {
        Some(text) => text.parse().ok().and_then(|cost| Cost::ZERO.minus(cost)),
        None => text.parse().ok(),
    };
    read.unwrap_or(cost)
}

fn as_parts<S: Serializer>(parts: &Option<CostParts>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(parts) = parts else {
        return serializer.serialize_none();
    };
    let mut gone = [parts.removed, parts.lost, parts.stranded].into_iter();
    let change = gone.try_fold(parts.placed, Cost::plus);
    let (parts, digits) = parts.written(change.unwrap_or_default(), DIGITS);
    let text = |cost: Cost| format!("{cost:.digits$}", digits = digits as usize);
    let written = WrittenParts {
        removed: text(parts.removed),
        lost: text(parts.lost),
        stranded: text(parts.stranded),
        placed: text(parts.placed),
    };
    written.serialize(serializer)
}

fn as_text<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    let digits = cost.digits_from(DIGITS) as usize;
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
            parts: None,
            movement: Movement::default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(text: &str) -> Cost {
        let magnitude = text.trim_start_matches('-').parse().unwrap();
        match text.starts_with('-') {
            true => Cost::ZERO.minus(magnitude).unwrap(),
            false => magnitude,
        }
    }

    fn gone(removed: &str, lost: &str) -> GoneCosts {
        let known = |text: &str| KnownCost {
            known: cost(text),
            errors: Vec::new(),
        };
        GoneCosts {
            removed: known(removed),
            lost: known(lost),
            ..GoneCosts::default()
        }
    }

    #[test]
    fn parts_add_up_to_the_change_exactly_and_as_they_are_written() {
        for (change, removed, lost) in [
            ("-7.1838", "2.5", "6"),
            ("0", "1", "0"),
            ("1.000000499", "0.000000499", "0.000000333"),
            ("-0.333333333", "0.166666666", "0.166666667"),
            ("-0.000000012", "0.000000007", "0"),
            ("12345678.5", "0.000000001", "99.999999999"),
        ] {
            let parts = CostParts::new(cost(change), &gone(removed, lost)).unwrap();
            let sum = |parts: &CostParts| {
                let all = [parts.removed, parts.lost, parts.stranded, parts.placed].into_iter();
                all.fold(Cost::ZERO, |sum, part| sum.plus(part).unwrap())
            };
            assert_eq!(sum(&parts), cost(change), "{parts:?}");
            for least in [4, 6] {
                let (written, digits) = parts.written(cost(change), least);
                let shown = cost(change).digits_from(least) as usize;
                assert_eq!(
                    sum(&written),
                    cost(&format!("{:.shown$}", cost(change))),
                    "{change} with {least} digits"
                );
                // Nothing is hidden behind the digits that are printed.
                let text = format!("{:.width$}", written.placed, width = digits as usize);
                assert_eq!(cost(&text), written.placed);
            }
        }
    }

    #[test]
    fn what_is_gone_makes_a_change_smaller_and_the_rest_is_placed() {
        let parts = CostParts::new(cost("-7.1838"), &gone("2.5", "6")).unwrap();
        assert_eq!(parts.lost, cost("-6"));
        assert_eq!(parts.removed, cost("-2.5"));
        assert_eq!(parts.placed, cost("1.3162"));
    }

    #[test]
    fn without_a_price_no_part_is_known() {
        let mut gone = gone("2.5", "6");
        gone.lost.errors.push(CostError::TooLarge);
        assert_eq!(CostParts::new(cost("-7"), &gone), None);
    }
}
