//! The SDK with which Divvy plugins are written.
//!
//! Divvy is a scheduler for [Karmada](https://karmada.io) in which every decision is made by a plugin: a shared library
//! that the scheduler loads at run time. A plugin is one crate that depends on this one and on nothing else of Divvy. It
//! implements a trait, and ends with a macro. This is a whole one, a strategy that fills the roomiest cluster first:
//!
//! ```standalone_crate
//! #![forbid(unsafe_code)]
//!
//! use divvy_framework::prelude::*;
//! use std::cmp::Reverse;
//!
//! /// What a profile can configure.
//! #[derive(Default, Configuration)]
//! #[serde(default)]
//! struct RoomiestFirstConfiguration {
//!     /// How many replicas fewer than fit each cluster is given.
//!     keep_free: u32,
//! }
//!
//! struct RoomiestFirst {
//!     keep_free: i64,
//! }
//!
//! impl Plugin for RoomiestFirst {
//!     const NAME: &'static str = "roomiest-first";
//!     const DESCRIPTION: &'static str = "fills the roomiest cluster first, then the next";
//!     type Configuration = RoomiestFirstConfiguration;
//!     type Preferences = NoPreferences;
//!     type Prepared = ();
//!
//!     fn new(configuration: RoomiestFirstConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
//!         Ok(Self { keep_free: configuration.keep_free.into() })
//!     }
//!
//!     fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
//!         Ok(())
//!     }
//! }
//!
//! impl AssignPlugin for RoomiestFirst {
//!     const STRATEGIES: &'static [&'static str] = &["RoomiestFirst"];
//!     const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();
//!
//!     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
//!         let room = |place: usize| (context.capacity(place) - self.keep_free).max(0);
//!         let mut order: Vec<usize> = (0..context.len()).collect();
//!         order.sort_by_key(|&place| (Reverse(room(place)), context.tie_key(place)));
//!         let mut left = context.replicas();
//!         for place in order {
//!             let replicas = left.min(room(place));
//!             result.set(place, replicas);
//!             context.explain(place, || format!("room for {}", room(place)));
//!             left -= replicas;
//!         }
//!         match left {
//!             0 => Ok(()),
//!             _ => Err(Failure::too_small(context.replicas(), context.replicas() - left)),
//!         }
//!     }
//! }
//!
//! divvy_framework::export_plugin!(RoomiestFirst: Assign);
//!
//! // In the crate's tests; the feature `testing` belongs to the dev-dependencies.
//! fn main() {
//!     use divvy_framework::testing::{ClusterBuilder, Scenario};
//!     let scenario = Scenario::new()
//!         .replicas(6)
//!         .cluster(ClusterBuilder::new("member1").fits_now(3))
//!         .cluster(ClusterBuilder::new("member2").fits_now(5));
//!     let plugin = RoomiestFirst { keep_free: 1 };
//!     assert_eq!(scenario.assign_checked(&plugin).unwrap(), [2, 4]);
//!     assert_eq!(scenario.replicas(7).assign(&plugin), Err(Failure::too_small(7, 6)));
//! }
//! ```
//!
//! Its `Cargo.toml` says `crate-type = ["cdylib"]`; its package is called `divvy-plugin-roomiest-first`, so that the library
//! is found by the plugin's name. A profile lists it and a policy picks it:
//!
//! ```toml
//! [[profile]]
//! name = "mine"
//! extends = "default"
//! plugin-directories = ["/usr/lib/divvy/plugins"]
//! assign = ["duplicated", "static-weight", "dynamic-weight", "aggregated", "roomiest-first"]
//!
//! [profile.plugin.roomiest-first.configuration]
//! keep-free = 1
//! ```
//!
//! ```yaml
//! metadata:
//!   annotations:
//!     divvy.io/strategy: RoomiestFirst
//! ```
//!
//! # What is here
//!
//! - [`prelude`]: what a plugin names; `use divvy_framework::prelude::*;` is all that most need.
//! - [`plugin`]: the trait that every plugin implements, its promises and needs, and how it fails.
//! - [`filter`], [`score`], [`select`], [`assign`]: the extension points, one trait each, in the order of the cycle.
//! - [`cycle`]: what every call sees; each context dereferences to it.
//! - [`clusters`]: the clusters, object by object or column by column.
//! - [`binding`]: the binding: resource, replicas, requests, last result, placement, rules.
//! - [`configuration`]: typed configuration and preferences, and the errors of reading them.
//! - [`division`]: the arithmetic that strategies share, from ties to tiers.
//! - [`random`]: seeded randomness; [`reuse`]: memory that outlives a call.
//! - [`testing`]: builders with which a plugin is tested as plain Rust (feature `testing`).
//!
//! # When what is called
//!
//! A *cycle* schedules one binding once against one snapshot of the clusters. Its steps are called in this order, each with
//! one context and one result:
//!
//! | call | when | what the host does with the result |
//! |---|---|---|
//! | [`Plugin::new`] | once, when the profile is loaded | an error or a panic: the profile is refused |
//! | [`Plugin::prepare`] | in each cycle, before each call below | keeps it for that call, and drops it when the cycle ends |
//! | [`FilterPlugin::filter`] | for each filter, in the profile's order, over all clusters | rejected clusters are out; none left: `NoClusterFit`, with the reasons counted |
//! | [`ScorePlugin::score`], then [`normalize`] | for each score plugin, over the feasible clusters | refuses scores outside 0..=100, multiplies the others by the profile's weight, adds them up |
//! | [`SelectPlugin::select`] | once, over the feasible clusters | refuses a place that does not exist or comes twice; no candidate: `Unschedulable` |
//! | [`AssignPlugin::assign`] | for the plugin that the strategy names, once a tier, over the candidates | checks sum, signs and promises; candidates with 0 replicas drop out |
//!
//! A binding without replicas to divide (a ConfigMap, a DaemonSet) goes to every candidate, and Assign is not called. If the
//! placement has several affinity groups, a cycle that fails is followed by one for the next group. A cycle that
//! ends with `NoClusterFit` is run once more to learn the reasons, so that a filter may be called twice for one decision.
//!
//! # How a call ends
//!
//! | the call returns | what becomes of the binding |
//! |---|---|
//! | `Ok(())` | the result is checked, then used |
//! | [`Failure::Unschedulable`] | it is `Unschedulable`, with the message; its last result stays |
//! | [`Failure::Preferences`] | it is an `Error` of the policy's author, with path and hint |
//! | [`Failure::Internal`] | it is an `Error` that names the plugin |
//! | a result that breaks a rule | it is an `Error` that names the plugin, the rule and the figures |
//! | nothing, by a panic | it is an `Error` that names the plugin and carries message and place |
//!
//! In each case the next binding is scheduled as if nothing had happened. A cluster that does not suit is no failure: a
//! filter rejects it. Nor is a candidate that gets nothing: its count is 0.
//!
//! # What a plugin can rely on
//!
//! - **Threads.** A plugin is constructed once and called from any thread, also from several at once.
//! - **Panics** in methods, constructors and `Drop` are caught in the plugin's own library. Three in a row, and the plugin is
//!   not called any more until its profile is loaded again. Aborts, endless loops and stack overflows cannot be caught: they
//!   take the scheduler with them. A build with `panic = "abort"` is refused at compile time.
//! - **Logging** is [`tracing`]: `divvy_framework::tracing::debug!(replicas, "divided")` reaches the scheduler's log under the
//!   plugin's name. An event below the scheduler's level is not formatted. Spans are not forwarded.
//! - **Explanations** are closures that run only if somebody asked: [`Cycle::explain`], [`Cycle::note`], the reasons of
//!   [`FilterResult::reject`].
//! - **Determinism.** The same snapshot, binding, profile and seed must give the same result. Ties are broken by
//!   [`AssignContext::tie_key`], everything else that is to look random by [`Cycle::random`].
//!
//! # What a plugin must not do
//!
//! - Read a clock, a file, the network, the environment, or a random generator of its own.
//! - Keep anything of one binding for another: what a binding needs goes into [`Plugin::Prepared`]. [`reuse`] keeps memory, not
//!   state.
//! - Depend on the order of `HashMap`'s iteration, which differs from run to run.
//! - Allocate or format once a cluster in the steady state: fleets have thousands of them, and a cycle takes microseconds.
//! - Install a panic hook or a `tracing` subscriber: the SDK has installed its own in the plugin's library.
//! - Call `std::process::exit`.
//!
//! # Versions
//!
//! Three, and none follows another. The *ABI* version is compiled into each plugin and decides whether it loads: the majors of
//! plugin and scheduler must be equal, either side may be newer in the minor. The *SDK* version is that of this crate: a
//! new one may need changes to a plugin's source, and a plugin built with the older one keeps loading. The
//! *data* versions are those of Karmada's objects (`policy.karmada.io/v1alpha1` and so on), which the scheduler
//! reads for the plugin. No cargo feature changes a type that crosses the boundary.
//!
//! [`Plugin::new`]: plugin::Plugin::new
//! [`Plugin::prepare`]: plugin::Plugin::prepare
//! [`Plugin::Prepared`]: plugin::Plugin::Prepared
//! [`FilterPlugin::filter`]: filter::FilterPlugin::filter
//! [`FilterResult::reject`]: filter::FilterResult::reject
//! [`ScorePlugin::score`]: score::ScorePlugin::score
//! [`normalize`]: score::ScorePlugin::normalize
//! [`SelectPlugin::select`]: select::SelectPlugin::select
//! [`AssignPlugin::assign`]: assign::AssignPlugin::assign
//! [`AssignContext::tie_key`]: assign::AssignContext::tie_key
//! [`Failure::Unschedulable`]: plugin::Failure::Unschedulable
//! [`Failure::Preferences`]: plugin::Failure::Preferences
//! [`Failure::Internal`]: plugin::Failure::Internal
//! [`Cycle::explain`]: cycle::Cycle::explain
//! [`Cycle::note`]: cycle::Cycle::note
//! [`Cycle::random`]: cycle::Cycle::random

#[cfg(panic = "abort")]
compile_error!(
    "a Divvy plugin cannot be built with `panic = \"abort\"`: its panics are caught at the boundary and reported as errors \
     of the plugin, which needs unwinding; remove `panic = \"abort\"` from the profile in Cargo.toml"
);

// The derives write `::divvy_framework::…`, in this crate's own tests too.
extern crate self as divvy_framework;

pub mod assign;
pub mod configuration;
pub mod cycle;
pub mod division;
#[doc(hidden)]
pub mod export;
pub mod filter;
mod logging;
pub mod plugin;
pub mod random;
pub mod reuse;
pub mod score;
pub mod select;
#[cfg(feature = "testing")]
pub mod testing;

#[doc(hidden)]
pub use divvy_framework_abi as abi;
pub use divvy_framework_view::{binding, clusters};
pub use tracing;

/// What the derives name.
#[doc(hidden)]
pub mod __private {
    pub use {schemars, serde};
}

/// Everything that a plugin needs by name.
pub mod prelude {
    pub use crate::assign::{AssignContext, AssignPlugin, AssignResult};
    pub use crate::configuration::{Configuration, NoConfiguration, NoPreferences, Preferences};
    pub use crate::filter::{FilterContext, FilterPlugin, FilterResult};
    pub use crate::plugin::{Failure, Needs, Plugin, PrepareContext, Promises, RuleField, RuleList};
    pub use crate::reuse::with_scratch;
    pub use crate::score::{ScoreContext, ScorePlugin, ScoreResult};
    pub use crate::select::{SelectContext, SelectPlugin, SelectResult};
    pub use divvy_framework_derive::{Configuration, Preferences};
}
