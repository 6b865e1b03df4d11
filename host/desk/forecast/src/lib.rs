//! Forecasts: the moves that a change of a fleet or its workloads would cause, before anything is changed.
//!
//! Each binding has three states: *before*, the assigned clusters; *base*, those that a live scheduler would assign without
//! the changes; *after*, those that it would assign with them. Both futures start from *before* and from the same free
//! capacity. A change is an edit of the input, so that a forecast of a change equals one of the edited input.
//!
//! - [`situation`]: the input of one side: clusters, bindings, and clusters that count as gone.
//! - [`choice`], [`count`]: the clusters and bindings that a change affects, and a new number of replicas.
//! - [`glob`]: patterns of names.
//! - [`change`]: the changes, checked for contradictions, and their application to a situation.
//! - [`eviction`]: the bindings that a `NoExecute` taint evicts, and the objects that Karmada's taint manager writes for them.
//! - [`future`]: the decisions of one side: those that a live scheduler would make.
//! - [`cost`]: costs by the prices of the profile.
//! - [`gone`]: costs of replicas that run nowhere after a change.
//! - `missing`: replicas that are asked for and run nowhere.
//! - [`movement`]: replicas moved, added, removed, lost, waiting and stranded between two states of a binding.
//! - [`forecast`]: both futures compared. [`load`]: the same per cluster.
//! - [`sums`](mod@sums): moves by namespace or policy.
//! - [`latent`], [`violations`]: moves by a reschedule, and replicas on clusters whose filters refuse newcomers.
//! - [`failures`]: the loss of each cluster, region, zone or provider, one at a time.
//! - [`headroom`]: the largest size of a binding, and the obstacle to growing further.
//! - [`survive`](mod@survive): the single losses that each binding does not survive.
//! - [`selection`], [`labels`]: the bindings that are shown.
//! - [`cluster_view`]: a forecast from one cluster's view.
//! - [`plans`]: decisions without their plans.
//! - [`rebalance`](mod@rebalance): the fewest moves that place everything that waits, and what no plan can be below.
//! - [`policies`]: policies that govern nothing, or that name what does not exist; [`policies::effects`]: objects that change what results lead to.
//! - [`notes`]: remarks for an operator beside the figures.
//! - [`planned`]: plans that move others, as documents have them.
//! - [`document`]: the result as it is written as JSON; other questions have theirs beside them. [`verdict`]: its verdict, as a sentence.
//! - `schemas`: JSON Schemas of all documents, with the feature `schema`.
//!
//! This crate opens no files, has no output and reads no clock. `divvy_scheduler` divides the replicas, and its rules in
//! `divvy_scheduler::decide` determine when a binding is decided.

pub mod capacity;
pub mod change;
pub mod choice;
pub mod cluster_view;
pub mod cost;
pub mod count;
pub mod document;
pub mod eviction;
pub mod failures;
pub mod forecast;
pub mod future;
pub mod glob;
pub mod gone;
pub mod headroom;
pub mod labels;
pub mod latent;
pub mod load;
mod missing;
pub mod movement;
pub mod notes;
pub mod planned;
pub mod plans;
pub mod policies;
pub mod rebalance;
#[cfg(feature = "schema")]
pub mod schemas;
pub mod selection;
pub mod situation;
pub mod sums;
pub mod survive;
pub mod verdict;
pub mod violations;
