//! Forecasts: the moves that a change of a fleet or its workloads would cause, before anything is changed.
//!
//! Each binding has three states: *before*, the assigned clusters; *base*, what a live scheduler makes of them without the
//! changes; *after*, what it makes of them with the changes. Both futures start from *before* and from the same free
//! capacity. A change is an edit of the input, so that a forecast of a change equals one of the edited input.
//!
//! - [`situation`]: the input of one side: clusters, bindings, and clusters that count as gone.
//! - [`choice`], [`count`]: which clusters and bindings a change is about, and a new number of replicas.
//! - [`glob`]: patterns of names.
//! - [`change`]: the changes, checked for contradictions, and their application to a situation.
//! - [`eviction`]: which bindings a `NoExecute` taint evicts, and what Karmada's taint manager writes for them.
//! - [`future`]: one side decided: only where a live scheduler would decide.
//! - [`movement`]: replicas moved, added, removed, lost and stranded between two states of a binding.
//! - [`forecast`]: both futures compared. [`load`]: the same per cluster.
//! - [`latent`], [`violations`]: what a reschedule would change, and replicas where filters refuse newcomers.
//! - [`failures`]: the loss of each cluster, region, zone or provider, one after the other.
//! - [`headroom`]: how far a binding can grow, and what stops it.
//! - [`selection`], [`labels`]: which bindings are shown.
//! - [`cluster_view`]: everything from one cluster's view.
//! - [`plans`]: decisions without their plans.
//! - [`notes`]: what an operator should know beside the figures.
//! - [`document`]: the result, in the form in which it is written as JSON.
//!
//! This crate reads no file, writes to no terminal and knows no clock. Replicas are decided by `divvy_scheduler`, and when
//! a binding is decided is up to the rules in `divvy_scheduler::decide`.

pub mod capacity;
pub mod change;
pub mod choice;
pub mod cluster_view;
pub mod count;
pub mod document;
pub mod eviction;
pub mod failures;
pub mod forecast;
pub mod future;
pub mod glob;
pub mod headroom;
pub mod labels;
pub mod latent;
pub mod load;
pub mod movement;
pub mod notes;
pub mod plans;
pub mod selection;
pub mod situation;
pub mod violations;
