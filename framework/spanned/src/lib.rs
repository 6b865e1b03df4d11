//! Diagnostics and line-aware documents, the foundation of all other Divvy crates.
//!
//! A document (JSON, YAML or TOML) becomes a tree whose values know their lines ([`Node`]), and one serde deserializer
//! reads every type from it. Errors in a profile, a manifest and a plugin's configuration therefore share their wording
//! and the notation for paths ([`FieldPath`]), and [`decode_tree`] lists all problems of a document at once.
//!
//! This crate knows nothing about Karmada and opens no files. Without the features `yaml` and `toml`, which plugins do
//! not enable, its only parser is `serde_json`.

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
mod unique;
mod words;
#[cfg(feature = "yaml")]
pub mod yaml;

pub use decode::{Document, decode_tree, from_json, read_value};
pub use diagnostic::{Cause, ObjectName, Problem, Source, Warning};
pub use fault::{Fault, ValueError};
pub use node::{DEPTH_MAX, Decimal, Node, NodeValue};
pub use path::{FieldPath, PathSegment};
pub use strict::Strict;
pub use unique::unique_value;
pub use words::WHOLE_NUMBER;
