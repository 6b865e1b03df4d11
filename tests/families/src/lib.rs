//! Fleets to plan for, made from a seed.
//!
//! Fleets of a family differ by their seed alone, and the same seed always makes the same fleet. [`Scattered`] has fleets in which every
//! workload has clusters of its own choice; [`Policies`] has fleets in which policies choose clusters by name, region and environment, as
//! operators write them. [`grown`] fills a fleet in the way in which one that was scheduled for years is filled. [`Case`] is a random one of all.
//!
//! The tests of plans, the comparison with an exact solver and the measures of the command use these fleets, so that figures of one can be
//! compared with those of another.
#![forbid(unsafe_code)]

mod cases;
mod growth;
mod policies;
mod requests;
mod scattered;

use divvy_joint::Fleet;

pub use cases::{Case, Goal};
pub use growth::{fewest_moves, grown, moves_priced};
pub use policies::Policies;
pub use scattered::Scattered;

/// Names of the resources of a fleet, in their order. A fleet without GPUs has the first two.
pub const RESOURCES: [&str; 3] = ["cpu", "memory", "nvidia.com/gpu"];

/// A fleet, and what its policies and clusters say beside its numbers.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The room of clusters, and what workloads demand. Processors count in thousandths, memory in MiB.
    pub fleet: Fleet,
    /// Where each cluster is.
    pub clusters: Vec<Location>,
    /// By demand, the policy that it is under.
    pub policies: Vec<Policy>,
}

/// Where a cluster is, and what for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Number of its region.
    pub region: usize,
    /// Whether it is a cluster for production.
    pub is_production: bool,
}

/// How a policy chooses clusters and divides replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The clusters that it chooses.
    pub affinity: Affinity,
    /// How it divides replicas.
    pub strategy: Strategy,
    /// Fewest clusters that have replicas, if it spreads them. The most are a limit of the demand.
    pub spread: Option<u32>,
}

/// The clusters that a policy chooses, which are the choices of its demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// All choices by their names.
    Names,
    /// All clusters of some regions.
    Regions {
        /// Numbers of the regions, in ascending order.
        regions: Vec<usize>,
        /// Those for production alone, or those for anything else.
        is_production: Option<bool>,
    },
}

/// How a policy divides replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// In proportion to what fits.
    Dynamic,
    /// Over as few clusters as possible.
    Aggregated,
    /// As evenly as possible.
    Average,
}
