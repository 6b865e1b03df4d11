//! The rules that a plugin's result must keep. What a plugin returns is untrusted input.
//!
//! What the result's type rules out needs no rule here: Filter cannot accept a cluster that an earlier filter rejected,
//! and Assign gives one count a candidate, so it can neither name a cluster that is no candidate nor name one twice.

use divvy_framework_view::MAXIMUM_SCORE;

/// A rule that a plugin's result breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A score outside 0..=100.
    #[error("plugin `{plugin}` gave cluster `{cluster}` score {score}, expected 0 to {MAXIMUM_SCORE}")]
    ScoreOutOfRange {
        /// The plugin.
        plugin: String,
        /// The cluster.
        cluster: String,
        /// Its score.
        score: i64,
    },
    /// A candidate that is no feasible cluster.
    #[error("plugin `{plugin}` selected place {place}, but only {feasible} clusters are feasible")]
    NoSuchPlace {
        /// The plugin.
        plugin: String,
        /// The place.
        place: u32,
        /// How many there are.
        feasible: usize,
    },
    /// A candidate selected twice.
    #[error("plugin `{plugin}` selected cluster `{cluster}` twice")]
    SelectedTwice {
        /// The plugin.
        plugin: String,
        /// The cluster.
        cluster: String,
    },
    /// More candidates than feasible clusters.
    #[error("plugin `{plugin}` selected {selected} clusters, but only {feasible} are feasible")]
    TooManySelected {
        /// The plugin.
        plugin: String,
        /// How many it selected.
        selected: u64,
        /// How many there are.
        feasible: usize,
    },
    /// A negative count.
    #[error("plugin `{plugin}` gave cluster `{cluster}` {replicas} replicas")]
    Negative {
        /// The plugin.
        plugin: String,
        /// The cluster.
        cluster: String,
        /// Its count.
        replicas: i64,
    },
    /// A count that no cluster can be given.
    #[error(
        "plugin `{plugin}` gave cluster `{cluster}` {replicas} replicas, more than {}",
        i32::MAX
    )]
    TooLarge {
        /// The plugin.
        plugin: String,
        /// The cluster.
        cluster: String,
        /// Its count.
        replicas: i64,
    },
    /// Counts that do not add up.
    #[error("plugin `{plugin}` divided {actual} replicas, expected {expected}")]
    WrongSum {
        /// The plugin.
        plugin: String,
        /// What was asked.
        expected: i64,
        /// What the counts add up to.
        actual: i128,
    },
    /// A duplicating strategy that gives a cluster another count.
    #[error(
        "plugin `{plugin}` promises to duplicate but gave cluster `{cluster}` {replicas} replicas, expected {expected}"
    )]
    NotDuplicated {
        /// The plugin.
        plugin: String,
        /// The cluster.
        cluster: String,
        /// Its count.
        replicas: i64,
        /// What was asked.
        expected: i64,
    },
    /// More than fits, against the plugin's promise.
    #[error(
        "plugin `{plugin}` promises to respect capacity but gave cluster `{cluster}` {replicas} replicas, capacity {capacity}"
    )]
    OverCapacity {
        /// The plugin.
        plugin: String,
        /// The cluster.
        cluster: String,
        /// Its count.
        replicas: i64,
        /// Fits now plus last.
        capacity: i64,
    },
}

/// What an Assign result must satisfy.
#[derive(Debug, Clone, Copy)]
pub struct AssignRules<'a> {
    /// The plugin.
    pub plugin: &'a str,
    /// Replicas asked for.
    pub replicas: i64,
    /// Whether each candidate must have the full count.
    pub duplicates: bool,
    /// Whether the plugin promises to respect capacity.
    pub respects_capacity: bool,
    /// Per candidate: replicas that fit now.
    pub fits_now: &'a [i64],
    /// Per candidate: last replicas.
    pub last: &'a [i64],
}

impl AssignRules<'_> {
    /// Checks a result, one count a candidate. `name` gives the name of the candidate at a place.
    ///
    /// # Errors
    ///
    /// The first rule that the result breaks.
    pub fn check(&self, result: &[i64], name: impl Fn(usize) -> String) -> Result<(), Violation> {
        let plugin = || self.plugin.to_owned();
        let mut sum: i128 = 0;
        for (place, &replicas) in result.iter().enumerate() {
            if replicas < 0 {
                return Err(Violation::Negative {
                    plugin: plugin(),
                    cluster: name(place),
                    replicas,
                });
            }
            if replicas > i64::from(i32::MAX) {
                return Err(Violation::TooLarge {
                    plugin: plugin(),
                    cluster: name(place),
                    replicas,
                });
            }
            if self.duplicates && replicas != self.replicas {
                return Err(Violation::NotDuplicated {
                    plugin: plugin(),
                    cluster: name(place),
                    replicas,
                    expected: self.replicas,
                });
            }
            if self.respects_capacity {
                let capacity = self.fits_now[place].saturating_add(self.last[place]);
                if replicas > capacity {
                    return Err(Violation::OverCapacity {
                        plugin: plugin(),
                        cluster: name(place),
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

/// Checks one plugin's scores, one a feasible cluster.
///
/// # Errors
///
/// The first score outside 0..=100.
pub fn check_scores(plugin: &str, scores: &[i64], name: impl Fn(usize) -> String) -> Result<(), Violation> {
    match scores.iter().position(|score| !(0..=MAXIMUM_SCORE).contains(score)) {
        None => Ok(()),
        Some(place) => Err(Violation::ScoreOutOfRange {
            plugin: plugin.to_owned(),
            cluster: name(place),
            score: scores[place],
        }),
    }
}

/// Checks the candidates that Select wrote: `written` places among `feasible` clusters, each once. `seen` is memory for
/// one mark a feasible cluster.
///
/// # Errors
///
/// Too many, a place that does not exist, or one selected twice.
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
    for &place in selected {
        match seen.get_mut(place as usize) {
            None => {
                return Err(Violation::NoSuchPlace {
                    plugin: plugin.to_owned(),
                    place,
                    feasible,
                });
            }
            Some(true) => {
                return Err(Violation::SelectedTwice {
                    plugin: plugin.to_owned(),
                    cluster: name(place as usize),
                });
            }
            Some(mark) => *mark = true,
        }
    }
    Ok(selected)
}
