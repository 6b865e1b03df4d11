//! The rows of a binding's tables, and the numbers in them.
//!
//! A row never changes: tables of rows are arrays without a stride. A table grows by a *parallel column*, a further
//! array with one element per row, which is appended to the view that has the table. A number that a reader does not
//! know never matches anything.

#[cfg(feature = "certificate")]
use abi_stable::StableAbi;
use bytemuck::{Pod, Zeroable};

use crate::definition::{numbers, structure};
use crate::text::{Span, Text};

structure! {
    /// A toleration.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct TolerationRow {
        /// Key; empty to match every key.
        pub key: Text,
        /// Value, for the operator `Equal`.
        pub value: Text,
        /// A value of [`crate::arena::effect`].
        pub effect: u32,
        /// A value of [`toleration_operator`].
        pub operator: u32,
        /// `tolerationSeconds`, [`crate::arena::ABSENT`] if not stated.
        pub seconds: i64,
    }
}

numbers! {
    /// Values of [`TolerationRow::operator`].
    pub mod toleration_operator as "DIVVY_TOLERATION_" {
        /// Key and value are equal.
        pub const EQUAL: u32 = 0;
        /// The key is there.
        pub const EXISTS: u32 = 1;
        /// Any other operator, which matches nothing.
        pub const UNKNOWN: u32 = 2;
    }
}

structure! {
    /// A spread constraint: a field to group clusters by, and the allowed numbers of groups.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct SpreadConstraintRow {
        /// The label's key, for a constraint by label; otherwise empty.
        pub label: Text,
        /// A value of [`spread_field`].
        pub field: u32,
        /// Zero.
        pub reserved: u32,
        /// Minimum number of groups.
        pub minimum_groups: i64,
        /// Maximum number of groups; 0 or less means no limit.
        pub maximum_groups: i64,
    }
}

numbers! {
    /// Values of [`SpreadConstraintRow::field`].
    pub mod spread_field as "DIVVY_SPREAD_" {
        /// By cluster.
        pub const CLUSTER: u32 = 0;
        /// By region.
        pub const REGION: u32 = 1;
        /// By zone.
        pub const ZONE: u32 = 2;
        /// By provider.
        pub const PROVIDER: u32 = 3;
        /// By the value of a label.
        pub const LABEL: u32 = 4;
        /// By a field that the host does not know. A reader treats a number that it does not know in the same way.
        pub const UNKNOWN: u32 = 5;
    }
}

structure! {
    /// A cluster affinity. A cluster matches if it satisfies all conditions.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct AffinityRow {
        /// The affinity group's name; empty if it has none.
        pub name: Text,
        /// `clusterNames`, in [`CycleView::texts`](crate::view::CycleView::texts); empty to match every name.
        pub cluster_names: Span,
        /// `exclude`, in [`CycleView::texts`](crate::view::CycleView::texts).
        pub exclude: Span,
        /// Label and field expressions, in [`CycleView::expressions`](crate::view::CycleView::expressions).
        pub expressions: Span,
    }
}

structure! {
    /// One expression of a selector.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct ExpressionRow {
        /// The label's key; empty for a field.
        pub key: Text,
        /// The values, in [`CycleView::texts`](crate::view::CycleView::texts).
        pub values: Span,
        /// A value of [`expression_source`].
        pub source: u32,
        /// A value of [`expression_operator`].
        pub operator: u32,
    }
}

numbers! {
    /// Values of [`ExpressionRow::source`].
    pub mod expression_source as "DIVVY_SOURCE_" {
        /// A label.
        pub const LABEL: u32 = 0;
        /// The provider.
        pub const PROVIDER: u32 = 1;
        /// The region.
        pub const REGION: u32 = 2;
        /// The zones.
        pub const ZONE: u32 = 3;
        /// A field that no cluster has; treated like a label that is always absent.
        pub const NOTHING: u32 = 4;
    }
}

numbers! {
    /// Values of [`ExpressionRow::operator`].
    pub mod expression_operator as "DIVVY_OPERATOR_" {
        /// The value is one of those given.
        pub const IN: u32 = 0;
        /// The value is absent, or none of those given.
        pub const NOT_IN: u32 = 1;
        /// The key is present.
        pub const EXISTS: u32 = 2;
        /// The key is absent.
        pub const DOES_NOT_EXIST: u32 = 3;
        /// The value is an integer greater than the one given.
        pub const GREATER_THAN: u32 = 4;
        /// The value is an integer less than the one given.
        pub const LESS_THAN: u32 = 5;
        /// Any other operator, which matches nothing.
        pub const UNKNOWN: u32 = 6;
    }
}

structure! {
    /// A quantity of a resource that one replica requests.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct RequestRow {
        /// The resource's name.
        pub resource: Text,
        /// Quantity, rounded up: `cpu` in thousandths, everything else in its own unit.
        pub quantity: i64,
    }
}

structure! {
    /// One pod template of a workload that has several.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct ComponentRow {
        /// Its name.
        pub name: Text,
        /// Its replicas.
        pub replicas: i64,
        /// Requests of one of its replicas, in [`CycleView::requests`](crate::view::CycleView::requests).
        pub requests: Span,
    }
}

structure! {
    /// A cluster of the last result.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct TargetRow {
        /// The cluster's name.
        pub cluster: Text,
        /// Its replicas.
        pub replicas: i64,
    }
}

structure! {
    /// A binding that shares a workload affinity group with the binding of the cycle.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct PeerRow {
        /// Name of the binding, in [`PlacementsView::pool`](crate::view::PlacementsView::pool).
        pub name: Text,
        /// Groups that both bindings are in: bits of [`peer_group`].
        pub groups: u64,
        /// Its clusters, in [`PlacementsView::targets`](crate::view::PlacementsView::targets); empty while it has none.
        pub targets: Span,
    }
}

numbers! {
    /// Bits of [`PeerRow::groups`].
    pub mod peer_group as "DIVVY_PEER_" {
        /// The affinity group.
        pub const AFFINITY: u64 = 1;
        /// The anti-affinity group.
        pub const ANTI_AFFINITY: u64 = 2;
    }
}

structure! {
    /// A pair of texts: a label or an annotation.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct PairRow {
        /// Key.
        pub key: Text,
        /// Value.
        pub value: Text,
    }
}

structure! {
    /// One entry of the policy lists that a strategy reads: numbers for a group of clusters.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct RuleRow {
        /// The list that the entry is in, such as `staticWeightList`.
        pub list: Text,
        /// The entry's path in the policy, for messages.
        pub origin: Text,
        /// The clusters that the entry is for: an index into [`CycleView::affinities`](crate::view::CycleView::affinities).
        pub target: u32,
        /// Zero.
        pub reserved: u32,
        /// The entry's values, in [`PolicyView::rule_values`](crate::view::PolicyView::rule_values).
        pub values: Span,
    }
}

structure! {
    /// A named number of a rule.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct RuleValueRow {
        /// The field's name, such as `weight`.
        pub field: Text,
        /// Its value.
        pub value: i64,
    }
}

structure! {
    /// A column of a table that the profile provides.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct TableColumnRow {
        /// The table's name, as the plugin declares it, in [`CycleView::table_pool`](crate::view::CycleView::table_pool).
        pub table: Text,
        /// The column's name.
        pub name: Text,
        /// The type of its cells: a value of [`cell_type`].
        pub cell_type: u32,
        /// Digits after the decimal point of a decimal; 0 for other types.
        pub scale: u32,
    }
}

numbers! {
    /// Values of [`TableColumnRow::cell_type`], each with the meaning of a cell.
    pub mod cell_type as "DIVVY_CELL_" {
        /// An integer.
        pub const INTEGER: u32 = 1;
        /// A decimal, multiplied by ten to the power of its scale.
        pub const DECIMAL: u32 = 2;
        /// A text, as an index into [`CycleView::table_texts`](crate::view::CycleView::table_texts). Equal texts of a column
        /// have equal indices.
        pub const TEXT: u32 = 3;
        /// A boolean: 0 or 1.
        pub const BOOLEAN: u32 = 4;
        /// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
        pub const TIME: u32 = 5;
        /// Hours of a week, as an index into [`CycleView::table_weekly`](crate::view::CycleView::table_weekly).
        pub const WEEKLY: u32 = 6;
    }
}

structure! {
    /// Hours that recur on days of the week, by the local time of a zone. An occurrence begins on one of the days. It lasts
    /// from the first instant at which the zone's clocks have reached `start` to the last at which they have not reached `end`:
    /// clocks that are put forward past one of both make it begin or end with the change, and clocks that are put back are
    /// within it both times.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct WeeklyRow {
        /// Days on which it begins: bit 0 is Monday, bit 6 Sunday.
        pub days: u32,
        /// Minute of the day at which it begins, from 0 to 1439.
        pub start: u32,
        /// Minute at which it ends, counted from the beginning of the day on which it begins; more than `start`, and at most
        /// 1440 more.
        pub end: u32,
        /// Zero.
        pub reserved: u32,
        /// The zone's changes, in [`CycleView::table_offsets`](crate::view::CycleView::table_offsets); the first counts from
        /// the beginning of time.
        pub offsets: Span,
    }
}

structure! {
    /// A change of a zone's offset from UTC.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct OffsetRow {
        /// First millisecond, since 1970, of the offset.
        pub from: i64,
        /// Local time minus UTC, in seconds.
        pub seconds: i64,
    }
}

structure! {
    /// The texts that name a binding and its resource.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct BindingNames {
        /// Name of the binding.
        pub name: Text,
        /// Namespace of the binding; empty if it has none.
        pub namespace: Text,
        /// UID of the binding, or a substitute if it has none.
        pub uid: Text,
        /// `apiVersion` of the resource.
        pub resource_api_version: Text,
        /// `kind` of the resource.
        pub resource_kind: Text,
        /// Namespace of the resource; empty if it has none.
        pub resource_namespace: Text,
        /// Name of the resource.
        pub resource_name: Text,
        /// UID of the resource; empty if it has none.
        pub resource_uid: Text,
        /// The strategy.
        pub strategy: Text,
    }
}

impl BindingNames {
    /// Names that are all empty.
    pub const EMPTY: Self = Self {
        name: Text::EMPTY,
        namespace: Text::EMPTY,
        uid: Text::EMPTY,
        resource_api_version: Text::EMPTY,
        resource_kind: Text::EMPTY,
        resource_namespace: Text::EMPTY,
        resource_name: Text::EMPTY,
        resource_uid: Text::EMPTY,
        strategy: Text::EMPTY,
    };
}

impl Default for BindingNames {
    fn default() -> Self {
        Self::EMPTY
    }
}
