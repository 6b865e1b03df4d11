//! Divvy's annotations on a binding and its policy, and which of them takes precedence.
//!
//! Each annotation is looked up separately, on the binding first. On the same object, the proper annotation takes
//! precedence over the singular `metadata.annotation` of the printed manifests.

use std::collections::BTreeMap;

use super::error::InvalidBinding;
use super::request::StrategySource;
use super::{
    AFFINITY_GROUPS_ANNOTATION, PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION, QUORUM_ANNOTATION,
    STRATEGY_ANNOTATION,
};
use crate::input::{PlanInput, TextMap};
use divvy_karmada::detector::PolicyFacts;
use divvy_spanned::Warning;

/// The objects that can carry annotations, in order of precedence.
#[derive(Clone, Copy)]
pub(super) struct Carriers<'a> {
    binding: Carrier<'a>,
    policy: Option<Carrier<'a>>,
}

#[derive(Clone, Copy)]
struct Carrier<'a> {
    name: &'static str,
    annotations: TextMap<'a>,
    /// The singular `metadata.annotation`.
    annotation: Option<&'a str>,
    /// The policy, if it is the carrier and its name is known.
    policy: Option<&'a PolicyFacts>,
}

impl Carrier<'_> {
    /// The value of an annotation, with its location for messages.
    fn written<'a>(&self, annotation: &str, text: &'a str) -> Written<'a> {
        Written {
            text,
            annotation: annotation.to_owned(),
            origin: match self.policy {
                Some(policy) => format!("{}'s `{annotation}`", policy.object_name()),
                None => format!("the {}'s `{annotation}`", self.name),
            },
        }
    }
}

/// The value of an annotation.
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    /// Name of the annotation.
    pub(super) annotation: String,
    /// Location, for messages.
    pub(super) origin: String,
}

impl<'a> Carriers<'a> {
    pub(super) fn new(input: &PlanInput<'a>) -> Self {
        Self {
            binding: Carrier {
                name: "binding",
                annotations: input.annotations.all(),
                annotation: input.annotation,
                policy: None,
            },
            policy: input.policy.map(|policy| Carrier {
                name: "policy",
                annotations: TextMap::from(&policy.annotations),
                annotation: policy.annotation.as_deref(),
                policy: Some(policy).filter(|policy| !policy.name.is_empty()),
            }),
        }
    }

    fn each(self) -> impl Iterator<Item = Carrier<'a>> {
        [self.binding].into_iter().chain(self.policy)
    }

    /// The strategy that an annotation names.
    pub(super) fn strategy(self) -> Option<(&'a str, StrategySource)> {
        self.each().find_map(|carrier| {
            let name = carrier.annotations.get(STRATEGY_ANNOTATION)?.trim();
            let source = match carrier.name {
                "binding" => StrategySource::BindingAnnotation,
                _ => StrategySource::PolicyAnnotation,
            };
            Some((name, source))
        })
    }

    /// The preferences as JSON.
    pub(super) fn preferences(self, warnings: &mut Vec<Warning>) -> Option<Written<'a>> {
        self.each().find_map(|carrier| {
            let name = carrier.name;
            if let Some(text) = carrier.annotations.get(PREFERENCES_ANNOTATION) {
                return Some(carrier.written(PREFERENCES_ANNOTATION, text));
            }
            let text = carrier.annotation?;
            let message = format!(
                "the {name}'s `metadata.annotation` is not a Kubernetes field; treating it as the annotation `{PREFERENCES_ANNOTATION}`"
            );
            let clean = format!("write `annotations: {{{PREFERENCES_ANNOTATION}: '{text}'}}`");
            warnings.push(Warning::new(message).with_hint(clean));
            Some(carrier.written("metadata.annotation", text))
        })
    }

    /// The preferences in annotations that name a plugin, by its name.
    pub(super) fn plugin_preferences(self) -> BTreeMap<&'a str, Written<'a>> {
        let mut found = BTreeMap::new();
        for carrier in self.each() {
            for (key, text) in carrier.annotations.iter() {
                if let Some(plugin) = key.strip_prefix(PLUGIN_PREFERENCES_PREFIX) {
                    found.entry(plugin).or_insert_with(|| carrier.written(key, text));
                }
            }
        }
        found
    }

    /// The quorum; `None` if neither object has the annotation.
    pub(super) fn quorum(self) -> Option<Written<'a>> {
        self.each().find_map(|carrier| {
            let value = carrier.annotations.get(QUORUM_ANNOTATION)?;
            Some(carrier.written(QUORUM_ANNOTATION, value.trim()))
        })
    }

    /// True if affinity groups are tiers; `None` if neither object has the annotation.
    pub(super) fn affinity_groups_as_tiers(self) -> Result<Option<bool>, InvalidBinding> {
        let found = self.each().find_map(|carrier| {
            let value = carrier.annotations.get(AFFINITY_GROUPS_ANNOTATION)?;
            Some(carrier.written(AFFINITY_GROUPS_ANNOTATION, value.trim()))
        });
        let tiers = found.map(|written| are_tiers(written.text, written.origin));
        let tiers = tiers.transpose();
        tiers.map_err(|error| error.of_annotation(AFFINITY_GROUPS_ANNOTATION))
    }
}

/// True if affinity groups are tiers by this value of [`AFFINITY_GROUPS_ANNOTATION`].
pub(super) fn are_tiers(value: &str, origin: String) -> Result<bool, InvalidBinding> {
    match value {
        "tiers" => Ok(true),
        "fallback" => Ok(false),
        other => Err(InvalidBinding::InvalidValue {
            origin,
            expected: "`tiers` or `fallback`".to_owned(),
            actual: other.to_owned(),
        }),
    }
}
