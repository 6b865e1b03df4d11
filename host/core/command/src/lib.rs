//! What the programs share: `divvy`, `divvy-scheduler` and `divvy-plugin`.
//!
//! - [`program`]: the beginning and the end of each. [`worker`]: the process of an isolated plugin. [`ends`]: crashes and hangs.
//! - [`setup`], [`chosen_profile`], [`additional`], [`libraries`]: the profile of a command, with its plugins.
//! - [`reading`]: manifests. [`connection`], [`time`], [`seed`], [`duration`]: arguments of several commands.
//! - [`console`], [`closed`], [`logging`], [`log_lines`], [`progress`]: the streams. [`errors`], [`exit`]: failures and exit codes.
//! - [`grid`]: rows of cells in aligned columns. [`layout`]: for a terminal, or Markdown. [`style`]: colours by their meaning.
//! - [`text`]: widths and line breaks. [`form`]: data as JSON and YAML.
//! - [`completing`], [`man_pages`]: what shells and packages ask for. [`allocator`]: that of each program.

pub mod additional;
pub mod allocator;
pub mod chosen_profile;
pub mod closed;
pub mod completing;
pub mod connection;
pub mod console;
pub mod duration;
pub mod ends;
pub mod errors;
mod escaping;
pub mod exit;
pub mod form;
pub mod grid;
pub mod layout;
pub mod libraries;
pub mod log_lines;
pub mod logging;
pub mod man_pages;
pub mod notes;
pub mod program;
pub mod progress;
pub mod reading;
pub mod seed;
pub mod setup;
pub mod style;
pub mod text;
pub mod time;
pub mod worker;
