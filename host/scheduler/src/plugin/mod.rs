//! Plugin libraries: finds, checks, opens and calls them.
//!
//! - [`loader`]: the one file that opens libraries.
//! - [`directories`]: the directories that are searched for a plugin's library.
//! - [`instance`]: a constructed plugin and its calls; every failure is a typed error that names the plugin.
//! - `log`: forwards plugins' log records to the host's `tracing`.

pub mod directories;
pub mod error;
pub mod instance;
pub mod loader;
mod log;

pub use directories::PluginDirectories;
pub use error::{CallError, LoadError};
pub use instance::{Call, CallObserver, PluginInstance};
pub use loader::PluginLibrary;
