//! Which strategy a binding uses, and its preferences in one form.
//!
//! Four roads lead to a strategy, and the first that applies is taken: Divvy's annotations (on the binding,
//! then on its policy), `replicaSchedulingType: Duplicated`, `extendReplicaDivisionPreference`,
//! `replicaDivisionPreference`. Whatever the road, the cycle sees one [`StrategyRequest`].
//!
//! The manifests printed in `proposals/specified-replicas.md` are read as they stand, each oddity with a
//! warning that shows the clean form. What is wrong here is the meaning of one binding: its row becomes an
//! error, and the others are decided.

mod annotations;
mod error;
mod preferences;
mod request;
mod resolve;
mod rules;
#[cfg(test)]
mod tests;

pub use divvy_documents::names::nearest_first;
pub use error::StrategyError;
pub use request::{PreferenceRule, RuleListName, RuleLists, StrategyRequest, StrategySource};
pub use resolve::{StrategyContext, resolve_strategy};

/// The annotation that names a strategy.
pub const STRATEGY_ANNOTATION: &str = "divvy.io/strategy";
/// The annotation that holds preferences as JSON.
pub const PREFERENCES_ANNOTATION: &str = "divvy.io/preferences";
/// The annotation that makes affinity groups tiers.
pub const AFFINITY_GROUPS_ANNOTATION: &str = "divvy.io/affinity-groups";

/// The names of strategies that manifests are translated to or judged by.
pub(crate) mod known {
    pub(crate) const DUPLICATED: &str = "Duplicated";
    pub(crate) const STATIC_WEIGHT: &str = "StaticWeight";
    pub(crate) const DYNAMIC_WEIGHT: &str = "DynamicWeight";
    pub(crate) const SPECIFIED: &str = "Specified";
    pub(crate) const PRIORITY_AGGREGATED: &str = "PriorityAggregated";
    /// Karmada's name for `StaticWeight` and `DynamicWeight` together.
    pub(crate) const WEIGHTED: &str = "Weighted";
}
