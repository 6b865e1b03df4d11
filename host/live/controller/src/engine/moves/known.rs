//! A move as it was seen last: what it uses of the budgets, what it waits for, and what may end the wait.

use std::time::Instant;

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::cycle::MovingCluster;
use divvy_scheduler::moves::budgets::{Claim, ClaimedCluster, Ledger};
use divvy_scheduler::moves::step::Reason as Wait;

/// A move that is under way or waits, as it was seen last.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Known {
    /// Its key, as budgets order it.
    pub(super) text: String,
    /// Priority of the binding.
    pub(super) priority: i32,
    /// True if it has begun, and has not released its claim.
    pub(super) is_under_way: bool,
    /// True if it waits for something else than a place among the moves under way, and needs no claim.
    pub(super) is_blocked: bool,
    /// True if a cluster lacks room for what the target gives it.
    pub(super) lacks_room: bool,
    /// The replicas that it wants to give, if budgets of replicas limit its next step, whatever it waits for.
    pub(super) wants: Vec<Want>,
    /// True if the binding has a mark.
    pub(super) has_mark: bool,
    /// The result that it ends with, sorted by cluster: before it has a mark, nothing else says so.
    pub(super) target: Vec<TargetCluster>,
    /// The clusters in which it gives or takes.
    pub(super) clusters: Vec<KnownCluster>,
    /// All clusters whose readiness it depends on.
    pub(super) names: Vec<String>,
    /// What it waits for, and since when in this process.
    pub(super) wait: Option<(Wait, Instant)>,
}

/// Replicas that a move wants to give a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Want {
    /// Name of the cluster.
    name: String,
    /// Its region; empty if unknown.
    region: String,
    /// Replicas for which it has room.
    wanted: i64,
    /// Those that the budgets permitted when the move was looked at.
    granted: i64,
}

impl Want {
    /// The replicas that a move wants to give, if the budgets limit them; otherwise none.
    pub(super) fn limited<'a>(
        ledger: &Ledger<'a>,
        clusters: &[MovingCluster<'_>],
        region: impl Fn(&str) -> &'a str,
    ) -> Vec<Self> {
        let mut limited = clusters.to_vec();
        if ledger.limit_room(&mut limited, &region).is_none() {
            return Vec::new();
        }
        let wants = clusters.iter().zip(&limited).map(|(cluster, limited)| Self {
            name: cluster.name.to_owned(),
            region: region(cluster.name).to_owned(),
            wanted: cluster.target.saturating_sub(cluster.current).min(cluster.room),
            granted: limited.room,
        });
        wants.filter(|want| want.wanted > 0).collect()
    }
}

/// A cluster of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownCluster {
    /// Its name.
    pub(super) name: String,
    /// Its region; empty if unknown.
    pub(super) region: String,
    /// Replicas that the move has given it and that are not known to be ready.
    pub(super) unready: i64,
}

impl Known {
    /// True if a report may permit the next step.
    pub(super) fn follows_reports(&self) -> bool {
        let is_elsewhere = |wait: &Wait| {
            matches!(
                wait,
                Wait::Hours | Wait::Dispatching | Wait::Budget(_) | Wait::Admission | Wait::MissingClusters
            )
        };
        self.has_mark || !self.wait.as_ref().is_some_and(|(wait, _)| is_elsewhere(wait))
    }

    /// True if the move is known to use any budget.
    pub(super) fn has_given(&self) -> bool {
        self.is_under_way || self.clusters.iter().any(|cluster| cluster.unready > 0)
    }

    /// True if the move depends on a cluster.
    pub(super) fn depends_on(&self, cluster: &str) -> bool {
        self.cluster_names().any(|known| known == cluster)
    }

    /// Names of the clusters that the move depends on.
    pub(in crate::engine) fn cluster_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The clusters, as budgets see them.
    pub(super) fn claimed(&self) -> Vec<ClaimedCluster<'_>> {
        let clusters = self.clusters.iter().map(|cluster| ClaimedCluster {
            name: &cluster.name,
            region: &cluster.region,
            unready: cluster.unready,
        });
        clusters.collect()
    }

    /// The claim on budgets, with its clusters.
    pub(super) fn claim<'a>(&'a self, clusters: &'a [ClaimedCluster<'a>]) -> Claim<'a> {
        Claim {
            binding: &self.text,
            priority: self.priority,
            is_under_way: self.is_under_way,
            is_blocked: self.is_blocked,
            clusters,
        }
    }

    /// Uses at least this in each of these clusters.
    pub(super) fn add(&mut self, clusters: &[KnownCluster]) {
        for seen in clusters {
            match self.clusters.iter_mut().find(|known| known.name == seen.name) {
                Some(known) => known.unready = known.unready.max(seen.unready),
                None => self.clusters.push(seen.clone()),
            }
        }
    }

    /// This move with what it is seen to use now.
    pub(super) fn using(&self, seen: Self) -> Self {
        Self {
            is_under_way: seen.is_under_way,
            is_blocked: self.is_blocked && !seen.is_under_way,
            clusters: seen.clusters,
            ..self.clone()
        }
    }

    /// True if this uses less of any budget than `before`, or leaves a turn to others.
    pub(super) fn frees(&self, before: &Self) -> bool {
        let claims = |known: &Self| !known.is_blocked;
        let has_less = |before: &KnownCluster| {
            let is_it = |after: &&KnownCluster| after.name == before.name && after.region == before.region;
            let after = self.clusters.iter().find(is_it);
            after.is_none_or(|after| after.unready < before.unready)
        };
        before.is_under_way && !self.is_under_way
            || claims(before) && !claims(self)
            || self.priority < before.priority
            || before.clusters.iter().any(has_less)
    }

    /// True if it waits for a place among the moves under way.
    pub(super) fn waits_for_place(&self) -> bool {
        let is_for_place = |(wait, _): &(Wait, Instant)| matches!(wait, Wait::Budget(_) | Wait::Admission);
        self.wants.is_empty() && self.wait.as_ref().is_some_and(is_for_place)
    }

    /// True if budgets of replicas limited its next step, and permit more of it now.
    pub(super) fn may_give_more<'a>(&'a self, ledger: &Ledger<'a>) -> bool {
        let columns = self.wants.iter().map(|want| MovingCluster {
            name: &want.name,
            current: 0,
            present: 0,
            ready: 0,
            target: want.wanted,
            room: want.wanted,
        });
        let mut columns: Vec<MovingCluster<'_>> = columns.collect();
        let region = |name: &str| {
            let want = self.wants.iter().find(|want| want.name == name);
            want.map_or("", |want| want.region.as_str())
        };
        ledger.limit_room(&mut columns, region);
        let mut grants = self.wants.iter().zip(&columns);
        grants.any(|(want, column)| column.room > want.granted)
    }
}

#[cfg(test)]
mod tests {
    use divvy_profile::MoveBudgets;

    use super::*;

    fn known(clusters: &[(&str, &str, i64)]) -> Known {
        let clusters = clusters.iter().map(|(name, region, unready)| KnownCluster {
            name: (*name).to_owned(),
            region: (*region).to_owned(),
            unready: *unready,
        });
        Known {
            text: "default/web".to_owned(),
            priority: 3,
            is_under_way: true,
            is_blocked: false,
            lacks_room: false,
            wants: Vec::new(),
            has_mark: true,
            target: Vec::new(),
            clusters: clusters.collect(),
            names: Vec::new(),
            wait: None,
        }
    }

    #[test]
    fn less_in_a_cluster_frees_whatever_the_sum() {
        let before = known(&[("a", "r", 2), ("b", "r", 2)]);
        let frees = |clusters: &[(&str, &str, i64)]| known(clusters).frees(&before);
        assert!(!frees(&[("a", "r", 2), ("b", "r", 2)]));
        assert!(!frees(&[("b", "r", 3), ("a", "r", 2), ("c", "r", 1)]));
        assert!(frees(&[("a", "r", 1), ("b", "r", 3)]));
        assert!(frees(&[("a", "r", 2)]), "it has left `b`");
        assert!(frees(&[("a", "r", 2), ("b", "s", 2)]), "`b` is in another region");
    }

    #[test]
    fn a_move_that_leaves_its_turn_frees() {
        let before = known(&[("a", "r", 2)]);
        let after = |change: fn(&mut Known)| {
            let mut after = before.clone();
            change(&mut after);
            after.frees(&before)
        };
        assert!(after(|known| known.is_under_way = false));
        assert!(after(|known| known.is_blocked = true));
        assert!(after(|known| known.priority = 2));
        assert!(!after(|known| known.priority = 4));
    }

    #[test]
    fn only_a_budget_that_permits_more_than_before_ends_the_wait_for_replicas() {
        let budgets: MoveBudgets = serde_json::from_str(r#"{"replicas": 6, "replicas-per-cluster": 3}"#).unwrap();
        let column = |name, target| MovingCluster {
            name,
            current: 0,
            present: 0,
            ready: 0,
            target,
            room: 5,
        };
        let columns = [column("a", 4), column("b", 0), column("c", 9)];
        let grants = |used: &[(&str, &str, i64)]| {
            let used = known(used);
            let clusters = used.claimed();
            let (_, ledger) = Ledger::admit(budgets, &[used.claim(&clusters)]);
            let wants = Want::limited(&ledger, &columns, |_| "");
            wants
                .iter()
                .map(|want| (want.name.clone(), want.wanted, want.granted))
                .collect::<Vec<_>>()
        };
        let granted = |a, c| vec![("a".to_owned(), 4, a), ("c".to_owned(), 5, c)];
        assert_eq!(grants(&[("a", "", 2), ("x", "", 2)]), granted(1, 1));
        let wants = |a, c| {
            let want = |name: &str, wanted, granted| Want {
                name: name.to_owned(),
                region: String::new(),
                wanted,
                granted,
            };
            Known {
                wants: vec![want("a", 4, a), want("c", 5, c)],
                ..known(&[])
            }
        };
        let waiting = wants(1, 1);
        let may_give_more = |used: &[(&str, &str, i64)]| {
            let used = known(used);
            let clusters = used.claimed();
            let (_, ledger) = Ledger::admit(budgets, &[used.claim(&clusters)]);
            waiting.may_give_more(&ledger)
        };
        assert!(!may_give_more(&[("a", "", 2), ("x", "", 2)]));
        assert!(!may_give_more(&[("a", "", 3), ("x", "", 2)]));
        assert!(may_give_more(&[("a", "", 1), ("x", "", 2)]));
        assert!(may_give_more(&[("a", "", 2), ("x", "", 1)]), "one more in `c`");
        assert!(!known(&[]).may_give_more(&Ledger::default()), "nothing limited it");
    }
}
