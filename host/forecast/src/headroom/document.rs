//! Headroom in the form in which it is written as JSON. The schema is in `schema/headroom.json`.

use serde::Serialize;

use crate::document::SideDocument;

/// How far bindings can grow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The side that decides, with the changes that were made first.
    pub after: SideDocument,
    /// True if the room that all other results take is not there. False if each binding is alone.
    pub assumes: bool,
    /// The bindings, sorted by key.
    pub bindings: Vec<HeadroomRow>,
    /// Remarks, as sentences.
    pub notes: Vec<String>,
}

/// How far one binding can grow while all others keep what they get.
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
    /// Replicas that are asked for now.
    pub replicas: i64,
    /// Result with these replicas: `Satisfied`, `Scheduled`, `Skipped`, `NoClusterFit`, `Unschedulable` or `Error`.
    pub result: String,
    /// Why it is not scheduled with these replicas; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// True if any number of replicas schedules, as with a strategy that ignores capacity.
    #[serde(rename = "unbounded")]
    pub is_unbounded: bool,
    /// The largest number of replicas that schedules. It was decided, and the next one was, too. Absent if no number
    /// schedules, or any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<i64>,
    /// `most` less `replicas`; negative if the present replicas do not schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom: Option<i64>,
    /// Of a binding without bound, the largest number that gives no cluster more than fits there. Absent if any fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<i64>,
    /// A larger number that schedules although the one after `most` does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<i64>,
    /// The result with `most` replicas, or `fits`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<TargetCount>,
    /// What stops the next replica. Absent if nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<HeadroomStop>,
    /// Number of decisions that were made to find out.
    pub decisions: usize,
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

/// What stops a number of replicas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeadroomStop {
    /// The number that is stopped.
    pub replicas: i64,
    /// Its result; `Scheduled` if it schedules, but does not fit.
    pub result: String,
    /// Why it does not schedule; empty if it does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Candidates for this number, or clusters that could have been.
    pub candidates: usize,
    /// The scarcest resource of each candidate that has too little room. Empty if room is not the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ScarceResource>,
    /// Clusters that filters let pass and Select left out.
    pub not_selected: usize,
    /// Clusters that filters rejected, the most frequent reason first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedClusters>,
}

/// A resource that clusters run out of first.
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
