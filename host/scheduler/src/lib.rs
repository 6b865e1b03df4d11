//! The Divvy scheduler as a library: bindings and clusters in, decisions out, every decision a plugin's.
//!
//! Where bindings come from is not its business: files (`divvy-manifests`), a recording, or a control plane. The whole way in
//! a few calls:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use divvy_manifests::{Input, ReadOptions, read};
//! use divvy_scheduler::fleet::Fleet;
//! use divvy_scheduler::plugin::PluginDirectories;
//! use divvy_scheduler::profile::ProfileSource;
//! use divvy_scheduler::scheduler::{Scheduler, decide, registry};
//!
//! // The built-in profile, its plugins found, opened, checked and constructed.
//! let configuration = ProfileSource::built_in().profile(None)?;
//! let profile = registry::build(&configuration, &PluginDirectories::of_process()).expect("all plugins can be loaded");
//!
//! // Every manifest of a folder. Problems are collected, so that all of them can be reported at once.
//! let mut manifests = read(&[Input::from("examples/fleet")], &mut std::io::empty(), &ReadOptions::default());
//! assert!(manifests.problems.is_empty());
//!
//! // The bindings, sorted by name, and the clusters as a snapshot.
//! let detected = manifests.detect(Default::default());
//! let mut fleet = Fleet::new(false);
//! fleet.extend(manifests.clusters.iter().map(|cluster| &cluster.object));
//!
//! for decision in decide(&mut Scheduler::new(Arc::new(profile)), &detected.bindings, &fleet.snapshot()) {
//!     println!("{}: {}", decision.binding, decision.outcome.word());
//! }
//! # Ok::<(), divvy_scheduler::profile::ProfileError>(())
//! ```
//!
//! # The way of a binding
//!
//! ```text
//! clusters ────────────────────── fleet ──── snapshot ─┐
//! bindings with their policies ── strategy ─── plan ───┼─ cycle ─ decision
//! profile ── plugin libraries ─── plugins ─────────────┘
//! ```
//!
//! - [`fleet`]: clusters into snapshots, and how many replicas fit.
//! - [`strategy`]: the strategy of a binding, and its preferences in one form.
//! - [`plan`]: everything about a binding that is worked out once.
//! - [`profile`]: the TOML that says which plugins decide.
//! - [`plugin`]: libraries found, checked, opened and called.
//! - [`scheduler`]: a profile's plugins put to work, binding after binding.
//! - [`cycle`]: one binding against one snapshot: Filter, Score, Select, Assign, each result checked.
//! - [`replay`]: recorded decisions, decided again.
//!
//! # What does not happen here
//!
//! No decision: a rule that could be another one belongs in a plugin. No files of manifests, no terminal, no network. And in
//! [`cycle`] no I/O and no clock, so that the same snapshot, binding, profile and seed give the same result.

pub mod cycle;
pub mod fleet;
pub mod plan;
pub mod plugin;
pub mod profile;
pub mod replay;
pub mod scheduler;
pub mod strategy;
