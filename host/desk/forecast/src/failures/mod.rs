//! The loss of each cluster, region, zone or provider, one at a time.
//!
//! Each loss is a forecast of its own: the situation without some clusters, compared with the situation with them. Its row
//! equals the one that follows from both complete futures, but only bindings that a live scheduler would decide are decided.
//!
//! - [`ground`]: data that all losses share, and the base. [`loss`]: one loss, compared with the base.
//! - [`survivors`]: bindings that need no decision, because a loss only takes clusters away from them.
//! - [`mod@survival`]: bindings that do not survive a loss.
//! - [`numbers`]: clusters by number. [`usage`]: use of resources by number.

mod ground;
mod loss;
mod numbers;
mod survival;
mod survivors;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use ground::Ground;
use loss::Loser;
pub(crate) use survival::Judged;
pub use survival::{Hit, HitCause, Left, Survived};

use divvy_scheduler::profile::ConfiguredProfile;

use crate::choice::zones;
use crate::document::FailureRow;
use crate::future::Options;
use crate::situation::{ClusterEntry, Situation};

/// Size of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Each {
    /// A single cluster.
    Cluster,
    /// All clusters of a region.
    Region,
    /// All clusters with nodes in a zone.
    Zone,
    /// All clusters of a provider.
    Provider,
}

impl Each {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Provider => "provider",
        }
    }

    /// Every loss by its name, with the clusters that it takes. Clusters without a region are in no loss of a region.
    pub fn losses(self, situation: &Situation) -> BTreeMap<String, BTreeSet<String>> {
        let mut losses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (cluster, entry) in &situation.clusters {
            for name in self.names(cluster, entry) {
                losses.entry(name).or_default().insert(cluster.clone());
            }
        }
        losses
    }

    fn names(self, cluster: &str, entry: &ClusterEntry) -> Vec<String> {
        let spec = &entry.object.spec;
        let one = |name: &str| {
            if name.is_empty() {
                Vec::new()
            } else {
                vec![name.to_owned()]
            }
        };
        match self {
            Self::Cluster => one(cluster),
            Self::Region => one(&spec.region),
            Self::Zone => zones(&entry.object).map(str::to_owned).collect(),
            Self::Provider => one(&spec.provider),
        }
    }
}

/// All losses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// The losses, worst first: by replicas lost, then bindings that cannot be scheduled any more or are in error, then replicas
    /// missing, without copies of duplicated bindings, then replicas beyond capacity, then replicas displaced, then name.
    pub rows: Vec<FailureRow>,
    /// Bindings that are in error without any loss.
    pub errors: Errors,
}

/// Number of bindings that are in error without any loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// Bindings that are counted.
    pub counted: usize,
    /// All others.
    pub others: usize,
}

impl Errors {
    /// Counts the bindings for which `in_error` is true. All are counted if `counted` is `None`.
    pub(crate) fn count(in_error: &[bool], counted: Option<&[bool]>) -> Self {
        let mut errors = Self::default();
        for (index, _) in in_error.iter().enumerate().filter(|(_, is_error)| **is_error) {
            match counted.is_none_or(|counted| counted.get(index) == Some(&true)) {
                true => errors.counted += 1,
                false => errors.others += 1,
            }
        }
        errors
    }
}

/// Forecasts every loss. `max_full` is the share of a resource, in percent, beyond which a cluster that gains is too full. Only the
/// bindings for which `counted` is true are counted, all if it is `None`; all are decided, and use resources.
pub fn failures(
    situation: &Situation,
    side: &ConfiguredProfile,
    each: Each,
    options: Options,
    max_full: Option<i64>,
    counted: Option<&[bool]>,
) -> Failures {
    let ground = Ground::new(situation, side, options);
    let losses: Vec<(String, BTreeSet<String>)> = each.losses(situation).into_iter().collect();
    // Each loss is decided on one thread.
    let mut rows = divvy_parallel::map(&losses, options.threads, || {
        let fleet = situation.fleet(side.profile.needs_raw_clusters());
        let mut loser = Loser::new(&ground, fleet, max_full).counting(counted);
        move |(name, lost): &(String, BTreeSet<String>)| loser.lose(name, lost)
    });
    rows.sort_by(|left, right| {
        let severity = |row: &FailureRow| {
            let failing = row.newly_unschedulable + row.newly_in_error;
            let missing = row.missing - row.missing_copies;
            (row.lost, failing, missing, row.beyond_capacity, row.displaced)
        };
        severity(right)
            .cmp(&severity(left))
            .then_with(|| left.name.cmp(&right.name))
    });
    Failures {
        rows,
        errors: Errors::count(&ground.in_error(), counted),
    }
}

/// The losses of a situation, with what every binding has without them.
#[derive(Debug, Clone)]
pub struct Survival {
    /// What is left after each loss.
    pub losses: Vec<Survived>,
    /// Per binding: what it has without any loss.
    pub had: Vec<Left>,
    /// Per binding: true if it is in error without any loss.
    pub in_error: Vec<bool>,
}

impl Survival {
    /// True if some binding of the situation that was lost from, whose replicas are divided, has fewer of them than it asks for without any
    /// loss.
    pub fn some_wait(&self, situation: &Situation) -> bool {
        let mut bindings = situation.bindings.iter().zip(&self.had);
        bindings.any(|(binding, had)| binding.is_workload() && had.replicas < binding.replicas())
    }
}

/// Forecasts every loss, and finds the bindings that do not survive it. `watched` is a binding, by index, of which is noted what each
/// loss leaves.
pub fn survival(
    situation: &Situation,
    side: &ConfiguredProfile,
    losses: &[BTreeSet<String>],
    options: Options,
    watched: Option<usize>,
) -> Survival {
    let ground = Ground::new(situation, side, options);
    let losses = divvy_parallel::map(losses, options.threads, || {
        let fleet = situation.fleet(side.profile.needs_raw_clusters());
        let mut loser = Loser::new(&ground, fleet, None).noting_hits();
        move |lost: &BTreeSet<String>| loser.hits(lost, watched)
    });
    Survival {
        losses,
        had: ground.had(),
        in_error: ground.in_error(),
    }
}
