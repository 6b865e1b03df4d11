//! The rules for override policies of both scopes: `ValidateOverrideSpec`.
//!
//! They are read from the text, because the types keep only what can set a number of replicas.

use divvy_karmada::api::{OverridePolicy, is_label_key, is_label_value};
use divvy_spanned::{FieldPath, Node, NodeValue};

use super::Refused;

/// Lists of changes beside which rules are refused.
const OVERRIDERS: [&str; 6] = [
    "plaintext",
    "imageOverrider",
    "commandOverrider",
    "argsOverrider",
    "labelsOverrider",
    "annotationsOverrider",
];

impl Refused<'_> {
    /// Checks an override policy, except for its selectors of clusters.
    pub(crate) fn overrides(&mut self, policy: &OverridePolicy) {
        let spec = FieldPath::dotted("spec");
        let is_namespaced = policy.kind != OverridePolicy::CLUSTER_KIND;
        let own = Some(policy.metadata.namespace.as_str()).filter(|_| is_namespaced);
        for (index, selector) in policy.spec.resource_selectors.iter().enumerate() {
            let path = spec.key("resourceSelectors").index(index);
            self.selector_namespace(&path, &selector.namespace, own);
        }
        let Some(NodeValue::List(rules)) = self.node.at(&spec.key("overrideRules")).map(|node| &node.value) else {
            return;
        };
        let target = self.node.at(&spec.key("targetCluster"));
        if target.is_some_and(|target| !matches!(target.value, NodeValue::Null)) {
            let reason = "`targetCluster` and `overrideRules` cannot both be given";
            self.invalid(spec.key("targetCluster"), reason);
        }
        let overriders = self.node.at(&spec.key("overriders"));
        if OVERRIDERS.iter().any(|list| !items(overriders, list).is_empty()) {
            let reason = "`overriders` and `overrideRules` cannot both be given";
            self.invalid(spec.key("overriders"), reason);
        }
        for (index, rule) in rules.iter().enumerate() {
            let path = spec.key("overrideRules").index(index).key("overriders");
            self.overriders(rule.get("overriders"), &path);
        }
    }

    fn overriders(&mut self, overriders: Option<&Node>, path: &FieldPath) {
        for list in ["annotationsOverrider", "labelsOverrider"] {
            for (index, change) in items(overriders, list).iter().enumerate() {
                let path = path.key(list).index(index).key("value");
                self.labels(change.get("value"), list == "labelsOverrider", &path);
            }
        }
        for (index, image) in items(overriders, "imageOverrider").iter().enumerate() {
            let path = path.key("imageOverrider").index(index).key("predicate");
            self.pointer(image.get("predicate"), "path", &path);
        }
        for (index, field) in items(overriders, "fieldOverrider").iter().enumerate() {
            self.field(field, &path.key("fieldOverrider").index(index));
        }
    }

    fn labels(&mut self, labels: Option<&Node>, has_label_values: bool, path: &FieldPath) {
        let Some(NodeValue::Mapping(entries)) = labels.map(|labels| &labels.value) else {
            return;
        };
        for (key, value) in entries.iter() {
            // Kubernetes compares the keys of annotations in lower case.
            let compared = if has_label_values {
                key.to_string()
            } else {
                key.to_lowercase()
            };
            if !is_label_key(&compared) {
                self.label_key(path.key(key), key);
            } else if let NodeValue::Text(value) = &value.value
                && has_label_values
                && !is_label_value(value)
            {
                self.invalid(path.key(key), format!("expected the value of a label, got `{value}`"));
            }
        }
    }

    /// The change of a field that holds a document of its own, in one of two languages.
    fn field(&mut self, field: &Node, path: &FieldPath) {
        self.pointer(Some(field), "fieldPath", path);
        let given: Vec<&str> = ["json", "yaml"]
            .into_iter()
            .filter(|language| !items(Some(field), language).is_empty())
            .collect();
        match given.as_slice() {
            [] => self.invalid(path.clone(), "expected changes in `json` or in `yaml`, got neither"),
            [_] => {}
            _ => self.invalid(path.clone(), "`json` and `yaml` cannot both be given"),
        }
        for language in given {
            for (index, change) in items(Some(field), language).iter().enumerate() {
                let path = path.key(language).index(index);
                self.pointer(Some(change), "subPath", &path);
                let has_value = change
                    .get("value")
                    .is_some_and(|value| !matches!(value.value, NodeValue::Null));
                match change.text("operator") {
                    Some(operator @ ("add" | "replace")) if !has_value => {
                        let reason = format!("a value is missing, which the operator `{operator}` needs");
                        self.invalid(path.key("value"), reason);
                    }
                    Some("remove") if has_value => {
                        self.invalid(path.key("value"), "the operator `remove` takes no value");
                    }
                    _ => {}
                }
            }
        }
    }

    /// Refuses a text that is not a JSON pointer.
    fn pointer(&mut self, node: Option<&Node>, key: &str, path: &FieldPath) {
        let text = node.and_then(|node| node.text(key)).unwrap_or_default();
        if !text.is_empty() && !text.starts_with('/') {
            let reason = format!("expected a JSON pointer such as `/data/key`, got `{text}`");
            self.invalid(path.key(key), reason);
        }
    }
}

/// The items of a list below a node; none if it has no such list.
fn items<'node>(node: Option<&'node Node>, key: &str) -> &'node [Node] {
    match node.and_then(|node| node.get(key)).map(|list| &list.value) {
        Some(NodeValue::List(items)) => items,
        _ => &[],
    }
}
