//! Fleets in which policies choose clusters by name, region and environment.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_joint::{Choice, Demand, Fleet};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::requests::{Requests, rank, zipf};
use crate::{Affinity, Instance, Location, Policy, Strategy};

/// Workloads per policy, on average.
const WORKLOADS: usize = 60;
/// Clusters per region, on average.
const CLUSTERS: usize = 50;
/// Most regions.
const REGIONS_MAX: usize = 20;
/// Part of the clusters that have GPUs.
const WITH_GPUS: f64 = 0.06;
/// Part of the policies whose workloads ask for GPUs, if any do.
const ASK_FOR_GPUS: f64 = 0.05;
/// Part of the policies that spread replicas over two to five clusters, if any do.
const SPREAD: f64 = 0.3;

/// A family of fleets in which workloads are under policies, few of which have most.
///
/// A third of the policies (35 %) names one to four clusters, a half chooses one to four regions and an environment in them, and the rest
/// (15 %) a large part of the fleet. They divide by what is free (55 %), over few clusters (25 %) or evenly (20 %). A cluster costs what its
/// region does, so that many cost the same.
#[derive(Clone, Copy, Debug)]
pub struct Policies {
    /// Number of workloads.
    pub workloads: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// What all workloads request, as a part of what all clusters have.
    pub load: f64,
    /// How well clusters are sized for what is asked of them: 1 for each as large as an even spread of all workloads would fill it, 0 for
    /// all equal.
    pub fit: f64,
    /// Whether some clusters have GPUs, and some policies need them.
    pub has_gpus: bool,
    /// Whether some policies spread replicas over at least two and at most five clusters.
    pub is_spread: bool,
}

/// A policy, and the clusters that it chooses.
struct Chosen {
    policy: Policy,
    clusters: Vec<u32>,
    asks_for_gpus: bool,
}

impl Policies {
    /// Without GPUs and spread constraints.
    pub fn new(workloads: usize, clusters: usize, load: f64, fit: f64) -> Self {
        Self {
            workloads,
            clusters,
            load,
            fit,
            has_gpus: false,
            is_spread: false,
        }
    }

    /// A fleet without running replicas.
    pub fn instance(&self, seed: u64) -> Instance {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let regions = (self.clusters / CLUSTERS).clamp(2, REGIONS_MAX);
        let locations: Vec<Location> = (0..self.clusters)
            .map(|_| Location {
                region: random.random_range(0..regions),
                is_production: random.random_range(0..2) == 0,
            })
            .collect();
        let prices: Vec<f64> = (0..regions).map(|_| random.random_range(0.5..2.0)).collect();
        let with_gpus = self.with_gpus(&mut random);
        let count = (self.workloads / WORKLOADS).max(1);
        // In small fleets, some regions have no cluster for production, or none at all.
        let drawn = std::iter::repeat_with(|| self.policy(&mut random, regions, &locations, &with_gpus));
        let chosen: Vec<Chosen> = drawn.filter(|chosen| !chosen.clusters.is_empty()).take(count).collect();
        let (shares, requests) = (zipf(count, 1.0), Requests::new());
        let (mut demands, mut policies) = (Vec::new(), Vec::new());
        for _ in 0..self.workloads {
            let chosen = &chosen[rank(&shares, &mut random)];
            let price = |cluster: u32| prices[locations[cluster as usize].region];
            demands.push(self.demand(&mut random, &requests, chosen, price));
            policies.push(chosen.policy.clone());
        }
        Instance {
            fleet: Fleet {
                room: self.room(&mut random, &demands, &with_gpus),
                demands: shared(demands),
                move_price: 0.0,
            },
            clusters: locations,
            policies,
        }
    }

    /// Clusters that have GPUs, in ascending order.
    fn with_gpus(&self, random: &mut Xoshiro256PlusPlus) -> Vec<u32> {
        if !self.has_gpus {
            return Vec::new();
        }
        let count = ((self.clusters as f64 * WITH_GPUS) as usize).clamp(2.min(self.clusters), self.clusters);
        some(random, self.clusters, count)
            .into_iter()
            .map(|cluster| cluster as u32)
            .collect()
    }

    fn policy(
        &self,
        random: &mut Xoshiro256PlusPlus,
        regions: usize,
        locations: &[Location],
        with_gpus: &[u32],
    ) -> Chosen {
        let strategy = match random.random_range(0..20) {
            0..11 => Strategy::Dynamic,
            11..16 => Strategy::Aggregated,
            _ => Strategy::Average,
        };
        let kind = random.random_range(0..20);
        let few = random.random_range(1..=4_usize);
        let asks_for_gpus = random.random_range(0.0..1.0) < ASK_FOR_GPUS && self.has_gpus;
        let spreads = random.random_range(0.0..1.0) < SPREAD && self.is_spread;
        let affinity = match kind {
            _ if asks_for_gpus => Affinity::Names,
            0..7 => Affinity::Names,
            7..17 => Affinity::Regions {
                regions: some(random, regions, few.min(regions)),
                is_production: Some(random.random_range(0..2) == 0),
            },
            _ => {
                let most = regions.div_ceil(2);
                let count = random.random_range(regions.div_ceil(8)..=most);
                Affinity::Regions {
                    regions: some(random, regions, count),
                    is_production: None,
                }
            }
        };
        let clusters: Vec<u32> = match &affinity {
            _ if asks_for_gpus => with_gpus.to_vec(),
            Affinity::Names => some(random, self.clusters, few.min(self.clusters))
                .into_iter()
                .map(|cluster| cluster as u32)
                .collect(),
            Affinity::Regions { regions, is_production } => {
                let is_chosen = |location: &Location| {
                    regions.binary_search(&location.region).is_ok()
                        && is_production.is_none_or(|wanted| wanted == location.is_production)
                };
                let numbered = (0..).zip(locations);
                numbered
                    .filter(|(_, location)| is_chosen(location))
                    .map(|(cluster, _)| cluster)
                    .collect()
            }
        };
        Chosen {
            policy: Policy {
                affinity,
                strategy,
                spread: (spreads && clusters.len() > 1).then_some(2),
            },
            clusters,
            asks_for_gpus,
        }
    }

    fn demand(
        &self,
        random: &mut Xoshiro256PlusPlus,
        requests: &Requests,
        chosen: &Chosen,
        price: impl Fn(u32) -> f64,
    ) -> Demand {
        let drawn = requests.draw(random);
        let mut request = vec![drawn.processors, drawn.memory];
        if self.has_gpus {
            let gpus = [1, 2, 4, 8][random.random_range(0..4_usize)];
            request.push(if chosen.asks_for_gpus { gpus } else { 0 });
        }
        // One replica cannot be in two clusters.
        let spread = chosen.policy.spread;
        let replicas = drawn.replicas.max(spread.map_or(1, u64::from));
        Demand {
            replicas,
            priority: drawn.priority,
            worth: drawn.worth(),
            choices: chosen
                .clusters
                .iter()
                .map(|cluster| Choice {
                    cluster: *cluster,
                    cost: price(*cluster) * drawn.size(),
                })
                .collect(),
            running: Vec::new(),
            // Not all but one of the clusters can hold everything.
            largest: spread.map(|_| replicas - 1),
            clusters: spread.map(|_| 5),
            request,
        }
    }

    /// The room of all clusters for all demands at the load of the family.
    fn room(&self, random: &mut Xoshiro256PlusPlus, demands: &[Demand], with_gpus: &[u32]) -> Vec<Vec<u64>> {
        let all_clusters: Vec<u32> = (0..self.clusters as u32).collect();
        // By resource, the clusters that have it.
        let mut lists = vec![all_clusters.clone(), all_clusters];
        if self.has_gpus {
            lists.push(with_gpus.to_vec());
        }
        let mut room = vec![vec![0; lists.len()]; self.clusters];
        for (resource, clusters) in lists.iter().enumerate() {
            let mut spread = vec![0.0; self.clusters];
            for demand in demands {
                let wanted = (demand.replicas * demand.request[resource]) as f64;
                for choice in demand.choices.iter() {
                    spread[choice.cluster as usize] += wanted / demand.choices.len() as f64;
                }
            }
            let wanted: f64 = spread.iter().sum();
            let noise: Vec<f64> = clusters.iter().map(|_| random.random_range(0.8..1.25)).collect();
            let sized = |(cluster, noise): (&u32, &f64)| spread[*cluster as usize] * noise;
            let all: f64 = clusters.iter().zip(&noise).map(sized).sum();
            for pair in clusters.iter().zip(&noise) {
                let fitting = if all > 0.0 { sized(pair) / all } else { 0.0 };
                let share = self.fit * fitting + (1.0 - self.fit) / clusters.len() as f64;
                room[*pair.0 as usize][resource] = (wanted / self.load * share) as u64;
            }
        }
        room
    }
}

/// So many of the numbers below a limit, in ascending order.
fn some(random: &mut Xoshiro256PlusPlus, below: usize, count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..below).collect();
    for position in 0..count {
        let other = random.random_range(position..below);
        numbers.swap(position, other);
    }
    numbers.truncate(count);
    numbers.sort_unstable();
    numbers
}

/// The same demands; those with equal choices share one list.
fn shared(mut demands: Vec<Demand>) -> Vec<Demand> {
    let mut lists: HashMap<Vec<(u32, u64)>, Arc<[Choice]>> = HashMap::new();
    for demand in &mut demands {
        let content = demand
            .choices
            .iter()
            .map(|choice| (choice.cluster, choice.cost.to_bits()));
        let list = lists
            .entry(content.collect())
            .or_insert_with(|| Arc::clone(&demand.choices));
        demand.choices = Arc::clone(list);
    }
    demands
}
