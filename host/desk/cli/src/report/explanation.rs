//! Explanations in the table (`--explain`): the reasons for each cluster's replicas, or for having none.
//!
//! The explanation of a candidate follows its line. All other clusters come at the end, grouped by reason, so that a
//! report on a thousand clusters remains readable. The structured outputs explain each cluster separately.

use std::collections::BTreeMap;

use divvy_command::grid::Grid;
use divvy_command::style;
use divvy_command::text::listed;
use divvy_scheduler::cycle::explanation::{ClusterExplanation, LeftOut, PluginScore};
use divvy_scheduler::decision::Outcome;

use super::entry::{Entry, ProfileSummary};

/// Maximum number of clusters that are not selected and named.
const NAMED_MAX: usize = 24;
/// Maximum number of clusters named per reason of a rejection. Data name all.
const REJECTED_MAX: usize = 8;
/// Indentation of the explanation of a cluster, in columns.
const INDENT: usize = 6;

/// Remarks of plugins about a cluster, apart from its scores.
fn joined_remarks(cluster: &ClusterExplanation) -> String {
    let texts: Vec<&str> = cluster.reasons.iter().map(|reason| reason.text.as_str()).collect();
    texts.join("; ")
}

/// A score's reason, in parentheses, if the plugin gives one in its own words. Others are clear from the figures.
fn reason_text(score: &PluginScore) -> String {
    match score.reason.as_ref().filter(|reason| reason.is_plain()) {
        Some(reason) => format!(" ({})", reason.text),
        None => String::new(),
    }
}

/// Explanation of one binding.
#[derive(Debug)]
pub(super) struct Account<'a, 'report> {
    entry: &'a Entry<'report>,
    profile: &'a ProfileSummary,
    candidates: BTreeMap<&'a str, &'a ClusterExplanation>,
    /// Remark that the strategy makes on every candidate: printed once, in the heading.
    common_remark: Option<String>,
}

impl<'a, 'report> Account<'a, 'report> {
    /// Collects the explanation of a binding; without one in the decision, only the heading has content.
    pub(super) fn new(entry: &'a Entry<'report>, profile: &'a ProfileSummary) -> Self {
        let explanation = entry.decision.explanation.iter();
        let clusters = explanation.flat_map(|explanation| &explanation.clusters);
        let candidates = clusters.filter(|cluster| cluster.candidate);
        let candidates: BTreeMap<&str, &ClusterExplanation> =
            candidates.map(|cluster| (cluster.name.as_str(), cluster)).collect();
        let mut remarks = candidates.values().map(|cluster| joined_remarks(cluster));
        let first = remarks.next();
        let first = first.filter(|remark| candidates.len() > 1 && !remark.is_empty());
        let common_remark = first.filter(|first| remarks.all(|remark| remark == *first));
        Self {
            entry,
            profile,
            candidates,
            common_remark,
        }
    }

    /// Adds the strategy, the field that chose it, and notes and remarks that apply to every cluster.
    pub(super) fn add_heading(&self, grid: &mut Grid<'_>) {
        let Entry { binding, decision, .. } = self.entry;
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
                let explanation = decision.explanation.as_ref();
                let clusters = explanation.map_or(0, |explanation| explanation.clusters.len());
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
        for skipped in &decision.without {
            grid.text(2, skipped.to_string(), style::BAD);
        }
        if let Some(text) = self.entry.share_text() {
            grid.text(2, text, style::NOTABLE);
        }
        if let Some(remark) = &self.common_remark {
            grid.text(2, format!("each: {remark}"), style::PLAIN);
        }
    }

    /// Adds the explanation of a candidate, below its line. Adds nothing for other clusters.
    pub(super) fn add_remarks(&self, grid: &mut Grid<'_>, cluster: &str) {
        if let Some(candidate) = self.candidates.get(cluster) {
            grid.text(INDENT, self.remarks(candidate), style::FAINT);
        }
    }

    /// Adds one line for each candidate that the table itself does not list.
    pub(super) fn add_candidates_without_replicas(&self, grid: &mut Grid<'_>) {
        let has_lines = matches!(self.entry.decision.outcome, Outcome::Scheduled(_));
        for (name, candidate) in &self.candidates {
            let has_line = has_lines && (candidate.replicas.is_some() || candidate.last.is_some());
            if !has_line {
                grid.text(2, format!("{name}: {}", self.remarks(candidate)), style::FAINT);
            }
        }
    }

    /// Remarks of the strategy on a candidate, with the figures behind them.
    fn remarks(&self, candidate: &ClusterExplanation) -> String {
        let remarks = joined_remarks(candidate);
        if remarks.is_empty() || self.common_remark.is_some() {
            return self.figures(candidate, |_| false);
        }
        // A figure that the reason mentions is not printed again.
        let is_said = |figure: &str| {
            candidate
                .reasons
                .iter()
                .any(|reason| reason.figures.contains_key(figure))
        };
        match self.figures(candidate, is_said) {
            figures if figures.is_empty() => remarks,
            figures => format!("{remarks} ({figures})"),
        }
    }

    /// Figures of a cluster, without those that its remarks mention: `tier 1, last 3, fits 34, score 100`.
    fn figures(&self, cluster: &ClusterExplanation, is_said: impl Fn(&str) -> bool) -> String {
        let mut parts = Vec::new();
        parts.extend(cluster.tier.map(|tier| format!("tier {tier}")));
        let last = cluster.last.filter(|_| !is_said("last") && !is_said("keeps"));
        parts.extend(last.map(|last| format!("last {last}")));
        let fits = cluster.fits_now.filter(|_| !is_said("fitsNow"));
        parts.extend(fits.map(|fits| format!("fits {fits}")));
        if let Some(total) = cluster.score {
            let of_plugins: Vec<String> = cluster
                .scores
                .iter()
                .map(|score| {
                    let weighted = match self.profile.weights.get(&score.plugin) {
                        None | Some(1) => format!("{} {}", score.plugin, score.score),
                        Some(weight) => format!("{} {} × {weight}", score.plugin, score.score),
                    };
                    format!("{weighted}{}", reason_text(score))
                })
                .collect();
            match (of_plugins.as_slice(), cluster.scores.as_slice()) {
                ([], _) => parts.push(format!("score {total}")),
                // The heading already names the only plugin that scores.
                (_, [only]) if only.score == total => parts.push(format!("score {total}{}", reason_text(only))),
                (of_plugins, _) => parts.push(format!("score {total} = {}", of_plugins.join(" + "))),
            }
        }
        parts.join(", ")
    }

    /// Reason why a cluster was left out, if its selector gives one, and its figures.
    fn left_out(&self, cluster: &ClusterExplanation) -> String {
        let figures = self.figures(cluster, |_| false);
        let Some(LeftOut { plugin, reason }) = &cluster.left_out else {
            return figures;
        };
        let reason = reason.as_ref().map_or("", |reason| reason.text.as_str());
        // With a single selector there is nothing to distinguish.
        match (self.profile.selectors > 1, reason) {
            (false, "") => figures,
            (false, reason) => format!("{reason}; {figures}"),
            (true, "") => format!("by {plugin}; {figures}"),
            (true, reason) => format!("by {plugin}: {reason}; {figures}"),
        }
    }

    /// Adds the clusters that are not candidates: first those not selected, then those rejected by a filter, by reason.
    pub(super) fn add_what_was_left_out(&self, grid: &mut Grid<'_>) {
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
                    left_out.push(format!("{} ({})", cluster.name, self.left_out(cluster)));
                }
                None => {}
            }
        }
        if !left_out.is_empty() {
            let names = listed(left_out.iter().map(String::as_str), NAMED_MAX);
            grid.text(2, format!("not selected: {names}"), style::PLAIN);
        }
        for ((reason, plugin), names) in by_reason {
            let plugin = match plugin {
                "" => String::new(),
                plugin => format!(" [{plugin}]"),
            };
            let (count, names) = (names.len(), listed(names.iter().copied(), REJECTED_MAX));
            grid.text(2, format!("rejected: {count} {reason}{plugin}: {names}"), style::PLAIN);
        }
    }
}
