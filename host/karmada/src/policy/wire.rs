//! Karmada's names for ways to divide replicas, as they are written in a placement, and the strategies that they mean.
//!
//! The one place of the host that names strategies, apart from the mistakes of printed manifests
//! (`crate::strategy::oddities`). Every other name is a plugin's own.

/// `replicaSchedulingType: Duplicated`, and what Karmada does if nothing is said of replicas.
pub const DUPLICATED: &str = "Duplicated";

/// Division by weight, Karmada's default.
pub const WEIGHTED: &str = "Weighted";

/// Karmada's name, whether weights are dynamic, and the strategy; the other names are those of their strategies.
const STRATEGIES: [(&str, bool, &str); 2] = [(WEIGHTED, false, "StaticWeight"), (WEIGHTED, true, "DynamicWeight")];

/// The strategy that a name in `replicaDivisionPreference` means.
pub fn strategy(name: &str, is_dynamic: bool) -> &str {
    let found = STRATEGIES.iter().find(|known| (known.0, known.1) == (name, is_dynamic));
    found.map_or(name, |known| known.2)
}
