//! The scheduler of a control plane: watches objects, queues bindings, decides, writes the results, and holds a lease.
//!
//! # The path of a binding
//!
//! ```text
//! API server ── watch ── store ── queue ── decide ── decision ──┐
//!     ▲                                                         │
//!     └──────────────────────────── write ◄── fence ◄── engine ─┘
//! ```
//!
//! - [`outage`], [`refusals`]: the times at which the API server does not answer, and what it refuses. `divvy-client` connects to it.
//! - [`objects`], [`watch`], [`store`]: watched objects, reduced to the fields that decisions read.
//! - [`queue`]: bindings that wait for a decision.
//! - [`decision`], [`estimates`], [`lookup`]: one decision, the estimates that it reads, and the estimators' addresses.
//! - [`holdings`], [`takings`], [`assumed`]: capacity that is taken but not reported, the part of it that estimators cannot
//!   know, and the part that requests to them include.
//! - [`guard`]: protection against clusters that vanish.
//! - [`engine`]: all of that as one state machine without I/O.
//! - [`mod@write`], [`events`]: patches and events.
//! - [`lease`], [`observe`], [`serve`]: the lease, metrics, probes and explanations.
//! - [`panel`], [`explanations`], [`watchdog`]: the state that is shown there.
//! - [`reload`]: changed profiles and plugins.
//! - [`run`]: the threads and tasks around the engine.

mod assumed;
pub mod condition;
pub mod decision;
pub mod engine;
pub mod estimates;
mod events;
pub mod explanations;
mod guard;
pub mod holdings;
pub mod lease;
pub mod lookup;
pub mod objects;
pub mod observe;
mod outage;
pub mod panel;
mod placements;
pub mod queue;
mod refusals;
pub mod reload;
pub mod run;
pub mod serve;
pub mod store;
mod takings;
pub mod watch;
pub mod watchdog;
pub mod write;
