//! The Divvy scheduler as a library: it takes bindings and clusters and returns decisions, all of them made by plugins.
//!
//! Bindings can come from files (`divvy-manifests`), a recording (`divvy-recordings`) or a control plane. The profile, which
//! selects and configures the plugins, comes from `divvy-profile`. A complete run takes a few calls:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use divvy_manifests::{Input, ReadOptions, read};
//! use divvy_scheduler::fleet::Fleet;
//! use divvy_loader::PluginDirectories;
//! use divvy_profile::ProfileSource;
//! use divvy_scheduler::decision::{Scheduler, decide};
//! use divvy_scheduler::profile::registry;
//!
//! // The built-in profile, its plugins found, opened, checked and constructed.
//! let configuration = ProfileSource::built_in().profile(None)?;
//! let profile = registry::build(&configuration, &PluginDirectories::from_environment()).expect("all plugins can be loaded");
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
//! # Ok::<(), divvy_profile::ProfileError>(())
//! ```
//!
//! # The path of a binding
//!
//! ```text
//! clusters ────────────────────── fleet ──── snapshot ─┐
//! bindings with their policies ── strategy ─── plan ───┼─ cycle ─ decision
//! profile ── plugin libraries ─── plugins ─────────────┘
//! ```
//!
//! - [`fleet`]: turns clusters into snapshots and estimates how many replicas fit.
//! - [`strategy`]: finds a binding's strategy and normalizes its preferences.
//! - [`placements`]: placements of other bindings, for plugins that declare the need.
//! - [`plan`]: everything about a binding that is computed once.
//! - [`plugin`]: plugins that are constructed and called; `divvy-loader` opens their libraries.
//! - [`profile`]: the constructed plugins of a profile, its strategies and its tables.
//! - [`cost`]: costs by the hour, which reports count and no decision reads.
//! - [`cycle`]: schedules one binding against one snapshot: Filter, Score, Select and Assign, each result checked.
//! - [`decide`]: the bindings that a scheduler takes, and the conditions under which one of them is decided again.
//! - [`moves`]: the rules by which results that take from one cluster and give to another are written in steps.
//! - [`decision`]: decides one binding after another, each in its affinity groups.
//! - [`search`]: the largest count of replicas that is accepted.
//!
//! # Non-goals
//!
//! This crate makes no decisions: a rule that could reasonably be different belongs in a plugin. It does not read
//! manifest files, write to a terminal or use the network. [`cycle`] also does no I/O and reads no clock, so the same
//! snapshot, binding, profile and seed always give the same result.

pub mod cost;
pub mod cycle;
pub mod decide;
pub mod decision;
pub mod fleet;
mod guard;
mod input;
pub mod moves;
pub mod placements;
pub mod plan;
pub mod plugin;
pub mod profile;
pub mod search;
pub mod strategy;
