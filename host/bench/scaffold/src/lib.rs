//! New plugins: templates for each extension point in Rust and C, and the sources of the SDK that a plugin in Rust is built with.
//!
//! The binary carries both, so that a new plugin builds without a checkout of Divvy. The templates are ordinary files under
//! `templates/`, in which the plugin is called `plugin-name`; only its name and the SDK's location are filled in.
//! This crate prints nothing and runs no command.

mod archive;
mod error;
mod manifest;
mod name;
mod scaffold;

pub use error::ScaffoldError;
pub use name::{InvalidName, PluginName};
pub use scaffold::{ExtensionPoint, Language, Scaffold, Sdk};
