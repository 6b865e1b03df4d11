//! Replicas that run nowhere after a change, and what they cost before it. A cost that falls because of them is not a saving.

use std::sync::Arc;

use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;
use divvy_scheduler::cost::Pricing;
use divvy_scheduler::fleet::Footprint;

use crate::cost::GoneCosts;
use crate::load::Load;
use crate::movement::{Ending, Movement};
use crate::situation::Assignment;

/// Replicas of all bindings that run nowhere afterwards, by the reason.
#[derive(Debug, Clone, Default)]
pub struct Gone {
    /// `None` if costs are not counted.
    loads: Option<Loads>,
    movement: Movement,
}

#[derive(Debug, Clone, Default)]
struct Loads {
    removed: Load,
    lost: Load,
    stranded: Load,
}

impl Gone {
    /// None yet. Nothing is counted without prices.
    pub fn new(pricing: Option<&Arc<Pricing>>) -> Self {
        let load = || Load::new(pricing);
        Self {
            loads: pricing.map(|_| Loads {
                removed: load(),
                lost: load(),
                stranded: load(),
            }),
            movement: Movement::default(),
        }
    }

    /// Adds a binding that changes from some clusters to others. `binding` is that of the earlier state.
    ///
    /// If some of its replicas move and others run nowhere afterwards, each cluster that loses replicas has its share of both.
    pub fn add(&mut self, binding: &Binding, from: &Assignment, to: &Assignment, movement: &Movement, ending: Ending) {
        let Some(loads) = &mut self.loads else { return };
        self.movement += *movement;
        let taken = match Footprint::new(&binding.object.spec).is_component_set() {
            true => whole(from, to),
            false => taken(
                from,
                to,
                movement.removed + movement.lost + movement.waiting + movement.stranded,
            ),
        };
        if taken.is_empty() {
            return;
        }
        let load = match ending {
            Ending::Placed => &mut loads.removed,
            Ending::Failed => &mut loads.lost,
            Ending::Skipped => &mut loads.stranded,
        };
        load.add(binding, &taken);
    }

    /// Adds others.
    pub(crate) fn merge(&mut self, other: Self) {
        self.movement += other.movement;
        if let (Some(loads), Some(others)) = (&mut self.loads, other.loads) {
            loads.removed.merge(others.removed);
            loads.lost.merge(others.lost);
            loads.stranded.merge(others.stranded);
        }
    }

    /// What they cost; `None` if costs are not counted.
    pub fn costs<'a>(&self, cluster: impl Fn(&str) -> Option<&'a Cluster>) -> Option<GoneCosts> {
        let loads = self.loads.as_ref()?;
        let cost = |load: &Load| load.total_cost(&cluster).unwrap_or_default();
        Some(GoneCosts {
            removed: cost(&loads.removed),
            lost: cost(&loads.lost),
            stranded: cost(&loads.stranded),
            movement: self.movement,
        })
    }
}

/// So many of the replicas that a binding loses, from its clusters in proportion to what each loses.
fn taken(from: &Assignment, to: &Assignment, count: i64) -> Assignment {
    let losses = from.iter().map(|(cluster, replicas)| {
        let kept = to.get(cluster).copied().unwrap_or(0);
        (cluster, (replicas - kept).max(0))
    });
    in_proportion(losses.collect(), count)
}

/// Clusters of a binding whose components are in each of its clusters as a whole: those that no other cluster replaces.
fn whole(from: &Assignment, to: &Assignment) -> Assignment {
    let losses = from
        .keys()
        .map(|cluster| (cluster, i64::from(!to.contains_key(cluster))));
    let gains = to.keys().filter(|cluster| !from.contains_key(*cluster)).count();
    let losses: Vec<(&String, i64)> = losses.collect();
    let lost: i64 = losses.iter().map(|(_, loss)| loss).sum();
    let taken = in_proportion(losses, lost - i64::try_from(gains).unwrap_or(i64::MAX));
    taken.into_keys().map(|cluster| (cluster, 0)).collect()
}

/// Divides a count, at most the sum of the losses, in proportion to them. Clusters without a share are left out.
fn in_proportion(losses: Vec<(&String, i64)>, count: i64) -> Assignment {
    let total: i128 = losses.iter().map(|(_, loss)| i128::from(*loss)).sum();
    let (mut lost, mut given) = (0_i128, 0_i128);
    let shares = losses.into_iter().filter_map(|(cluster, loss)| {
        lost += i128::from(loss);
        // The sum of all shares up to this one is rounded down, so that the shares add up to the count.
        let share = (i128::from(count.max(0)) * lost).checked_div(total)? - given;
        given += share;
        let share = i64::try_from(share).ok().filter(|share| *share > 0)?;
        Some((cluster.clone(), share))
    });
    shares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(counts: &[(&str, i64)]) -> Assignment {
        let counts = counts.iter();
        counts.map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn replicas_are_taken_from_clusters_in_proportion_to_their_losses() {
        let from = assignment(&[("a", 10), ("b", 5), ("c", 1)]);
        for (to, count, expected) in [
            (&[][..], 16, &[("a", 10), ("b", 5), ("c", 1)][..]),
            (&[("c", 1)], 15, &[("a", 10), ("b", 5)]),
            (&[("c", 1)], 3, &[("a", 2), ("b", 1)]),
            (&[("b", 20)], 0, &[]),
            (&[("a", 12), ("b", 4)], 1, &[("c", 1)]),
            (&[("a", 10), ("b", 5), ("c", 1)], 0, &[]),
        ] {
            let found = taken(&from, &assignment(to), count);
            assert_eq!(found, assignment(expected), "{to:?} {count}");
        }
    }

    #[test]
    fn as_many_as_are_gone_are_taken_and_no_cluster_gives_more_than_it_loses() {
        let from = assignment(&[("a", 7), ("b", 3), ("c", 9), ("d", 1)]);
        let to = assignment(&[("b", 2), ("d", 5)]);
        for count in 0..=17 {
            let found = taken(&from, &to, count);
            assert_eq!(found.values().sum::<i64>(), count);
            let loss = |cluster: &String| from[cluster] - to.get(cluster).unwrap_or(&0);
            assert!(
                found.iter().all(|(cluster, taken)| *taken <= loss(cluster)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn components_that_another_cluster_takes_over_are_not_gone() {
        let from = assignment(&[("a", 0), ("b", 0)]);
        assert_eq!(whole(&from, &assignment(&[("c", 0), ("d", 0)])), assignment(&[]));
        assert_eq!(whole(&from, &assignment(&[("b", 0)])), assignment(&[("a", 0)]));
        assert_eq!(whole(&from, &assignment(&[])), from);
        assert_eq!(whole(&from, &assignment(&[("c", 0)])).len(), 1);
    }
}
