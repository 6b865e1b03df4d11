//! Selection of the bindings to show. Decisions never depend on it.

use std::collections::{BTreeMap, BTreeSet};

use divvy_karmada::api::StringMap;
use divvy_karmada::detector::Binding;
use divvy_spanned::names::nearest;

use crate::choice::{BindingPattern, ClusterChoice};
use crate::labels::LabelQuery;

/// Names that a message suggests.
const SUGGESTED_MAX: usize = 3;

/// Bindings to show: those that a pattern includes, in the namespace, and whose workload the selector matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Patterns; a binding must match one of them. Without patterns, all match.
    pub patterns: Vec<BindingPattern>,
    /// Namespace of the binding; `None` for any.
    pub namespace: Option<String>,
    /// Selector over the labels of the workload.
    pub labels: Option<LabelQuery>,
}

/// A part of a selection that matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// A pattern includes no binding.
    #[error("no binding matches `{pattern}`")]
    NoBinding {
        /// The pattern.
        pattern: String,
        /// Bindings with nearly that name.
        nearest: Vec<String>,
    },
    /// No binding is in the namespace.
    #[error("no binding is in the namespace `{namespace}`")]
    NoNamespace {
        /// The namespace.
        namespace: String,
        /// Namespaces with nearly that name.
        nearest: Vec<String>,
    },
    /// No workload has such labels.
    #[error("no workload has labels that match `{selector}`")]
    NoLabels {
        /// The selector.
        selector: String,
        /// Bindings whose workload is not in the input, so that its labels are unknown.
        unknown: usize,
    },
    /// Each part matches a binding, but no binding matches all of them.
    #[error("no binding matches {parts} together")]
    NoneTogether {
        /// The parts.
        parts: String,
    },
}

impl SelectionError {
    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoBinding { nearest, .. } => did_you_mean(nearest).or_else(|| {
                Some(
                    "bindings are named as `BINDING`, `NAMESPACE/BINDING`, `KIND/NAME` or `NAMESPACE/KIND/NAME`"
                        .to_owned(),
                )
            }),
            Self::NoNamespace { nearest, .. } => did_you_mean(nearest),
            Self::NoLabels { unknown: 0, .. } | Self::NoneTogether { .. } => None,
            Self::NoLabels { unknown, .. } => Some(format!(
                "the input lacks the workloads of {unknown} of the bindings, so their labels are unknown"
            )),
        }
    }
}

/// ``did you mean `a` or `b`?``
pub(crate) fn did_you_mean(names: &[String]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}

/// The name that resembles a wrong one most, if any does.
fn similar(wrong: &str, known: &BTreeSet<String>) -> Vec<String> {
    let found = nearest(wrong, known.iter().map(String::as_str));
    found.map(str::to_owned).into_iter().collect()
}

/// Bindings whose name, in the form of the pattern, resembles it.
pub fn nearest_bindings<'a>(pattern: &BindingPattern, bindings: impl IntoIterator<Item = &'a Binding>) -> Vec<String> {
    let wrong = pattern.to_string();
    let parts = wrong.split('/').count();
    let (first, wrong) = wrong.rsplit_once('/').unwrap_or(("", &wrong));
    let bindings: Vec<&Binding> = bindings.into_iter().collect();
    let is_kind = |binding: &&Binding| binding.object.spec.resource.kind.eq_ignore_ascii_case(first);
    // After a known kind, the name is that of a workload.
    let names_workloads = bindings.iter().any(is_kind);
    // Compared by the last part alone: kinds and namespaces are alike anyway.
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut know = |name: &str, whole: String| _ = known.entry(name.to_owned()).or_default().insert(whole);
    for binding in bindings {
        let metadata = &binding.object.metadata;
        let resource = &binding.object.spec.resource;
        let kind = resource.kind.to_lowercase();
        match parts {
            1 => know(&metadata.name, metadata.name.clone()),
            2 => {
                if !names_workloads {
                    know(&metadata.name, binding.key());
                }
                know(&resource.name, format!("{kind}/{}", resource.name));
            }
            _ => know(
                &resource.name,
                format!("{}/{kind}/{}", metadata.namespace, resource.name),
            ),
        }
    }
    let found = similar(wrong, &known.keys().cloned().collect());
    let whole = found.iter().filter_map(|name| known.get(name)).flatten();
    whole.take(SUGGESTED_MAX).cloned().collect()
}

/// The hint for a choice that includes no cluster.
pub fn nearest_clusters<'a>(choice: &ClusterChoice, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let similar = match choice {
        ClusterChoice::Name(name) => similar(name, &names.map(str::to_owned).collect()),
        _ => Vec::new(),
    };
    did_you_mean(&similar).or_else(|| {
        Some("clusters are chosen by name, glob, `region=`, `zone=`, `provider=` or `label:KEY=VALUE`".to_owned())
    })
}

impl Selection {
    /// Finds the selected bindings. `labels` are those of a binding's workload; `None` if it is not in the input. Returns
    /// one entry per binding, true if it is selected.
    ///
    /// # Errors
    ///
    /// Every part that matches nothing. An empty list of bindings is never an error.
    pub fn select<'a>(
        &self,
        bindings: &[&'a Binding],
        labels: impl Fn(&'a Binding) -> Option<&'a StringMap>,
    ) -> Result<Vec<bool>, Vec<SelectionError>> {
        let mut errors = Vec::new();
        for pattern in &self.patterns {
            if !bindings.iter().any(|binding| pattern.includes(binding)) {
                errors.push(SelectionError::NoBinding {
                    pattern: pattern.to_string(),
                    nearest: nearest_bindings(pattern, bindings.iter().copied()),
                });
            }
        }
        let is_in = |namespace: &String, binding: &Binding| binding.object.metadata.namespace == *namespace;
        if let Some(namespace) = &self.namespace
            && !bindings.iter().any(|binding| is_in(namespace, binding))
        {
            let known = bindings.iter().map(|binding| binding.object.metadata.namespace.clone());
            errors.push(SelectionError::NoNamespace {
                namespace: namespace.clone(),
                nearest: similar(namespace, &known.filter(|name| !name.is_empty()).collect()),
            });
        }
        let is_labelled =
            |query: &LabelQuery, binding: &'a Binding| labels(binding).is_some_and(|labels| query.matches(labels));
        if let Some(query) = &self.labels
            && !bindings.iter().any(|binding| is_labelled(query, binding))
        {
            errors.push(SelectionError::NoLabels {
                selector: query.to_string(),
                unknown: bindings.iter().filter(|binding| labels(binding).is_none()).count(),
            });
        }
        let selected = bindings.iter().map(|binding| {
            (self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.includes(binding)))
                && self
                    .namespace
                    .as_ref()
                    .is_none_or(|namespace| is_in(namespace, binding))
                && self.labels.as_ref().is_none_or(|query| is_labelled(query, binding))
        });
        let selected: Vec<bool> = selected.collect();
        if errors.is_empty() && !selected.contains(&true) {
            errors.push(SelectionError::NoneTogether { parts: self.parts() });
        }
        match errors.is_empty() || bindings.is_empty() {
            true => Ok(selected),
            false => Err(errors),
        }
    }

    /// The parts as on the command line.
    fn parts(&self) -> String {
        let patterns = self.patterns.iter().map(|pattern| format!("`{pattern}`"));
        let namespace = self.namespace.iter().map(|namespace| format!("`-n {namespace}`"));
        let labels = self.labels.iter().map(|labels| format!("`-l {labels}`"));
        patterns.chain(namespace).chain(labels).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(namespace: &str, name: &str) -> Binding {
        let mut binding = Binding::default();
        binding.object.metadata.name = format!("{name}-deployment");
        binding.object.metadata.namespace = namespace.to_owned();
        binding.object.spec.resource.kind = "Deployment".to_owned();
        binding.object.spec.resource.name = name.to_owned();
        binding
    }

    fn select(selection: &Selection) -> Result<Vec<bool>, Vec<SelectionError>> {
        let bindings = [binding("shop", "web"), binding("shop", "cart"), binding("bank", "web")];
        let labels: StringMap = [("app".to_owned(), "web".to_owned())].into();
        let known = |binding: &Binding| binding.object.spec.resource.name == "web";
        let bindings: Vec<&Binding> = bindings.iter().collect();
        selection.select(&bindings, |binding| known(binding).then_some(&labels))
    }

    fn selection(patterns: &[&str], namespace: Option<&str>, labels: Option<&str>) -> Selection {
        Selection {
            patterns: patterns.iter().map(|text| text.parse().unwrap()).collect(),
            namespace: namespace.map(str::to_owned),
            labels: labels.map(|text| text.parse().unwrap()),
        }
    }

    #[test]
    fn every_part_must_match() {
        let cases = [
            (selection(&[], None, None), [true, true, true]),
            (selection(&["deployment/web"], None, None), [true, false, true]),
            (selection(&["shop/*"], None, None), [true, true, false]),
            (selection(&["shop/*", "bank/*"], None, None), [true, true, true]),
            (selection(&[], Some("bank"), None), [false, false, true]),
            (selection(&["web-*"], Some("shop"), None), [true, false, false]),
            (selection(&[], None, Some("app=web")), [true, false, true]),
            (selection(&[], Some("shop"), Some("app")), [true, false, false]),
        ];
        for (selection, expected) in cases {
            assert_eq!(select(&selection), Ok(expected.to_vec()), "{selection:?}");
        }
    }

    #[test]
    fn what_matches_nothing_is_named_with_similar_names() {
        let errors = select(&selection(
            &["web-deploymnt", "deployment/crt", "shop/*"],
            Some("shp"),
            Some("app=db"),
        ));
        let errors = errors.unwrap_err();
        let messages: Vec<(String, Option<String>)> =
            errors.iter().map(|error| (error.to_string(), error.hint())).collect();
        let expected = [
            ("no binding matches `web-deploymnt`", "did you mean `web-deployment`"),
            ("no binding matches `deployment/crt`", "did you mean `deployment/cart`"),
            ("no binding is in the namespace `shp`", "did you mean `shop`?"),
            (
                "no workload has labels that match `app=db`",
                "the input lacks the workloads of 1 of the bindings",
            ),
        ];
        assert_eq!(messages.len(), expected.len(), "{messages:?}");
        for ((error, hint), (message, start)) in messages.iter().zip(expected) {
            assert_eq!(error, message);
            assert!(hint.as_deref().is_some_and(|hint| hint.starts_with(start)), "{hint:?}");
        }
        let together = select(&selection(&["cart-deployment"], Some("bank"), None)).unwrap_err();
        assert_eq!(
            together[0].to_string(),
            "no binding matches `cart-deployment`, `-n bank` together"
        );
    }
}
