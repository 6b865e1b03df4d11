//! The SDK for writing Divvy plugins.
//!
//! Divvy is a scheduler for [Karmada](https://karmada.io) in which every decision is made by a plugin: a shared library
//! loaded at run time. A plugin is a crate that depends on this one and on nothing else in Divvy. It implements a trait
//! and ends with a macro call. Here is a complete plugin, a strategy that fills the roomiest cluster first:
//!
//! ```standalone_crate
//! #![forbid(unsafe_code)]
//!
//! use divvy_framework::prelude::*;
//! use std::cmp::Reverse;
//!
//! /// Settings read from the profile.
//! #[derive(Default, Configuration)]
//! #[serde(default)]
//! struct RoomiestFirstConfiguration {
//!     /// Replicas to keep free on every cluster.
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
//! }
//!
//! impl ConfiguredPlugin for RoomiestFirst {
//!     type Configuration = RoomiestFirstConfiguration;
//!
//!     fn new(configuration: RoomiestFirstConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
//!         Ok(Self { keep_free: configuration.keep_free.into() })
//!     }
//! }
//!
//! impl AssignPlugin for RoomiestFirst {
//!     const STRATEGIES: &'static [&'static str] = &["RoomiestFirst"];
//!     const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();
//!
//!     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
//!         let room = |candidate| (context.capacity()[candidate] - self.keep_free).max(0);
//!         let mut order: Vec<Candidate> = context.candidates().collect();
//!         order.sort_by_key(|&candidate| (Reverse(room(candidate)), context.tie_key(candidate)));
//!         let mut left = context.replicas();
//!         for candidate in order {
//!             let replicas = left.min(room(candidate));
//!             result.set(candidate, replicas);
//!             context.explain(candidate, || format!("room for {}", room(candidate)));
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
//! // This belongs in the crate's tests, with the feature `testing` enabled in `[dev-dependencies]`.
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
//! Its `Cargo.toml` sets `crate-type = ["cdylib"]` and names the package `divvy-plugin-roomiest-first`, because the
//! scheduler finds the library by the plugin's name. A profile lists the plugin, and a policy picks its strategy:
//!
//! ```toml
//! [[profile]]
//! name = "mine"
//! extends = "default"
//! plugin-directories = ["/usr/lib/divvy/plugins"]
//! # `"..."` means the entries of the profile that this one extends.
//! assign = ["...", "roomiest-first"]
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
//! # Modules
//!
//! - [`guide`]: a plugin in ten minutes, and pages on testing, debugging, shipping and evolution.
//! - [`prelude`]: the common imports; most plugins need only `use divvy_framework::prelude::*;`.
//! - [`plugin`]: the trait that every plugin implements, with its promises, needs and failures.
//! - [`filter`], [`score`], [`select`], [`assign`]: the extension points of a cycle, one trait each, in its order.
//! - [`pace`]: the extension point for the steps in which a binding moves from one result to another.
//! - [`cycle`]: the state that every call can see; each context dereferences to it.
//! - [`clusters`]: the clusters, object by object or column by column.
//! - [`binding`]: the binding, with its resource, replicas, requests, last result, placement and rules.
//! - [`configuration`]: typed configuration and preferences, and the errors of reading them.
//! - [`division`]: the arithmetic that strategies share, from ties to tiers. [`groups`]: the clusters of each entry of
//!   a policy's lists, and [sharing](assign::AssignContext::share_among) replicas among groups of any kind in one call.
//! - [`table`]: tables that an operator keeps beside the profile, such as prices. [`cost`]: what a replica costs by
//!   such a table.
//! - [`value`]: values that a plugin keeps per snapshot and per binding.
//! - [`reason`]: reasons, as data, why a cluster has its share or its score, or was left out.
//! - [`metrics`]: counters and histograms for the people who run the plugin.
//! - [`random`]: seeded randomness; [`reuse`]: memory that outlives a call.
//! - [`testing`]: builders for testing a plugin as plain Rust, and runs of the real scheduler (feature `testing`).
//!
//! # The order of calls
//!
//! A *cycle* schedules one binding once against one snapshot of the clusters. It makes these calls in order, each with
//! one context and one result:
//!
//! | call | when | what the host does with the result |
//! |---|---|---|
//! | [`ConfiguredPlugin::new`] | once, when the profile is loaded | on an error or a panic, rejects the profile |
//! | [`FilterPlugin::filter`] | for each filter, in the profile's order, over all clusters | excludes the rejected clusters; if none is left, reports `NoClusterFit` with a count per reason |
//! | [`ScorePlugin::score`], then [`normalize`] | for each score plugin, over the feasible clusters | rejects scores outside 0..=100, multiplies the others by the profile's weight, adds them up |
//! | [`SelectPlugin::select`] | for each selector, in the profile's order, over the feasible clusters that the selector before it left | rejects an index that is out of range or repeated; without a candidate, reports `Unschedulable` |
//! | [`AssignPlugin::assign`] | for the plugin that serves the strategy, once per tier, over the candidates | checks sum, signs and promises; drops candidates with 0 replicas |
//!
//! A plugin that implements [`PreparePlugin`] prepares state for the binding when a call first asks for it. If it lists
//! `Prepare` in [`export_plugin!`], the host has it prepare once before it calls Assign for each tier of a policy, and
//! drops the state when the tiers are divided.
//!
//! A filter or a score can declare the parts of a binding that it acts on, such as its evictions: [`BindingParts`]. The
//! host does not call it for a binding without them.
//!
//! A plugin may also keep a [value] per snapshot, or per binding. The host requests one before a call that reads a new
//! snapshot, or a new plan of the binding.
//!
//! A binding without replicas to divide (a ConfigMap, a DaemonSet) goes to every candidate, and Assign is not called.
//! If the placement has several affinity groups, a failed cycle is followed by one for the next group. A cycle that
//! ends with `NoClusterFit` is repeated to collect the reasons, so a filter may be called twice for one decision.
//!
//! # Outcomes of a call
//!
//! | the call returns | the host |
//! |---|---|
//! | `Ok(())` | checks the result, then uses it |
//! | [`Failure::Unschedulable`] | reports `Unschedulable` with the message |
//! | [`Failure::Preferences`] | reports an `Error` in the policy, with path and hint |
//! | [`Failure::Internal`] | reports an `Error` that names the plugin |
//! | a result that breaks a rule | reports an `Error` that names the plugin, the rule and the figures |
//! | nothing, because it panicked | reports an `Error` that names the plugin, with the panic's message and location |
//!
//! Every failure aborts the cycle and leaves the binding's last result in place; the next binding is scheduled as
//! usual. An unsuitable cluster is not a failure: a filter rejects it. Nor is a candidate that gets nothing: its count
//! is 0.
//!
//! # Guarantees for plugins
//!
//! - **Threads.** A plugin is constructed once and may be called from any thread, including from several at once.
//! - **Panics** in methods, constructors and `Drop` are caught in the plugin's own library. If the scheduler logs
//!   details (`-vv`), the log has the backtrace; a panic in `Drop` appears as an error in the log. After three
//!   consecutive panics of the same method the plugin is quarantined: it is not called again until its profile is
//!   reloaded. Aborts, endless loops and stack overflows cannot be caught and take the scheduler down. A build with
//!   `panic = "abort"` does not compile.
//! - **Logging** uses [`tracing`]: `divvy_framework::tracing::debug!(replicas, "divided")` reaches the scheduler's log
//!   under the target `divvy::plugin::NAME`, with the binding as a field. Events below the level of that target are not
//!   formatted. Spans are not forwarded. [`guide::debugging`] has examples.
//! - **Explanations** are closures that run only if an explanation was requested: [`CallContext::explain`],
//!   [`Cycle::explain_row`], [`Cycle::note`], and the reasons of [`FilterResult::reject`]. An explanation is a text, or
//!   a [`Reason`](reason::Reason): a rule, the bound of the share, the criterion for a remainder, and figures by name.
//!   The host prints it, and provides it to programs as data.
//! - **Rows and candidates** are different types: a [`Row`](clusters::Row) of the snapshot does not index a column of a
//!   call, and a [`Candidate`](cycle::Candidate) does not index one of the snapshot. Results for an index past the end
//!   are ignored and counted; in a selection, such an index is an error. The test kit reports all of them as errors.
//! - **Determinism.** The same snapshot, binding, profile, seed and time must give the same result. Break ties by
//!   [`CallContext::tie_key`], take all other randomness from [`Cycle::random`], and the time from [`Cycle::time`].
//!
//! # Inputs from the policy and the workload
//!
//! A policy can carry preferences for any plugin, as JSON, in the annotation `divvy.io/preferences.<name of the
//! plugin>`. The plugin names their type in the trait of its extension point, such as
//! [`FilterPlugin<MyPreferences>`](filter::FilterPlugin). A plugin declares all other inputs with
//! [`Needs`](plugin::Needs):
//!
//! | input | need | `divvy schedule`, `diff` | `divvy run` | a recording |
//! |---|---|---|---|---|
//! | [labels](binding::Binding::labels) and [annotations](binding::Binding::annotations) of the binding | none | those of the binding in the input; a binding that is derived from a workload has none | those of the binding: of Karmada's detector, the permanent identifier and the name of the policy | as recorded |
//! | [policy](binding::Binding::policy) | `metadata` | of the policy in the input | of the policy that claims the binding | as recorded |
//! | [workload](binding::Binding::workload) | `metadata` | of the workload in the input | never known: workloads are not watched, and Karmada copies nothing of their metadata into a binding | as recorded, if a plugin of the profile declared the need |
//! | [priority](binding::Binding::priority) | `metadata` | `spec.schedulePriority` of the binding | the same | the same |
//! | [time](cycle::Cycle::time) | `time` | `--time`, or the start of the command | the wall clock of the decision | as recorded, if a plugin of the profile declared the need or `--time` was given; otherwise the decision is an error |
//! | [placements](cycle::Cycle::placements) | `placements` | last results of the bindings in the input; under `--assume`, and in `diff` and `headroom`, with the results so far | of the bindings on the control plane, and decisions that are not written yet | as recorded, if a plugin of the profile declared the need; otherwise the decision on a binding in a group is an error |
//!
//! An unknown value is `None`, which differs from empty. Reading an undeclared input is an error, in the test kit as
//! well. `divvy run` decides a binding again when its preferences change, but not for changes to other annotations and
//! labels of its policy alone: the next decision sees those.
//!
//! A plugin limits the time for which its answer holds with [`Cycle::valid_until`]. The earliest time of all plugins of
//! a decision counts: `divvy schedule -o json` shows it, and `divvy run` decides the binding again then, with
//! `divvy.io/applied-policy` as its memory across restarts.
//!
//! # Rules for plugins
//!
//! A plugin must not:
//!
//! - read a clock, a file, the network, the environment, or a random generator of its own;
//! - carry state from one binding to another: put state for a binding into [`PreparePlugin::Prepared`] or a [value];
//!   [`reuse`] keeps memory, not state;
//! - depend on the iteration order of a `HashMap`, which differs from run to run;
//! - allocate or format text per cluster in the steady state: fleets have thousands of clusters, and a cycle takes
//!   microseconds;
//! - install a panic hook or a `tracing` subscriber, because the SDK installs its own in the plugin's library;
//! - call `std::process::exit`.
//!
//! `divvy plugin verify` finds most of this; [`guide::testing`] says what it cannot find.
//!
//! # Versions
//!
//! There are three independent versions. The *ABI* version is compiled into each plugin and decides whether it loads:
//! plugin and scheduler must have the same major version, and either may have the newer minor version. With the feature
//! `certificate`, which is on by default, a plugin also carries the layouts of all types that cross the boundary, which
//! the scheduler compares with its own; without it, the plugin builds in about half the time and loads only where its
//! profile says `allow-uncertified = true`. The *SDK*
//! version is that of this crate: a new one may require changes to a plugin's source, but plugins built with an older
//! one keep loading. The *data* versions are those of Karmada's objects (`policy.karmada.io/v1alpha1` and so on), which
//! the scheduler reads on the plugin's behalf. No cargo feature changes a type that crosses the boundary.
//!
//! [`ConfiguredPlugin::new`]: plugin::ConfiguredPlugin::new
//! [`PreparePlugin`]: plugin::PreparePlugin
//! [`PreparePlugin::Prepared`]: plugin::PreparePlugin::Prepared
//! [`FilterPlugin::filter`]: filter::FilterPlugin::filter
//! [`FilterResult::reject`]: filter::FilterResult::reject
//! [`ScorePlugin::score`]: score::ScorePlugin::score
//! [`normalize`]: score::ScorePlugin::normalize
//! [`SelectPlugin::select`]: select::SelectPlugin::select
//! [`AssignPlugin::assign`]: assign::AssignPlugin::assign
//! [`CallContext::tie_key`]: cycle::CallContext::tie_key
//! [`CallContext::explain`]: cycle::CallContext::explain
//! [`BindingParts`]: plugin::BindingParts
//! [`Failure::Unschedulable`]: plugin::Failure::Unschedulable
//! [`Failure::Preferences`]: plugin::Failure::Preferences
//! [`Failure::Internal`]: plugin::Failure::Internal
//! [`Cycle::explain_row`]: cycle::Cycle::explain_row
//! [`Cycle::note`]: cycle::Cycle::note
//! [`Cycle::random`]: cycle::Cycle::random
//! [`Cycle::time`]: cycle::Cycle::time
//! [`Cycle::valid_until`]: cycle::Cycle::valid_until

#[cfg(not(panic = "unwind"))]
compile_error!(
    "a Divvy plugin cannot be built with `panic = \"abort\"`: its panics are caught at the boundary and reported as errors \
     of the plugin, which needs unwinding; remove `panic = \"abort\"` from the profile in Cargo.toml"
);

// The derives expand to paths that begin with `::divvy_framework`, also in this crate's own tests.
extern crate self as divvy_framework;

pub mod assign;
pub mod configuration;
pub mod cost;
pub mod cycle;
pub mod division;
#[doc(hidden)]
pub mod export;
pub mod filter;
pub mod groups;
pub mod guide;
mod logging;
pub mod metrics;
pub mod pace;
mod parts;
pub mod plugin;
mod prepare;
pub mod reuse;
pub mod score;
pub mod select;
pub mod table;
#[cfg(feature = "testing")]
pub mod testing;
pub mod value;

#[doc(hidden)]
pub use divvy_framework_abi as abi;
#[doc(inline)]
pub use divvy_framework_arithmetic::random;
pub use divvy_framework_view::{binding, clusters, reason};
pub use tracing;

/// Items that expanded macros refer to.
#[doc(hidden)]
pub mod __private {
    pub use divvy_framework_derive::require_shared_library;
    pub use {schemars, serde};

    pub use crate::configuration::bounds::{
        Bounded, Bounds, Number, OutOfBounds, Ranged, check_length, check_range, expected_range,
    };
}

/// The common imports of a plugin.
pub mod prelude {
    pub use crate::assign::{AssignContext, AssignPlugin, AssignResult, StatedPromises};
    pub use crate::binding::Binding;
    pub use crate::clusters::{Cluster, Row};
    pub use crate::configuration::{Configuration, NoConfiguration, NoPreferences, Preferences, ValueError};
    pub use crate::cycle::{Candidate, Column};
    pub use crate::filter::{ClusterFilter, FilterContext, FilterPlugin, FilterResult};
    pub use crate::pace::{PaceContext, PacePlugin, PaceResult, Wait};
    pub use crate::plugin::{
        BindingParts, ConfiguredPlugin, Failure, Needs, Plugin, PrepareContext, PreparePlugin, Promises, RuleField,
        RuleList,
    };
    pub use crate::reason::{Bound, Cause, Decider, Reason};
    pub use crate::reuse::with_scratch;
    pub use crate::score::{ClusterScore, ScoreContext, ScorePlugin, ScoreResult};
    pub use crate::select::{SelectContext, SelectPlugin, SelectResult};
    pub use crate::table::{Cells, Period, RowsPerKey, Table, TableColumn, TableView, Weekly};
    pub use crate::value::{
        BindingValueContext, BindingValuePlugin, ClusterColumns, SnapshotValueContext, SnapshotValuePlugin,
    };
    pub use divvy_framework_derive::{Configuration, Preferences};
}
