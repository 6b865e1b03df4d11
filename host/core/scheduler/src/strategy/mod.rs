//! Finds the strategy of a binding and normalizes its preferences.
//!
//! A strategy can be named in four ways, and the first that applies wins: Divvy's annotations (on the binding, then on
//! its policy), `replicaSchedulingType: Duplicated`, `extendReplicaDivisionPreference`, `replicaDivisionPreference`. In
//! every case, the cycle sees one [`StrategyRequest`].
//!
//! This module does not know any strategy or list: plugins declare the lists that their strategies read (`declared`).
//! The exceptions are Karmada's own names ([`divvy_karmada::policy::wire`]) and the printed manifests of a proposal
//! (`oddities`).

mod annotations;
mod declared;
mod error;
mod oddities;
mod quorum;
mod request;
mod resolve;
#[cfg(test)]
mod tests;
mod unreadable;

pub use declared::{Declaration, Declarations};
pub use error::InvalidBinding;
pub use request::{PluginPreferences, PreferenceRule, StrategyRequest, StrategySource};
pub use resolve::{StrategyContext, resolve_strategy};
pub use unreadable::unreadable_annotations;

/// Annotation that names a strategy.
pub const STRATEGY_ANNOTATION: &str = "divvy.io/strategy";
/// Annotation that holds preferences for the strategy as JSON.
pub const PREFERENCES_ANNOTATION: &str = "divvy.io/preferences";
/// Beginning of the annotations that hold preferences for one plugin, whose name follows, as JSON.
pub const PLUGIN_PREFERENCES_PREFIX: &str = "divvy.io/preferences.";
/// Annotation that sets the meaning of affinity groups: `tiers` or `fallback`.
pub const AFFINITY_GROUPS_ANNOTATION: &str = "divvy.io/affinity-groups";
/// Annotation that sets the replicas from which fewer than requested are divided: a count, or a percentage of those requested.
pub const QUORUM_ANNOTATION: &str = "divvy.io/quorum";
