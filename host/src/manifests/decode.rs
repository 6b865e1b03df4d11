//! From a document to a type, collecting every refusal on the way.
//!
//! Serde stops at the first value that a type refuses. So the value is reported, taken out of sight, and the
//! type is read again, until it accepts what is left. Valid JSON takes none of that: it goes from text to
//! type in one pass, and the tree is built only when something was refused or a line is wanted.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;

use super::deserializer::NodeDeserializer;
use super::json::{self, TreeError};
use super::node::{Node, NodeValue};
use super::path::FieldPath;
use super::problem::Cause;
use super::strict::Strict;

/// The most problems that are listed for one document.
const PROBLEMS_MAX: usize = 100;

/// Something wrong at a place inside one document.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The field.
    pub(crate) path: FieldPath,
    /// The line in the file.
    pub(crate) line: usize,
    /// What.
    pub(crate) cause: Cause,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

/// One object of the input, as JSON text, as a tree, or as both.
pub(super) struct Document<'text> {
    json: Option<&'text str>,
    first_line: usize,
    tree: OnceCell<Node>,
}

impl<'text> Document<'text> {
    /// The object in a valid JSON text that begins on a line.
    pub(super) fn from_json(text: &'text str, first_line: usize) -> Self {
        Self {
            json: Some(text),
            first_line,
            tree: OnceCell::new(),
        }
    }

    /// The object in a tree.
    pub(super) fn from_tree(node: Node) -> Self {
        let first_line = node.line;
        Self {
            json: None,
            first_line,
            tree: OnceCell::from(node),
        }
    }

    /// The line on which the object begins.
    pub(super) fn first_line(&self) -> usize {
        self.first_line
    }

    /// The text, if the object came as JSON.
    pub(super) fn json(&self) -> Option<&'text str> {
        self.json
    }

    /// The tree. Text that is valid for one JSON reader and not for the other leaves nothing but
    /// faults.
    pub(super) fn tree(&self, faults: &mut Vec<Fault>) -> &Node {
        self.tree.get_or_init(|| {
            let mut errors = Vec::new();
            let parsed = json::parse(self.json.unwrap_or_default(), self.first_line, &mut errors);
            let node = match parsed {
                Ok((node, _)) => node,
                Err(error) => {
                    errors.push(error);
                    Node::new(self.first_line, NodeValue::Skipped)
                }
            };
            faults.extend(errors.into_iter().map(Fault::from));
            node
        })
    }

    /// The object as a type. What was refused is in `faults`, and its place has the type's default.
    pub(super) fn decode<T: DeserializeOwned + Default>(&self, faults: &mut Vec<Fault>) -> T {
        // The text was found to be one whole JSON value when the input was split.
        if let Some(text) = self.json
            && let Ok(value) = T::deserialize(Strict(&mut serde_json::Deserializer::from_str(text)))
        {
            return value;
        }
        decode_tree(self.tree(faults), &FieldPath::root(), faults)
    }
}

impl From<TreeError> for Fault {
    fn from(error: TreeError) -> Self {
        Self {
            path: error.path,
            line: error.line,
            cause: error.cause,
            hint: None,
        }
    }
}

/// A tree as a type; `prefix` is the tree's own path in its object.
pub(super) fn decode_tree<T: DeserializeOwned + Default>(
    tree: &Node,
    prefix: &FieldPath,
    faults: &mut Vec<Fault>,
) -> T {
    if matches!(tree.value, NodeValue::Skipped) {
        return T::default();
    }
    let mut remaining = tree.clone();
    for _ in 0..PROBLEMS_MAX {
        let error = match T::deserialize(NodeDeserializer(&remaining)) {
            Ok(value) => return value,
            Err(error) => error,
        };
        let (segments, line, cause) = error.0.into_parts();
        // A type that refuses the document as a whole has nothing left to look at.
        let advanced = !segments.is_empty() && remaining.skip(&segments);
        faults.push(Fault {
            hint: hint(&cause),
            line: line.unwrap_or(tree.line),
            path: prefix.join(&FieldPath::from_segments(segments)),
            cause,
        });
        if !advanced {
            break;
        }
    }
    T::default()
}

/// The usual slip behind a wrong type.
fn hint(cause: &Cause) -> Option<String> {
    let Cause::WrongType { expected, actual } = cause else {
        return None;
    };
    let is_plain_scalar = actual.starts_with("the number") || actual.starts_with("the boolean");
    if expected == "a string" && is_plain_scalar {
        return Some("put the value in quotes".to_owned());
    }
    let is_quoted_number = actual
        .strip_prefix("the string \"")
        .and_then(|text| text.strip_suffix('"'))
        .is_some_and(|text| text.parse::<i64>().is_ok());
    if expected.starts_with("an integer") && is_quoted_number {
        return Some("remove the quotes".to_owned());
    }
    None
}
