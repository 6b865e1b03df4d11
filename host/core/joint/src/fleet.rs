//! What is decided about: the room of clusters, and what workloads demand.

use std::sync::Arc;

/// Largest sum of a resource over the fleet. Twice as much still fits the integers of an assignment.
const LARGEST: u64 = 1 << 61;

/// The room of clusters, and what workloads demand of it.
///
/// Clusters, resources and demands are named by their position. Their order is part of the input: callers sort them by name, so that equal
/// fleets give equal results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// By cluster and resource, what the demands may use altogether, in a unit of the resource: what is free, and what their replicas that
    /// already run there take.
    pub room: Vec<Vec<u64>>,
    /// The workloads.
    pub demands: Vec<Demand>,
    /// Price of a replica that leaves the cluster where it runs, at least 0.
    pub move_price: f64,
}

/// What one workload demands.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Number of replicas.
    pub replicas: u64,
    /// By resource, what a replica requests, in the unit of [`Fleet::room`].
    pub request: Vec<u64>,
    /// No replica is left out in favour of a workload of a lower priority. Among equal priorities, the worth counts.
    pub priority: i64,
    /// What a replica that is not placed costs, more than 0.
    pub worth: f64,
    /// Clusters that may have replicas, in ascending order. Workloads under one policy share the list.
    pub choices: Arc<[Choice]>,
    /// Replicas that run, by cluster, in ascending order and together not more than [`replicas`](Self::replicas). Those in a cluster that
    /// is no choice leave it in every plan.
    pub running: Vec<(u32, u64)>,
    /// Most replicas in one cluster, if there is a limit.
    pub largest: Option<u64>,
    /// Most clusters with replicas, if there is a limit. A relaxation does not know it.
    pub clusters: Option<u32>,
}

/// A cluster that may have replicas of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Position of the cluster.
    pub cluster: u32,
    /// Cost of a replica there, at least 0.
    pub cost: f64,
}

/// Why a fleet cannot be decided about.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// A list of resources is of another length than the first.
    #[error(
        "{of} has {actual} resources, but {expected} are expected: give each cluster and each demand a value for every resource"
    )]
    Resources {
        /// The cluster or the demand.
        of: String,
        /// Resources of the first cluster.
        expected: usize,
        /// Resources of this one.
        actual: usize,
    },
    /// A price, cost or worth is no amount.
    #[error("{of} is {actual}, but must be a finite number {expected}")]
    Amount {
        /// Which amount, of which demand.
        of: String,
        /// The smallest, as words.
        expected: &'static str,
        /// The value.
        actual: f64,
    },
    /// Clusters of a demand are not in ascending order, are named twice or do not exist.
    #[error("{list} of demand {demand} name cluster {cluster}, but must be in ascending order and below {clusters}")]
    Clusters {
        /// Choices or running replicas.
        list: &'static str,
        /// Position of the demand.
        demand: usize,
        /// Position of the cluster.
        cluster: u32,
        /// Number of clusters.
        clusters: usize,
    },
    /// Prices are those of another fleet.
    #[error(
        "there are prices of {actual} clusters, but {expected} are expected: give one list per cluster, in the same order"
    )]
    Prices {
        /// Clusters of the fleet.
        expected: usize,
        /// Clusters with prices.
        actual: usize,
    },
    /// A former plan is that of other demands.
    #[error(
        "there is a former plan of {actual} demands, but {expected} are expected: give one list per demand, in the same order"
    )]
    Former {
        /// Demands of the fleet.
        expected: usize,
        /// Demands with a list.
        actual: usize,
    },
    /// More replicas run than are wanted.
    #[error("demand {demand} has {running} running replicas, but wants {replicas}: leave out those that go anyway")]
    Running {
        /// Position of the demand.
        demand: usize,
        /// Replicas that run.
        running: u128,
        /// Replicas that are wanted.
        replicas: u64,
    },
    /// Replicas or a resource add up to too much.
    #[error("{of} adds up to {actual}, but at most {LARGEST} is supported: use a larger unit")]
    Large {
        /// All replicas, or which resource.
        of: String,
        /// The sum.
        actual: u128,
    },
}

impl Fleet {
    /// Number of resources.
    pub(crate) fn resources(&self) -> usize {
        self.room.first().map_or(0, Vec::len)
    }

    /// Checks what the other functions rely on.
    pub(crate) fn check(&self) -> Result<(), Malformed> {
        let expected = self.resources();
        let lists = self.room.iter().map(|room| ("cluster", room));
        let lists = lists.enumerate().chain(
            self.demands
                .iter()
                .map(|demand| ("demand", &demand.request))
                .enumerate(),
        );
        for (number, (kind, list)) in lists {
            // Without clusters there is nothing that a request could be compared with.
            if list.len() != expected && !self.room.is_empty() {
                return Err(Malformed::Resources {
                    of: format!("{kind} {number}"),
                    expected,
                    actual: list.len(),
                });
            }
        }
        amount(self.move_price, false, || "the price of a move".to_owned())?;
        for (number, demand) in self.demands.iter().enumerate() {
            self.check_demand(number, demand)?;
        }
        self.check_sums()
    }

    fn check_demand(&self, number: usize, demand: &Demand) -> Result<(), Malformed> {
        amount(demand.worth, true, || format!("the worth of demand {number}"))?;
        for choice in demand.choices.iter() {
            amount(choice.cost, false, || {
                format!("the cost of cluster {} for demand {number}", choice.cluster)
            })?;
        }
        let choices = || demand.choices.iter().map(|choice| choice.cluster);
        let running = || demand.running.iter().map(|(cluster, _)| *cluster);
        let lists: [(_, Vec<u32>); 2] = [
            ("choices", choices().collect()),
            ("running replicas", running().collect()),
        ];
        for (list, clusters) in lists {
            let is_misplaced = |position: &usize| {
                let cluster = clusters[*position];
                cluster as usize >= self.room.len() || (*position > 0 && clusters[*position - 1] >= cluster)
            };
            if let Some(position) = (0..clusters.len()).find(is_misplaced) {
                let (cluster, clusters) = (clusters[position], self.room.len());
                return Err(Malformed::Clusters {
                    list,
                    demand: number,
                    cluster,
                    clusters,
                });
            }
        }
        let running: u128 = demand.running.iter().map(|(_, replicas)| u128::from(*replicas)).sum();
        if running > u128::from(demand.replicas) {
            return Err(Malformed::Running {
                demand: number,
                running,
                replicas: demand.replicas,
            });
        }
        Ok(())
    }

    /// Checks that no sum of replicas or of a resource can overflow.
    fn check_sums(&self) -> Result<(), Malformed> {
        let large = |of: String, actual: u128| {
            if actual > u128::from(LARGEST) {
                Err(Malformed::Large { of, actual })
            } else {
                Ok(())
            }
        };
        let replicas = self.demands.iter().map(|demand| u128::from(demand.replicas));
        large("the number of replicas".to_owned(), replicas.sum())?;
        for resource in 0..self.resources() {
            let room = self.room.iter().map(|room| u128::from(room[resource])).sum();
            large(format!("the room of resource {resource}"), room)?;
            let demand = |demand: &Demand| u128::from(demand.replicas) * u128::from(demand.request[resource]);
            let demand = self.demands.iter().map(demand).fold(0, u128::saturating_add);
            large(format!("the demand of resource {resource}"), demand)?;
        }
        Ok(())
    }
}

pub(crate) fn amount(value: f64, is_positive: bool, of: impl FnOnce() -> String) -> Result<(), Malformed> {
    let is_enough = if is_positive { value > 0.0 } else { value >= 0.0 };
    let expected = if is_positive { "above 0" } else { "of at least 0" };
    if is_enough && value.is_finite() {
        Ok(())
    } else {
        Err(Malformed::Amount {
            of: of(),
            expected,
            actual: value,
        })
    }
}
