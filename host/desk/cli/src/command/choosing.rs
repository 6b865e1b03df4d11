//! Arguments that choose what is shown. They never affect what is decided.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use divvy_client::listing::ListedWorkloads;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure, headline};
use divvy_command::style;
use divvy_forecast::choice::{BindingPattern, ClusterChoice};
use divvy_forecast::labels::LabelQuery;
use divvy_forecast::selection::{Selection, SelectionError, nearest_clusters};
use divvy_karmada::api::{ResourceBinding, TypeMeta};
use divvy_karmada::detector::Binding;
use divvy_manifests::{Manifests, WorkloadLabels};

use super::input::InputArguments;

/// Heading of these options.
const SHOWN: &str = "Selection of what is shown (never of what is decided)";

/// Arguments that choose what is shown.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ChoosingArguments {
    /// Bindings: `BINDING`, `NAMESPACE/BINDING`, `KIND/NAME` or `NAMESPACE/KIND/NAME`, with globs; all by default
    #[arg(value_name = "BINDING")]
    bindings: Vec<BindingPattern>,
    /// Bindings in this namespace
    #[arg(long, short, value_name = "NAMESPACE", help_heading = SHOWN)]
    namespace: Option<String>,
    /// Bindings whose workload has labels that match, such as `app=web,tier in (gold,silver),!canary`
    ///
    /// With `--kubeconfig`, the workloads are listed, because bindings do not carry their labels. This needs the right to `list` their
    /// kinds.
    #[arg(long, short = 'l', value_name = "SELECTOR", help_heading = SHOWN)]
    selector: Option<LabelQuery>,
    /// Show clusters instead of bindings, each with its replicas before and after; by name, glob, `region=` and so on
    #[arg(long, value_name = "CLUSTERS", help_heading = SHOWN)]
    cluster: Vec<ClusterChoice>,
    /// Print nothing but errors: the exit code is the answer
    #[arg(long, short, conflicts_with = "output", help_heading = SHOWN)]
    pub(super) quiet: bool,
}

/// The bindings to show.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    /// Keys, each with its kinds; `None` for every binding.
    keys: Option<BTreeMap<String, Vec<&'static str>>>,
}

impl ChoosingArguments {
    /// True if some bindings may be left out.
    pub(super) fn is_partial(&self) -> bool {
        !self.bindings.is_empty() || self.namespace.is_some() || self.selector.is_some()
    }

    /// The workloads of a live control plane whose labels a selector needs and the manifests lack.
    pub(super) fn live_workloads(
        &self,
        input: &InputArguments,
        manifests: &Manifests,
        console: &Console,
    ) -> Result<ListedWorkloads, Failure> {
        if self.selector.is_none() {
            return Ok(ListedWorkloads::default());
        }
        let known = WorkloadLabels::of(manifests);
        let bindings = manifests.bindings.iter().map(|located| &*located.object);
        let is_in = |binding: &&ResourceBinding| {
            let namespace = self.namespace.as_ref();
            namespace.is_none_or(|namespace| binding.metadata.namespace == *namespace)
        };
        let unknown = bindings
            .filter(is_in)
            .filter(|binding| known.for_binding(binding).is_none());
        let kinds = unknown.map(|binding| TypeMeta {
            api_version: binding.spec.resource.api_version.clone(),
            kind: binding.spec.resource.kind.clone(),
        });
        let listed = input.live_workloads(&kinds.collect(), self.namespace.as_deref())?;
        for unlisted in &listed.unlisted {
            let cause = &unlisted.source;
            console.message(|out| headline(out, "warning", style::WARNING, &format!("{unlisted}: {cause}")));
        }
        Ok(listed)
    }

    /// The labels of workloads, if a selector needs them: of manifests first, then of a live control plane.
    pub(super) fn labels(&self, manifests: &Manifests, live: &ListedWorkloads) -> WorkloadLabels {
        if self.selector.is_none() {
            return WorkloadLabels::default();
        }
        let mut labels = WorkloadLabels::of(manifests);
        for (type_meta, metadata) in &live.workloads {
            labels.add(type_meta, metadata);
        }
        labels
    }

    /// True if clusters are shown instead of bindings.
    pub(super) fn shows_clusters(&self) -> bool {
        !self.cluster.is_empty()
    }

    /// The bindings to show. A part that matches nothing is an error with exit code 2.
    pub(super) fn shown<'a>(
        &self,
        bindings: impl Iterator<Item = &'a Binding>,
        labels: &'a WorkloadLabels,
    ) -> Result<Shown, Failure> {
        if !self.is_partial() {
            return Ok(Shown::default());
        }
        let bindings: Vec<&Binding> = bindings.collect();
        let selection = Selection {
            patterns: self.bindings.clone(),
            namespace: self.namespace.clone(),
            labels: self.selector.clone(),
        };
        let selected = selection.select(&bindings, |binding| labels.for_binding(&binding.object));
        let selected = selected.map_err(|errors| Failure::usage_errors(errors.iter().map(diagnostic).collect()))?;
        let keys = bindings.iter().zip(selected).filter(|(_, is_selected)| *is_selected);
        let mut kinds_by_key = BTreeMap::<String, Vec<&str>>::new();
        for (binding, _) in keys {
            let kinds = kinds_by_key.entry(binding.key()).or_default();
            kinds.push(binding.object.scope().kind());
        }
        Ok(Shown {
            keys: Some(kinds_by_key),
        })
    }

    /// Names of the clusters to show. A choice that includes none is an error with exit code 2.
    pub(super) fn clusters<'a>(
        &self,
        clusters: impl Iterator<Item = &'a divvy_karmada::api::Cluster> + Clone,
    ) -> Result<Vec<&'a str>, Failure> {
        let mut diagnostics = Vec::new();
        for choice in &self.cluster {
            if !clusters.clone().any(|cluster| choice.includes(cluster)) {
                let diagnostic = Diagnostic::new(format!("no cluster matches `{choice}`"));
                let names = clusters.clone().map(|cluster| cluster.metadata.name.as_str());
                diagnostics.push(Diagnostic {
                    hint: nearest_clusters(choice, names),
                    ..diagnostic
                });
            }
        }
        if !diagnostics.is_empty() {
            return Err(Failure::usage_errors(diagnostics));
        }
        let chosen = clusters.filter(|cluster| self.cluster.iter().any(|choice| choice.includes(cluster)));
        let mut names: Vec<&str> = chosen.map(|cluster| cluster.metadata.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

impl Shown {
    /// True if some bindings are not shown.
    pub(super) fn is_partial(&self) -> bool {
        self.keys.is_some()
    }

    /// True if a binding is shown.
    pub(super) fn includes(&self, binding: &Binding) -> bool {
        self.keys.is_none() || self.includes_key(&binding.key(), binding.object.scope().kind())
    }

    /// True if the binding with this key and kind is shown.
    pub(super) fn includes_key(&self, key: &str, kind: &str) -> bool {
        let is_of_kind = |keys: &BTreeMap<String, Vec<&str>>| keys.get(key).is_some_and(|kinds| kinds.contains(&kind));
        self.keys.as_ref().is_none_or(is_of_kind)
    }

    /// True if a binding with this key is shown, of either kind.
    pub(super) fn includes_name(&self, key: &str) -> bool {
        self.keys.as_ref().is_none_or(|keys| keys.contains_key(key))
    }
}

fn diagnostic(error: &SelectionError) -> Diagnostic {
    let hint = match error {
        SelectionError::NoBinding { pattern, .. } if Path::new(pattern).exists() => Some(format!(
            "`{pattern}` is a path: manifests are passed with `-f {pattern}`"
        )),
        error => error.hint(),
    };
    Diagnostic {
        hint,
        ..Diagnostic::new(error.to_string())
    }
}

/// Keeps the first rows, as `--top` says, and returns how many are left out.
pub(super) fn keep_top<T>(rows: &mut Vec<T>, most: Option<usize>) -> usize {
    let left_out = rows.len().saturating_sub(most.unwrap_or(usize::MAX));
    rows.truncate(rows.len() - left_out);
    left_out
}
