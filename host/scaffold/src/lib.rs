//! New plugins: templates for each extension point in Rust and C, and the sources of the SDK that a plugin in Rust is built with.
//!
//! The binary carries both, so that a new plugin builds where no checkout of Divvy exists. The templates are ordinary files under
//! `templates/`, in which the plugin is called `plugin-name`; nothing else is filled in but the SDK's place.
//! This crate prints nothing and runs no command.

mod archive;
mod error;
mod manifest;
mod name;
mod scaffold;

pub use error::ScaffoldError;
pub use name::{InvalidName, PluginName};
pub use scaffold::{ExtensionPoint, Language, Scaffold, Sdk};
