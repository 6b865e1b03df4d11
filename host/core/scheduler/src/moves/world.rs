//! What a move reads of the world around its binding.

use divvy_karmada::api::TargetCluster;
use divvy_profile::MoveBudgets;

use super::budgets::Applicant;

/// The world around a binding. Clusters have their names. Nothing changes while a step is found.
pub trait World {
    /// True if there is such a cluster.
    fn exists(&self, cluster: &str) -> bool;

    /// True if it is Ready.
    fn is_ready(&self, cluster: &str) -> bool;

    /// True if it is being deleted. Karmada removes what runs there first, so its replicas count as evicted.
    fn is_deleting(&self, cluster: &str) -> bool;

    /// True if the placement of the binding excludes it.
    fn is_excluded(&self, cluster: &str) -> bool;

    /// Further replicas of the binding that fit; `i64::MAX` if room does not limit them.
    fn room(&self, cluster: &str) -> i64;

    /// Its region; empty if unknown.
    fn region(&self, cluster: &str) -> &str;

    /// The greatest number of clusters that a result of the binding may have; `None` if nothing limits it.
    fn max_clusters(&self) -> Option<u32>;

    /// Time that reports of a Ready cluster take, in milliseconds.
    fn report_time(&self) -> i64;

    /// The budgets of all moves.
    fn budgets(&self) -> MoveBudgets;

    /// The moves of other bindings, under way or waiting.
    fn others(&self) -> Vec<Applicant<'_>>;

    /// True if `result` must not be written over `present`, because it takes replicas away while clusters are missing.
    fn holds_back(&self, present: &[TargetCluster], result: &[TargetCluster]) -> bool;
}
