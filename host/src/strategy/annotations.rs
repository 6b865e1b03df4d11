//! Divvy's annotations on a binding and its policy: which of them counts, and where it stands.
//!
//! Each annotation is looked up on its own, on the binding first. On one object the proper annotation goes
//! before the singular `metadata.annotation` of the printed manifests.

use super::error::StrategyError;
use super::request::StrategySource;
use super::{AFFINITY_GROUPS_ANNOTATION, PREFERENCES_ANNOTATION, STRATEGY_ANNOTATION};
use crate::api::ObjectMeta;
use crate::manifests::Warning;

/// The objects that may carry annotations, in the order in which they count.
#[derive(Clone, Copy)]
pub(super) struct Carriers<'a> {
    pub(super) binding: Option<&'a ObjectMeta>,
    pub(super) policy: Option<&'a ObjectMeta>,
}

impl<'a> Carriers<'a> {
    fn each(self) -> impl Iterator<Item = (&'static str, &'a ObjectMeta)> {
        let binding = self.binding.map(|metadata| ("binding", metadata));
        binding
            .into_iter()
            .chain(self.policy.map(|metadata| ("policy", metadata)))
    }

    /// The strategy that an annotation names.
    pub(super) fn strategy(self) -> Option<(&'a str, StrategySource)> {
        self.each().find_map(|(carrier, metadata)| {
            let name = metadata.annotations.get(STRATEGY_ANNOTATION)?.trim();
            let source = match carrier {
                "binding" => StrategySource::BindingAnnotation,
                _ => StrategySource::PolicyAnnotation,
            };
            Some((name, source))
        })
    }

    /// The preferences in JSON, and where they stand.
    pub(super) fn preferences(self, warnings: &mut Vec<Warning>) -> Option<(&'a str, String)> {
        self.each().find_map(|(carrier, metadata)| {
            if let Some(text) = metadata.annotations.get(PREFERENCES_ANNOTATION) {
                return Some((text.as_str(), format!("the {carrier}'s `{PREFERENCES_ANNOTATION}`")));
            }
            let text = metadata.annotation.as_deref()?;
            let message = format!(
                "the {carrier}'s `metadata.annotation` is no field of Kubernetes; read as the annotation `{PREFERENCES_ANNOTATION}`"
            );
            let clean = format!("write `annotations: {{{PREFERENCES_ANNOTATION}: '{text}'}}`");
            warnings.push(Warning::new(message).with_hint(clean));
            Some((text, format!("the {carrier}'s `metadata.annotation`")))
        })
    }

    /// Whether affinity groups are tiers, where an annotation says so.
    pub(super) fn affinity_groups_as_tiers(self) -> Result<Option<bool>, StrategyError> {
        let found = self.each().find_map(|(carrier, metadata)| {
            metadata
                .annotations
                .get(AFFINITY_GROUPS_ANNOTATION)
                .map(|value| (carrier, value))
        });
        match found.map(|(carrier, value)| (carrier, value.trim())) {
            None => Ok(None),
            Some((_, "tiers")) => Ok(Some(true)),
            Some((_, "fallback")) => Ok(Some(false)),
            Some((carrier, other)) => Err(StrategyError::InvalidValue {
                origin: format!("the {carrier}'s `{AFFINITY_GROUPS_ANNOTATION}`"),
                expected: "`tiers` or `fallback`".to_owned(),
                actual: other.to_owned(),
            }),
        }
    }
}
