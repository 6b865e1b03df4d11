//! Everything that a run prints: tables, JSON, YAML, explanations, errors.
//!
//! - [`entry`]: a binding with its decision, from which every form of the report starts.
//! - [`table`], [`totals`], [`explanation`]: for people, over the aligned columns of [`grid`].
//! - [`clusters`]: the clusters of results, and their sums. [`cluster_views`]: clusters instead of bindings.
//! - [`grid`]: rows of cells in aligned columns. [`text`]: widths and line breaks. [`style`]: colours by their meaning.
//! - [`layout`]: for a terminal, or Markdown.
//! - [`structured`]: bindings as data. [`form`]: data as JSON and YAML. [`format`](mod@format): the formats of `-o`.
//! - [`costs`]: costs in tables and data. [`reasons`]: reasons why no cluster fits, in few words.
//! - [`forecast`]: moves. [`losses`]: the loss of each cluster. [`headroom`]: growth of workloads. [`policies`]: a review of policies.
//!   [`survive`]: the losses that bindings do not survive.
//! - [`page`]: decisions, moves and growth as a page for a browser.
//! - [`plugins`]: lists and descriptions of plugins.
//! - [`errors`], [`warnings`], [`binding_errors`]: messages on standard error.
//! - [`console`]: the output streams.

pub(crate) mod account;
pub(crate) mod binding_errors;
mod closed;
pub(crate) mod cluster_views;
pub(crate) mod clusters;
pub(crate) mod console;
pub(crate) mod costs;
mod declared;
pub(crate) mod entry;
pub(crate) mod errors;
mod escaping;
mod explanation;
pub(crate) mod forecast;
pub(crate) mod form;
pub(crate) mod format;
pub(crate) mod grid;
pub(crate) mod headroom;
pub(crate) mod inspection;
pub(crate) mod layout;
mod lines;
pub(crate) mod loads;
pub(crate) mod losses;
pub(crate) mod page;
pub(crate) mod plugins;
pub(crate) mod policies;
pub(crate) mod profile;
pub(crate) mod progress;
mod reasons;
mod schema;
pub(crate) mod sheets;
pub(crate) mod structured;
pub(crate) mod style;
pub(crate) mod survive;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod totals;
pub(crate) mod verification;
pub(crate) mod warnings;
