//! The moves that may be under way at once, and the replicas that they may have given.
//!
//! A ledger is made anew from what is observed: it remembers nothing. Moves under way are booked first, then those that wait are admitted
//! in the order of their priorities. A move that waits for room or for a quota has released its claim, and is admitted again.
//!
//! Bindings are counted where a move gives or takes. Replicas are counted where they were given, until they are known to be ready; a
//! step is limited to what is left, so a move larger than a budget is made in smaller steps.

use std::collections::HashMap;
use std::num::NonZeroU32;

use divvy_profile::MoveBudgets;

use crate::cycle::MovingCluster;

/// A move that asks for admission, as budgets see it.
#[derive(Debug, Clone, Copy)]
pub struct Applicant<'a> {
    /// Key of the binding. Of moves with the same priority, the smallest key goes first.
    pub binding: &'a str,
    /// Priority of the binding.
    pub priority: i32,
    /// True if the move has begun, and has not released its claim.
    pub is_under_way: bool,
    /// True if it waits for room or a quota, so that it needs no claim.
    pub is_blocked: bool,
    /// The clusters in which it gives or takes.
    pub clusters: &'a [ClaimedCluster<'a>],
}

/// A cluster of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedCluster<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its region; empty if unknown, in which case no budget of a region counts.
    pub region: &'a str,
    /// Replicas that the move has given it and that are not known to be ready.
    pub unready: i64,
}

/// The scope of a budget that is used up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Scope {
    /// All clusters.
    #[error("the budget of all moves")]
    All,
    /// A cluster.
    #[error("the budget of cluster `{0}`")]
    Cluster(String),
    /// A region.
    #[error("the budget of region `{0}`")]
    Region(String),
}

/// What a move may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// It goes on, or begins.
    Goes,
    /// It waits for a budget.
    Waits(Scope),
    /// It waits for something else, and has no claim.
    Blocked,
}

/// What moves under way use of the budgets.
#[derive(Debug, Clone, Default)]
pub struct Ledger<'a> {
    limits: MoveBudgets,
    all: Used,
    clusters: HashMap<&'a str, Used>,
    regions: HashMap<&'a str, Used>,
}

/// Use of one budget.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    bindings: u32,
    replicas: i64,
}

impl<'a> Ledger<'a> {
    /// Admits moves. Returns what each may do, in the order of `applicants`, and what those under way use.
    pub fn admit(limits: MoveBudgets, applicants: &[Applicant<'a>]) -> (Vec<Admission>, Self) {
        let mut ledger = Self {
            limits,
            ..Self::default()
        };
        let mut admissions = vec![Admission::Blocked; applicants.len()];
        for (applicant, admission) in applicants.iter().zip(&mut admissions) {
            // What was given is on its way, whether the move goes on or not.
            for cluster in applicant.clusters {
                ledger.add(cluster, 0, cluster.unready.max(0));
            }
            if applicant.is_under_way && !applicant.is_blocked {
                ledger.enter(applicant);
                *admission = Admission::Goes;
            }
        }
        let is_waiting = |index: &usize| !applicants[*index].is_under_way && !applicants[*index].is_blocked;
        let mut waiting: Vec<usize> = (0..applicants.len()).filter(is_waiting).collect();
        waiting.sort_by_key(|index| {
            (
                std::cmp::Reverse(applicants[*index].priority),
                applicants[*index].binding,
            )
        });
        for index in waiting {
            admissions[index] = match ledger.full(&applicants[index]) {
                Some(scope) => Admission::Waits(scope),
                None => {
                    ledger.enter(&applicants[index]);
                    Admission::Goes
                }
            };
        }
        (admissions, ledger)
    }

    /// Limits the room of a move's clusters to what is left for replicas. Returns the first scope that limits; `None` if none does.
    /// `region` returns the region of a cluster.
    pub fn limit_room(&self, clusters: &mut [MovingCluster<'_>], region: impl Fn(&str) -> &'a str) -> Option<Scope> {
        let mut left = self.clone();
        let mut limit = None;
        for cluster in clusters {
            let wanted = cluster.target.saturating_sub(cluster.current).min(cluster.room);
            if wanted <= 0 {
                continue;
            }
            let region = region(cluster.name);
            let (granted, scope) = left.left_of(cluster.name, region);
            if granted < wanted {
                limit = limit.or(scope);
                cluster.room = granted;
            }
            let given = granted.min(wanted);
            left.all.replicas = left.all.replicas.saturating_add(given);
            if !region.is_empty() {
                let used = left.regions.entry(region).or_default();
                used.replicas = used.replicas.saturating_add(given);
            }
        }
        limit
    }

    /// Books the replicas of a step that was written, for moves that are looked at after it.
    pub fn give(&mut self, name: &'a str, region: &'a str, replicas: i64) {
        let unready = replicas.max(0);
        self.add(&ClaimedCluster { name, region, unready }, 0, unready);
    }

    /// Replicas that may be given, and the scope that limits them.
    fn left_of(&self, name: &str, region: &str) -> (i64, Option<Scope>) {
        let used = |used: Option<&Used>| used.map_or(0, |used| used.replicas);
        let scopes = [
            (left(self.limits.replicas, self.all.replicas), Scope::All),
            (
                left(self.limits.replicas_per_cluster, used(self.clusters.get(name))),
                Scope::Cluster(name.to_owned()),
            ),
            (
                left(
                    self.limits.replicas_per_region.filter(|_| !region.is_empty()),
                    used(self.regions.get(region)),
                ),
                Scope::Region(region.to_owned()),
            ),
        ];
        let least = scopes.into_iter().min_by_key(|(left, _)| *left);
        least.map_or((i64::MAX, None), |(left, scope)| (left, Some(scope)))
    }

    fn add(&mut self, cluster: &ClaimedCluster<'a>, bindings: u32, replicas: i64) {
        let book = |used: &mut Used| {
            used.bindings = used.bindings.saturating_add(bindings);
            used.replicas = used.replicas.saturating_add(replicas);
        };
        self.all.replicas = self.all.replicas.saturating_add(replicas);
        book(self.clusters.entry(cluster.name).or_default());
        // A binding counts once in a region: see `enter`.
        let used = self.regions.entry(cluster.region).or_default();
        used.replicas = used.replicas.saturating_add(replicas);
    }

    /// Books a binding.
    fn enter(&mut self, applicant: &Applicant<'a>) {
        self.all.bindings = self.all.bindings.saturating_add(1);
        for cluster in applicant.clusters {
            self.add(cluster, 1, 0);
        }
        for region in regions(applicant) {
            let used = self.regions.entry(region).or_default();
            used.bindings = used.bindings.saturating_add(1);
        }
    }

    /// The first scope in which no further binding may be under way.
    fn full(&self, applicant: &Applicant<'a>) -> Option<Scope> {
        let is_full = |limit: Option<NonZeroU32>, used: u32| limit.is_some_and(|limit| used >= limit.get());
        let used = |used: Option<&Used>| used.map_or(0, |used| used.bindings);
        if is_full(self.limits.bindings, self.all.bindings) {
            return Some(Scope::All);
        }
        let mut names = applicant.clusters.iter().map(|cluster| cluster.name);
        if let Some(name) = names.find(|name| is_full(self.limits.bindings_per_cluster, used(self.clusters.get(name))))
        {
            return Some(Scope::Cluster(name.to_owned()));
        }
        let mut regions = regions(applicant).into_iter();
        let region = regions.find(|region| is_full(self.limits.bindings_per_region, used(self.regions.get(region))));
        region.map(|region| Scope::Region(region.to_owned()))
    }
}

/// The known regions of a move, each once.
fn regions<'a>(applicant: &Applicant<'a>) -> Vec<&'a str> {
    let mut regions: Vec<&str> = applicant.clusters.iter().map(|cluster| cluster.region).collect();
    regions.retain(|region| !region.is_empty());
    regions.sort_unstable();
    regions.dedup();
    regions
}

fn left(limit: Option<NonZeroU32>, used: i64) -> i64 {
    limit.map_or(i64::MAX, |limit| i64::from(limit.get()).saturating_sub(used).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(json: &str) -> MoveBudgets {
        serde_json::from_str(json).unwrap()
    }

    fn claim<'a>(binding: &'a str, priority: i32, clusters: &'a [ClaimedCluster<'a>]) -> Applicant<'a> {
        Applicant {
            binding,
            priority,
            is_under_way: false,
            is_blocked: false,
            clusters,
        }
    }

    fn at<'a>(name: &'a str, region: &'a str, unready: i64) -> ClaimedCluster<'a> {
        ClaimedCluster { name, region, unready }
    }

    #[test]
    fn moves_are_admitted_by_priority_after_those_under_way() {
        let (ab, cd) = ([at("a", "", 0), at("b", "", 0)], [at("c", "", 0), at("d", "", 0)]);
        let low = claim("low", -1, &ab);
        let begun = Applicant {
            is_under_way: true,
            ..low
        };
        let claims = [claim("y", 5, &cd), claim("x", 5, &cd), begun, claim("z", 9, &ab)];
        let admit = |json: &str| Ledger::admit(limits(json), &claims).0;
        assert_eq!(admit("{}"), vec![Admission::Goes; 4]);
        let all = Admission::Waits(Scope::All);
        let two = admit(r#"{"bindings": 2}"#);
        assert_eq!(two, [all.clone(), all.clone(), Admission::Goes, Admission::Goes]);
        let one = admit(r#"{"bindings": 1}"#);
        assert_eq!(one, [all.clone(), all.clone(), Admission::Goes, all]);
        let per_cluster = admit(r#"{"bindings-per-cluster": 1}"#);
        let waits = |name: &str| Admission::Waits(Scope::Cluster(name.to_owned()));
        assert_eq!(per_cluster, [waits("c"), Admission::Goes, Admission::Goes, waits("a")]);
    }

    #[test]
    fn a_binding_counts_once_in_a_region_and_an_unknown_region_does_not_limit() {
        let (two, one, none) = ([at("a", "r", 0), at("b", "r", 0)], [at("c", "r", 0)], [at("d", "", 0)]);
        let claims = [
            claim("1", 0, &two),
            claim("2", 0, &one),
            claim("3", 0, &one),
            claim("4", 0, &none),
        ];
        let more = [claims.to_vec(), vec![claim("5", 0, &none)]].concat();
        let admitted = Ledger::admit(limits(r#"{"bindings-per-region": 2}"#), &more).0;
        let region = Admission::Waits(Scope::Region("r".to_owned()));
        let goes = Admission::Goes;
        assert_eq!(admitted, [goes.clone(), goes.clone(), region, goes.clone(), goes]);
    }

    #[test]
    fn a_move_that_waits_for_something_else_leaves_its_claim() {
        let clusters = [at("a", "", 2)];
        let blocked = Applicant {
            is_under_way: true,
            is_blocked: true,
            ..claim("1", 9, &clusters)
        };
        let claims = [blocked, claim("2", 0, &clusters)];
        let (admitted, ledger) = Ledger::admit(limits(r#"{"bindings": 1, "replicas": 5}"#), &claims);
        assert_eq!(admitted, [Admission::Blocked, Admission::Goes]);
        // The replicas that both gave still become ready.
        assert_eq!(ledger.left_of("a", "").0, 1);
    }

    #[test]
    fn a_step_is_limited_to_the_replicas_that_are_left() {
        let moving = |name, current, target, room| MovingCluster {
            name,
            current,
            present: 0,
            ready: 0,
            target,
            room,
        };
        let clusters = [at("a", "r", 3)];
        let budgets = limits(r#"{"replicas": 10, "replicas-per-cluster": 5, "replicas-per-region": 6}"#);
        let (_, mut ledger) = Ledger::admit(budgets, &[claim("1", 0, &clusters)]);
        let limited = |ledger: &Ledger<'_>| {
            let mut columns = [
                moving("a", 3, 9, i64::MAX),
                moving("b", 0, 4, i64::MAX),
                moving("c", 8, 0, i64::MAX),
                moving("d", 0, 1, i64::MAX),
            ];
            let scope = ledger.limit_room(&mut columns, |name| if name == "d" { "" } else { "r" });
            (columns.map(|cluster| cluster.room), scope)
        };
        // Of the region's six, three are left: two for `a`, whose own budget they use up, and one for `b`.
        let (rooms, scope) = limited(&ledger);
        assert_eq!(
            (rooms, scope),
            ([2, 1, i64::MAX, i64::MAX], Some(Scope::Cluster("a".to_owned())))
        );
        ledger.give("x", "", 7);
        let (rooms, scope) = limited(&ledger);
        assert_eq!((rooms, scope), ([0, 0, i64::MAX, 0], Some(Scope::All)));
        let (_, free) = Ledger::admit(MoveBudgets::default(), &[claim("1", 0, &clusters)]);
        assert_eq!(limited(&free), ([i64::MAX; 4], None));
    }
}
