//! The rules for clusters that decide where workloads may run: `ValidateClusterTaints`.
//!
//! A cluster in a file is often a sketch of one that does not exist yet, so what only connects to it (`syncMode`, `secretRef`) may be
//! absent.

use divvy_karmada::api::{Cluster, is_label_value};
use divvy_spanned::FieldPath;

use super::Refused;

impl Refused<'_> {
    /// Checks the taints of a cluster.
    pub(crate) fn taints(&mut self, cluster: &Cluster) {
        let path = FieldPath::dotted("spec.taints");
        let mut before = Vec::new();
        for (index, taint) in cluster.spec.taints.iter().enumerate() {
            let path = path.index(index);
            // An absent key is reported as missing.
            if !taint.key.is_empty() {
                self.label_key(path.key("key"), &taint.key);
            }
            if !is_label_value(&taint.value) {
                let value = &taint.value;
                self.invalid(
                    path.key("value"),
                    format!("expected the value of a label, got `{value}`"),
                );
            }
            let identity = (&taint.key, taint.effect.as_str());
            if before.contains(&identity) {
                let reason = format!("the taint `{}:{}` is given twice", taint.key, taint.effect);
                self.invalid(path, reason);
            }
            before.push(identity);
        }
    }
}
