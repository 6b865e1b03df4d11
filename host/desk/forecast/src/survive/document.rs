//! The survival of bindings as it is written as JSON.

use serde::Serialize;
use serde_json::Value;

use crate::document::SideDocument;
use crate::planned::CouldPlace;

/// The single losses that bindings do not survive.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SurviveDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The side that decides.
    pub after: SideDocument,
    /// True if each result takes its new replicas from the capacity that later ones see.
    pub assumes: bool,
    /// True if clusters fail, as Karmada treats failed clusters; false if they are gone.
    pub as_failed: bool,
    /// The sizes of losses: `cluster`, `region`, `zone`, `provider`.
    pub levels: Vec<LevelRow>,
    /// The bindings that do not survive some loss, those with the fewest replicas left first.
    pub bindings: Vec<SurviveRow>,
    /// The losses that some binding does not survive, or that need more than the capacity of other clusters, worst first.
    pub losses: Vec<LossRow>,
    /// Sums over all bindings, or over those that are chosen; also those that are not listed.
    pub totals: SurviveTotals,
    /// The smallest changes with which the binding of `--workload` survives. Absent without `--workload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// What moves of others would place of what waits for room. Absent if nothing does, and in fleets in which that would take long: more
    /// than 200 bindings wait, or bindings times clusters are more than a million.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_place: Option<CouldPlace>,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// All losses of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LevelRow {
    /// `cluster`, `region`, `zone` or `provider`.
    pub each: String,
    /// Losses.
    pub losses: usize,
    /// Placed bindings that survive each of them.
    pub surviving: usize,
    /// Placed bindings of which one of them leaves nothing.
    pub hanging: usize,
}

/// A binding that does not survive some loss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SurviveRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Strategy; empty if the binding is invalid.
    pub strategy: String,
    /// Replicas on all clusters without any loss; 0 for a resource without replicas.
    pub replicas: i64,
    /// Clusters without any loss.
    pub clusters: u32,
    /// The losses that it does not survive: the larger ones last, by what is left.
    pub losses: Vec<LossOfBinding>,
}

/// A loss that a binding does not survive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LossOfBinding {
    /// `cluster`, `region`, `zone` or `provider`.
    pub each: String,
    /// Its name.
    pub name: String,
    /// Replicas that are left.
    pub left: i64,
    /// Clusters that are left.
    pub clusters: u32,
    /// `NoClusterFit`, `Unschedulable`, `Error`; `Skipped` if nothing decides the binding; `Stays` if it tolerates the failure.
    pub reason: String,
}

/// A loss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LossRow {
    /// `cluster`, `region`, `zone` or `provider`.
    pub each: String,
    /// Its name.
    pub name: String,
    /// Clusters that are lost.
    pub clusters: usize,
    /// Bindings that do not survive it.
    pub bindings: usize,
    /// Bindings of which it leaves nothing.
    pub hanging: usize,
    /// Replicas that other clusters gain although they do not fit. Absent with `--as-failed`, and if bindings are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond_capacity: Option<i64>,
}

/// Sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SurviveTotals {
    /// Bindings.
    pub bindings: usize,
    /// Bindings that have a cluster without any loss. The others have nothing to lose.
    pub placed: usize,
    /// Placed bindings that survive every loss.
    pub surviving: usize,
    /// Surviving bindings that some loss leaves with fewer replicas, as their quorum allows.
    pub surviving_in_part: usize,
    /// Placed bindings that do not survive some loss.
    pub not_surviving: usize,
    /// Placed bindings of which some loss leaves nothing.
    pub hanging: usize,
    /// Losses that need more than the capacity of other clusters; 0 if bindings are chosen.
    pub beyond_capacity: usize,
    /// Bindings that are invalid, or whose decision a plugin fails, without any loss.
    pub errors: usize,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`.
    pub left_out: usize,
}

/// The smallest changes with which a binding survives.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// True if it survives without a change.
    pub survives: bool,
    /// Changes with which it survives, the smallest first, one of each kind. Each was decided for every loss.
    pub changes: Vec<RemedyChange>,
    /// Changes that were decided.
    pub tried: usize,
}

/// A change with which a binding survives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RemedyChange {
    /// One sentence.
    pub change: String,
    /// Clusters of the binding with the change and without a loss.
    pub clusters: Vec<String>,
    /// Replicas that move at once because of the change.
    pub moved: i64,
    /// The new `placement` of the policy; absent if it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Value>,
    /// The annotation to add, as `KEY: VALUE`; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
}
