//! Headroom in the form in which it is written as JSON. The schema is in `schema/headroom.json`.

use serde::Serialize;

use crate::cost::HourlyCost;
use crate::document::SideDocument;
use crate::planned::CouldPlace;

/// Headroom of bindings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The side that decides, with the changes that were made first.
    pub after: SideDocument,
    /// True if the capacity that all other results take counts as used; false if each binding is measured alone.
    pub assumes: bool,
    /// The bindings, sorted by key.
    pub bindings: Vec<HeadroomRow>,
    /// Sums over all bindings, also those that `--top` leaves out.
    pub totals: HeadroomTotals,
    /// What moves of others would place of what waits for room. Absent if nothing does, and in fleets in which that would take long: more
    /// than 200 bindings wait, or bindings times clusters are more than a million.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_place: Option<CouldPlace>,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// Sums. Headroom itself has none, because each binding grows alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomTotals {
    /// Bindings.
    pub bindings: usize,
    /// Replicas requested now.
    pub replicas: i64,
    /// Bindings that can grow, without a bound or with one.
    pub growing: usize,
    /// Growing bindings of which any number of replicas schedules.
    pub unbounded: usize,
    /// Bindings that schedule as they are, and cannot grow.
    pub at_limit: usize,
    /// Bindings that do not schedule as they are.
    pub failing: usize,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`.
    pub left_out: usize,
}

impl HeadroomTotals {
    /// The sums of these bindings. `left_out` objects of the input are left out.
    pub fn of(rows: &[HeadroomRow], left_out: usize) -> Self {
        let is_failing = |row: &&HeadroomRow| matches!(row.result.as_str(), "NoClusterFit" | "Unschedulable" | "Error");
        let grows = |row: &&HeadroomRow| row.is_unbounded || row.headroom.is_some_and(|headroom| headroom > 0);
        let sound = || rows.iter().filter(|row| !is_failing(row));
        let growing = sound().filter(grows).count();
        Self {
            bindings: rows.len(),
            replicas: rows.iter().map(|row| row.replicas).sum(),
            growing,
            unbounded: sound().filter(|row| row.is_unbounded).count(),
            at_limit: sound().count() - growing,
            failing: rows.iter().filter(is_failing).count(),
            left_out,
        }
    }
}

/// Headroom of one binding while all others keep what they get.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Strategy; empty if the binding is invalid.
    pub strategy: String,
    /// Replicas requested now.
    pub replicas: i64,
    /// Replicas that are scheduled of those; only if they are fewer, as `divvy.io/quorum` allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<i64>,
    /// Result with these replicas: `Satisfied`, `Scheduled`, `Skipped`, `NoClusterFit`, `Unschedulable` or `Error`.
    pub result: String,
    /// Reason why it is not scheduled with these replicas, or with fewer of them; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Location of what is wrong with an invalid binding, as `FILE:LINE`, if the caller knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// All locations of it. Tables print them.
    #[serde(skip)]
    pub locations: Option<String>,
    /// True if any number of replicas schedules, as with a strategy that ignores capacity.
    #[serde(rename = "unbounded")]
    pub is_unbounded: bool,
    /// The largest number of replicas that schedules. Both it and the next number were decided. Absent if no number schedules,
    /// or any does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<i64>,
    /// `most` less `replicas`; negative if the present replicas do not schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom: Option<i64>,
    /// Largest number that gives no cluster more than fits there, for a binding without a bound. Absent if any number fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<i64>,
    /// A larger number that schedules although the one after `most` does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<i64>,
    /// The result with `most` replicas, or `fits`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<TargetCount>,
    /// Costs of the binding. Absent unless the profile has `[profile.cost]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<HeadroomCost>,
    /// Obstacle to the next replica. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<HeadroomStop>,
    /// Number of decisions made to find this result.
    pub decisions: usize,
}

/// Costs of one binding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomCost {
    /// Unit of the prices, as the profile names it.
    pub unit: String,
    /// Of the replicas that it gets now.
    pub now: HourlyCost,
    /// With `most` replicas, or `fits`. Absent if there is no such number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<HourlyCost>,
}

/// A cluster with its replicas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetCount {
    /// Name of the cluster.
    pub name: String,
    /// Its replicas.
    pub replicas: i64,
}

/// Obstacle to a number of replicas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomStop {
    /// The number that is stopped.
    pub replicas: i64,
    /// Its result; `Scheduled` if it schedules, but does not fit.
    pub result: String,
    /// Reason why it does not schedule; empty if it does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Candidates for this number, or the feasible clusters if none was selected.
    pub candidates: usize,
    /// The scarcest resource of each candidate that is full. If some candidates are not, `message` has what stops the replica there.
    /// Empty if room is not the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ScarceResource>,
    /// Clusters that passed the filters and that Select left out.
    pub not_selected: usize,
    /// Clusters that filters rejected, the most frequent reason first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedClusters>,
}

/// A resource that some clusters run out of first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScarceResource {
    /// Name of the resource.
    pub resource: String,
    /// The clusters.
    pub clusters: Vec<String>,
}

/// Clusters that a filter rejected for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RejectedClusters {
    /// Name of the filter; empty if the clusters are being deleted.
    pub plugin: String,
    /// The reason.
    pub reason: String,
    /// Number of clusters.
    pub clusters: usize,
}
