//! Diagnostics and line-aware documents, below everything else of Divvy.
//!
//! A document (JSON, YAML or TOML) becomes a tree whose values know their lines ([`Node`]), and one serde deserialiser
//! reads every type from it. So a profile, a manifest and a plugin's configuration are refused in the same words, with
//! the same notation for paths ([`FieldPath`]), and every problem of a document can be listed at once ([`decode_tree`]).
//!
//! The crate knows nothing of Karmada and opens no file. Without its features `yaml` and `toml` it depends on no parser
//! but `serde_json`: plugins are built that way.

pub mod chunks;
mod decode;
mod deserializer;
mod diagnostic;
mod fault;
pub mod json;
pub mod names;
mod node;
mod path;
mod strict;
#[cfg(test)]
mod tests;
#[cfg(feature = "toml")]
pub mod toml;
#[cfg(feature = "yaml")]
pub mod yaml;

pub use decode::{Document, decode_tree, read_value};
pub use diagnostic::{Cause, ObjectName, Problem, Source, Warning};
pub use fault::{Fault, ValueError};
pub use node::{DEPTH_MAX, Node, NodeValue};
pub use path::{FieldPath, PathSegment};
pub use strict::Strict;
