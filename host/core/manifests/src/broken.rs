//! The place of an error in JSON that cannot be parsed. A dump of a control plane can be a single line, so that the number of the line
//! says nothing: the column does, and the name of the object that the error is in.

use divvy_spanned::{Cause, Fault, ObjectName};
use serde::Deserialize;

/// Maximum bytes of an object whose name is looked for. No API server stores one half as large.
const OBJECT_MAX: usize = 4 << 20;

/// Levels around an error that are looked at. A text of open brackets alone has as many levels as characters, and each costs a copy.
const LEVELS_MAX: usize = 32;

/// The place of an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Line in the text, counted from 1.
    line: usize,
    /// Character of the line, counted from 1.
    column: usize,
    /// The object, if its type and name come before the error.
    pub(super) object: Option<ObjectName>,
}

impl Place {
    /// The place of the first error in a text.
    pub(super) fn of(text: &str, error: &serde_json::Error) -> Self {
        let line = error.line().max(1);
        let before = text.split_inclusive('\n').take(line - 1);
        let start: usize = before.map(str::len).sum();
        let end = text.floor_char_boundary(start.saturating_add(error.column()));
        let column = text.get(start..end).map_or(0, |line| line.chars().count());
        Self {
            line,
            column: column.max(1),
            object: text.get(..end).and_then(before_last).and_then(object_at_end),
        }
    }

    /// Adds the column to a fault of the syntax. `first_line` is the line on which the text begins.
    pub(super) fn add_to(&self, fault: &mut Fault, first_line: usize) {
        if let Cause::Syntax { message, .. } = &mut fault.cause
            && fault.line == first_line + self.line - 1
        {
            message.push_str(&format!(" (column {})", self.column));
        }
    }
}

/// A text without its last character, which is the one at fault.
fn before_last(text: &str) -> Option<&str> {
    let (last, _) = text.char_indices().next_back()?;
    text.get(..last)
}

/// A mapping or list that is not closed yet.
struct Open {
    start: usize,
    /// The last comma between its entries.
    comma: Option<usize>,
}

/// Kind and name of an object, which precede its specification in what Kubernetes prints.
#[derive(Deserialize)]
struct Head {
    kind: String,
    metadata: Name,
}

#[derive(Deserialize)]
struct Name {
    name: String,
    #[serde(default)]
    namespace: String,
}

/// The innermost object with a kind and a name that a text is in at its end.
fn object_at_end(text: &str) -> Option<ObjectName> {
    let mut open: Vec<Open> = Vec::new();
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => loop {
                match bytes.next() {
                    None | Some((_, b'"')) => break,
                    // The character after it does not end the text.
                    Some((_, b'\\')) => drop(bytes.next()),
                    Some(_) => {}
                }
            },
            b'{' | b'[' => open.push(Open { start: at, comma: None }),
            b'}' | b']' => drop(open.pop()),
            b',' => {
                if let Some(open) = open.last_mut() {
                    open.comma = Some(at);
                }
            }
            _ => {}
        }
    }
    open.iter().rev().take(LEVELS_MAX).find_map(|open| {
        let whole = text.get(open.start..open.comma?)?;
        if whole.len() > OBJECT_MAX {
            return None;
        }
        // A list does not become valid by this.
        let Head { kind, metadata } = serde_json::from_str(&format!("{whole}}}")).ok()?;
        let is_named = !kind.is_empty() && !metadata.name.is_empty();
        is_named.then(|| ObjectName::new(&kind, &metadata.namespace, &metadata.name))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn place(text: &str) -> Place {
        let error = serde_json::from_str::<&RawValue>(text).expect_err("the text is broken");
        Place::of(text, &error)
    }

    const A: &str = r#"{"kind":"Deployment","metadata":{"name":"a","namespace":"x"},"spec":{"replicas":2}}"#;

    #[test]
    fn the_object_that_an_error_is_in_is_named() {
        let broken = r#"{"kind":"Deployment","metadata":{"name":"b","namespace":"x"},"spec":{"template":{"metadata":{"name":"t"},,"#;
        let text = format!(r#"{{"kind":"List","items":[{A},{broken}}}}}}}]}}"#);
        let Place { line, column, object } = place(&text);
        assert_eq!(object, Some(ObjectName::new("Deployment", "x", "b")));
        assert_eq!((line, column), (1, text.find(",,").unwrap() + 2));
    }

    #[test]
    fn texts_with_brackets_and_quotes_hide_nothing() {
        let text = r#"{"kind":"Pod","metadata":{"name":"q","annotations":{"a":"}]\"{[,\\"}},"spec":{"x":tru}}"#;
        assert_eq!(place(text).object, Some(ObjectName::new("Pod", "", "q")));
    }

    #[test]
    fn columns_count_characters_of_the_line() {
        let Place { line, column, object } = place("{\"a\": \"äöü\",\n \"ß\": }");
        assert_eq!((line, column, object), (2, 7, None));
    }

    #[test]
    fn an_error_before_the_name_or_between_objects_has_no_object() {
        assert_eq!(place(r#"{"kind":"Pod","metadata":{"name":,}}"#).object, None);
        assert_eq!(place(&format!(r#"{{"kind":"List","items":[{A},,{A}]}}"#)).object, None);
        assert_eq!(place("").object, None);
    }

    #[test]
    fn a_text_that_ends_too_early_is_in_its_last_object() {
        let text = &A[..A.len() - 5];
        assert_eq!(place(text).object, Some(ObjectName::new("Deployment", "x", "a")));
        assert_eq!(place(text).column, text.len());
    }
}
