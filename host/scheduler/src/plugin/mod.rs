//! Plugin libraries: finds, checks, opens and calls them.
//!
//! - [`loader`]: the one file that opens libraries. [`library`]: a plugin of an opened library, with its metadata.
//! - [`directories`]: the directories that are searched for a plugin's library.
//!   `missing`: why one was not found.
//! - [`inspection`]: what a file says without being opened. [`features`]: promises and needs in words.
//! - [`instance`]: a constructed plugin and its calls; every failure is a typed error that names the plugin.
//! - `tables`: the tables that a plugin declares.
//! - `services`: services of the host for a plugin: its log, its metrics, texts and failures. `log`: targets of the log.

pub mod directories;
pub mod error;
pub mod features;
pub mod inspection;
pub mod instance;
pub mod library;
pub mod loader;
pub(crate) mod log;
pub(crate) mod missing;
mod services;
mod tables;
mod value;

pub use directories::PluginDirectories;
pub use divvy_framework_driver::metrics::{BOUNDS, HistogramFigures, MetricFigures, PluginMetrics};
pub use error::{CallError, LoadError};
pub(crate) use instance::ValueTables;
pub use instance::{Call, CallObserver, PluginInstance};
pub use library::PluginLibrary;
pub use loader::LoadOptions;
pub use services::TakeText;
pub use tables::{DeclaredColumn, DeclaredTable};
pub use value::{BindingValues, KeptValue, PreparedState};
