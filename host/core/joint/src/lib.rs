//! Decides for many workloads at once.
//!
//! Schedulers decide one workload after the other, and what came first keeps room that only later ones could use. This crate sees all of
//! them as one problem: [`Fleet`] has the room of each cluster and what every workload demands. It answers these questions.
//!
//! - [`place_waiting`]: what waits is placed by moving others, and nothing else changes.
//! - [`Relaxation::solve`]: how little any plan can cost. Replicas may be cut into parts there, so no plan is below it, whatever the prices.
//! - [`plan()`]: an assignment of all workloads whose cost is close to that bound. In [`plan_whole`], no workload gets a part of its replicas.
//! - [`plan_at_most`]: the same with a limit of moves, which places what is most urgent. [`moved_back`] takes moves back that save little.
//! - [`plan_again`], [`plan_whole_again`]: the same for a fleet that has changed a little, from the former plan and its prices.
//! - [`Worths`]: what it is worth to place replicas, by priority.
//! - [`Prices::bound`] and [`Prices::gap`]: what any prices say of a fleet, and where a plan costs more than that.
//!
//! What a plan costs is the same in all of them: replicas that leave the cluster where they run, times the price of a move; the costs of
//! clusters; and for each replica that is not placed, its worth.
//!
//! The relaxation is a linear program on the prices of room, solved by a first-order method (a restarted Halpern iteration of the
//! primal-dual hybrid gradient), in which each workload is projected exactly. Workloads with the same choices are one class, so the
//! cost of an iteration grows neither with replicas nor with equal workloads. All sums are in a fixed order, so results do not depend on
//! the number of threads.
#![forbid(unsafe_code)]

mod again;
mod assignment;
mod back;
mod bound;
mod chains;
mod chunk;
mod classes;
mod fleet;
mod gap;
mod limited;
mod plan;
mod prices;
mod projection;
mod refine;
mod repair;
mod rounding;
mod split;
mod whole;
mod worth;

pub use again::{Again, Former, plan_again};
pub use back::moved_back;
pub use bound::{Bound, least_incomplete};
pub use fleet::{Choice, Demand, Fleet, Malformed};
pub use gap::{Gap, Prices};
pub use limited::plan_at_most;
pub use plan::{Plan, place_waiting, plan};
pub use prices::{Relaxation, Settings};
pub use whole::{plan_whole, plan_whole_again};
pub use worth::{Worths, largest_part};
