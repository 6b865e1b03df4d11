//! Holding a strategy to its promises, as the host and the project's own tests do.

use divvy_framework_abi::arena::ABSENT;
use divvy_framework_abi::module::promise;

use super::Scenario;
use crate::assign::AssignPlugin;
use crate::plugin::Failure;

/// Orders of the candidates that are tried beside the usual one; every rotation of more would take too long.
const ROTATIONS_MAX: usize = 16;

impl Scenario {
    /// Runs Assign as [`Self::assign`] does, and checks the result against what every strategy owes (no negative count, the
    /// right sum) and against each of the plugin's [`Promises`](crate::plugin::Promises).
    ///
    /// ```should_panic
    /// # use divvy_framework::prelude::*;
    /// # struct Greedy;
    /// # impl Plugin for Greedy {
    /// #     const NAME: &'static str = "greedy";
    /// #     const DESCRIPTION: &'static str = "gives everything to the first candidate";
    /// #     type Configuration = NoConfiguration;
    /// #     type Preferences = NoPreferences;
    /// #     type Prepared = ();
    /// #     fn new(_: NoConfiguration) -> Result<Self, Box<dyn std::error::Error>> { Ok(Self) }
    /// #     fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> { Ok(()) }
    /// # }
    /// impl AssignPlugin for Greedy {
    ///     const STRATEGIES: &'static [&'static str] = &["Greedy"];
    ///     const PROMISES: Promises = Promises::NONE.respects_capacity();
    ///
    ///     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
    ///         result.set(0, context.replicas());
    ///         Ok(())
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario};
    /// let scenario = Scenario::new().replicas(3).cluster(ClusterBuilder::new("a").fits_now(1));
    /// // Panics: plugin `greedy` promises to respect capacity but gave cluster `a` 3 replicas, capacity 1
    /// let _ = scenario.assign_checked(&Greedy);
    /// ```
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    ///
    /// # Panics
    ///
    /// If the result breaks a rule: the message names the plugin, the rule and the figures.
    #[track_caller]
    pub fn assign_checked<P: AssignPlugin>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        let result = self.assign(plugin)?;
        let promises = P::PROMISES.bits();
        self.check_counts::<P>(&result);
        if promises & promise::ORDER_INDEPENDENT != 0 {
            self.check_order_independence(plugin, &result);
        }
        if promises & promise::INERT != 0 {
            self.check_inertness(plugin, &result);
        }
        Ok(result)
    }

    /// Each count by itself, and their sum.
    #[track_caller]
    fn check_counts<P: AssignPlugin>(&self, result: &[i64]) {
        let (plugin, promises) = (P::NAME, P::PROMISES.bits());
        let duplicates = promises & promise::DUPLICATES != 0;
        for (cluster, &count) in self.clusters.iter().zip(result) {
            let name = &cluster.record.name;
            assert!(count >= 0, "plugin `{plugin}` gave cluster `{name}` {count} replicas");
            let wanted = self.replicas;
            assert!(
                !duplicates || count == wanted,
                "plugin `{plugin}` promises to duplicate but gave cluster `{name}` {count} replicas, expected {wanted}"
            );
            let capacity = cluster.fits_now.saturating_add(cluster.last.max(0));
            assert!(
                promises & promise::RESPECTS_CAPACITY == 0 || count <= capacity,
                "plugin `{plugin}` promises to respect capacity but gave cluster `{name}` {count} replicas, capacity {capacity}"
            );
        }
        let (sum, wanted) = (result.iter().copied().map(i128::from).sum::<i128>(), self.replicas);
        assert!(
            duplicates || sum == i128::from(wanted),
            "plugin `{plugin}` divided {sum} replicas, expected {wanted}"
        );
    }

    /// The candidates in reverse order and rotated must get what they got.
    #[track_caller]
    fn check_order_independence<P: AssignPlugin>(&self, plugin: &P, result: &[i64]) {
        let usual: Vec<usize> = (0..self.clusters.len()).collect();
        let reversed: Vec<usize> = usual.iter().rev().copied().collect();
        let rotated = (1..usual.len()).take(ROTATIONS_MAX).map(|steps| {
            let mut order = usual.clone();
            order.rotate_left(steps);
            order
        });
        for order in rotated.chain([reversed]) {
            let other = self.assign_in_order(plugin, &order);
            assert_eq!(
                other.as_deref(),
                Ok(result),
                "plugin `{}` promises to be independent of the order of the candidates, but not in the order {order:?}",
                P::NAME
            );
        }
    }

    /// A steady cycle that starts from the result must give it again.
    #[track_caller]
    fn check_inertness<P: AssignPlugin>(&self, plugin: &P, result: &[i64]) {
        let mut again = self.clone();
        again.fresh = false;
        again.lost.clear();
        for (cluster, &count) in again.clusters.iter_mut().zip(result) {
            let capacity = cluster.fits_now.saturating_add(cluster.last.max(0));
            // A strategy that does not look at capacity may have given more than fits.
            cluster.fits_now = capacity.saturating_sub(count).max(0);
            // Candidates with nothing drop out of the result, so that the next cycle does not find them there.
            cluster.last = if count > 0 { count } else { ABSENT };
        }
        let repeated = again.assign(plugin);
        assert_eq!(
            repeated.as_deref(),
            Ok(result),
            "plugin `{}` promises to be inert, but moves its own result",
            P::NAME
        );
    }
}
