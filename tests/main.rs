//! Integration tests: every bundled plugin, and plugins that misbehave on purpose, loaded through the host's real
//! loader.
//!
//! These tests do not use the Rust types of plugins: they test across the ABI, from manifests to decisions. The
//! arithmetic is tested in the crates of the plugins.
//!
//! - [`artifacts`]: builds plugins, fixtures and the binary, and takes their paths from Cargo's messages.
//! - [`manifests`] and [`scheduling`]: the input of a test (clusters, bindings, policies), and its decisions. [`table_files`]: the
//!   tables that a bundled plugin declares.
//! - [`bundled`]: every folder in `plugins/`, loaded, identified, and run on its worked example.
//! - [`proposals`]: the worked examples of the four proposals. [`fair_ties`]: fairness of ties.
//! - [`properties`]: properties of each strategy for any input. [`extremes`]: extreme values.
//! - [`renamed_strategies`]: copies of bundled strategies under other names, which the host must serve in the same way.
//! - [`bursts`]: bindings decided as one plan, compared with one after another and, on tiny fleets, with every plan.
//! - [`acts_on`]: plugins are called only for bindings with a part that they act on.
//! - [`declared_inputs`]: inputs that a plugin declares: preferences, metadata, priority, time.
//! - [`quorum`]: fewer replicas than requested, where not all fit.
//! - [`preferences`]: the keys of `divvy.io/preferences` that reach a plugin.
//! - [`loading`]: every reason that a plugin cannot be loaded, with its message.
//! - [`changed_sdk`]: builds plugins against a modified SDK.
//! - [`moves`]: paces, their steps and their errors.
//! - [`misbehaviour`]: faulty plugins, which must not affect the host.
//! - [`compatibility`]: plugins of older and newer minor ABI versions, from another build, with another allocator.
//! - [`selectors`]: several selectors in a profile, one of them a third party's.
//! - [`tables`]: tables of the profile, read by a plugin from outside the workspace.
//! - [`isolation`]: plugins in processes of their own.
//! - [`attribution`]: plugins that crash, end or hang the scheduler's process are named.
//! - [`kept_values`]: values that plugins keep per snapshot and per binding.
//! - [`c_interface`]: the header, and plugins in C. [`logging`]: events of plugins.
//! - [`command_line`]: exit code, standard output and standard error of the binary, also in a [`shell`]. [`discovery`]: the folders in
//!   which it finds plugins.
//! - [`controller`]: the scheduler of a control plane, against an API server in memory.
//! - [`diff`]: forecasts of changes, against the same changes made by hand.
//! - [`conformance`]: all recorded decisions of Karmada's own algorithm.
//! - [`verification`]: the conformance kit of `divvy plugin verify`.
//! - [`whole_cycles`]: the test kit's runs of the real scheduler, in a crate outside the workspace.
//! - [`windows`]: maintenance windows, from the table to decisions and recordings.
//! - [`public_interface`]: the SDK's interface for authors, compared with a file.
//! - [`which_division`]: the page of docs that compares divisions, with its results.
//! - [`pages`]: the README and the site, whose commands print what they say.
//! - [`walls`]: permitted dependencies between crates, and names that are restricted to certain files.

mod acts_on;
mod artifacts;
mod attribution;
mod bundled;
mod bursts;
mod c_interface;
mod changed_sdk;
mod command_line;
mod compatibility;
mod conformance;
mod controller;
mod declared_inputs;
mod diff;
mod discovery;
mod extremes;
mod fair_ties;
mod frozen;
mod generated;
mod isolation;
mod kept_values;
mod loading;
mod logging;
mod manifests;
mod misbehaviour;
mod moves;
mod pages;
mod placements;
mod preferences;
mod profile_reference;
mod properties;
mod proposals;
mod public_interface;
mod quorum;
mod renamed_strategies;
mod scheduling;
mod selectors;
mod shell;
mod table_files;
mod tables;
mod trees;
mod verification;
mod walls;
mod which_division;
mod whole_cycles;
mod windows;
