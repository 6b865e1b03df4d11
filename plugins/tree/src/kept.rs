//! What is kept beyond a call: the plan of a binding, and with it the clusters of its nodes.

use std::sync::{Arc, Mutex, PoisonError};

use divvy_framework::clusters::Clusters;
use divvy_framework::prelude::*;

use crate::fleet::{self, Fleet};
use crate::plan::PlanNode;

/// A mark of a snapshot's names, labels and locations: the host makes another one when one of these changes.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(Arc<()>);

/// A binding's plan, and the clusters of its nodes in the last snapshot.
#[derive(Debug)]
pub(crate) struct Kept {
    nodes: Vec<PlanNode>,
    last: Mutex<Option<Last>>,
}

/// The clusters of a plan's nodes. They hold the mark of their snapshot, so that its address is not used again.
#[derive(Debug)]
struct Last {
    mark: Arc<()>,
    seed: u64,
    fleet: Arc<Fleet>,
}

impl Kept {
    pub(crate) fn new(nodes: Vec<PlanNode>) -> Self {
        let last = Mutex::new(None);
        Self { nodes, last }
    }

    /// The clusters of the plan's nodes in a snapshot.
    ///
    /// # Errors
    ///
    /// [`Failure::Preferences`] if the preferences contradict the clusters.
    pub(crate) fn fleet(
        &self,
        Snapshot(mark): &Snapshot,
        clusters: &Clusters<'_>,
        seed: u64,
    ) -> Result<Arc<Fleet>, Failure> {
        // Each value in the lock is complete, whatever happened to the thread that wrote it.
        let lock = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*lock()
            && Arc::ptr_eq(&last.mark, mark)
            && last.seed == seed
        {
            return Ok(Arc::clone(&last.fleet));
        }
        let fleet = Arc::new(fleet::find(&self.nodes, clusters, seed)?);
        *lock() = Some(Last {
            mark: Arc::clone(mark),
            seed,
            fleet: Arc::clone(&fleet),
        });
        Ok(fleet)
    }
}
