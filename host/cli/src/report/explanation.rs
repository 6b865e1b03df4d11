//! Why each cluster got what it got: `--explain` in a table.
//!
//! Candidates have their account below their line. The others are told at the end, clusters of one reason together, so
//! that the account of a thousand clusters can be read; the structured outputs have each cluster on its own.

use std::collections::BTreeMap;

use divvy_scheduler::cycle::explanation::ClusterExplanation;
use divvy_scheduler::scheduler::Outcome;

use super::entry::{Entry, ProfileSummary};
use super::grid::Grid;
use super::style;
use super::text::listed;

/// So many clusters that share a reason are named.
const NAMED_MAX: usize = 24;
/// Where the account of a cluster begins.
const INDENT: usize = 6;

/// The account of one binding.
#[derive(Debug)]
pub(super) struct Account<'a, 'report> {
    entry: &'a Entry<'report>,
    profile: &'a ProfileSummary,
    candidates: BTreeMap<&'a str, &'a ClusterExplanation>,
    /// What the strategy says of every candidate alike.
    common_remark: Option<String>,
}

impl<'a, 'report> Account<'a, 'report> {
    /// The account of a binding, as far as there is one.
    pub(super) fn new(entry: &'a Entry<'report>, profile: &'a ProfileSummary) -> Self {
        let clusters = entry
            .decision
            .explanation
            .iter()
            .flat_map(|explanation| &explanation.clusters);
        let candidates: BTreeMap<&str, &ClusterExplanation> = clusters
            .filter(|cluster| cluster.candidate)
            .map(|cluster| (cluster.name.as_str(), cluster))
            .collect();
        let mut remarks = candidates.values().map(|cluster| cluster.remarks.join("; "));
        let first = remarks
            .next()
            .filter(|remark| candidates.len() > 1 && !remark.is_empty());
        let common_remark = first.filter(|first| remarks.all(|remark| remark == *first));
        Self {
            entry,
            profile,
            candidates,
            common_remark,
        }
    }

    /// Which strategy by what right, and what holds for every cluster.
    pub(super) fn add_heading(&self, grid: &mut Grid) {
        let Entry { binding, decision } = self.entry;
        if let Ok(plan) = decision.plan.as_ref() {
            let mut text = format!("{} by {}", plan.strategy, plan.source);
            if !decision.affinity.is_empty() {
                text.push_str(&format!(", affinity group `{}`", decision.affinity));
            }
            if binding.is_fresh() {
                text.push_str(", from scratch");
            }
            if matches!(decision.outcome, Outcome::Scheduled(_)) {
                let candidates = self.candidates.len();
                let clusters = decision
                    .explanation
                    .as_ref()
                    .map_or(0, |account| account.clusters.len());
                text.push_str(&format!("; {candidates} of {clusters} clusters are candidates"));
            }
            let plugins: Vec<&str> = self.profile.weights.keys().map(String::as_str).collect();
            if !plugins.is_empty() && !self.candidates.is_empty() {
                text.push_str(&format!(", scored by {}", plugins.join(", ")));
            }
            grid.text(2, text, style::FAINT);
        }
        for note in decision.explanation.iter().flat_map(|explanation| &explanation.notes) {
            grid.text(2, format!("{}: {}", note.plugin, note.text), style::NOTABLE);
        }
        if let Some(remark) = &self.common_remark {
            grid.text(2, format!("each: {remark}"), style::PLAIN);
        }
    }

    /// Says below a cluster's line why it got what it got.
    pub(super) fn add_remarks(&self, grid: &mut Grid, cluster: &str) {
        if let Some(candidate) = self.candidates.get(cluster) {
            grid.text(INDENT, self.remarks(candidate), style::FAINT);
        }
    }

    /// Candidates that got nothing, a line each.
    pub(super) fn add_candidates_without_replicas(&self, grid: &mut Grid) {
        let has_lines = matches!(self.entry.decision.outcome, Outcome::Scheduled(_));
        for (name, candidate) in &self.candidates {
            let has_line = has_lines && (candidate.replicas.is_some() || candidate.last.is_some());
            if !has_line {
                grid.text(2, format!("{name}: {}", self.remarks(candidate)), style::FAINT);
            }
        }
    }

    /// What the strategy says of a candidate's count, and what counted for it.
    fn remarks(&self, candidate: &ClusterExplanation) -> String {
        let figures = self.figures(candidate);
        let remarks = candidate.remarks.join("; ");
        if remarks.is_empty() || self.common_remark.is_some() {
            figures
        } else {
            format!("{remarks} ({figures})")
        }
    }

    /// `tier 1, last 3, fits 34, score 100`.
    fn figures(&self, cluster: &ClusterExplanation) -> String {
        let mut parts = Vec::new();
        parts.extend(cluster.tier.map(|tier| format!("tier {}", tier + 1)));
        parts.extend(cluster.last.map(|last| format!("last {last}")));
        // A resource without replicas fits without end.
        let bounded = cluster.fits_now.filter(|fits| *fits < i64::from(i32::MAX));
        parts.extend(bounded.map(|fits| format!("fits {fits}")));
        if let Some(total) = cluster.score {
            let of_plugins: Vec<String> = cluster
                .scores
                .iter()
                .map(|score| match self.profile.weights.get(&score.plugin) {
                    None | Some(1) => format!("{} {}", score.plugin, score.score),
                    Some(weight) => format!("{} {} × {weight}", score.plugin, score.score),
                })
                .collect();
            match (of_plugins.as_slice(), cluster.scores.as_slice()) {
                ([], _) => parts.push(format!("score {total}")),
                // The heading names the one plugin that scores.
                (_, [only]) if only.score == total => parts.push(format!("score {total}")),
                (of_plugins, _) => parts.push(format!("score {total} = {}", of_plugins.join(" + "))),
            }
        }
        parts.join(", ")
    }

    /// The clusters that are no candidates: not selected, or rejected by a filter and why.
    pub(super) fn add_what_was_left_out(&self, grid: &mut Grid) {
        let Some(explanation) = &self.entry.decision.explanation else {
            return;
        };
        let mut left_out = Vec::new();
        let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for cluster in &explanation.clusters {
            match &cluster.rejected {
                Some(rejected) => {
                    let reason = (rejected.text.as_str(), rejected.plugin.as_str());
                    by_reason.entry(reason).or_default().push(&cluster.name);
                }
                None if !cluster.candidate && cluster.score.is_some() => {
                    left_out.push(format!("{} ({})", cluster.name, self.figures(cluster)));
                }
                None => {}
            }
        }
        if !left_out.is_empty() {
            let names = listed(left_out.iter().map(String::as_str), NAMED_MAX);
            grid.text(2, format!("not selected: {names}"), style::PLAIN);
        }
        for ((reason, plugin), names) in by_reason {
            let plugin = if plugin.is_empty() {
                String::new()
            } else {
                format!(" [{plugin}]")
            };
            let (count, names) = (names.len(), listed(names.iter().copied(), NAMED_MAX));
            grid.text(2, format!("rejected: {count} {reason}{plugin}: {names}"), style::PLAIN);
        }
    }
}
