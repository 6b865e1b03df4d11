//! Fleets to decide about, made from a seed.

use std::sync::Arc;

use divvy_joint::{Choice, Demand, Fleet};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Resources: processors in thousandths, memory in MiB.
const RESOURCES: usize = 2;

/// What a family of fleets has in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) workloads: usize,
    pub(crate) clusters: usize,
    /// What all workloads request of what all clusters have.
    pub(crate) load: f64,
    /// Part of the workloads that may be in two to four clusters only.
    pub(crate) rigid: f64,
    /// Choices of the others, at most.
    pub(crate) choices: usize,
    /// Whether some clusters are wanted by many more workloads than others.
    pub(crate) is_popular: bool,
}

impl Family {
    /// Every workload has clusters of its own choice, a third of them few, and some clusters are wanted by many.
    pub(crate) fn probe(workloads: usize, clusters: usize, choices: usize, load: f64) -> Self {
        Self {
            workloads,
            clusters,
            load,
            rigid: 0.35,
            choices,
            is_popular: true,
        }
    }

    /// The same, with fewer that have few choices, and clusters that are wanted alike.
    pub(crate) fn mild(workloads: usize, clusters: usize, choices: usize, load: f64) -> Self {
        Self {
            workloads,
            clusters,
            load,
            rigid: 0.1,
            choices,
            is_popular: false,
        }
    }

    /// A fleet without running replicas.
    pub(crate) fn fleet(&self, seed: u64) -> Fleet {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let popularity: Vec<f64> = (0..self.clusters)
            .map(|_| {
                if self.is_popular {
                    random.random_range(0.0_f64..1.0).powf(-0.6)
                } else {
                    1.0
                }
            })
            .collect();
        let cost: Vec<f64> = (0..self.clusters).map(|_| random.random_range(0.5..2.0)).collect();
        let demands: Vec<Demand> = (0..self.workloads)
            .map(|_| self.demand(&mut random, &popularity, &cost))
            .collect();
        let mut room = vec![vec![0; RESOURCES]; self.clusters];
        let sizes: Vec<f64> = (0..self.clusters).map(|_| random.random_range(0.5_f64..2.0)).collect();
        let all: f64 = sizes.iter().sum();
        for resource in 0..RESOURCES {
            let wanted: f64 = demands
                .iter()
                .map(|demand| (demand.replicas * demand.request[resource]) as f64)
                .sum();
            for (room, size) in room.iter_mut().zip(&sizes) {
                room[resource] = (wanted / self.load * size / all) as u64;
            }
        }
        Fleet {
            room,
            demands,
            move_price: 0.0,
        }
    }

    fn demand(&self, random: &mut Xoshiro256PlusPlus, popularity: &[f64], cost: &[f64]) -> Demand {
        let wanted = if random.random_range(0.0..1.0) < self.rigid {
            random.random_range(2..=4)
        } else {
            random.random_range(4..=self.choices.max(5))
        };
        let mut clusters: Vec<(f64, u32)> = (0..)
            .zip(popularity)
            .map(|(cluster, weight)| (random.random_range(0.0_f64..1.0).powf(1.0 / weight), cluster))
            .collect();
        clusters.sort_by(|left, right| right.0.total_cmp(&left.0));
        let mut clusters: Vec<u32> = clusters.into_iter().take(wanted).map(|(_, cluster)| cluster).collect();
        clusters.sort_unstable();
        let choices: Vec<Choice> = clusters
            .into_iter()
            .map(|cluster| Choice {
                cluster,
                cost: cost[cluster as usize] * random.random_range(0.8..1.2),
            })
            .collect();
        let processors = [100, 250, 500, 1_000, 2_000, 4_000, 8_000][random.random_range(0..7_usize)];
        let memory = processors * [1_u64, 2, 4, 8][random.random_range(0..4_usize)];
        let urgency = random.random_range(0..3_u32);
        let worth = [5.0, 10.0, 40.0][urgency as usize] * processors as f64 / 1_000.0;
        // Most workloads are small, some have hundreds of replicas.
        let replicas = random.random_range(400.0_f64.powf(-0.6)..1.0).powf(-1.0 / 0.6) as u64;
        Demand {
            replicas,
            request: vec![processors, memory],
            priority: i64::from(urgency),
            worth,
            choices: Arc::from(choices),
            running: Vec::new(),
            largest: None,
            clusters: None,
        }
    }
}

/// Decides one workload after the other, in the order of priorities, each wholly or not at all, in the clusters with most room.
pub(crate) fn place_in_order(fleet: &mut Fleet, keeps: impl Fn(usize) -> bool) {
    let mut free: Vec<Vec<i64>> = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|room| *room as i64).collect())
        .collect();
    for demand in &fleet.demands {
        for (cluster, replicas) in &demand.running {
            take(&mut free[*cluster as usize], &demand.request, *replicas as i64);
        }
    }
    let mut order: Vec<usize> = (0..fleet.demands.len())
        .filter(|number| keeps(*number) && fleet.demands[*number].running.is_empty())
        .collect();
    order.sort_by_key(|number| (std::cmp::Reverse(fleet.demands[*number].priority), *number));
    for number in order {
        let demand = &mut fleet.demands[number];
        let fits = |cluster: u32| -> u64 {
            let free = free[cluster as usize].iter().zip(&demand.request);
            free.map(|(free, request)| (*free).max(0) as u64 / request)
                .min()
                .unwrap_or(0)
        };
        let room: Vec<(u32, u64)> = demand
            .choices
            .iter()
            .map(|choice| (choice.cluster, fits(choice.cluster)))
            .collect();
        let all: u64 = room.iter().map(|(_, fits)| fits).sum();
        if all < demand.replicas {
            continue;
        }
        let mut running: Vec<(u32, u64)> = room
            .iter()
            .map(|(cluster, fits)| (*cluster, fits * demand.replicas / all))
            .collect();
        let mut left = demand.replicas - running.iter().map(|(_, replicas)| replicas).sum::<u64>();
        for ((_, placed), (_, fits)) in running.iter_mut().zip(&room) {
            let more = (fits - *placed).min(left);
            *placed += more;
            left -= more;
        }
        running.retain(|(_, replicas)| *replicas > 0);
        for (cluster, replicas) in &running {
            take(&mut free[*cluster as usize], &demand.request, *replicas as i64);
        }
        demand.running = running;
    }
}

fn take(free: &mut [i64], request: &[u64], replicas: i64) {
    for (free, request) in free.iter_mut().zip(request) {
        *free -= *request as i64 * replicas;
    }
}

/// A fleet that grew: placed in order in five rounds, between which a fifth of the workloads goes and comes back.
pub(crate) fn grown(mut fleet: Fleet, seed: u64) -> Fleet {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let first: Vec<bool> = fleet
        .demands
        .iter()
        .map(|_| random.random_range(0.0..1.0) < 0.85)
        .collect();
    place_in_order(&mut fleet, |number| first[number]);
    for _ in 0..4 {
        for demand in &mut fleet.demands {
            if random.random_range(0.0..1.0) < 0.2 {
                demand.running.clear();
            }
        }
        let tries: Vec<bool> = fleet
            .demands
            .iter()
            .map(|_| random.random_range(0.0..1.0) < 0.9)
            .collect();
        place_in_order(&mut fleet, |number| tries[number]);
    }
    place_in_order(&mut fleet, |_| true);
    fleet
}

/// The same, to be placed with the fewest moves: clusters cost nothing, and waiting costs more, the more urgent it is.
pub(crate) fn fewest_moves(mut fleet: Fleet) -> Fleet {
    for demand in &mut fleet.demands {
        demand.worth = 20.0 * 3.0_f64.powi(demand.priority as i32);
        let choices: Vec<Choice> = demand
            .choices
            .iter()
            .map(|choice| Choice { cost: 0.0, ..*choice })
            .collect();
        demand.choices = Arc::from(choices);
    }
    fleet.move_price = 1.0;
    fleet
}
