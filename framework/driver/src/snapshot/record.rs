//! A cluster as the store takes it: plain data, quantities already in units.

use divvy_framework_view::words::{ConditionStatus, TaintEffect};

/// What Karmada's `Cluster` holds that a plugin could need.
///
/// Quantities of `cpu` are thousandths of a core, all others in the resource's own unit (bytes, pieces), both rounded up
/// as Kubernetes' `MilliValue` and `Value` do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterRecord {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.labels`.
    pub labels: Vec<(String, String)>,
    /// `metadata.annotations`.
    pub annotations: Vec<(String, String)>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// `spec.region`.
    pub region: String,
    /// `spec.provider`.
    pub provider: String,
    /// The deprecated `spec.zone`.
    pub zone: String,
    /// `spec.zones`.
    pub zones: Vec<String>,
    /// `spec.taints`.
    pub taints: Vec<TaintRecord>,
    /// `spec.resourceModels`.
    pub models: Vec<ModelRecord>,
    /// `status.apiEnablements`: group version and kind.
    pub api_enablements: Vec<(String, String)>,
    /// `status.conditions`.
    pub conditions: Vec<ConditionRecord>,
    /// `status.resourceSummary`.
    pub resource_summary: Option<ResourceSummaryRecord>,
    /// The whole object as JSON, if a plugin asks for it.
    pub raw: Option<String>,
}

/// A taint of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaintRecord {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// Effect.
    pub effect: TaintEffect,
    /// When it was added, in seconds since 1970.
    pub time_added: Option<i64>,
}

/// A condition of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionRecord {
    /// `type`.
    pub kind: String,
    /// `status`.
    pub status: ConditionStatus,
    /// `reason`.
    pub reason: String,
}

/// `status.resourceSummary` of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceSummaryRecord {
    /// One entry a resource that any of the three lists names.
    pub resources: Vec<ResourceRecord>,
    /// `allocatableModelings`: grade and number of nodes.
    pub modelings: Vec<(i64, i64)>,
}

/// What a cluster has of one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceRecord {
    /// The resource's name.
    pub name: String,
    /// Allocatable.
    pub allocatable: Option<i64>,
    /// Allocated.
    pub allocated: Option<i64>,
    /// Allocating.
    pub allocating: Option<i64>,
    /// Allocatable − allocated − allocating, taken exactly and rounded up once; `None` where nothing is allocatable.
    pub remaining: Option<i64>,
}

/// One of `spec.resourceModels`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ModelRecord {
    /// Its grade.
    pub grade: i64,
    /// Resource, lower end, upper end.
    pub ranges: Vec<(String, i64, i64)>,
}
