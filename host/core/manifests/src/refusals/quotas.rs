//! The rules for `FederatedResourceQuota`: `validateFederatedResourceQuota`.

use std::collections::BTreeMap;

use divvy_karmada::api::{FederatedResourceQuota, Quantity, is_label_key};
use divvy_spanned::{FieldPath, Node, NodeValue};

use super::Refused;

/// Maximum length of the name of a quota, which Karmada writes into labels.
const NAME_LENGTH_MAX: usize = 63;

impl Refused<'_> {
    /// Checks a quota: its amounts, and that it has what it assigns to clusters.
    pub(crate) fn quota(&mut self, quota: &FederatedResourceQuota) {
        let length = quota.metadata.name.len();
        if length > NAME_LENGTH_MAX {
            let reason = format!("expected at most {NAME_LENGTH_MAX} characters, got {length}");
            self.invalid(FieldPath::dotted("metadata.name"), reason);
        }
        let overall = FieldPath::dotted("spec.overall");
        for (name, amount) in &quota.spec.overall {
            self.amount(&overall, name, *amount);
        }
        let path = FieldPath::dotted("spec.staticAssignments");
        let Some(NodeValue::List(assignments)) = self.node.at(&path).map(|node| &node.value) else {
            return;
        };
        let mut assigned: BTreeMap<&str, Quantity> = BTreeMap::new();
        for (index, assignment) in assignments.iter().enumerate() {
            let path = path.index(index).key("hard");
            for (name, amount) in amounts(assignment.get("hard")) {
                self.amount(&path, name, amount);
                if !quota.spec.overall.contains_key(name) {
                    let reason = format!("`{name}` is assigned to a cluster and not in `spec.overall`");
                    self.invalid(path.key(name), reason);
                }
                let sum = assigned.entry(name).or_default();
                match sum.checked_add(amount) {
                    Some(total) => *sum = total,
                    None => self.invalid(path.key(name), "the sum of what clusters are assigned is too large"),
                }
            }
        }
        for (name, sum) in assigned {
            if let Some(amount) = quota.spec.overall.get(name).filter(|amount| **amount < sum) {
                let reason = format!("expected at least the {sum} that clusters are assigned, got `{amount}`");
                self.invalid(overall.key(name), reason);
            }
        }
    }

    fn amount(&mut self, path: &FieldPath, name: &str, amount: Quantity) {
        let path = path.key(name);
        if !is_label_key(name) {
            self.label_key(path, name);
        } else if amount.is_negative() {
            self.invalid(path, format!("expected at least 0, got `{amount}`"));
        }
    }
}

/// The amounts of a list of resources; what cannot be read is reported with its type.
fn amounts(node: Option<&Node>) -> impl Iterator<Item = (&str, Quantity)> {
    let entries = match node.map(|node| &node.value) {
        Some(NodeValue::Mapping(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter_map(|(name, value)| {
        let amount = serde_json::from_value(value.to_json()).ok()?;
        Some((&**name, amount))
    })
}
