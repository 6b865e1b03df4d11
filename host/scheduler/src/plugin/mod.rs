//! Plugins from outside: finding, opening, checking, calling.
//!
//! - [`loader`]: the one file that opens libraries.
//! - [`directories`]: where a plugin's library is looked for.
//! - [`instance`]: a constructed plugin and its calls, with every failure as a typed error that names the plugin.
//! - `log`: what plugins log, as events of the host's `tracing`.

pub mod directories;
pub mod error;
pub mod instance;
pub mod loader;
mod log;

pub use directories::PluginDirectories;
pub use error::{CallError, LoadError};
pub use instance::PluginInstance;
pub use loader::PluginLibrary;
