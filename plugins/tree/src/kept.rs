//! The plan of a binding, with the clusters of its nodes, kept beyond a call.
//!
//! Clusters change all the time, but rarely their names and locations. Labels change more often, but most plans read
//! none; only plans that do look for their clusters again in every snapshot.

use std::sync::{Arc, Mutex, PoisonError};

use divvy_framework::clusters::Clusters;
use divvy_framework::prelude::*;

use crate::fleet::{self, Fleet};
use crate::locations::Locations;
use crate::tree::PlanNode;

/// A binding's plan, and the clusters of its nodes in the last snapshot.
#[derive(Debug)]
pub(crate) struct Kept {
    nodes: Vec<PlanNode>,
    reads_labels: bool,
    last: Mutex<Option<(Key, Arc<Fleet>)>>,
}

/// The inputs that determine the clusters of a plan's nodes.
#[derive(Debug)]
struct Key {
    /// Keeps the allocation, so that its address identifies it.
    locations: Arc<Locations>,
    /// The generation of the snapshot, for a plan that reads labels; 0 for any.
    generation: u64,
    /// The order of ties.
    seed: u64,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.locations, &other.locations) && (self.generation, self.seed) == (other.generation, other.seed)
    }
}

impl Kept {
    pub(crate) fn new(nodes: Vec<PlanNode>) -> Self {
        Self {
            reads_labels: nodes.iter().any(PlanNode::reads_labels),
            last: Mutex::new(None),
            nodes,
        }
    }

    /// The clusters of the plan's nodes in a snapshot.
    ///
    /// # Errors
    ///
    /// [`Failure::Preferences`] if the preferences contradict the clusters.
    pub(crate) fn fleet(
        &self,
        locations: &Arc<Locations>,
        clusters: &Clusters<'_>,
        seed: u64,
    ) -> Result<Arc<Fleet>, Failure> {
        let generation = if self.reads_labels { clusters.generation() } else { 0 };
        // A host may leave its snapshots without numbers.
        let is_known = !self.reads_labels || generation != 0;
        let key = Key {
            locations: Arc::clone(locations),
            generation,
            seed,
        };
        // Each value in the lock is complete, even if the thread that wrote it panicked.
        let lock = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, fleet)) = &*lock()
            && is_known
            && *known == key
        {
            return Ok(Arc::clone(fleet));
        }
        let fleet = Arc::new(fleet::find(&self.nodes, clusters, seed)?);
        *lock() = Some((key, Arc::clone(&fleet)));
        Ok(fleet)
    }
}
