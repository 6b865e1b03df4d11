//! A cluster as the store takes it: plain data, quantities already in units.

use divvy_framework_abi::arena::{condition, effect};

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

/// The effect of a taint, or of a toleration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaintEffect {
    /// Every effect; of tolerations alone.
    Any,
    /// Nothing new is scheduled there.
    NoSchedule,
    /// Others are preferred.
    PreferNoSchedule,
    /// What runs there is evicted.
    NoExecute,
    /// An effect that Kubernetes does not define.
    Unknown,
}

impl TaintEffect {
    /// The effect that Kubernetes writes as `name`; the empty name is any.
    pub fn named(name: &str) -> Self {
        match name {
            "" => Self::Any,
            "NoSchedule" => Self::NoSchedule,
            "PreferNoSchedule" => Self::PreferNoSchedule,
            "NoExecute" => Self::NoExecute,
            _ => Self::Unknown,
        }
    }

    /// The effect as Kubernetes writes it; empty for any or unknown.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
            Self::Any | Self::Unknown => "",
        }
    }

    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Any => effect::ANY,
            Self::NoSchedule => effect::NO_SCHEDULE,
            Self::PreferNoSchedule => effect::PREFER_NO_SCHEDULE,
            Self::NoExecute => effect::NO_EXECUTE,
            Self::Unknown => effect::UNKNOWN,
        }
    }

    pub(crate) fn of_code(code: u32) -> Self {
        match code {
            effect::ANY => Self::Any,
            effect::NO_SCHEDULE => Self::NoSchedule,
            effect::PREFER_NO_SCHEDULE => Self::PreferNoSchedule,
            effect::NO_EXECUTE => Self::NoExecute,
            _ => Self::Unknown,
        }
    }
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

/// The status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody knows.
    Unknown,
}

impl ConditionStatus {
    /// The status that Kubernetes writes as `name`.
    pub fn named(name: &str) -> Self {
        match name {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn code(self) -> u32 {
        match self {
            Self::True => condition::TRUE,
            Self::False => condition::FALSE,
            Self::Unknown => condition::UNKNOWN,
        }
    }

    pub(crate) fn of_code(code: u32) -> Self {
        match code {
            condition::TRUE => Self::True,
            condition::FALSE => Self::False,
            _ => Self::Unknown,
        }
    }
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
