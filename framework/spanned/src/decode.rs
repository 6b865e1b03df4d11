//! Decodes a document into a type and collects every error on the way.
//!
//! Serde stops at the first value that a type refuses. That value is therefore reported and hidden, and the type is
//! read again until it accepts the rest. Valid JSON needs none of this: it goes from text to type in one pass, and the
//! tree is built only if a type refuses a value or a line is needed.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;

use super::deserializer::NodeDeserializer;
use super::diagnostic::Cause;
use super::fault::{Fault, ValueError};
use super::json;
use super::node::{Node, NodeValue};
use super::path::FieldPath;
use super::strict::Strict;

/// Maximum number of problems listed per document.
const PROBLEMS_MAX: usize = 100;

/// One object of the input, as JSON text, as a tree, or as both.
pub struct Document<'text> {
    first_line: usize,
    form: Form<'text>,
}

enum Form<'text> {
    Json {
        text: &'text str,
        /// The tree of the text, once it is needed.
        tree: OnceCell<Node>,
    },
    Tree(Node),
}

impl<'text> Document<'text> {
    /// The object in a JSON text, which must be valid and begins on `first_line`.
    pub fn from_json(text: &'text str, first_line: usize) -> Self {
        Self {
            first_line,
            form: Form::Json {
                text,
                tree: OnceCell::new(),
            },
        }
    }

    /// The object in a tree.
    pub fn from_tree(node: Node) -> Self {
        Self {
            first_line: node.line,
            form: Form::Tree(node),
        }
    }

    /// Line on which the object begins, counted from 1.
    pub fn first_line(&self) -> usize {
        self.first_line
    }

    /// The text, if the object came as JSON.
    pub fn json(&self) -> Option<&'text str> {
        match self.form {
            Form::Json { text, .. } => Some(text),
            Form::Tree(_) => None,
        }
    }

    /// The tree, built on first use. If `json::parse` rejects text that `serde_json` accepts, the error is added to
    /// `faults` and the tree is empty.
    pub fn tree(&self, faults: &mut Vec<Fault>) -> &Node {
        match &self.form {
            Form::Tree(node) => node,
            Form::Json { text, tree } => tree.get_or_init(|| match json::parse(text, self.first_line, faults) {
                Ok((node, _)) => node,
                Err(error) => {
                    faults.push(error.into());
                    Node::new(self.first_line, NodeValue::Skipped)
                }
            }),
        }
    }

    /// Decodes the object as a type. Refused values are added to `faults` and read as absent; if that is not enough,
    /// the result is the type's default. If there are faults, use the result only to find further problems.
    ///
    /// `from_json` reads the type from text: [`from_json`], or a function that is compiled in the crate of the type, so
    /// that it is compiled only once.
    pub fn decode<T: DeserializeOwned + Default>(
        &self,
        faults: &mut Vec<Fault>,
        from_json: impl FnOnce(&str) -> Result<T, serde_json::Error>,
    ) -> T {
        if let Some(text) = self.json()
            && let Ok(value) = from_json(text)
        {
            return value;
        }
        decode_tree(self.tree(faults), &FieldPath::root(), faults)
    }
}

/// Decodes a JSON text as a type, structs only from mappings.
///
/// # Errors
///
/// An error of `serde_json` if the text is not exactly one JSON value, or if a field has another type.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Strict(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// Decodes a tree as a type. `prefix` is the path of the tree in its document.
///
/// Refused values are added to `faults` and read as absent; if that is not enough, the result is the type's default.
pub fn decode_tree<T: DeserializeOwned + Default>(tree: &Node, prefix: &FieldPath, faults: &mut Vec<Fault>) -> T {
    if matches!(tree.value, NodeValue::Skipped) {
        return T::default();
    }
    // Each round reports one value and hides it, so that the next round reaches the one after it.
    let mut remaining = tree.clone();
    for _ in 0..PROBLEMS_MAX {
        let mut fault = match T::deserialize(NodeDeserializer(&remaining)) {
            Ok(value) => return value,
            Err(error) => Fault::from(error.in_value(&remaining)),
        };
        // A key that is "missing" although it is present was reported and hidden earlier.
        let is_reported = match &fault.cause {
            Cause::MissingKey { key } => remaining.at(&fault.path.key(key)).is_some(),
            _ => false,
        };
        let refused = fault.key_path();
        // If the type refuses the whole document, nothing is left to examine.
        let advanced = !refused.is_root() && remaining.skip(refused.segments());
        if !is_reported {
            fault.hint = fault.hint.take().or_else(|| fault.cause.hint());
            fault.path = prefix.join(&fault.path);
            faults.push(fault);
        }
        if !advanced {
            break;
        }
    }
    T::default()
}

/// Decodes a JSON value as a type.
///
/// # Errors
///
/// Returns the first refused value. Use [`decode_tree`] to list all of them.
pub fn read_value<T: DeserializeOwned>(value: &serde_json::Value) -> Result<T, ValueError> {
    T::deserialize(NodeDeserializer(&Node::from(value)))
}
