//! Divvy's proof: every bundled plugin, and plugins that misbehave on purpose, loaded through the host's real loader.
//!
//! Nothing here knows a plugin's Rust types: whatever is proved is proved across the ABI, from manifests to decisions.
//! Arithmetic is tested where it lives, in the plugins' own crates.
//!
//! - [`artifacts`]: builds plugins, fixtures and the binary, and knows their paths from Cargo's own messages.
//! - [`manifests`] and [`scheduling`]: what a test says (clusters, bindings, policies) and how it gets decisions.
//! - [`bundled`]: each folder of `plugins/`, loaded, asked who it is, and put to work.
//! - [`proposals`]: the worked examples of the four proposals. [`chances`]: that ties are fair.
//! - [`properties`]: what holds of each strategy whatever the input. [`extremes`]: the ends of the ranges.
//! - [`outsiders`]: copies of bundled strategies under other names, which the host must serve as well.
//! - [`preferences`]: what of `divvy.io/preferences` reaches a plugin.
//! - [`loading`]: each way in which a plugin cannot be loaded, with its message.
//! - [`changed_sdk`]: plugins built against an SDK that is not this one.
//! - [`misbehaviour`]: what a faulty plugin does to the host, namely nothing.
//! - [`compatibility`]: plugins of an older and of a newer minor ABI version, another build, another allocator.
//! - [`logging`]: what plugins log.
//! - [`command_line`]: the binary, run: exit code, standard output, standard error. [`discovery`]: where it finds plugins.
//! - [`conformance`]: the recorded decisions of Karmada's own algorithm, to the last case.
//! - [`walls`]: who may depend on whom and which file may name what.

mod artifacts;
mod bundled;
mod chances;
mod changed_sdk;
mod command_line;
mod compatibility;
mod conformance;
mod discovery;
mod extremes;
mod loading;
mod logging;
mod manifests;
mod misbehaviour;
mod outsiders;
mod preferences;
mod properties;
mod proposals;
mod scheduling;
mod walls;
