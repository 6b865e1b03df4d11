//! Plugin libraries: finds, checks and opens them, and reads their descriptions.
//!
//! - `loader`: what is checked before a library is opened; `opening`: the one file of the host that opens libraries. [`PluginLibrary`]: a
//!   plugin of an opened library, with its metadata.
//! - `linking`: what a library asks of the dynamic linker.
//! - `file`, `descriptors`: what a file says before it is opened; `functions`, `description`: what a plugin says afterwards.
//! - [`directories`]: the directories that are searched for a plugin's library. [`missing`]: reasons why it was not found.
//! - [`inspection`]: the contents of a file that is not opened. [`features`]: promises and needs in words.
//! - [`shown`]: texts of plugins as people may see them.
//! - [`DeclaredTable`], [`RuleList`]: tables and policy lists that a plugin declares.
//!
//! This crate knows files and the ABI. Constructing plugins and calling them is up to `divvy-scheduler`.

mod description;
mod descriptors;
pub mod directories;
mod error;
pub mod features;
mod file;
mod file_names;
mod functions;
pub mod inspection;
mod library;
mod linking;
mod lists;
mod loader;
pub mod missing;
mod opening;
mod ownership;
pub mod shown;
mod tables;
mod unbuilt;

pub use description::{LibraryDescription, PointDescription, StrategyDescription};
pub use directories::PluginDirectories;
pub use error::LoadError;
pub use functions::Functions;
pub use library::PluginLibrary;
pub use lists::{RuleField, RuleList};
pub use loader::{LoadOptions, PluginFile};
pub use ownership::{Access, Replaceable, replaceable_by_others};
pub use tables::{DeclaredColumn, DeclaredTable};
