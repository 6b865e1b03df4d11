//! Karmada's names for ways to divide replicas, as written in a placement, and the strategies that they mean.
//!
//! This is the only part of the host that names strategies, apart from the workarounds for mistakes in published
//! manifests (`strategy::oddities` of `divvy_scheduler`). All other names come from plugins.

/// `replicaSchedulingType: Duplicated`, Karmada's default without `replicaScheduling`.
pub const DUPLICATED: &str = "Duplicated";

/// Division by weight, Karmada's default for divided replicas.
pub const WEIGHTED: &str = "Weighted";

/// Karmada's name, true if the weights are dynamic, and the strategy. Any other name is the strategy's own name.
const STRATEGIES: [(&str, bool, &str); 2] = [(WEIGHTED, false, "StaticWeight"), (WEIGHTED, true, "DynamicWeight")];

/// The strategy for a name in `replicaDivisionPreference`. An unlisted name is returned unchanged.
pub fn strategy(name: &str, is_dynamic: bool) -> &str {
    let found = STRATEGIES.iter().find(|known| (known.0, known.1) == (name, is_dynamic));
    found.map_or(name, |known| known.2)
}
