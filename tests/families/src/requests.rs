//! What single workloads ask for.

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Most replicas of a workload.
const REPLICAS_MAX: usize = 400;
/// How fast large workloads become rare.
const EXPONENT: f64 = 1.6;

/// What one workload asks for, wherever it may run.
pub(crate) struct Request {
    /// Processors of a replica, in thousandths.
    pub(crate) processors: u64,
    /// Memory of a replica, in MiB.
    pub(crate) memory: u64,
    /// From 0 to 2.
    pub(crate) priority: i64,
    pub(crate) replicas: u64,
}

impl Request {
    /// Processors of a replica.
    pub(crate) fn size(&self) -> f64 {
        self.processors as f64 / 1_000.0
    }

    /// What a replica is worth that is placed: by its processors, and more, the more urgent it is.
    pub(crate) fn worth(&self) -> f64 {
        [5.0, 10.0, 40.0][self.priority as usize] * self.size()
    }
}

/// Draws requests.
pub(crate) struct Requests {
    /// By number of replicas from 1, how probable that many or fewer are.
    shares: Vec<f64>,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self {
            shares: zipf(REPLICAS_MAX, EXPONENT),
        }
    }

    /// Most workloads are small, some have hundreds of replicas.
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Request {
        let processors = [100, 250, 500, 1_000, 2_000, 4_000, 8_000][random.random_range(0..7_usize)];
        Request {
            processors,
            memory: processors * [1, 2, 4, 8][random.random_range(0..4_usize)],
            priority: random.random_range(0..3),
            replicas: 1 + rank(&self.shares, random) as u64,
        }
    }
}

/// How probable each rank or one before it is, if the n-th is as probable as n to the power of minus the exponent.
pub(crate) fn zipf(ranks: usize, exponent: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=ranks)
        .map(|rank| {
            sum += (rank as f64).powf(-exponent);
            sum
        })
        .collect();
    sums.into_iter().map(|part| part / sum).collect()
}

/// Draws a rank, from 0.
pub(crate) fn rank(shares: &[f64], random: &mut Xoshiro256PlusPlus) -> usize {
    let drawn = random.random_range(0.0..1.0);
    shares.partition_point(|share| *share <= drawn).min(shares.len() - 1)
}
