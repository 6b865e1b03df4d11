//! The single losses that each binding does not survive, and changes with which one does.
//!
//! A binding survives a loss if all its replicas are placed again on what is left, under its own policy: as many as its quorum
//! requires if it has one, and at least one copy if it is duplicated. What is pending is done in any case.

pub mod document;
mod failing;
mod remedy;
mod summary;

use std::collections::{BTreeMap, BTreeSet};

pub use remedy::remedy;
pub use summary::{Summary, summary};

use divvy_scheduler::profile::ConfiguredProfile;

use crate::failures::{Each, Survival, survival};
use crate::future::Options;
use crate::situation::Situation;

/// A set of clusters to lose, with all names for it, such as a zone with a single cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Its clusters.
    pub clusters: BTreeSet<String>,
    /// Its names, the smallest size first.
    pub names: Vec<(Each, String)>,
}

/// All losses of these sizes, each set of clusters once.
pub fn losses(situation: &Situation, levels: &[Each]) -> Vec<Loss> {
    let mut by_clusters: BTreeMap<BTreeSet<String>, Vec<(Each, String)>> = BTreeMap::new();
    for &each in levels {
        for (name, clusters) in each.losses(situation) {
            by_clusters.entry(clusters).or_default().push((each, name));
        }
    }
    let losses = by_clusters.into_iter();
    let mut losses: Vec<Loss> = losses.map(|(clusters, names)| Loss { clusters, names }).collect();
    losses.sort_by(|left, right| left.names.cmp(&right.names));
    losses
}

/// The way in which clusters are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// They are gone, as if they were deleted.
    Gone,
    /// They fail: Karmada taints them and evicts what does not tolerate that.
    Failed,
}

/// What is left after each loss, in their order.
pub fn survive(
    situation: &Situation,
    side: &ConfiguredProfile,
    losses: &[Loss],
    manner: Manner,
    options: Options,
) -> Survival {
    match manner {
        Manner::Gone => {
            let clusters: Vec<BTreeSet<String>> = losses.iter().map(|loss| loss.clusters.clone()).collect();
            survival(situation, side, &clusters, options, None)
        }
        Manner::Failed => failing::survival(situation, side, losses, options),
    }
}
