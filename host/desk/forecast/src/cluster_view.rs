//! A forecast from one cluster's view: the replicas of each binding that it has and gets, or the reason why it gets none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_karmada::detector::Binding;
use divvy_scheduler::cost::Pricing;
use divvy_scheduler::cycle::{ClusterExplanation, Explanation, LeftOut};
use serde::Serialize;

use crate::document::ClusterRow;
use crate::load::{self, Load};
use crate::situation::{Assignment, Situation};

/// Views of some clusters, as written to JSON. The schema is in `schema/clusters.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterViewsDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The clusters, by name.
    pub clusters: Vec<ClusterView>,
    /// Sums over the clusters that are listed.
    pub totals: ClusterViewTotals,
}

/// Sums over some clusters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterViewTotals {
    /// Clusters.
    pub clusters: usize,
    /// Bindings that have replicas there after the decisions.
    pub bindings: usize,
    /// Replicas that the clusters have.
    pub before: i64,
    /// Replicas that they get.
    pub after: i64,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`.
    pub left_out: usize,
}

impl ClusterViewTotals {
    fn of(views: &[ClusterView]) -> Self {
        let rows = views.iter().flat_map(|view| &view.bindings);
        let here = rows.filter(|row| row.after.is_some());
        let bindings: BTreeSet<(&str, &str)> = here.map(|row| (row.binding.as_str(), row.kind.as_str())).collect();
        let clusters = || views.iter().map(|view| &view.cluster);
        Self {
            clusters: views.len(),
            bindings: bindings.len(),
            before: clusters().map(|cluster| cluster.before).sum(),
            after: clusters().map(|cluster| cluster.after).sum(),
            left_out: 0,
        }
    }
}

/// One cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterView {
    /// The cluster, with the sums of all bindings, whether they are listed or not.
    #[serde(flatten)]
    pub cluster: ClusterRow,
    /// The bindings, by key.
    pub bindings: Vec<ClusterViewRow>,
}

/// One binding, as a cluster sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterViewRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Strategy; empty if the binding is invalid.
    pub strategy: String,
    /// Result of the whole binding.
    pub result: String,
    /// Replicas that the cluster has, 0 for a resource without replicas; absent if it has none of the binding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Replicas without the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<i64>,
    /// Replicas that it gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// Outcome for the cluster when the binding was decided.
    pub standing: Standing,
    /// The reason, or the strategy's remarks; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Replicas that fit when the binding was decided; absent if it was not estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits_now: Option<i64>,
}

/// Outcome for a cluster when a binding was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// Nothing was decided.
    #[default]
    Undecided,
    /// A filter rejected it.
    Rejected,
    /// No filter rejected it, and Select left it out.
    NotSelected,
    /// It was a candidate.
    Candidate,
}

/// A binding before and after it was decided.
#[derive(Debug, Clone)]
pub struct Placed<'a> {
    /// The binding.
    pub binding: &'a Binding,
    /// Its strategy; empty if it is invalid.
    pub strategy: String,
    /// Its result.
    pub result: &'a str,
    /// Reason why it was not decided, or not scheduled.
    pub message: String,
    /// Its clusters before.
    pub before: Assignment,
    /// Its clusters without the changes.
    pub base: Option<&'a Assignment>,
    /// Its clusters after.
    pub after: Assignment,
    /// The explanation of the decision, if there was one.
    pub explanation: Option<&'a Explanation>,
}

/// Replicas and resources of every cluster, before and after a run in which every binding was decided on the same clusters.
pub fn totals<'a>(
    situation: &Situation,
    pricing: Option<&Arc<Pricing>>,
    bindings: impl IntoIterator<Item = (&'a Binding, Assignment, Assignment)>,
) -> Vec<ClusterRow> {
    let (mut before, mut after) = (Load::new(pricing), Load::new(pricing));
    for (binding, had, gets) in bindings {
        before.add(binding, &had);
        after.add(binding, &gets);
    }
    load::rows(situation, situation, &before, None, &after)
}

/// Views of the clusters with these names. Clusters that do not exist have no view.
pub fn views(names: &[&str], rows: &[ClusterRow], placed: &[Placed<'_>]) -> ClusterViewsDocument {
    let rows: BTreeMap<&str, &ClusterRow> = rows.iter().map(|row| (row.name.as_str(), row)).collect();
    let clusters = names.iter().filter_map(|name| {
        let cluster = ClusterRow::clone(rows.get(name)?);
        let mut bindings: Vec<ClusterViewRow> = placed.iter().map(|placed| placed.seen_from(name)).collect();
        bindings.sort_by(|left, right| (&left.binding, &left.kind).cmp(&(&right.binding, &right.kind)));
        Some(ClusterView { cluster, bindings })
    });
    let clusters: Vec<ClusterView> = clusters.collect();
    ClusterViewsDocument {
        format: crate::document::FORMAT,
        totals: ClusterViewTotals::of(&clusters),
        clusters,
    }
}

impl Placed<'_> {
    /// Reason why the binding was not scheduled; empty if it was, even with fewer replicas than requested.
    pub fn failure(&self) -> &str {
        match self.result {
            "Scheduled" => "",
            _ => &self.message,
        }
    }

    fn seen_from(&self, cluster: &str) -> ClusterViewRow {
        let mut row = ClusterViewRow {
            binding: self.binding.key(),
            kind: self.binding.object.scope().kind().to_owned(),
            strategy: self.strategy.clone(),
            result: self.result.to_owned(),
            before: self.before.get(cluster).copied(),
            base: self.base.and_then(|base| base.get(cluster).copied()),
            after: self.after.get(cluster).copied(),
            ..ClusterViewRow::default()
        };
        let clusters = self.explanation.map_or(&[][..], |explanation| &explanation.clusters);
        let found = clusters.binary_search_by(|known| known.name.as_str().cmp(cluster));
        let Some(found) = found.ok().and_then(|index| clusters.get(index)) else {
            self.failure().clone_into(&mut row.why);
            return row;
        };
        row.fits_now = found.fits_now;
        (row.standing, row.why) = standing(found, self.failure());
        row
    }
}

/// Outcome for a cluster when a binding was decided, with its reason. `message` is the reason why the binding was not scheduled; it is
/// empty otherwise.
pub fn standing(cluster: &ClusterExplanation, message: &str) -> (Standing, String) {
    match &cluster.rejected {
        Some(note) if note.plugin.is_empty() => (Standing::Rejected, note.text.clone()),
        Some(note) => (Standing::Rejected, format!("{} [{}]", note.text, note.plugin)),
        None if cluster.candidate => {
            let texts: Vec<&str> = cluster.reasons.iter().map(|reason| reason.text.as_str()).collect();
            let reasons = texts.join("; ");
            let why = if reasons.is_empty() {
                message.to_owned()
            } else {
                reasons
            };
            (Standing::Candidate, why)
        }
        // A binding that failed before Select did not distinguish its clusters.
        None if message.is_empty() => (Standing::NotSelected, left_out(cluster)),
        None => (Standing::NotSelected, message.to_owned()),
    }
}

/// The selector that left a cluster out, and its reason.
fn left_out(cluster: &ClusterExplanation) -> String {
    let Some(LeftOut { plugin, reason }) = &cluster.left_out else {
        return String::new();
    };
    match reason {
        Some(reason) => format!("{} [{plugin}]", reason.text),
        None => format!("[{plugin}]"),
    }
}
