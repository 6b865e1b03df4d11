//! The result of a review of policies as it is written as JSON.

use serde::Serialize;

/// A review of policies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PoliciesDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// Every policy.
    pub policies: Vec<PolicyRow>,
    /// Sums over all findings and policies, also those that are not listed.
    pub totals: PolicyTotals,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// Severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Often intended.
    Info,
    /// Probably a mistake or a leftover; nothing fails because of it.
    Warning,
    /// Workloads cannot be scheduled, or are no longer governed.
    Error,
}

impl Severity {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// No cluster matches the placement.
    NoCluster,
    /// The clusters of the placement have fewer groups than a spread constraint requires.
    TooFewGroups,
    /// An annotation of the policy has a value that no profile can read.
    InvalidAnnotation,
    /// Bindings are claimed by a policy that the input lacks.
    PolicyGone,
    /// Bindings that no policy claims and that follow no other binding.
    NoPolicy,
    /// Bindings are claimed by an earlier policy of the same name.
    StaleClaim,
    /// The policy selects nothing of the input and governs no binding.
    Dead,
    /// All that the policy selects belongs to other policies.
    Shadowed,
    /// Some selectors of a policy match nothing of the input.
    DeadSelector,
    /// The placement names clusters that do not exist.
    UnknownCluster,
    /// The placement requires labels that no cluster has.
    UnknownLabel,
    /// The placement names regions that no cluster is in.
    UnknownRegion,
    /// The placement names zones that no cluster is in.
    UnknownZone,
    /// The placement names providers that no cluster has.
    UnknownProvider,
    /// No cluster matches one of several affinity groups.
    EmptyGroup,
    /// Results that a FederatedResourceQuota refuses, or a quota that is exceeded already.
    QuotaExceeded,
    /// An override policy sets another number of replicas than the result has.
    OverriddenReplicas,
    /// Dispatching to clusters is suspended.
    Suspended,
    /// The policy waits for override policies that the input lacks.
    MissingOverride,
    /// The resource models of a cluster leave no room, though its summary does.
    FullByModels,
    /// Some of what the policy selects belongs to other policies.
    Overlap,
}

impl Code {
    /// Severity of findings of this kind.
    pub fn severity(self) -> Severity {
        match self {
            Self::NoCluster | Self::TooFewGroups | Self::InvalidAnnotation | Self::PolicyGone => Severity::Error,
            Self::Overlap => Severity::Info,
            _ => Severity::Warning,
        }
    }

    /// The word in tables, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoCluster => "no-cluster",
            Self::TooFewGroups => "too-few-groups",
            Self::InvalidAnnotation => "invalid-annotation",
            Self::PolicyGone => "policy-gone",
            Self::NoPolicy => "no-policy",
            Self::StaleClaim => "stale-claim",
            Self::Dead => "dead",
            Self::Shadowed => "shadowed",
            Self::DeadSelector => "dead-selector",
            Self::UnknownCluster => "unknown-cluster",
            Self::UnknownLabel => "unknown-label",
            Self::UnknownRegion => "unknown-region",
            Self::UnknownZone => "unknown-zone",
            Self::UnknownProvider => "unknown-provider",
            Self::EmptyGroup => "empty-group",
            Self::QuotaExceeded => "quota-exceeded",
            Self::OverriddenReplicas => "overridden-replicas",
            Self::Suspended => "suspended",
            Self::MissingOverride => "missing-override",
            Self::FullByModels => "full-by-models",
            Self::Overlap => "overlap",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub code: Code,
    /// Kind, namespace and name of the policy, such as `PropagationPolicy shop/web`, or of the object that changes what a result leads
    /// to; for bindings that no policy claims, their namespace.
    pub object: String,
    /// Location of the object as `FILE:LINE`; absent if the input lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// One sentence.
    pub message: String,
    /// The names that the message is about: bindings, policies, clusters, labels or selectors. At most 1,000 of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// A suggestion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PolicyRow {
    /// Kind, namespace and name.
    pub policy: String,
    /// Location as `FILE:LINE`.
    pub source: String,
    /// Priority over other policies.
    pub priority: i32,
    /// Objects with a binding that it selects.
    pub selects: usize,
    /// Objects with a binding that it governs.
    pub governs: usize,
    /// Clusters that its placement can use; absent if the input has no clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// Kinds of its findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Code>,
}

/// Sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PolicyTotals {
    /// Policies.
    pub policies: usize,
    /// Policies that govern a binding.
    pub governing: usize,
    /// Policies that select nothing and govern nothing.
    pub dead: usize,
    /// Policies that select something and govern nothing.
    pub shadowed: usize,
    /// Policies some of whose selected objects belong to others.
    pub overlapping: usize,
    /// Bindings, including those that Karmada would create next.
    pub bindings: usize,
    /// Bindings whose policy the input lacks, or that have none.
    pub without_policy: usize,
    /// Resources of the input that no policy selects.
    pub unmatched: usize,
    /// Findings of severity `error`.
    pub errors: usize,
    /// Findings of severity `warning`.
    pub warnings: usize,
    /// Findings of severity `info`.
    pub infos: usize,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`.
    pub left_out: usize,
}
