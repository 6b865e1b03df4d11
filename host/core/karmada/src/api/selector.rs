//! Label and field selectors.
//!
//! Matching follows `metav1.LabelSelectorAsSelector`, and the syntax that it demands (`label_syntax`): what that refuses matches nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::label_syntax::{is_label_key, is_label_value};
use super::words::Word;
use super::{StringMap, is_default, nullable};

pub use divvy_framework_view::words::SelectorOperator;

/// One requirement of a label or field selector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SelectorRequirement {
    /// Key of the label, or name of the field (`provider`, `region`, `zone`).
    #[serde(deserialize_with = "nullable")]
    pub key: String,
    /// Operator that compares the value.
    #[serde(deserialize_with = "nullable")]
    pub operator: Word<SelectorOperator>,
    /// Values to compare with.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub values: Vec<String>,
}

/// A requirement on a label.
pub type LabelSelectorRequirement = SelectorRequirement;

/// A query over labels. All requirements must hold; without any, it matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels that must be present with exactly these values.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub match_labels: StringMap,
    /// Further requirements.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

impl LabelSelector {
    /// True if an object with these labels matches.
    pub fn matches(&self, labels: &StringMap) -> bool {
        self.is_met_by(labels) && self.unmatchable().is_none()
    }

    /// True if labels meet every requirement. Whether a label can be as they demand is for the caller to ask ([`Self::unmatchable`]).
    pub fn is_met_by(&self, labels: &StringMap) -> bool {
        let mut expressions = self.match_expressions.iter();
        self.match_labels
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value))
            && expressions.all(|requirement| requirement.matches(labels.get(&requirement.key)))
    }

    /// The reason why Kubernetes refuses the selector, which then matches nothing (`metav1.LabelSelectorAsSelector`); `None` if it does not.
    pub fn unmatchable(&self) -> Option<Unmatchable<'_>> {
        let labels = self.match_labels.iter().find_map(|(key, value)| {
            let key = Some(key.as_str()).filter(|key| !is_label_key(key));
            key.or_else(|| Some(value.as_str()).filter(|value| !is_label_value(value)))
        });
        labels.map(Unmatchable::Text).or_else(|| {
            self.match_expressions.iter().find_map(|requirement| {
                let key = Some(requirement.key.as_str()).filter(|key| !is_label_key(key));
                key.map(Unmatchable::Text).or_else(|| requirement.unmatchable())
            })
        })
    }
}

/// The reason why Kubernetes refuses a selector. Karmada's API server takes it, and it matches nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatchable<'a> {
    /// A key or value that no label can have.
    Text(&'a str),
    /// An operator that compares with values, without any.
    WithoutValues(&'a str),
    /// An operator that compares with nothing, with values.
    WithValues(&'a str),
    /// An operator that label selectors do not have.
    Operator(&'a str),
}

impl<'a> Unmatchable<'a> {
    /// The part of the selector that is refused.
    pub fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::WithoutValues(text) | Self::WithValues(text) | Self::Operator(text) => text,
        }
    }
}

impl fmt::Display for Unmatchable<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "no label can be `{text}`"),
            Self::WithoutValues(operator) => write!(formatter, "the operator `{operator}` needs at least one value"),
            Self::WithValues(operator) => write!(formatter, "the operator `{operator}` takes no values"),
            Self::Operator(operator) => write!(formatter, "label selectors have no operator `{operator}`"),
        }
    }
}

impl SelectorRequirement {
    /// The reason why Kubernetes refuses the requirement (`labels.NewRequirement`), apart from its key.
    fn unmatchable(&self) -> Option<Unmatchable<'_>> {
        let operator = self.operator.as_str();
        match self.operator.known() {
            Some(SelectorOperator::In | SelectorOperator::NotIn) if self.values.is_empty() => {
                return Some(Unmatchable::WithoutValues(operator));
            }
            Some(SelectorOperator::Exists | SelectorOperator::DoesNotExist) if !self.values.is_empty() => {
                return Some(Unmatchable::WithValues(operator));
            }
            Some(
                SelectorOperator::In
                | SelectorOperator::NotIn
                | SelectorOperator::Exists
                | SelectorOperator::DoesNotExist,
            ) => {}
            _ => return Some(Unmatchable::Operator(operator)),
        }
        let mut values = self.values.iter().map(String::as_str);
        values.find(|value| !is_label_value(value)).map(Unmatchable::Text)
    }

    fn matches(&self, value: Option<&String>) -> bool {
        match self.operator.known() {
            Some(SelectorOperator::In) => value.is_some_and(|value| self.values.contains(value)),
            Some(SelectorOperator::NotIn) => !value.is_some_and(|value| self.values.contains(value)),
            Some(SelectorOperator::Exists) => value.is_some(),
            Some(SelectorOperator::DoesNotExist) => value.is_none(),
            _ => false,
        }
    }
}

/// A query over the fields `provider`, `region` and `zone` of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FieldSelector {
    /// Requirements, all of which must hold.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub match_expressions: Vec<SelectorRequirement>,
}

impl FieldSelector {
    /// The reason why the selector matches nothing; `None` if it can match. Karmada compares providers and regions by a label selector, and
    /// zones as they are.
    pub fn unmatchable(&self) -> Option<Unmatchable<'_>> {
        let compared = self
            .match_expressions
            .iter()
            .filter(|requirement| requirement.key != "zone");
        compared.into_iter().find_map(SelectorRequirement::unmatchable)
    }
}
