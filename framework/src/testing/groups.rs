//! Checking that a strategy keeps the bounds of groups of clusters.

use divvy_framework_calls::snapshot::SnapshotStore;

use super::Scenario;
use crate::assign::AssignPlugin;
use crate::clusters::Cluster;
use crate::configuration::Preferences;
use crate::groups::Group;

impl Scenario {
    /// What `read` makes of each cluster, in the order of the scenario.
    fn of_each_cluster<T>(&self, read: impl Fn(&Cluster<'_>) -> T) -> Vec<T> {
        let mut store = SnapshotStore::new();
        for cluster in &self.clusters {
            cluster.write(&mut store);
        }
        store
            .snapshot()
            .clusters()
            .iter()
            .map(|cluster| read(&cluster))
            .collect()
    }

    /// Runs Assign and checks that each group gets a number of replicas within its minimum and maximum, and that clusters in no group get
    /// none. `group_of` is the group of a cluster, as an index of `groups`. The strategy need not have used
    /// [`share_among`](crate::assign::AssignContext::share_among). A scenario in which it fails breaks no bound.
    ///
    /// In a property test, run it on many scenarios, beside [`check_promises`](Self::check_promises).
    ///
    /// # Errors
    ///
    /// The first group whose bounds are not kept, with the figures.
    pub fn check_groups<T: Preferences + 'static, P: AssignPlugin<T>>(
        &self,
        plugin: &P,
        groups: &[Group],
        group_of: impl Fn(&Cluster<'_>) -> Option<usize>,
    ) -> Result<(), String> {
        let Ok(counts) = self.assign(plugin) else {
            return Ok(());
        };
        let of_clusters = self.of_each_cluster(group_of);
        let mut totals = vec![0_i64; groups.len()];
        for ((group, &count), name) in of_clusters.iter().zip(&counts).zip(self.cluster_names()) {
            match group.and_then(|group| totals.get_mut(group)) {
                Some(total) => *total = total.saturating_add(count),
                None if count != 0 => {
                    return Err(format!("cluster `{name}` is in no group and has {count}: {counts:?}"));
                }
                None => {}
            }
        }
        for (group, total) in groups.iter().zip(totals) {
            let (least, most) = group.bounds();
            if total < least || most.is_some_and(|most| total > most) {
                let most = most.map_or("any".to_owned(), |most| most.to_string());
                let name = group.name();
                return Err(format!(
                    "{name} has {total}, expected from {least} to {most}: {counts:?}"
                ));
            }
        }
        Ok(())
    }
}
