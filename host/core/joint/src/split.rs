//! From classes to their workloads.

use std::collections::BTreeMap;

use crate::assignment::Assignment;
use crate::fleet::{Demand, Fleet};

/// Replicas of each workload by cluster, in ascending order.
pub(crate) fn split(assignment: &Assignment<'_>, fleet: &Fleet) -> Vec<Vec<(u32, u64)>> {
    let classes = assignment.classes;
    let mut placed = vec![Vec::new(); fleet.demands.len()];
    for class in &classes.list {
        let edges = class.edges.clone().filter(|edge| assignment.placed(*edge) > 0);
        let mut left: BTreeMap<u32, u64> = edges
            .map(|edge| (classes.cluster[edge], assignment.placed(edge)))
            .collect();
        let demands = class.demands.iter().map(|number| *number as usize);
        let mut shares: Vec<Share<'_>> = demands
            .map(|number| Share::new(number, &fleet.demands[number]))
            .collect();
        for share in &mut shares {
            share.stay(&mut left);
        }
        // The smallest need first: fewer are left with a part.
        shares.sort_by_key(|share| (share.missing, share.number));
        for share in &mut shares {
            share.take(&mut left);
        }
        for share in shares {
            placed[share.number] = share.placed.into_iter().collect();
        }
    }
    placed
}

/// What one workload gets.
struct Share<'a> {
    number: usize,
    demand: &'a Demand,
    placed: BTreeMap<u32, u64>,
    missing: u64,
}

impl<'a> Share<'a> {
    fn new(number: usize, demand: &'a Demand) -> Self {
        Self {
            number,
            demand,
            placed: BTreeMap::new(),
            missing: demand.replicas,
        }
    }

    /// How many more replicas it may have in a cluster.
    fn most(&self, cluster: u32) -> u64 {
        let placed = self.placed.get(&cluster).copied().unwrap_or(0);
        self.demand
            .largest
            .unwrap_or(u64::MAX)
            .saturating_sub(placed)
            .min(self.missing)
    }

    fn place(&mut self, cluster: u32, replicas: u64, left: &mut BTreeMap<u32, u64>) {
        let Some(rest) = left.get_mut(&cluster) else { return };
        let replicas = replicas.min(*rest);
        if replicas > 0 {
            *rest -= replicas;
            self.missing -= replicas;
            *self.placed.entry(cluster).or_insert(0) += replicas;
        }
    }

    /// Keeps replicas where they run.
    fn stay(&mut self, left: &mut BTreeMap<u32, u64>) {
        for (cluster, replicas) in &self.demand.running {
            self.place(*cluster, self.most(*cluster).min(*replicas), left);
        }
    }

    /// Takes from the clusters in which most is left.
    fn take(&mut self, left: &mut BTreeMap<u32, u64>) {
        if self.missing == 0 {
            return;
        }
        let mut clusters: Vec<(u64, u32)> = left.iter().map(|(cluster, replicas)| (*replicas, *cluster)).collect();
        clusters.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        for (_, cluster) in clusters {
            self.place(cluster, self.most(cluster), left);
        }
    }
}

/// Places what has found no place in its class, because a limit per cluster is that of a workload, wherever it fits.
pub(crate) fn place_rest(fleet: &Fleet, placed: &mut [Vec<(u32, u64)>]) {
    let missing = |number: usize, placed: &[Vec<(u32, u64)>]| {
        fleet.demands[number].replicas - placed[number].iter().map(|(_, replicas)| replicas).sum::<u64>()
    };
    let mut waiting: Vec<usize> = (0..fleet.demands.len())
        .filter(|number| missing(*number, placed) > 0)
        .collect();
    if waiting.is_empty() {
        return;
    }
    let mut free = free(fleet, placed);
    waiting.sort_by_key(|number| (std::cmp::Reverse(fleet.demands[*number].priority), *number));
    for number in waiting {
        let demand = &fleet.demands[number];
        let mut left = missing(number, placed);
        let mut clusters: BTreeMap<u32, u64> = placed[number].iter().copied().collect();
        let mut choices: Vec<_> = demand
            .choices
            .iter()
            .filter(|choice| choice.cost < demand.worth)
            .collect();
        choices.sort_by(|one, other| one.cost.total_cmp(&other.cost).then(one.cluster.cmp(&other.cluster)));
        for choice in choices {
            let here = clusters.get(&choice.cluster).copied().unwrap_or(0);
            let may_open = here > 0 || demand.clusters.is_none_or(|most| clusters.len() < most as usize);
            if !may_open {
                continue;
            }
            let most = demand.largest.unwrap_or(u64::MAX).saturating_sub(here).min(left);
            let free = &mut free[choice.cluster as usize];
            let fits = demand.request.iter().zip(&*free).filter(|(request, _)| **request > 0);
            let replicas = fits
                .map(|(request, free)| u64::try_from(*free).unwrap_or(0) / request)
                .fold(most, u64::min);
            if replicas > 0 {
                left -= replicas;
                *clusters.entry(choice.cluster).or_insert(0) += replicas;
                take(free, demand, replicas);
            }
        }
        placed[number] = clusters.into_iter().collect();
    }
}

/// By cluster and resource, what is free beside what is placed.
pub(crate) fn free(fleet: &Fleet, placed: &[Vec<(u32, u64)>]) -> Vec<Vec<i64>> {
    // Sums of a fleet that was checked are well within the type.
    let mut free: Vec<Vec<i64>> = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|room| *room as i64).collect())
        .collect();
    for (demand, placed) in fleet.demands.iter().zip(placed) {
        for (cluster, replicas) in placed {
            take(&mut free[*cluster as usize], demand, *replicas);
        }
    }
    free
}

fn take(free: &mut [i64], demand: &Demand, replicas: u64) {
    for (free, request) in free.iter_mut().zip(&demand.request) {
        *free -= (request * replicas) as i64;
    }
}
