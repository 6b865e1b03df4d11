//! Enumerations of clusters and bindings: their variants, Kubernetes' words and the ABI's codes.

use divvy_framework_abi::arena::{condition, effect};
use divvy_framework_abi::call::expression_operator;

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

    /// The code in the ABI.
    #[inline]
    pub fn code(self) -> u32 {
        match self {
            Self::Any => effect::ANY,
            Self::NoSchedule => effect::NO_SCHEDULE,
            Self::PreferNoSchedule => effect::PREFER_NO_SCHEDULE,
            Self::NoExecute => effect::NO_EXECUTE,
            Self::Unknown => effect::UNKNOWN,
        }
    }

    /// The variant of a code of the ABI.
    #[inline]
    pub fn from_code(code: u32) -> Self {
        match code {
            effect::ANY => Self::Any,
            effect::NO_SCHEDULE => Self::NoSchedule,
            effect::PREFER_NO_SCHEDULE => Self::PreferNoSchedule,
            effect::NO_EXECUTE => Self::NoExecute,
            _ => Self::Unknown,
        }
    }
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

    /// The code in the ABI.
    #[inline]
    pub fn code(self) -> u32 {
        match self {
            Self::True => condition::TRUE,
            Self::False => condition::FALSE,
            Self::Unknown => condition::UNKNOWN,
        }
    }

    /// The variant of a code of the ABI.
    #[inline]
    pub fn from_code(code: u32) -> Self {
        match code {
            condition::TRUE => Self::True,
            condition::FALSE => Self::False,
            _ => Self::Unknown,
        }
    }
}

/// The operator of a toleration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TolerationOperator {
    /// Key and value are equal; the default.
    Equal,
    /// The key is there, whatever its value.
    Exists,
    /// An operator that tolerates nothing here.
    Unknown,
}

/// What a spread constraint groups clusters by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SpreadField {
    /// Each cluster is a group.
    Cluster,
    /// By region.
    Region,
    /// By zone.
    Zone,
    /// By provider.
    Provider,
    /// By the value of a label.
    Label(String),
}

/// What an expression looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpressionSource {
    /// The label of that key.
    Label(String),
    /// The provider.
    Provider,
    /// The region.
    Region,
    /// The zones.
    Zone,
    /// A field that no cluster has.
    Nothing,
}

/// The test of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressionOperator {
    /// One of the values.
    In,
    /// None of the values, or absent.
    NotIn,
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
    /// An integer above the first value.
    GreaterThan,
    /// An integer below the first value.
    LessThan,
}

impl ExpressionOperator {
    /// The code in the ABI.
    #[inline]
    pub fn code(self) -> u32 {
        match self {
            Self::In => expression_operator::IN,
            Self::NotIn => expression_operator::NOT_IN,
            Self::Exists => expression_operator::EXISTS,
            Self::DoesNotExist => expression_operator::DOES_NOT_EXIST,
            Self::GreaterThan => expression_operator::GREATER_THAN,
            Self::LessThan => expression_operator::LESS_THAN,
        }
    }
}
