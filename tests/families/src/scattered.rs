//! Fleets in which every workload has clusters of its own choice.

use divvy_joint::{Choice, Demand, Fleet};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::requests::Requests;
use crate::{Affinity, Instance, Location, Policy, Strategy};

/// Processors and memory.
const RESOURCES: usize = 2;

/// A family of fleets in which no two workloads have the same choices.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// Number of workloads.
    pub workloads: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// What all workloads request, as a part of what all clusters have.
    pub load: f64,
    /// Part of the workloads that may be in two to four clusters only.
    pub rigid: f64,
    /// Choices of the others.
    pub choices: usize,
    /// Whether some clusters are wanted by many more workloads than others.
    pub is_popular: bool,
}

impl Scattered {
    /// A third of the workloads has few choices, and some clusters are wanted by many.
    pub fn probe(workloads: usize, clusters: usize, choices: usize, load: f64) -> Self {
        Self {
            workloads,
            clusters,
            load,
            rigid: 0.35,
            choices,
            is_popular: true,
        }
    }

    /// A tenth of the workloads has few choices, and clusters are wanted alike.
    pub fn mild(workloads: usize, clusters: usize, choices: usize, load: f64) -> Self {
        Self {
            rigid: 0.1,
            is_popular: false,
            ..Self::probe(workloads, clusters, choices, load)
        }
    }

    /// A fleet without running replicas.
    pub fn instance(&self, seed: u64) -> Instance {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let popularity = |random: &mut Xoshiro256PlusPlus| random.random_range(0.0_f64..1.0).powf(-0.6);
        let popularity: Vec<f64> = (0..self.clusters)
            .map(|_| if self.is_popular { popularity(&mut random) } else { 1.0 })
            .collect();
        let price: Vec<f64> = (0..self.clusters).map(|_| random.random_range(0.5..2.0)).collect();
        let requests = Requests::new();
        let demands: Vec<Demand> = (0..self.workloads)
            .map(|_| self.demand(&mut random, &requests, &popularity, &price))
            .collect();
        let sizes: Vec<f64> = (0..self.clusters).map(|_| random.random_range(0.5_f64..2.0)).collect();
        let all: f64 = sizes.iter().sum();
        let mut room = vec![vec![0; RESOURCES]; self.clusters];
        for resource in 0..RESOURCES {
            let wanted: u64 = demands
                .iter()
                .map(|demand| demand.replicas * demand.request[resource])
                .sum();
            for (room, size) in room.iter_mut().zip(&sizes) {
                room[resource] = (wanted as f64 / self.load * size / all) as u64;
            }
        }
        Instance {
            clusters: vec![Location::default(); self.clusters],
            policies: vec![
                Policy {
                    affinity: Affinity::Names,
                    strategy: Strategy::Dynamic,
                    spread: None,
                };
                self.workloads
            ],
            fleet: Fleet {
                room,
                demands,
                move_price: 0.0,
            },
        }
    }

    fn demand(
        &self,
        random: &mut Xoshiro256PlusPlus,
        requests: &Requests,
        popularity: &[f64],
        price: &[f64],
    ) -> Demand {
        let wanted = if random.random_range(0.0..1.0) < self.rigid {
            random.random_range(2..=4)
        } else {
            self.choices
        };
        // The largest of these are drawn in proportion to their popularity.
        let mut clusters: Vec<(f64, u32)> = (0..)
            .zip(popularity)
            .map(|(cluster, weight)| (random.random_range(0.0_f64..1.0).powf(1.0 / weight), cluster))
            .collect();
        clusters.sort_by(|left, right| right.0.total_cmp(&left.0));
        let mut clusters: Vec<u32> = clusters.into_iter().take(wanted).map(|(_, cluster)| cluster).collect();
        clusters.sort_unstable();
        let request = requests.draw(random);
        let choices = clusters.into_iter().map(|cluster| Choice {
            cluster,
            cost: price[cluster as usize] * random.random_range(0.8..1.2) * request.size(),
        });
        Demand {
            choices: choices.collect(),
            replicas: request.replicas,
            priority: request.priority,
            worth: request.worth(),
            request: vec![request.processors, request.memory],
            running: Vec::new(),
            largest: None,
            clusters: None,
        }
    }
}
