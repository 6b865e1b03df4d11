//! Reasons per cluster, kept in little memory while decisions are made.
//!
//! The explanation of one decision on a thousand clusters takes half a megabyte, and thousands of them would not fit in memory. Each
//! text is therefore kept once, and the reasons of clusters without replicas as runs of equal ones, which most bindings share.

use std::collections::{BTreeMap, HashMap};

use divvy_forecast::cluster_view::{Standing, standing};
use divvy_scheduler::cycle::{ClusterExplanation, Explanation};

use crate::texts::Texts;

/// Maximum runs that are kept for all bindings together. Beyond them, only clusters with replicas are explained.
const RUNS_MAX: usize = 400_000;

/// The reasons of one binding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explained {
    /// Numbers of the texts of clusters that have or had replicas, by name.
    pub(crate) with_replicas: BTreeMap<String, u32>,
    /// Number of the list of runs; `None` if it was left out.
    pub(crate) others: Option<u32>,
}

/// Consecutive clusters, in the order of the explanation, with one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) start: u32,
    pub(crate) length: u32,
    pub(crate) text: u32,
}

/// The reasons of all bindings.
#[derive(Debug, Clone, Default)]
pub struct Explanations {
    pub(crate) texts: Texts,
    lists: HashMap<Vec<Run>, u32>,
    pub(crate) runs: Vec<Vec<Run>>,
    /// Names of all clusters in the order of the explanations.
    pub(crate) clusters: Vec<String>,
    kept: usize,
    left_out: usize,
    is_brief: bool,
}

impl Explanations {
    /// Reasons of decisions, which are explained only for clusters that have or had replicas if `is_brief` is true.
    pub fn for_scope(is_brief: bool) -> Self {
        Self {
            is_brief,
            ..Self::default()
        }
    }

    /// Adds the reason of one cluster of a binding.
    pub fn remark(&mut self, explained: &mut Explained, cluster: &str, text: &str) {
        let text = self.texts.number(text);
        explained.with_replicas.insert(cluster.to_owned(), text);
    }

    /// Adds the explanation of a decision. `message` is the reason why the decision failed; it is empty otherwise.
    ///
    /// All explanations must be about the same clusters, that is, about one fleet.
    pub fn add(&mut self, explanation: &Explanation, message: &str) -> Explained {
        if !self.is_brief && self.clusters.len() < explanation.clusters.len() {
            self.clusters = explanation
                .clusters
                .iter()
                .map(|cluster| cluster.name.clone())
                .collect();
        }
        let mut explained = Explained::default();
        let mut runs: Vec<Run> = Vec::new();
        let mut has_room = !self.is_brief && self.clusters.len() == explanation.clusters.len();
        for (index, cluster) in (0_u32..).zip(&explanation.clusters) {
            if cluster.replicas.is_some() || cluster.last.is_some() {
                let text = self.texts.number(&text(cluster, message));
                explained.with_replicas.insert(cluster.name.clone(), text);
                continue;
            }
            has_room &= self.kept + runs.len() < RUNS_MAX;
            if !has_room {
                continue;
            }
            let text = self.texts.number(&text(cluster, message));
            match runs.last_mut() {
                Some(run) if run.text == text && run.start + run.length == index => run.length += 1,
                _ => runs.push(Run {
                    start: index,
                    length: 1,
                    text,
                }),
            }
        }
        explained.others = self.list(runs, has_room);
        explained
    }

    /// The number of a list of runs, if there is room for it.
    fn list(&mut self, runs: Vec<Run>, has_room: bool) -> Option<u32> {
        if !has_room {
            self.left_out += 1;
            return None;
        }
        if let Some(&known) = self.lists.get(&runs) {
            return Some(known);
        }
        self.kept += runs.len();
        let number = u32::try_from(self.runs.len()).ok()?;
        self.lists.insert(runs.clone(), number);
        self.runs.push(runs);
        Some(number)
    }

    /// Number of bindings for which only clusters with replicas are explained.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

/// The reason of one cluster, with its figures: `1/4 of the weight; fits 34, score 100`.
fn text(cluster: &ClusterExplanation, message: &str) -> String {
    let (standing, why) = standing(cluster, message);
    let head = match standing {
        Standing::Rejected => return format!("rejected: {why}"),
        Standing::NotSelected if why.is_empty() => "not selected".to_owned(),
        Standing::NotSelected => format!("not selected: {why}"),
        Standing::Candidate if cluster.replicas.is_none() && why.is_empty() => "candidate".to_owned(),
        Standing::Candidate if cluster.replicas.is_none() => format!("candidate: {why}"),
        Standing::Candidate | Standing::Undecided => why,
    };
    let figures = [
        cluster.tier.map(|tier| format!("tier {tier}")),
        cluster.fits_now.map(|fits| format!("fits {fits}")),
        cluster.score.map(|score| format!("score {score}")),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    match (head.is_empty(), figures.is_empty()) {
        (_, true) => head,
        (true, false) => figures.join(", "),
        (false, false) => format!("{head} ({})", figures.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use divvy_scheduler::cycle::Note;

    use super::*;

    fn explanation(replicas_of_first: i64) -> Explanation {
        let rejected = |name: &str| ClusterExplanation {
            name: name.to_owned(),
            rejected: Some(Note {
                plugin: "taints".to_owned(),
                text: "tainted".to_owned(),
            }),
            ..ClusterExplanation::default()
        };
        let first = ClusterExplanation {
            name: "a".to_owned(),
            candidate: true,
            replicas: Some(replicas_of_first),
            fits_now: Some(9),
            ..ClusterExplanation::default()
        };
        Explanation {
            clusters: vec![first, rejected("b"), rejected("c")],
            ..Explanation::default()
        }
    }

    #[test]
    fn equal_reasons_are_kept_once() {
        let mut explanations = Explanations::default();
        let first = explanations.add(&explanation(1), "");
        let second = explanations.add(&explanation(2), "");
        assert_eq!(first, second);
        assert_eq!(
            explanations.runs,
            [[Run {
                start: 1,
                length: 2,
                text: 1
            }]]
        );
        assert_eq!(
            explanations.texts.into_texts(),
            ["fits 9", "rejected: tainted [taints]"]
        );
        assert_eq!(first.with_replicas, BTreeMap::from([("a".to_owned(), 0)]));
    }
}
