//! Why each cluster got what it got, below its binding: `--explain` in a table.
//!
//! Clusters with one reason share a line, so that the account of a thousand clusters can be read; the structured
//! outputs have each cluster on its own.

use std::collections::BTreeMap;

use divvy_host::cycle::explanation::{ClusterExplanation, Explanation};

use super::entry::{Entry, Report};
use super::grid::Grid;
use super::style;
use super::text::{counted, listed};

/// So many clusters that share a reason are named.
const NAMED_MAX: usize = 24;

/// Adds the account of a binding, if there is one.
pub(super) fn add_to(grid: &mut Grid, entry: &Entry<'_>, report: &Report<'_>) {
    if let Ok(request) = &entry.input.strategy {
        let mut text = format!("strategy: {} ({})", request.strategy, request.source);
        if !entry.decision.affinity.is_empty() {
            text.push_str(&format!(", affinity group `{}`", entry.decision.affinity));
        }
        if entry.input.fresh {
            text.push_str(", divided from scratch");
        }
        grid.text(4, text, style::FAINT);
    }
    let Some(explanation) = &entry.decision.explanation else {
        return;
    };
    for cluster in explanation.clusters.iter().filter(|cluster| cluster.candidate) {
        grid.text(4, candidate(cluster, report), style::PLAIN);
    }
    let left_out: Vec<&ClusterExplanation> = explanation
        .clusters
        .iter()
        .filter(|cluster| !cluster.candidate && cluster.rejected.is_none() && cluster.score.is_some())
        .collect();
    if !left_out.is_empty() {
        let named: Vec<String> = left_out.iter().map(|cluster| figures(cluster, report)).collect();
        let names = listed(named.iter().map(String::as_str), NAMED_MAX);
        grid.text(4, format!("feasible, not selected: {names}"), style::PLAIN);
    }
    rejections(grid, explanation);
    for note in &explanation.notes {
        grid.text(4, format!("note of {}: {}", note.plugin, note.text), style::NOTABLE);
    }
}

/// What counted for a candidate, and what the strategy says of its count.
fn candidate(cluster: &ClusterExplanation, report: &Report<'_>) -> String {
    let mut text = figures(cluster, report);
    match cluster.replicas {
        Some(replicas) => text.push_str(&format!(" → {}", counted_replicas(replicas))),
        None => text.push_str(" → nothing"),
    }
    if !cluster.remarks.is_empty() {
        text.push_str(&format!(": {}", cluster.remarks.join("; ")));
    }
    text
}

fn counted_replicas(replicas: i64) -> String {
    match replicas {
        1 => "1 replica".to_owned(),
        replicas => format!("{replicas} replicas"),
    }
}

/// `member1 (last 3, fits 34 more, score 100 = cluster-locality 100 × 1)`.
fn figures(cluster: &ClusterExplanation, report: &Report<'_>) -> String {
    let mut parts = Vec::new();
    parts.extend(cluster.tier.map(|tier| format!("tier {}", tier + 1)));
    parts.extend(cluster.last.map(|last| format!("last {last}")));
    // What nothing bounds is said to fit without end.
    let bounded = cluster.fits_now.filter(|fits| *fits < i64::from(i32::MAX));
    parts.extend(bounded.map(|fits| format!("fits {fits} more")));
    if let Some(score) = cluster.score {
        let of_plugins: Vec<String> = cluster
            .scores
            .iter()
            .map(|score| {
                let weight = report.profile.weights.get(&score.plugin).copied().unwrap_or(1);
                match weight {
                    1 => format!("{} {}", score.plugin, score.score),
                    weight => format!("{} {} × {weight}", score.plugin, score.score),
                }
            })
            .collect();
        parts.push(match of_plugins.is_empty() {
            true => format!("score {score}"),
            false => format!("score {score} = {}", of_plugins.join(" + ")),
        });
    }
    format!("{} ({})", cluster.name, parts.join(", "))
}

/// Rejected clusters by plugin and reason.
fn rejections(grid: &mut Grid, explanation: &Explanation) {
    let mut by_reason: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for cluster in &explanation.clusters {
        if let Some(rejected) = &cluster.rejected {
            let key = (rejected.plugin.as_str(), rejected.text.as_str());
            by_reason.entry(key).or_default().push(&cluster.name);
        }
    }
    for ((plugin, reason), names) in by_reason {
        let who = match plugin {
            "" => "left out".to_owned(),
            plugin => format!("rejected by {plugin}"),
        };
        let text = format!(
            "{who}: {reason}: {}: {}",
            counted(names.len(), "cluster"),
            listed(names.iter().copied(), NAMED_MAX)
        );
        grid.text(4, text, style::PLAIN);
    }
}
