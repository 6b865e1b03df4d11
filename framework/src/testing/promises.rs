//! Checks that a plugin keeps its promises: evaluates the formulas of [`Promises`](crate::plugin::Promises) on one
//! scenario.
//!
//! A property test runs the check on many scenarios. Passing proves nothing, but a counterexample is definite.

use divvy_framework_abi::descriptor::feature;
use divvy_framework_calls::rules::AssignRules;

use super::Scenario;
use super::checked::check_same;
use crate::assign::AssignPlugin;
use crate::configuration::Preferences;
use crate::plugin::Failure;

impl Scenario {
    /// Runs Assign with all clusters as candidates, and checks the result against the host's rules and against the
    /// plugin's further promises. A scenario in which the plugin fails does not break a promise.
    ///
    /// # Errors
    ///
    /// The first broken rule or promise, with the figures.
    pub fn check_promises<T: Preferences + 'static, P: AssignPlugin<T>>(&self, plugin: &P) -> Result<(), String> {
        let Ok(counts) = self.assign(plugin) else {
            return Ok(());
        };
        let promised = |bit: u64| P::PROMISES.bits() & bit != 0;
        AssignRules {
            plugin: P::NAME,
            replicas: self.replicas,
            duplicates: promised(feature::DUPLICATES),
            respects_capacity: promised(feature::RESPECTS_CAPACITY),
            capacity: &self.column(|cluster| cluster.fits_now.saturating_add(cluster.last.max(0))),
        }
        .check(&counts, |index| self.cluster_names()[index].clone())
        .map_err(|violation| format!("{violation}: {counts:?}"))?;
        if let Ok(Some(broken)) = self.broken_promise(plugin, promised(feature::DUPLICATES), &counts) {
            return Err(format!("{broken}: {counts:?}"));
        }
        if promised(feature::ORDER_INDEPENDENT) {
            self.check_orders(plugin, &counts)?;
        }
        if promised(feature::INERT) {
            self.check_inertia(plugin, &counts)?;
        }
        if promised(feature::EACH_ALONE) {
            // The rules above check each count, so only a failure can break the promise.
            self.each_alone(true, |scenario| {
                scenario.assign(plugin).map(|_| scenario.cluster_names())
            })
            .map_err(|broken| format!("does not judge each cluster alone: {broken}"))?;
        }
        Ok(())
    }

    /// Runs Assign like [`Self::assign`], and also checks the plugin's promises. The plugin must give the same answer a
    /// second time and when it explains. Prefer this method in tests of strategies.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the result breaks a promise, with the message of [`Self::check_promises`], or if the plugin answers
    /// differently.
    #[track_caller]
    pub fn assign_checked<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<Vec<i64>, Failure> {
        let counts = self.assign(plugin)?;
        check_same(P::NAME, "the second time", &counts, &self.assign(plugin));
        let explained = self.assign_explained(plugin).map(|(counts, _)| counts);
        check_same(P::NAME, "when it explains", &counts, &explained);
        if let Err(broken) = self.check_promises(plugin) {
            panic!("plugin `{}` breaks a promise: {broken}", P::NAME);
        }
        Ok(counts)
    }

    fn check_orders<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        counts: &[i64],
    ) -> Result<(), String> {
        let mut order: Vec<usize> = (0..counts.len()).collect();
        for turn in 0..counts.len() {
            // Every cluster comes first once; reversing every other order also swaps neighbours.
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

    fn check_inertia<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        counts: &[i64],
    ) -> Result<(), String> {
        let mut settled = self.clone();
        settled.fresh = false;
        for (cluster, &count) in settled.clusters.iter_mut().zip(counts) {
            // If the plugin exceeded a cluster's capacity, nothing more fits there.
            cluster.fits_now = (cluster.fits_now + cluster.last.max(0) - count).max(0);
            cluster.last = count;
        }
        let again = settled.assign(plugin);
        if again.as_deref() != Ok(counts) {
            return Err(format!("{counts:?} is not a fixed point: next is {again:?}"));
        }
        Ok(())
    }
}
