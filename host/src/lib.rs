//! The Divvy scheduler as a library: manifests in, decisions out, every decision a plugin's.
//!
//! The binary `divvy` is a thin layer over this crate: it reads arguments and writes reports. What it does can be done in
//! a few calls:
//!
//! ```no_run
//! use divvy_host::fleet::Fleet;
//! use divvy_host::inputs::{ResolveOptions, resolve};
//! use divvy_host::manifests::{Input, ReadOptions, read};
//! use divvy_host::plugin::PluginDirectories;
//! use divvy_host::profile::ProfileSource;
//! use divvy_host::scheduler::{Scheduler, decide, registry};
//!
//! // The built-in profile, its plugins found, opened, checked and constructed.
//! let configuration = ProfileSource::built_in().profiles()?.remove(0);
//! let profile = registry::build(&configuration, &PluginDirectories::of_process()).expect("all plugins can be loaded");
//!
//! // Every manifest of a folder. Problems are collected, so that all of them can be told at once.
//! let manifests = read(&[Input::from("examples/fleet")], &mut std::io::empty(), &ReadOptions::default());
//! assert!(manifests.problems.is_empty());
//!
//! // One input a binding, sorted by name, and the clusters as a snapshot.
//! let options = ResolveOptions { known_strategies: profile.strategy_names(), ..ResolveOptions::default() };
//! let resolved = resolve(manifests, &options);
//! let mut fleet = Fleet::new(false);
//! fleet.extend(resolved.clusters.iter().map(|cluster| &cluster.object));
//!
//! for decision in decide(&mut Scheduler::new(&profile), &resolved.bindings, &fleet.snapshot()) {
//!     println!("{}: {}", decision.binding, decision.outcome.word());
//! }
//! # Ok::<(), divvy_host::profile::ProfileError>(())
//! ```
//!
//! # The way of a binding
//!
//! ```text
//! files ─ manifests ─┬─ clusters ─────────────────────────── fleet ───── snapshot ─┐
//!                    └─ bindings, workloads, policies                               ├─ cycle ─ decision
//!                          └─ policy ─ strategy ─ inputs ──────── plan ─────────────┤
//! profile ─ plugin libraries ─ scheduler::registry ───── constructed plugins ───────┘
//! ```
//!
//! - [`api`]: Karmada's and Kubernetes' objects, as far as a scheduler needs them.
//! - [`manifests`]: files into objects, with the place of each and every problem of all.
//! - [`workloads`]: replicas and requests of a workload, by its kind.
//! - [`policy`]: which policy claims a workload; what an API server would have filled in.
//! - [`strategy`]: which strategy a binding uses, and its preferences in one form.
//! - [`inputs`]: all of that together: one input a binding.
//! - [`fleet`]: clusters into snapshots, and how many replicas fit.
//! - [`profile`]: the TOML that says which plugins decide.
//! - [`plugin`]: libraries found, checked, opened and called.
//! - [`scheduler`]: a profile's plugins put to work, binding after binding.
//! - [`cycle`]: one binding against one snapshot: Filter, Score, Select, Assign, each result checked.
//! - [`replay`]: recorded decisions, decided again.
//!
//! # What does not happen here
//!
//! No decision: a rule that could be another one belongs into a plugin. No talk to an API server. And in [`cycle`] no
//! I/O and no clock, so that the same snapshot, binding, profile and seed give the same result.

pub mod api;
pub mod cycle;
pub mod detector;
pub mod fleet;
pub mod manifests;
pub mod plan;
pub mod plugin;
pub mod policy;
pub mod profile;
pub mod replay;
pub mod scheduler;
pub mod strategy;
pub mod workloads;
