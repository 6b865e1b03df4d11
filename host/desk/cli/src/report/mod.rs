//! Everything that a run prints: tables, JSON, YAML, explanations, errors.
//!
//! - [`entry`]: a binding with its decision, from which every form of the report starts.
//! - [`table`], [`totals`], [`explanation`]: for people, over aligned columns.
//! - [`clusters`]: the clusters of results, and their sums. [`cluster_views`]: clusters instead of bindings.
//! - [`structured`]: bindings as data. [`format`](mod@format): the formats of `-o`.
//! - [`costs`]: costs in tables and data. [`reasons`]: reasons why no cluster fits, in few words.
//! - [`forecast`]: moves. [`losses`]: the loss of each cluster. [`headroom`]: growth of workloads. [`policies`]: a review of policies.
//!   [`survive`]: the losses that bindings do not survive. [`rebalance`], [`plan`]: the moves that place what waits.
//! - [`page`]: decisions, moves and growth as a page for a browser.
//! - [`warnings`], [`binding_errors`]: messages on standard error. [`locations`]: where what is wrong with a binding is.

pub(crate) mod account;
pub(crate) mod binding_errors;
pub(crate) mod cluster_views;
pub(crate) mod clusters;
pub(crate) mod costs;
pub(crate) mod entry;
mod explanation;
pub(crate) mod forecast;
pub(crate) mod format;
pub(crate) mod headroom;
pub(crate) mod loads;
pub(crate) mod locations;
pub(crate) mod losses;
pub(crate) mod page;
mod plan;
pub(crate) mod policies;
pub(crate) mod profile;
mod reasons;
pub(crate) mod rebalance;
pub(crate) mod sheets;
pub(crate) mod structured;
pub(crate) mod survive;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod totals;
pub(crate) mod warnings;
