//! Access to the fields of a resource that is kept as JSON.
//!
//! A field is read from the object's value. The tree, which knows the lines, is built only if a type refuses the value.

use divvy_spanned::{Cause, Document, Fault, FieldPath, Node, Strict, decode_tree};
use serde::de::DeserializeOwned;

use divvy_karmada::workloads::{Fields, value_at};

/// The fields of a resource. Faults are added to `faults`.
pub(super) struct DocumentFields<'a, 'text> {
    pub(super) value: &'a serde_json::Value,
    pub(super) document: &'a Document<'text>,
    pub(super) faults: &'a mut Vec<Fault>,
}

impl Fields for DocumentFields<'_, '_> {
    fn field<T: DeserializeOwned + Default>(&mut self, path: &FieldPath) -> Option<T> {
        let value = value_at(self.value, path).filter(|value| !value.is_null())?;
        if let Ok(field) = T::deserialize(Strict(value)) {
            return Some(field);
        }
        let tree: Node = self.document.tree(self.faults).at(path)?.clone();
        Some(decode_tree(&tree, path, self.faults))
    }

    fn report(&mut self, path: FieldPath, cause: Cause) {
        let line = self.document.tree(self.faults).line_of(&path);
        self.faults.push(Fault::new(path, line, cause));
    }
}
