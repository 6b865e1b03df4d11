//! From a document to a type, collecting every refusal on the way.
//!
//! Serde stops at the first value that a type refuses. So the value is reported, taken out of sight, and the
//! type is read again, until it accepts what is left. Valid JSON takes none of that: it goes from text to
//! type in one pass, and the tree is built only when something was refused or a line is wanted.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;

use super::deserializer::NodeDeserializer;
use super::diagnostic::Cause;
use super::fault::{Fault, ValueError};
use super::json;
use super::node::{Node, NodeValue};
use super::path::FieldPath;
use super::strict::Strict;

/// The most problems that are listed for one document.
const PROBLEMS_MAX: usize = 100;

/// One object of the input, as JSON text, as a tree, or as both.
pub struct Document<'text> {
    json: Option<&'text str>,
    first_line: usize,
    tree: OnceCell<Node>,
}

impl<'text> Document<'text> {
    /// The object in a valid JSON text that begins on a line.
    pub fn from_json(text: &'text str, first_line: usize) -> Self {
        Self {
            json: Some(text),
            first_line,
            tree: OnceCell::new(),
        }
    }

    /// The object in a tree.
    pub fn from_tree(node: Node) -> Self {
        let first_line = node.line;
        Self {
            json: None,
            first_line,
            tree: OnceCell::from(node),
        }
    }

    /// The line on which the object begins.
    pub fn first_line(&self) -> usize {
        self.first_line
    }

    /// The text, if the object came as JSON.
    pub fn json(&self) -> Option<&'text str> {
        self.json
    }

    /// The tree. Text that is valid for one JSON reader and not for the other leaves nothing but
    /// faults.
    pub fn tree(&self, faults: &mut Vec<Fault>) -> &Node {
        self.tree.get_or_init(
            || match json::parse(self.json.unwrap_or_default(), self.first_line, faults) {
                Ok((node, _)) => node,
                Err(error) => {
                    faults.push(error.into());
                    Node::new(self.first_line, NodeValue::Skipped)
                }
            },
        )
    }

    /// The object as a type. What was refused is in `faults`, and its place has the type's default.
    pub fn decode<T: DeserializeOwned + Default>(&self, faults: &mut Vec<Fault>) -> T {
        // The text was found to be one whole JSON value when the input was split.
        if let Some(text) = self.json
            && let Ok(value) = T::deserialize(Strict(&mut serde_json::Deserializer::from_str(text)))
        {
            return value;
        }
        decode_tree(self.tree(faults), &FieldPath::root(), faults)
    }
}

/// A tree as a type; `prefix` is the tree's own path in its document.
pub fn decode_tree<T: DeserializeOwned + Default>(tree: &Node, prefix: &FieldPath, faults: &mut Vec<Fault>) -> T {
    if matches!(tree.value, NodeValue::Skipped) {
        return T::default();
    }
    let mut remaining = tree.clone();
    for _ in 0..PROBLEMS_MAX {
        let mut fault = match T::deserialize(NodeDeserializer(&remaining)) {
            Ok(value) => return value,
            Err(error) => Fault::from(error.in_value(&remaining)),
        };
        // A key that is missing although it is there was reported and skipped.
        let is_reported = match &fault.cause {
            Cause::MissingKey { key } => remaining.at(&fault.path.key(key)).is_some(),
            _ => false,
        };
        let refused = fault.key_path();
        // A type that refuses the document as a whole has nothing left to look at.
        let advanced = !refused.is_root() && remaining.skip(refused.segments());
        if !is_reported {
            fault.hint = fault.cause.hint();
            fault.path = prefix.join(&fault.path);
            faults.push(fault);
        }
        if !advanced {
            break;
        }
    }
    T::default()
}

/// A JSON value as a type.
///
/// # Errors
///
/// The first refusal. What [`decode_tree`] would list after it is not looked for.
pub fn read_value<T: DeserializeOwned>(value: &serde_json::Value) -> Result<T, ValueError> {
    T::deserialize(NodeDeserializer(&Node::from(value)))
}
