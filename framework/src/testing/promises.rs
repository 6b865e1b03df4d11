//! Whether a plugin keeps its promises: the formulas of [`Promises`](crate::plugin::Promises), tried on one scenario.
//!
//! A property test calls it with many. It proves nothing; a counterexample is certain.

use divvy_framework_abi::module::promise;
use divvy_framework_driver::rules::AssignRules;

use super::Scenario;
use crate::assign::AssignPlugin;
use crate::plugin::Failure;

impl Scenario {
    /// Runs Assign with all clusters as candidates and holds the result to the rules by which the host accepts it, and to
    /// what the plugin promises beyond them. A scenario in which the plugin fails breaks no promise.
    ///
    /// # Errors
    ///
    /// The promise that is broken, with the figures.
    pub fn check_promises<P: AssignPlugin>(&self, plugin: &P) -> Result<(), String> {
        let Ok(counts) = self.assign(plugin) else {
            return Ok(());
        };
        let promised = |bit: u64| P::PROMISES.bits() & bit != 0;
        AssignRules {
            plugin: P::NAME,
            replicas: self.replicas,
            duplicates: promised(promise::DUPLICATES),
            respects_capacity: promised(promise::RESPECTS_CAPACITY),
            fits_now: &self.column(|cluster| cluster.fits_now),
            last: &self.column(|cluster| cluster.last.max(0)),
        }
        .check(&counts, |place| self.cluster_names()[place].clone())
        .map_err(|violation| format!("{violation}: {counts:?}"))?;
        if promised(promise::ORDER_INDEPENDENT) {
            self.check_orders(plugin, &counts)?;
        }
        if promised(promise::INERT) {
            self.check_inertia(plugin, &counts)?;
        }
        Ok(())
    }

    /// Runs Assign as [`Self::assign`] does, and holds the result to the plugin's promises: what a test of a strategy calls.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    ///
    /// # Panics
    ///
    /// If the result breaks a promise, as [`Self::check_promises`] words it.
    #[track_caller]
    pub fn assign_checked<P: AssignPlugin>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        let counts = self.assign(plugin)?;
        if let Err(broken) = self.check_promises(plugin) {
            panic!("plugin `{}` breaks a promise: {broken}", P::NAME);
        }
        Ok(counts)
    }

    fn check_orders<P: AssignPlugin>(&self, plugin: &P, counts: &[i64]) -> Result<(), String> {
        let mut order: Vec<usize> = (0..counts.len()).collect();
        for turn in 0..counts.len() {
            // Each cluster comes first once, and neighbours are told apart.
            order.rotate_left(1);
            if turn % 2 == 1 {
                order.reverse();
            }
            let permuted = self.assign_in_order(plugin, &order);
            if permuted.as_deref() != Ok(counts) {
                return Err(format!("{counts:?}, but {permuted:?} in the order {order:?}"));
            }
        }
        Ok(())
    }

    fn check_inertia<P: AssignPlugin>(&self, plugin: &P, counts: &[i64]) -> Result<(), String> {
        let mut settled = self.clone();
        settled.fresh = false;
        for (cluster, &count) in settled.clusters.iter_mut().zip(counts) {
            // Where a plugin went beyond capacity, nothing more fits.
            cluster.fits_now = (cluster.fits_now + cluster.last.max(0) - count).max(0);
            cluster.last = count;
        }
        let again = settled.assign(plugin);
        if again.as_deref() != Ok(counts) {
            return Err(format!("{counts:?} is no fixed point: next it is {again:?}"));
        }
        Ok(())
    }
}
