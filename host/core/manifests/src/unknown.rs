//! Fields, kinds and annotations that nothing reads: most are misspelt, and a misspelt field changes a decision silently.
//!
//! Karmada's API server drops unknown fields, so an object that came from one has none unless Karmada is newer than the
//! lists here. [`Validation::Auto`] therefore warns of unknown fields in such objects and refuses them in all others.

#[cfg(test)]
mod tests;

use std::fmt;

use divvy_karmada::api::{ObjectMeta, TypeMeta};
use divvy_karmada::detector::AnnotationLines;
use divvy_karmada::fields::{FieldTree, KINDS};
use divvy_spanned::{Cause, Document, Fault, FieldPath, Node, NodeValue, ObjectName, Warning, names};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::object::{DocumentLocation, ObjectReader};

/// Prefix of the annotations that Divvy reads.
const ANNOTATION_PREFIX: &str = "divvy.io/";

/// Treatment of unknown fields, kinds and annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// A warning in an object with a `resourceVersion`, which came from an API server; a problem in any other.
    #[default]
    Auto,
    /// A problem.
    Strict,
    /// A warning.
    Warn,
    /// Nothing.
    Ignore,
}

impl ObjectReader<'_> {
    /// Reports a kind in Karmada's groups that Karmada does not have.
    pub(super) fn unknown_kind(&mut self, document: &Document<'_>, type_meta: &TypeMeta, location: &DocumentLocation) {
        let kind = &type_meta.kind;
        if KINDS.contains(&kind.strip_suffix("List").unwrap_or(kind)) || self.options.validation == Validation::Ignore {
            return;
        }
        let mut faults = Vec::new();
        let tree = document.tree(&mut faults);
        let metadata = tree.get("metadata");
        let text = |key| metadata.and_then(|metadata| metadata.text(key)).unwrap_or_default();
        let name = ObjectName::new(kind, text("namespace"), text("name"));
        let is_served = !text("resourceVersion").is_empty();
        let cause = Cause::UnknownValue {
            value: kind.clone(),
            known: KINDS.map(str::to_owned).to_vec(),
        };
        let path = FieldPath::dotted("kind");
        let line = tree.line_of(&path);
        let found = vec![Fault::with_usual_hint(path, line, cause)];
        self.unknown(found, is_served, &name, location, &mut faults);
        self.faults(faults, Some(&name), location);
    }

    /// Reports unknown fields and annotations as the options require: as faults, or immediately as warnings.
    pub(super) fn unknown(
        &mut self,
        found: Vec<Fault>,
        is_served: bool,
        name: &ObjectName,
        location: &DocumentLocation,
        faults: &mut Vec<Fault>,
    ) {
        let is_warning = match self.options.validation {
            Validation::Auto => is_served,
            Validation::Strict => false,
            Validation::Warn => true,
            Validation::Ignore => return,
        };
        if !is_warning {
            return faults.extend(found);
        }
        for fault in found {
            let message = match fault.path.is_root() {
                true => fault.cause.to_string(),
                false => format!("{}: {}", fault.path, fault.cause),
            };
            self.warn(Warning {
                source_of: Some(location.at(fault.line)),
                object: Some(name.clone()),
                annotation: None,
                message,
                hint: fault.hint,
            });
        }
    }

    /// The annotations of an object that Divvy would read if they were spelt differently.
    pub(super) fn unknown_annotations(&self, metadata: &ObjectMeta, document: &Document<'_>) -> Vec<Fault> {
        let known = &self.options.annotations;
        let ours = metadata
            .annotations
            .keys()
            .filter(|key| key.starts_with(ANNOTATION_PREFIX));
        // A name that ends in a dot permits all that begin with it.
        let is_meant = |key: &str, known: &str| match known.ends_with('.') {
            true => key.len() > known.len() && key.starts_with(known),
            false => key == known,
        };
        let is_known = |key: &str| known.iter().any(|known| is_meant(key, known));
        let unknown = ours.filter(|key| !known.is_empty() && !is_known(key));
        let fault = |key: &String| {
            let cause = Cause::UnknownKey {
                key: key.clone(),
                known: known.clone(),
            };
            let path = FieldPath::dotted("metadata.annotations");
            Fault::with_usual_hint(path, annotation_line(key, document), cause)
        };
        unknown.map(fault).collect()
    }
}

/// The lines of Divvy's annotations.
pub(super) fn annotation_lines(metadata: &ObjectMeta, document: &Document<'_>) -> AnnotationLines {
    let ours = metadata
        .annotations
        .keys()
        .filter(|key| key.starts_with(ANNOTATION_PREFIX));
    ours.map(|key| (key.clone(), annotation_line(key, document))).collect()
}

fn annotation_line(key: &str, document: &Document<'_>) -> usize {
    let path = FieldPath::dotted("metadata.annotations");
    document.tree(&mut Vec::new()).line_of(&path.key(key))
}

/// The unknown fields of an object, in the order of the text.
pub(super) fn unknown_fields(document: &Document<'_>, tree: &FieldTree) -> Vec<Fault> {
    // Nearly every object has only known fields; one pass over the text is then enough, without allocations.
    if let Some(text) = document.json()
        && Known(tree)
            .deserialize(&mut serde_json::Deserializer::from_str(text))
            .is_ok()
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    collect(document.tree(&mut Vec::new()), tree, &FieldPath::root(), &mut found);
    found
}

fn collect(node: &Node, tree: &FieldTree, path: &FieldPath, found: &mut Vec<Fault>) {
    match &node.value {
        NodeValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(each) = tree.each() {
                    collect(item, each, &path.index(index), found);
                }
            }
        }
        NodeValue::Mapping(entries) => {
            for (key, value) in entries.iter() {
                let is_object = matches!(value.value, NodeValue::Mapping(_) | NodeValue::List(_));
                match field(tree, key, is_object) {
                    Field::Known(below) => collect(value, below, &path.key(key), found),
                    Field::Open => {}
                    Field::Unknown => found.push(unknown_key(path, key, value.line, tree)),
                }
            }
        }
        _ => {}
    }
}

fn unknown_key(path: &FieldPath, key: &str, line: usize, tree: &FieldTree) -> Fault {
    let known = tree.fields().into_iter().flat_map(|fields| fields.keys());
    let cause = Cause::UnknownKey {
        key: key.to_owned(),
        known: known.map(|name| (*name).to_owned()).collect(),
    };
    Fault::with_usual_hint(path.clone(), line, cause)
}

/// A key of an object.
enum Field<'tree> {
    Known(&'tree FieldTree),
    /// Any value is accepted.
    Open,
    Unknown,
}

fn field<'tree>(tree: &'tree FieldTree, key: &str, is_object: bool) -> Field<'tree> {
    let Some(fields) = tree.fields() else {
        return tree.each().map_or(Field::Open, Field::Known);
    };
    if let Some(below) = fields.get(key) {
        return Field::Known(below);
    }
    // An object of a strategy's own, unless its name is nearly that of one of Karmada's objects.
    let is_misspelt = || {
        let objects = fields.iter().filter(|(_, below)| below.fields().is_some());
        names::nearest(key, objects.map(|(name, _)| *name)).is_some()
    };
    if tree.accepts_objects() && is_object && !is_misspelt() {
        return Field::Open;
    }
    Field::Unknown
}

/// Accepts JSON with known fields only. Refuses anything that needs a closer look.
struct Known<'tree>(&'tree FieldTree);

impl<'de> DeserializeSeed<'de> for Known<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.fields().is_none() && self.0.each().is_none() {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Known<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        match self.0.each() {
            Some(each) => while items.next_element_seed(Known(each))?.is_some() {},
            None => while items.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(field) = entries.next_key_seed(Key(self.0))? {
            match field {
                Field::Known(below) => entries.next_value_seed(Known(below))?,
                Field::Open => entries.next_value::<IgnoredAny>().map(|_| ())?,
                Field::Unknown => return Err(A::Error::custom("unknown field")),
            }
        }
        Ok(())
    }
}

/// Looks up a key without keeping its text, which may have been unescaped into a buffer of the parser.
struct Key<'tree>(&'tree FieldTree);

impl<'de, 'tree> DeserializeSeed<'de> for Key<'tree> {
    type Value = Field<'tree>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<'tree>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'tree> Visitor<'_> for Key<'tree> {
    type Value = Field<'tree>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Field<'tree>, E> {
        Ok(field(self.0, key, false))
    }
}
