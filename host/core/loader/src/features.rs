//! Extension points, promises and needs in words, for people.

use divvy_framework_abi::descriptor::{binding_part, feature};
use divvy_framework_abi::sized::kind;

fn words(features: u64, known: &[(u64, &'static str)]) -> Vec<&'static str> {
    let listed = known.iter().filter(|(bit, _)| features & bit != 0);
    listed.map(|(_, word)| *word).collect()
}

/// Names of the extension points that a plugin serves, in the order of the cycle.
pub fn extension_points(serves: impl Fn(u32) -> bool) -> Vec<&'static str> {
    [
        (kind::FILTER, "Filter"),
        (kind::SCORE, "Score"),
        (kind::SELECT, "Select"),
        (kind::ASSIGN, "Assign"),
        (kind::PACE, "Pace"),
    ]
    .into_iter()
    .filter(|(point, _)| serves(*point))
    .map(|(_, name)| name)
    .collect()
}

/// Promises among features, which are bits of [`feature`].
pub fn promises(features: u64) -> Vec<&'static str> {
    words(
        features,
        &[
            (feature::RESPECTS_CAPACITY, "respects capacity"),
            (feature::DUPLICATES, "duplicates"),
            (feature::ORDER_INDEPENDENT, "order-independent"),
            (feature::INERT, "inert"),
            (feature::ENFORCES_SPREAD, "enforces spread constraints"),
            (feature::ENFORCES_AFFINITY, "enforces workload affinity"),
            (feature::ENFORCES_ANTI_AFFINITY, "enforces workload anti-affinity"),
            (feature::EACH_ALONE, "judges each cluster alone"),
        ],
    )
}

/// Parts of a binding that a plugin acts on, per extension point at which it is not called for every binding. `acts_on` has the
/// parts per kind of calls, as bits of [`binding_part`].
pub fn acts_on(acts_on: impl Fn(u32) -> u64) -> Vec<(&'static str, Vec<&'static str>)> {
    let known = [
        (binding_part::LAST_RESULT, "last result"),
        (binding_part::EVICTIONS, "evictions"),
        (binding_part::SPREAD_CONSTRAINTS, "spread constraints"),
        (binding_part::CLUSTER_AFFINITIES, "cluster affinities"),
        (binding_part::AFFINITY_GROUP, "workload affinity group"),
        (binding_part::ANTI_AFFINITY_GROUP, "workload anti-affinity group"),
    ];
    [(kind::FILTER, "Filter"), (kind::SCORE, "Score")]
        .into_iter()
        .map(|(point, name)| (name, words(acts_on(point), &known)))
        .filter(|(_, parts)| !parts.is_empty())
        .collect()
}

/// Inputs that a plugin declares to need and therefore sees, among features.
pub fn inputs(features: u64) -> Vec<&'static str> {
    words(
        features,
        &[
            (feature::RAW_CLUSTERS, "raw JSON of clusters"),
            (feature::METADATA, "metadata of policy and workload"),
            (feature::TIME, "time of the decision"),
            (feature::TABLES, "tables of the profile"),
            (feature::PLACEMENTS, "placements of other bindings"),
        ],
    )
}

/// Needs from the host, other than inputs, among features.
pub fn needs(features: u64) -> Vec<&'static str> {
    words(
        features,
        &[
            (feature::OWN_TIERS, "walks tiers itself"),
            (feature::NO_SPREAD, "ignores spread constraints"),
            (feature::RULES_DECIDE_TIERS, "rules decide tiers"),
            (feature::LAST_TIER_OVERFLOWS, "last tier overflows"),
            (feature::NO_PRIORITIES, "refuses cluster priorities"),
            (feature::CORDONS, "cordons clusters"),
        ],
    )
}

/// Values that a plugin prepares or keeps between calls, by the kinds of calls that it answers.
pub fn keeps(serves: impl Fn(u32) -> bool) -> Vec<&'static str> {
    [
        (kind::PREPARE, "state for a cycle"),
        (kind::SNAPSHOT_VALUE, "a value per snapshot"),
        (kind::BINDING_VALUE, "a value per binding"),
    ]
    .into_iter()
    .filter(|(point, _)| serves(*point))
    .map(|(_, name)| name)
    .collect()
}

/// The parts of a binding that a plugin declares to act on; 0, which means any, if this host does not know one of them.
pub(crate) fn known_parts(declared: u64) -> u64 {
    match declared & !binding_part::ALL {
        0 => declared,
        _ => 0,
    }
}
