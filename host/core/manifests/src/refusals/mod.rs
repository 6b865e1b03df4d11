//! Objects that Karmada's API server or its webhooks refuse, although all their types are right.
//!
//! Words and limits come from the CRDs (`divvy_karmada::fields`), the rules from `pkg/util/validation`, `pkg/apis/cluster/validation`
//! and the webhooks of karmada-io/karmada. An object that came from an API server has passed both, so that only files are checked;
//! the findings are problems or warnings as unknown fields are.

mod clusters;
mod overrides;
mod policies;
mod quotas;

use divvy_karmada::api::is_label_key;
use divvy_karmada::fields::FieldTree;
use divvy_spanned::names::quoted_list;
use divvy_spanned::{Cause, Document, Fault, FieldPath, Node, NodeValue};

/// Words that are checked with their types, or that Divvy extends by names of strategies.
const CHECKED_ELSEWHERE: [&str; 4] = [
    "replicaDivisionPreference",
    "replicaSchedulingType",
    "dynamicWeight",
    "spreadByField",
];

/// Collects what Karmada refuses in one object.
pub(super) struct Refused<'node> {
    node: &'node Node,
    found: Vec<Fault>,
}

impl<'node> Refused<'node> {
    /// Checks an object against its CRD.
    pub(super) fn by_definition(document: &'node Document<'_>, tree: Option<&FieldTree>) -> Self {
        let mut refused = Self::new(document);
        if let Some(tree) = tree {
            refused.definition(refused.node, tree, &FieldPath::root());
        }
        refused
    }

    /// Has found nothing yet.
    pub(super) fn new(document: &'node Document<'_>) -> Self {
        Self {
            node: document.tree(&mut Vec::new()),
            found: Vec::new(),
        }
    }

    /// What was found.
    pub(super) fn found(self) -> Vec<Fault> {
        self.found
    }

    fn invalid(&mut self, path: FieldPath, reason: impl Into<String>) {
        self.refuse(path, Cause::InvalidValue { reason: reason.into() });
    }

    /// One finding per field is enough: the rules that follow would say the same in other words.
    pub(super) fn refuse(&mut self, path: FieldPath, cause: Cause) {
        if self.found.iter().any(|fault| fault.path == path) {
            return;
        }
        let line = self.node.line_of(&path);
        self.found.push(Fault::with_usual_hint(path, line, cause));
    }

    fn too_few(&mut self, tree: &FieldTree, path: &FieldPath) {
        let least = tree.items_min();
        let items = if least == 1 { "item" } else { "items" };
        self.invalid(path.clone(), format!("expected at least {least} {items}"));
    }

    /// Values that the CRD refuses although their types are right, and required fields that are absent.
    fn definition(&mut self, node: &Node, tree: &FieldTree, path: &FieldPath) {
        match &node.value {
            NodeValue::List(items) => {
                if items.len() < tree.items_min() {
                    self.too_few(tree, path);
                }
                for (index, item) in items.iter().enumerate() {
                    if let Some(each) = tree.each() {
                        self.definition(item, each, &path.index(index));
                    }
                }
            }
            NodeValue::Mapping(entries) => {
                for (name, field) in tree.fields().into_iter().flatten() {
                    let is_absent = node
                        .get(name)
                        .is_none_or(|value| matches!(value.value, NodeValue::Null));
                    if field.is_required() && is_absent {
                        match field.items_min() {
                            0 => self.missing(path.key(name), name),
                            _ => self.too_few(field, &path.key(name)),
                        }
                    }
                }
                for (key, value) in entries.iter() {
                    let below = tree.fields().and_then(|fields| fields.get(&**key));
                    if let Some(below) = below.filter(|_| !CHECKED_ELSEWHERE.contains(&&**key)) {
                        self.definition(value, below, &path.key(key));
                    }
                }
            }
            NodeValue::Text(text) => self.text(text, tree, path),
            NodeValue::Integer(number) => {
                if let Some(least) = tree.minimum().filter(|least| number < least) {
                    self.invalid(path.clone(), format!("expected at least {least}, got `{number}`"));
                }
            }
            _ => {}
        }
    }

    fn missing(&mut self, path: FieldPath, name: &str) {
        let expected = format!("`{name}`, which Karmada's API server requires");
        self.refuse(path, Cause::Missing { expected });
    }

    fn text(&mut self, text: &str, tree: &FieldTree, path: &FieldPath) {
        if !tree.allowed().is_empty() && !tree.allowed().contains(&text) {
            let allowed = quoted_list(tree.allowed());
            let one_of = if tree.allowed().len() == 1 { "" } else { "one of " };
            self.invalid(path.clone(), format!("expected {one_of}{allowed}, got `{text}`"));
        }
        let (least, most) = tree.lengths();
        let length = text.chars().count();
        if length < least {
            self.invalid(
                path.clone(),
                format!("expected at least {least} characters, got {length}"),
            );
        }
        if let Some(most) = most.filter(|most| length > *most) {
            self.invalid(
                path.clone(),
                format!("expected at most {most} characters, got {length}"),
            );
        }
    }

    /// Refuses a text that must be one as the keys of labels are (`validation.IsQualifiedName`).
    fn label_key(&mut self, path: FieldPath, text: &str) {
        if !is_label_key(text) {
            let reason = format!(
                "expected up to 63 letters, digits, `-`, `_` and `.` with a letter or digit at both ends, got `{text}`"
            );
            self.invalid(path, reason);
        }
    }

    /// Refuses a selector of a namespaced policy that reaches into another namespace, where it would select nothing.
    fn selector_namespace(&mut self, path: &FieldPath, namespace: &str, own: Option<&str>) {
        if let Some(own) = own.filter(|own| !namespace.is_empty() && *own != namespace) {
            let reason = format!("expected the policy's own namespace `{own}`, got `{namespace}`");
            self.invalid(path.key("namespace"), reason);
        }
    }
}
