//! The strategy of a binding, and its preferences in one form.
//!
//! Four roads lead to a strategy, and the first that applies is taken: Divvy's annotations (on the binding, then on its
//! policy), `replicaSchedulingType: Duplicated`, `extendReplicaDivisionPreference`, `replicaDivisionPreference`. Whatever
//! the road, the cycle sees one [`StrategyRequest`].
//!
//! Nothing here knows a strategy or a list: plugins declare the lists that their strategies read ([`declared`]). The
//! exceptions are Karmada's own names ([`divvy_karmada::policy::wire`]) and the printed manifests of a proposal ([`oddities`]).

mod annotations;
mod declared;
mod error;
mod oddities;
mod request;
mod resolve;
#[cfg(test)]
mod tests;

pub use declared::{Declaration, Declarations, RuleField, RuleList};
pub use error::InvalidBinding;
pub use request::{PreferenceRule, StrategyRequest, StrategySource};
pub use resolve::{StrategyContext, resolve_strategy};

/// The annotation that names a strategy.
pub const STRATEGY_ANNOTATION: &str = "divvy.io/strategy";
/// The annotation that holds preferences as JSON.
pub const PREFERENCES_ANNOTATION: &str = "divvy.io/preferences";
/// The annotation that makes affinity groups tiers.
pub const AFFINITY_GROUPS_ANNOTATION: &str = "divvy.io/affinity-groups";
