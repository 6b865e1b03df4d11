//! The script of a life: everything that happens to the world from outside, all of it from one seed.
//!
//! A script is a list of steps. Each is complete in itself, so that any of them can be left out: a failing life is shrunk that
//! way. A step that refers to something that does not exist does nothing.

mod action;
mod generate;
mod moves;
mod placement;

use std::fmt;

use divvy_judge::steps::Allowances;
use divvy_world::agenda::Millis;

pub(crate) use self::action::{Action, Planning, Resume, Template};
pub(crate) use self::moves::MOVES;
pub(crate) use self::placement::LABEL;

/// Profile of the schedulers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProfileName {
    /// `default`.
    Default,
    /// `karmada`.
    Karmada,
    /// `default`, which decides bursts as one plan.
    Jointly,
    /// `default` with the moves of this index in [`MOVES`].
    Moves(usize),
}

impl fmt::Display for ProfileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jointly => formatter.write_str("default with bursts as one plan"),
            Self::Moves(index) => write!(formatter, "default with moves {index}"),
            Self::Default | Self::Karmada => formatter.write_str(self.base()),
        }
    }
}

impl ProfileName {
    /// The built-in profile that it extends.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::Default | Self::Jointly | Self::Moves(_) => "default",
            Self::Karmada => "karmada",
        }
    }

    /// The setting under which it writes results in steps; `None` if it writes them as a whole.
    pub(crate) fn moves(self) -> Option<&'static Allowances> {
        match self {
            Self::Moves(index) => MOVES.get(index),
            Self::Default | Self::Jointly | Self::Karmada => None,
        }
    }
}

/// A cluster at the beginning.
#[derive(Debug, Clone)]
pub(crate) struct ClusterPlan {
    /// CPUs of each node.
    pub(crate) nodes: Vec<i64>,
    /// True if it reports resource models.
    pub(crate) has_models: bool,
    /// Region.
    pub(crate) region: &'static str,
    /// Value of its label [`LABEL`].
    pub(crate) label: &'static str,
    /// False for one that joins later, if at all.
    pub(crate) is_there: bool,
}

/// The world before the first step.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The seed.
    pub(crate) seed: u64,
    /// The profile.
    pub(crate) profile: ProfileName,
    /// The clusters.
    pub(crate) clusters: Vec<ClusterPlan>,
    /// Processes that contend for the lease.
    pub(crate) processes: usize,
    /// Writes at a time.
    pub(crate) concurrency: usize,
    /// True if every pod is ours, with requests that are known, every strategy respects capacity, and reports are sound.
    pub(crate) is_closed: bool,
    /// True if estimators are asked.
    pub(crate) asks_estimators: bool,
}

/// Something that happens to the world.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Its time.
    pub(crate) at: Millis,
    /// What happens.
    pub(crate) action: Action,
}

/// A life: the world at the beginning, and what happens to it.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// The world at the beginning.
    pub(crate) setup: Setup,
    /// What happens, in the order of time.
    pub(crate) steps: Vec<Step>,
}

impl Setup {
    /// True if results are written in steps at the beginning.
    pub(crate) fn has_moves(&self) -> bool {
        self.profile.moves().is_some()
    }
}

impl Script {
    /// The script of a seed, with this many steps.
    pub(crate) fn of_seed(seed: u64, steps: usize) -> Self {
        generate::script(seed, steps)
    }

    /// Time of the last step.
    pub(crate) fn end(&self) -> Millis {
        self.steps.last().map_or(0, |step| step.at)
    }
}
