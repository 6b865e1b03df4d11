//! What a move uses of the budgets once its verdict is carried out, and what may end its wait.

use divvy_karmada::api::TargetCluster;

use super::budgets::{Applicant, ClaimedCluster, Ledger};
use super::look::Look;
use super::step::{Reason, Verdict, Write};
use super::world::World;
use crate::cycle::MovingCluster;

/// A move that is under way or waits.
#[derive(Debug, Clone)]
pub struct Claim {
    /// True if it has begun, and has not released its claim.
    pub is_under_way: bool,
    /// True if it waits for something else than a place among the moves under way, and needs no claim.
    pub is_blocked: bool,
    /// True if a cluster lacks room for what the target gives it.
    pub lacks_room: bool,
    /// The replicas that it wants to give, if budgets of replicas limit its next step, whatever it waits for.
    pub wants: Vec<Want>,
    /// True if the binding has a mark.
    pub has_mark: bool,
    /// The result that it ends with, sorted by cluster: the only record of it until the mark is written.
    pub target: Vec<TargetCluster>,
    /// The clusters in which it gives or takes.
    pub clusters: Vec<UsedCluster>,
    /// All clusters whose readiness it depends on.
    pub names: Vec<String>,
}

/// Replicas that a move wants to give a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// Name of the cluster.
    name: String,
    /// Its region; empty if unknown.
    region: String,
    /// Replicas for which it has room.
    wanted: i64,
    /// Those that the budgets permitted when the move was looked at.
    granted: i64,
}

/// A cluster of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedCluster {
    /// Its name.
    pub name: String,
    /// Its region; empty if unknown.
    pub region: String,
    /// Replicas that the move has given it and that are not known to be ready.
    pub unready: i64,
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

impl Claim {
    /// The claim of a move that is seen like this, claims `own` now, and wants to give this much more. Without a verdict, nothing of it
    /// changes.
    pub(super) fn new(
        look: &Look<'_>,
        own: &[ClaimedCluster<'_>],
        verdict: Option<&Verdict>,
        wants: Vec<Want>,
        world: &impl World,
    ) -> Self {
        let (is_under_way, has_mark) = match verdict {
            // A claim is released by the mark, once that is written.
            Some(Verdict::Write(Write { mark: Some(mark), .. })) => (look.is_under_way() || !mark.is_released, true),
            _ => (look.is_under_way(), look.mark.is_some()),
        };
        let is_awaiting_budget = matches!(
            verdict,
            Some(Verdict::Wait(Reason::Budget(_) | Reason::Admission | Reason::Hours))
        );
        Self {
            is_under_way,
            // One that has its turn, and cannot give anything, leaves the turn to others.
            is_blocked: !is_under_way && (!is_awaiting_budget || !wants.is_empty()),
            lacks_room: look.clusters.iter().any(lacks_room),
            wants,
            has_mark,
            target: target(look),
            clusters: used(look, own, verdict, world),
            names: look.clusters.iter().map(|cluster| cluster.name.to_owned()).collect(),
        }
    }

    /// True if the move is known to use any budget.
    pub fn has_given(&self) -> bool {
        self.is_under_way || self.clusters.iter().any(|cluster| cluster.unready > 0)
    }

    /// The clusters, as budgets see them.
    pub fn claimed(&self) -> Vec<ClaimedCluster<'_>> {
        let clusters = self.clusters.iter().map(|cluster| ClaimedCluster {
            name: &cluster.name,
            region: &cluster.region,
            unready: cluster.unready,
        });
        clusters.collect()
    }

    /// The move as it asks for admission, with its [clusters](Self::claimed), the key of its binding and the priority.
    pub fn applicant<'a>(&self, binding: &'a str, priority: i32, clusters: &'a [ClaimedCluster<'a>]) -> Applicant<'a> {
        Applicant {
            binding,
            priority,
            is_under_way: self.is_under_way,
            is_blocked: self.is_blocked,
            clusters,
        }
    }

    /// Uses at least this in each of these clusters.
    pub fn add(&mut self, clusters: &[UsedCluster]) {
        for seen in clusters {
            match self.clusters.iter_mut().find(|known| known.name == seen.name) {
                Some(known) => known.unready = known.unready.max(seen.unready),
                None => self.clusters.push(seen.clone()),
            }
        }
    }

    /// This claim with what the move is seen to use now.
    #[must_use]
    pub fn using(&self, seen: Self) -> Self {
        Self {
            is_under_way: seen.is_under_way,
            is_blocked: self.is_blocked && !seen.is_under_way,
            clusters: seen.clusters,
            ..self.clone()
        }
    }

    /// True if this uses less of any budget than `before`, or leaves a turn to others.
    pub fn frees(&self, before: &Self) -> bool {
        let claims = |known: &Self| !known.is_blocked;
        let has_less = |before: &UsedCluster| {
            let is_it = |after: &&UsedCluster| after.name == before.name && after.region == before.region;
            let after = self.clusters.iter().find(is_it);
            after.is_none_or(|after| after.unready < before.unready)
        };
        before.is_under_way && !self.is_under_way
            || claims(before) && !claims(self)
            || before.clusters.iter().any(has_less)
    }

    /// True if budgets of replicas limited its next step, and permit more of it now.
    pub fn may_give_more<'a>(&'a self, ledger: &Ledger<'a>) -> bool {
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

/// True if a cluster has no room for all that the target gives it.
fn lacks_room(cluster: &MovingCluster<'_>) -> bool {
    cluster.room < cluster.target.saturating_sub(cluster.current)
}

/// The result that a move ends with, sorted by cluster.
fn target(look: &Look<'_>) -> Vec<TargetCluster> {
    let clusters = look.clusters.iter().filter(|cluster| cluster.target > 0);
    let target = clusters.map(|cluster| TargetCluster {
        name: cluster.name.to_owned(),
        replicas: i32::try_from(cluster.target).unwrap_or(i32::MAX),
        components: Vec::new(),
    });
    target.collect()
}

/// The clusters of a move whose verdict is being carried out. Others leave room for it even if the write fails.
fn used(
    look: &Look<'_>,
    own: &[ClaimedCluster<'_>],
    verdict: Option<&Verdict>,
    world: &impl World,
) -> Vec<UsedCluster> {
    let written = match verdict {
        Some(Verdict::Write(write)) => Some(write),
        _ => None,
    };
    let clusters = look.clusters.iter().filter_map(|cluster| {
        let next = written.map_or(cluster.current, |write| {
            let target = write.result.iter().find(|target| target.name == cluster.name);
            target.map_or(0, |target| target.replicas.into())
        });
        let before = own.iter().find(|own| own.name == cluster.name);
        // A change bounds what is ready, so that the rest counts as given once the cluster has no more than in the target.
        let after = match next == cluster.current || cluster.target < next {
            true => 0,
            false => next.saturating_sub(cluster.ready).max(0),
        };
        let unready = before.map_or(0, |before| before.unready).max(after);
        let is_concerned = before.is_some() || next != cluster.target || unready > 0;
        is_concerned.then(|| UsedCluster {
            name: cluster.name.to_owned(),
            region: world.region(cluster.name).to_owned(),
            unready,
        })
    });
    clusters.collect()
}

#[cfg(test)]
mod tests {
    use divvy_profile::MoveBudgets;

    use super::*;

    fn claim(clusters: &[(&str, &str, i64)]) -> Claim {
        let clusters = clusters.iter().map(|(name, region, unready)| UsedCluster {
            name: (*name).to_owned(),
            region: (*region).to_owned(),
            unready: *unready,
        });
        Claim {
            is_under_way: true,
            is_blocked: false,
            lacks_room: false,
            wants: Vec::new(),
            has_mark: true,
            target: Vec::new(),
            clusters: clusters.collect(),
            names: Vec::new(),
        }
    }

    #[test]
    fn less_in_a_cluster_frees_whatever_the_sum() {
        let before = claim(&[("a", "r", 2), ("b", "r", 2)]);
        let frees = |clusters: &[(&str, &str, i64)]| claim(clusters).frees(&before);
        assert!(!frees(&[("a", "r", 2), ("b", "r", 2)]));
        assert!(!frees(&[("b", "r", 3), ("a", "r", 2), ("c", "r", 1)]));
        assert!(frees(&[("a", "r", 1), ("b", "r", 3)]));
        assert!(frees(&[("a", "r", 2)]), "it has left `b`");
        assert!(frees(&[("a", "r", 2), ("b", "s", 2)]), "`b` is in another region");
    }

    #[test]
    fn a_move_that_leaves_its_turn_frees() {
        let before = claim(&[("a", "r", 2)]);
        let after = |change: fn(&mut Claim)| {
            let mut after = before.clone();
            change(&mut after);
            after.frees(&before)
        };
        assert!(after(|claim| claim.is_under_way = false));
        assert!(after(|claim| claim.is_blocked = true));
        assert!(!after(|claim| claim.has_mark = false));
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
            let used = claim(used);
            let clusters = used.claimed();
            let (_, ledger) = Ledger::admit(budgets, &[used.applicant("default/web", 3, &clusters)]);
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
            Claim {
                wants: vec![want("a", 4, a), want("c", 5, c)],
                ..claim(&[])
            }
        };
        let waiting = wants(1, 1);
        let may_give_more = |used: &[(&str, &str, i64)]| {
            let used = claim(used);
            let clusters = used.claimed();
            let (_, ledger) = Ledger::admit(budgets, &[used.applicant("default/web", 3, &clusters)]);
            waiting.may_give_more(&ledger)
        };
        assert!(!may_give_more(&[("a", "", 2), ("x", "", 2)]));
        assert!(!may_give_more(&[("a", "", 3), ("x", "", 2)]));
        assert!(may_give_more(&[("a", "", 1), ("x", "", 2)]));
        assert!(may_give_more(&[("a", "", 2), ("x", "", 1)]), "one more in `c`");
        assert!(!claim(&[]).may_give_more(&Ledger::default()), "nothing limited it");
    }
}
