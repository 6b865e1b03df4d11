//! Label and field selectors.
//!
//! Matching follows `metav1.LabelSelectorAsSelector`, and the syntax that it demands (`label_syntax`). `divvy_manifests` validates
//! operators; here an unknown operator matches nothing.

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

    /// The key or value that no label can have, because of which the selector matches nothing; `None` if there is none.
    pub fn unmatchable(&self) -> Option<&str> {
        let labels = self.match_labels.iter().find_map(|(key, value)| {
            let key = Some(key.as_str()).filter(|key| !is_label_key(key));
            key.or_else(|| Some(value.as_str()).filter(|value| !is_label_value(value)))
        });
        labels.or_else(|| {
            self.match_expressions.iter().find_map(|requirement| {
                let key = Some(requirement.key.as_str()).filter(|key| !is_label_key(key));
                key.or_else(|| requirement.unmatchable_value())
            })
        })
    }
}

impl SelectorRequirement {
    /// The first value that no label can have.
    fn unmatchable_value(&self) -> Option<&str> {
        let mut values = self.values.iter().map(String::as_str);
        values.find(|value| !is_label_value(value))
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
    /// The value that no label can have, because of which the selector matches nothing; `None` if there is none. Karmada compares
    /// providers and regions by a label selector, and zones as they are.
    pub fn unmatchable(&self) -> Option<&str> {
        let compared = self
            .match_expressions
            .iter()
            .filter(|requirement| requirement.key != "zone");
        compared.into_iter().find_map(SelectorRequirement::unmatchable_value)
    }
}
