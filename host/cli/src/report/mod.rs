//! Everything that a run prints: tables, JSON, YAML, explanations, errors.
//!
//! - [`entry`]: a binding beside its decision, which every form of the report starts from.
//! - [`table`], [`totals`], [`explanation`]: for people, over the aligned columns of [`grid`].
//! - [`cluster_views`]: clusters instead of bindings.
//! - [`structured`]: JSON and YAML. [`jsonpath`]: templates over it.
//! - [`forecast`]: what moves, and the loss of each cluster. [`headroom`]: how far workloads can grow.
//! - [`page`]: the same three as a page for a browser.
//! - [`plugins`]: lists and descriptions of plugins.
//! - [`errors`], [`warnings`], [`binding_errors`]: messages on standard error.
//! - [`console`]: the output streams.

pub(crate) mod account;
pub(crate) mod binding_errors;
mod closed;
pub(crate) mod cluster_views;
pub(crate) mod console;
pub(crate) mod entry;
pub(crate) mod errors;
mod escaping;
mod explanation;
pub(crate) mod forecast;
pub(crate) mod headroom;
pub(crate) mod inspection;
pub(crate) mod jsonpath;
mod lines;
pub(crate) mod loads;
pub(crate) mod page;
pub(crate) mod pipeline;
pub(crate) mod plugins;
pub(crate) mod profile;
pub(crate) mod progress;
mod schema;
pub(crate) mod structured;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod totals;
pub(crate) mod verification;
pub(crate) mod warnings;

pub(crate) use divvy_grid::{grid, style, text};
pub(crate) use divvy_results::targets;
