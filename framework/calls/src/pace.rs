//! The rules for a step of a move: the result of Pace.
//!
//! The host trusts neither the step nor the reason for waiting. A result that breaks a rule is an error of the plugin, and nothing is
//! taken from it. The rules are those of `PacePlugin::pace`; the arithmetic behind them is that of
//! [`divvy_framework_arithmetic::pace`].

use divvy_framework_arithmetic::pace::{Situation, Wait, clusters, sum};

/// A rule that a step breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PaceViolation {
    /// A count beyond the target, or on the other side of the present result.
    #[error(
        "plugin `{plugin}` gave cluster `{cluster}` {replicas} replicas, expected {least} to {most}: between its result and its target"
    )]
    AwayFromTarget {
        plugin: String,
        cluster: String,
        replicas: i64,
        least: i64,
        most: i64,
    },
    /// More replicas than fit.
    #[error("plugin `{plugin}` gave cluster `{cluster}` {replicas} replicas, but it has room for {room}")]
    AboveRoom {
        plugin: String,
        cluster: String,
        replicas: i64,
        /// Replicas of the present result, plus those that fit now.
        room: i64,
    },
    /// Fewer ready replicas than the binding allows.
    #[error(
        "plugin `{plugin}` keeps {actual} ready replicas, expected at least {expected}: it takes {taken} from cluster `{cluster}`"
    )]
    BelowAllowance {
        plugin: String,
        /// The cluster that loses the most ready replicas.
        cluster: String,
        /// Ready replicas that it loses.
        taken: i128,
        /// Ready replicas that the step keeps.
        actual: i128,
        expected: i128,
    },
    /// More replicas than the binding's surge allows.
    #[error(
        "plugin `{plugin}` gives {actual} replicas, expected at most {expected}: it adds {given} to cluster `{cluster}`"
    )]
    AboveSurge {
        plugin: String,
        /// The cluster that gets the most.
        cluster: String,
        /// Replicas that it gets.
        given: i128,
        /// Replicas of the step.
        actual: i128,
        expected: i128,
    },
    /// More clusters than the policy allows.
    #[error(
        "plugin `{plugin}` gives {actual} clusters replicas, expected at most {expected}: `{cluster}` is a further one"
    )]
    TooManyClusters {
        plugin: String,
        /// The first cluster that has no replicas now.
        cluster: String,
        actual: usize,
        expected: usize,
    },
    /// Neither a step nor a reason.
    #[error("plugin `{plugin}` takes no step and names no reason, expected one of them")]
    NoProgress { plugin: String },
    /// A step and a reason for taking none.
    #[error(
        "plugin `{plugin}` waits for {wait}, but gave cluster `{cluster}` {replicas} replicas instead of {current}"
    )]
    StepWhileWaiting {
        plugin: String,
        wait: Wait,
        cluster: String,
        replicas: i64,
        /// Replicas of the present result.
        current: i64,
    },
    /// A column with the wrong number of counts.
    #[error("plugin `{plugin}` gave {actual} counts, expected one for each of {expected} clusters")]
    WrongLength {
        plugin: String,
        actual: usize,
        expected: usize,
    },
}

impl PaceViolation {
    /// Name of the plugin.
    pub fn plugin(&self) -> &str {
        match self {
            Self::AwayFromTarget { plugin, .. }
            | Self::AboveRoom { plugin, .. }
            | Self::BelowAllowance { plugin, .. }
            | Self::AboveSurge { plugin, .. }
            | Self::TooManyClusters { plugin, .. }
            | Self::NoProgress { plugin }
            | Self::StepWhileWaiting { plugin, .. }
            | Self::WrongLength { plugin, .. } => plugin,
        }
    }
}

/// Checks the answer of a pace: the next result, with one count per cluster, and the number of its reason for waiting. `name` returns
/// the name of the cluster at an index. Returns the reason if it waits, and `None` if it takes a step.
///
/// # Errors
///
/// The first rule that the answer breaks. The caller must discard the whole answer.
pub fn check_step(
    plugin: &str,
    situation: &Situation<'_>,
    next: &[i64],
    wait: u32,
    name: impl Fn(usize) -> String,
) -> Result<Option<Wait>, PaceViolation> {
    let plugin = || plugin.to_owned();
    if next.len() != situation.len() {
        return Err(PaceViolation::WrongLength {
            plugin: plugin(),
            actual: next.len(),
            expected: situation.len(),
        });
    }
    let moved = |index: usize| i128::from(next[index]) - i128::from(situation.current[index]);
    let first_moved = (0..next.len()).find(|index| moved(*index) != 0);
    match (first_moved, Wait::from_number(wait)) {
        (None, Some(wait)) => return Ok(Some(wait)),
        (None, None) => return Err(PaceViolation::NoProgress { plugin: plugin() }),
        (Some(index), Some(wait)) => {
            return Err(PaceViolation::StepWhileWaiting {
                plugin: plugin(),
                wait,
                cluster: name(index),
                replicas: next[index],
                current: situation.current[index],
            });
        }
        (Some(_), None) => {}
    }
    for (index, &replicas) in next.iter().enumerate() {
        let (current, target) = (situation.current[index], situation.target[index]);
        if !(current.min(target)..=current.max(target)).contains(&replicas) {
            return Err(PaceViolation::AwayFromTarget {
                plugin: plugin(),
                cluster: name(index),
                replicas,
                least: current.min(target),
                most: current.max(target),
            });
        }
        let room = current.saturating_add(situation.room[index].max(0));
        if replicas > room {
            return Err(PaceViolation::AboveRoom {
                plugin: plugin(),
                cluster: name(index),
                replicas,
                room,
            });
        }
    }
    let (actual, expected) = (situation.kept_ready(next), situation.least_ready());
    if actual < expected {
        let loss = |index: usize| {
            let ready = situation.ready[index];
            i128::from(ready.min(situation.current[index])) - i128::from(ready.min(next[index]))
        };
        let cluster = (0..next.len()).rev().max_by_key(|index| loss(*index)).unwrap_or(0);
        return Err(PaceViolation::BelowAllowance {
            plugin: plugin(),
            cluster: name(cluster),
            taken: loss(cluster),
            actual,
            expected,
        });
    }
    let (actual, expected) = (sum(next), situation.most_replicas());
    if actual > expected {
        let cluster = (0..next.len()).rev().max_by_key(|index| moved(*index)).unwrap_or(0);
        return Err(PaceViolation::AboveSurge {
            plugin: plugin(),
            cluster: name(cluster),
            given: moved(cluster),
            actual,
            expected,
        });
    }
    let actual = clusters(next);
    if let Some(expected) = situation.most_clusters().filter(|most| actual > *most) {
        let cluster = (0..next.len()).find(|index| next[*index] > 0 && situation.current[*index] <= 0);
        return Err(PaceViolation::TooManyClusters {
            plugin: plugin(),
            cluster: cluster.map(&name).unwrap_or_default(),
            actual,
            expected,
        });
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
