//! The rules that a plugin's result must satisfy. A plugin's result is untrusted input.
//!
//! Some mistakes need no rule because the result's type excludes them: Filter cannot accept a cluster that an earlier
//! filter rejected, and Assign returns one count per candidate, so it cannot name a cluster twice or name one that is
//! not a candidate.

use divvy_framework_view::MAXIMUM_SCORE;

use crate::pace::PaceViolation;
use crate::stated::StatedViolation;

/// A rule that a plugin's result breaks. The host reports it as the plugin's fault, aborts the cycle and leaves the
/// previous result in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum Violation {
    /// A score outside 0..=100 ([`MAXIMUM_SCORE`]).
    #[error("plugin `{plugin}` gave cluster `{cluster}` score {score}, expected 0 to {MAXIMUM_SCORE}")]
    ScoreOutOfRange {
        plugin: String,
        cluster: String,
        score: i64,
    },
    /// A selected index beyond the list of feasible clusters.
    #[error("plugin `{plugin}` selected index {index}, but only {feasible} clusters are feasible")]
    NoSuchIndex {
        plugin: String,
        /// The index that it selected.
        index: u32,
        /// Number of feasible clusters.
        feasible: usize,
    },
    /// A cluster that was selected twice.
    #[error("plugin `{plugin}` selected cluster `{cluster}` twice")]
    SelectedTwice { plugin: String, cluster: String },
    /// More selected clusters than feasible ones.
    #[error("plugin `{plugin}` selected {selected} clusters, but only {feasible} are feasible")]
    TooManySelected {
        plugin: String,
        /// Number of clusters that it selected.
        selected: u64,
        /// Number of feasible clusters.
        feasible: usize,
    },
    /// A negative replica count.
    #[error("plugin `{plugin}` gave cluster `{cluster}` {replicas} replicas")]
    Negative {
        plugin: String,
        cluster: String,
        replicas: i64,
    },
    /// A replica count beyond `i32`, the type of `spec.clusters[].replicas`.
    #[error(
        "plugin `{plugin}` gave cluster `{cluster}` {replicas} replicas, more than {}",
        i32::MAX
    )]
    TooLarge {
        plugin: String,
        cluster: String,
        replicas: i64,
    },
    /// Counts that do not add up to the replicas of the binding.
    #[error("plugin `{plugin}` divided {actual} replicas, expected {expected}")]
    WrongSum {
        plugin: String,
        /// Replicas of the binding.
        expected: i64,
        /// Sum of the counts.
        actual: i128,
    },
    /// A count other than the full one, from a strategy that promises to duplicate.
    #[error(
        "plugin `{plugin}` promises to duplicate but gave cluster `{cluster}` {replicas} replicas, expected {expected}"
    )]
    NotDuplicated {
        plugin: String,
        cluster: String,
        replicas: i64,
        /// Replicas of the binding.
        expected: i64,
    },
    /// A change to a rejection that an earlier filter wrote.
    #[error("plugin `{plugin}` changed the rejection of cluster `{cluster}` by an earlier filter")]
    ChangedRejection { plugin: String, cluster: String },
    /// More replicas than fit, from a plugin that promises to respect capacity.
    #[error(
        "plugin `{plugin}` promises to respect capacity but gave cluster `{cluster}` {replicas} replicas, capacity {capacity}"
    )]
    OverCapacity {
        plugin: String,
        cluster: String,
        replicas: i64,
        /// Replicas that fit now, plus those of the last result.
        capacity: i64,
    },
    /// A result that breaks a promise stated with it.
    #[error(transparent)]
    Stated(#[from] StatedViolation),
    /// A step of a move that breaks a rule.
    #[error(transparent)]
    Pace(#[from] PaceViolation),
}

/// The rules for the result of Assign.
#[derive(Debug, Clone, Copy)]
pub struct AssignRules<'a> {
    /// Name of the plugin, for messages.
    pub plugin: &'a str,
    /// Replicas of the binding.
    pub replicas: i64,
    /// True if each candidate must get the full count.
    pub duplicates: bool,
    /// True if the plugin promises to respect capacity.
    pub respects_capacity: bool,
    /// Capacity per candidate.
    pub capacity: &'a [i64],
}

impl AssignRules<'_> {
    /// Checks a result with one count per candidate. `name` returns the name of the candidate at an index.
    ///
    /// # Errors
    ///
    /// Returns the first rule that the result breaks. The caller must discard the whole result.
    pub fn check(&self, result: &[i64], name: impl Fn(usize) -> String) -> Result<(), Violation> {
        let plugin = || self.plugin.to_owned();
        let mut sum: i128 = 0;
        for (index, &replicas) in result.iter().enumerate() {
            if replicas < 0 {
                return Err(Violation::Negative {
                    plugin: plugin(),
                    cluster: name(index),
                    replicas,
                });
            }
            if replicas > i64::from(i32::MAX) {
                return Err(Violation::TooLarge {
                    plugin: plugin(),
                    cluster: name(index),
                    replicas,
                });
            }
            if self.duplicates && replicas != self.replicas {
                return Err(Violation::NotDuplicated {
                    plugin: plugin(),
                    cluster: name(index),
                    replicas,
                    expected: self.replicas,
                });
            }
            if self.respects_capacity {
                let capacity = self.capacity[index];
                if replicas > capacity {
                    return Err(Violation::OverCapacity {
                        plugin: plugin(),
                        cluster: name(index),
                        replicas,
                        capacity,
                    });
                }
            }
            sum += i128::from(replicas);
        }
        if !self.duplicates && sum != i128::from(self.replicas) {
            return Err(Violation::WrongSum {
                plugin: plugin(),
                expected: self.replicas,
                actual: sum,
            });
        }
        Ok(())
    }
}

/// Checks the scores of one plugin, one per feasible cluster. `name` returns the name of the cluster at an index.
///
/// # Errors
///
/// Returns the first score outside 0..=100. The caller must discard all scores of the plugin.
pub fn check_scores(plugin: &str, scores: &[i64], name: impl Fn(usize) -> String) -> Result<(), Violation> {
    match scores.iter().position(|score| !(0..=MAXIMUM_SCORE).contains(score)) {
        None => Ok(()),
        Some(index) => Err(Violation::ScoreOutOfRange {
            plugin: plugin.to_owned(),
            cluster: name(index),
            score: scores[index],
        }),
    }
}

/// Checks the result of Select and returns the selected indices.
///
/// Select may write as many indices into `candidates` as there are feasible clusters; `written` is the number that it
/// reports. `seen` is scratch memory, and `name` returns the name of the feasible cluster at an index.
///
/// # Errors
///
/// More indices than feasible clusters, an index out of range, or an index selected twice. The caller must discard the
/// whole selection.
pub fn check_selection<'a>(
    plugin: &str,
    candidates: &'a [u32],
    written: u64,
    seen: &mut Vec<bool>,
    name: impl Fn(usize) -> String,
) -> Result<&'a [u32], Violation> {
    let feasible = candidates.len();
    let selected = usize::try_from(written).ok().and_then(|count| candidates.get(..count));
    let Some(selected) = selected else {
        return Err(Violation::TooManySelected {
            plugin: plugin.to_owned(),
            selected: written,
            feasible,
        });
    };
    seen.clear();
    seen.resize(feasible, false);
    for &index in selected {
        match seen.get_mut(index as usize) {
            None => {
                return Err(Violation::NoSuchIndex {
                    plugin: plugin.to_owned(),
                    index,
                    feasible,
                });
            }
            Some(true) => {
                return Err(Violation::SelectedTwice {
                    plugin: plugin.to_owned(),
                    cluster: name(index as usize),
                });
            }
            Some(mark) => *mark = true,
        }
    }
    Ok(selected)
}
