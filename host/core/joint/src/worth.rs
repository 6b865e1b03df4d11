//! What it is worth to place a replica, and how few clusters may not have all of a workload.

use std::collections::BTreeSet;

/// What a replica that is not placed costs, in moves, for the lowest priority. The next one costs three times as much.
const LEAST: f64 = 20.0;
/// Priorities beyond which none is worth more, so that sums stay exact.
const RANKS: usize = 8;

/// What replicas that are not placed cost, in moves, by priority: the higher, the more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worths {
    /// In ascending order.
    priorities: Vec<i64>,
}

impl Worths {
    /// Those of workloads with these priorities.
    pub fn new(priorities: impl IntoIterator<Item = i64>) -> Self {
        let priorities: BTreeSet<i64> = priorities.into_iter().collect();
        Self {
            priorities: priorities.into_iter().collect(),
        }
    }

    /// The worth of a replica of a priority.
    pub fn of(&self, priority: i64) -> f64 {
        let rank = self.priorities.partition_point(|other| *other < priority);
        worth(rank.min(RANKS))
    }

    /// More than the worth of any replica that waits: that of one that runs.
    pub fn of_running() -> f64 {
        worth(RANKS + 2)
    }
}

fn worth(rank: usize) -> f64 {
    LEAST * 3.0_f64.powi(i32::try_from(rank).unwrap_or(i32::MAX))
}

/// Most replicas in one cluster, so that no `clusters - 1` of them can hold all; `None` if a single cluster may.
pub fn largest_part(replicas: u64, clusters: u64) -> Option<u64> {
    let others = clusters.checked_sub(1).filter(|others| *others > 0)?;
    Some(replicas.checked_sub(1)? / others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_priority_is_worth_three_times_the_next_lower_one_up_to_a_limit() {
        let worths = Worths::new([5, -1, 5, 9]);
        assert_eq!([-1, 5, 9].map(|priority| worths.of(priority)), [20.0, 60.0, 180.0]);
        let many = Worths::new(0..100);
        assert_eq!(many.of(8), many.of(99));
        assert!(many.of(99) < Worths::of_running());
    }

    #[test]
    fn parts_are_so_small_that_fewer_clusters_do_not_hold_all() {
        assert_eq!(largest_part(10, 0), None);
        assert_eq!(largest_part(10, 1), None);
        assert_eq!(largest_part(0, 3), None);
        for (replicas, clusters) in [(10, 2), (10, 3), (11, 3), (1, 2), (3, 5)] {
            let largest = largest_part(replicas, clusters).unwrap();
            assert!(largest * (clusters - 1) < replicas, "{replicas} over {clusters}");
            assert!((largest + 1) * (clusters - 1) >= replicas, "{replicas} over {clusters}");
        }
    }
}
