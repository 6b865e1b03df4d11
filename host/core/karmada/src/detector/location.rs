//! Locations of policies in the input, for messages.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use divvy_spanned::Source;

/// Lines of annotations in the file of their object, by name.
pub type AnnotationLines = BTreeMap<String, usize>;

/// Location of an object in the input.
#[derive(Debug, Clone)]
pub struct Location {
    /// Location of the object.
    pub source: Source,
    /// Lines of those of its annotations that ask for something.
    pub annotation_lines: AnnotationLines,
}

impl Location {
    /// Location of an annotation; `None` if it is not known.
    pub fn annotation(&self, name: &str) -> Option<Source> {
        let line = *self.annotation_lines.get(name)?;
        Some(Source {
            line,
            ..self.source.clone()
        })
    }
}

/// Location of a policy in the input; `None` if it is not known. All locations are equal: a policy that moves to another line is the same.
#[derive(Debug, Clone, Default)]
pub struct PolicyLocation(pub Option<Location>);

impl PartialEq for PolicyLocation {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PolicyLocation {}

impl Hash for PolicyLocation {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
