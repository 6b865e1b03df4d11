//! Clusters in preferences, at any depth: Karmada's form of a cluster affinity, or a text in its place.
//!
//! The host resolves the `targetCluster` of the entries of a [`RuleList`](crate::plugin::RuleList). Targets that are
//! nested more deeply are left to the plugin, as all free-form preferences are. These types read the same form.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Readable;
use crate::binding::{SelectorField, SelectorOperator};
use crate::clusters::ClusterSelector;

/// Clusters in the form of Karmada's `targetCluster`: names, labels, fields, and excluded clusters. A cluster must meet
/// all requirements.
///
/// ```
/// use divvy_framework::configuration::ClusterTarget;
/// use divvy_framework::prelude::*;
///
/// /// Clusters that are to stay empty.
/// #[derive(Preferences)]
/// struct Quiet {
///     clusters: ClusterTarget,
/// }
///
/// let json = serde_json::json!({ "clusters": { "labelSelector": { "matchLabels": { "tier": "bronze" } } } });
/// let quiet = Quiet::read(&json).unwrap();
/// assert_eq!(quiet.clusters.label_selector.match_labels["tier"], "bronze");
/// // In a call: `quiet.clusters.selector().compile(&context.clusters())`.
/// assert!(quiet.clusters.selector().reads_labels());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterTarget {
    /// Names of the only clusters that match; all if empty.
    pub cluster_names: Vec<String>,
    /// Names of clusters that do not match.
    #[serde(rename = "exclude")]
    pub exclude_clusters: Vec<String>,
    /// Requirements on labels.
    pub label_selector: LabelSelector,
    /// Requirements on region, zones and provider.
    pub field_selector: FieldSelector,
}

/// Requirements on the labels of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels that a cluster must have.
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    pub match_expressions: Vec<LabelRequirement>,
}

/// Requirements on the fields of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldSelector {
    /// The requirements.
    pub match_expressions: Vec<FieldRequirement>,
}

/// A requirement on a label.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelRequirement {
    /// Key of the label.
    pub key: String,
    /// The comparison.
    pub operator: LabelOperator,
    /// Values to compare with.
    #[serde(default)]
    pub values: Vec<String>,
}

/// A requirement on a field.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldRequirement {
    /// The field.
    pub key: Field,
    /// The comparison.
    pub operator: FieldOperator,
    /// Values to compare with.
    #[serde(default)]
    pub values: Vec<String>,
}

/// A field of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// `spec.provider`.
    Provider,
    /// `spec.region`.
    Region,
    /// `spec.zones`; any of them.
    Zone,
}

/// A comparison of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
pub enum LabelOperator {
    /// One of the values.
    In,
    /// None of the values, or absent.
    NotIn,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
}

/// A comparison of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
pub enum FieldOperator {
    /// One of the values.
    In,
    /// None of the values, or absent.
    NotIn,
}

impl From<Field> for SelectorField {
    fn from(field: Field) -> Self {
        match field {
            Field::Provider => Self::Provider,
            Field::Region => Self::Region,
            Field::Zone => Self::Zone,
        }
    }
}

impl From<LabelOperator> for SelectorOperator {
    fn from(operator: LabelOperator) -> Self {
        match operator {
            LabelOperator::In => Self::In,
            LabelOperator::NotIn => Self::NotIn,
            LabelOperator::Exists => Self::Exists,
            LabelOperator::DoesNotExist => Self::DoesNotExist,
        }
    }
}

impl From<FieldOperator> for SelectorOperator {
    fn from(operator: FieldOperator) -> Self {
        match operator {
            FieldOperator::In => Self::In,
            FieldOperator::NotIn => Self::NotIn,
        }
    }
}

impl ClusterTarget {
    /// True if it has no requirements, so every cluster matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A text, for instance for a tie key, that is the same for targets that differ only in the order of their parts.
    ///
    /// ```
    /// use divvy_framework::configuration::ClusterTarget;
    ///
    /// let named = |names: [&str; 2]| ClusterTarget { cluster_names: names.map(str::to_owned).into(), ..Default::default() };
    /// assert_eq!(named(["a", "b"]).canonical(), named(["b", "a"]).canonical());
    /// ```
    pub fn canonical(&self) -> String {
        let listed = |values: &[String]| {
            let mut sorted: Vec<&str> = values.iter().map(String::as_str).collect();
            sorted.sort_unstable();
            sorted.join(",")
        };
        let mut requirements: Vec<String> = Vec::new();
        for (key, value) in &self.label_selector.match_labels {
            requirements.push(format!("label {key} In {value}"));
        }
        for LabelRequirement { key, operator, values } in &self.label_selector.match_expressions {
            let operator = SelectorOperator::from(*operator).word();
            requirements.push(format!("label {key} {operator} {}", listed(values)));
        }
        for FieldRequirement { key, operator, values } in &self.field_selector.match_expressions {
            let (key, operator) = (
                SelectorField::from(*key).word(),
                SelectorOperator::from(*operator).word(),
            );
            requirements.push(format!("field {key} {operator} {}", listed(values)));
        }
        requirements.sort_unstable();
        let (names, excluded) = (listed(&self.cluster_names), listed(&self.exclude_clusters));
        format!("names {names}; exclude {excluded}; {}", requirements.join("; "))
    }

    /// The selector for its clusters.
    pub fn selector(&self) -> ClusterSelector {
        let mut selector = ClusterSelector::default();
        selector.names(&self.cluster_names).exclude(&self.exclude_clusters);
        for (key, value) in &self.label_selector.match_labels {
            selector.label(key, SelectorOperator::In, [value]);
        }
        for requirement in &self.label_selector.match_expressions {
            selector.label(&requirement.key, requirement.operator.into(), &requirement.values);
        }
        for requirement in &self.field_selector.match_expressions {
            selector.field(requirement.key.into(), requirement.operator.into(), &requirement.values);
        }
        selector
    }
}

/// A group of clusters in preferences: a text, several texts, or a [`ClusterTarget`]. The plugin decides what a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterMatch {
    /// A text, such as the name of a region.
    Text(String),
    /// Several texts.
    AnyOf(Vec<String>),
    /// Karmada's form.
    Target(ClusterTarget),
}

impl<'de> Deserialize<'de> for ClusterMatch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MatchVisitor)
    }
}

struct MatchVisitor;

impl<'de> Visitor<'de> for MatchVisitor {
    type Value = ClusterMatch;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text, a list of texts, or a mapping such as {\"clusterNames\": […]}")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ClusterMatch, E> {
        Ok(ClusterMatch::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ClusterMatch, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element()? {
            texts.push(text);
        }
        Ok(ClusterMatch::AnyOf(texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<ClusterMatch, A::Error> {
        ClusterTarget::deserialize(MapAccessDeserializer::new(entries)).map(ClusterMatch::Target)
    }
}

impl JsonSchema for ClusterMatch {
    fn schema_name() -> Cow<'static, str> {
        "ClusterMatch".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let target = generator.subschema_for::<ClusterTarget>();
        json_schema!({
            "description": "A text, several texts, or clusters in the form of Karmada's `targetCluster`.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }, target]
        })
    }
}

impl Readable for ClusterTarget {
    type Itself = Self;
}

impl Readable for ClusterMatch {
    type Itself = Self;
}

#[cfg(test)]
mod tests;
