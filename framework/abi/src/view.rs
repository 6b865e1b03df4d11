//! The views that every call of a cycle can read: the cycle itself, and the policy's preferences and rules for the
//! called plugin.

use crate::carry::carried;
use crate::column::{Pointer, Slice, Str};
use crate::definition::numbers;
use crate::row::{
    AffinityRow, BindingNames, ComponentRow, ExpressionRow, OffsetRow, PairRow, PeerRow, RequestRow, RuleRow,
    RuleValueRow, SpreadConstraintRow, TableColumnRow, TargetRow, TolerationRow, WeeklyRow,
};
use crate::sized::{SizePrefixed, kind, sized};
use crate::text::{Span, Text};

numbers! {
    /// Bits of [`CycleView::flags`].
    pub mod flag as "DIVVY_CYCLE_" {
        /// The division starts from scratch: a reschedule was requested.
        pub const FRESH: u64 = 1;
        /// The resource has replicas to divide.
        pub const WORKLOAD: u64 = 2;
        /// An explanation was requested: plugins report explanations and reasons.
        pub const EXPLAIN: u64 = 4;
        /// The binding has a namespace.
        pub const NAMESPACED: u64 = 8;
        /// Every candidate gets the full count.
        pub const DUPLICATED: u64 = 16;
        /// Select ignores the spread constraints, because the strategy does.
        pub const IGNORE_SPREAD: u64 = 32;
        /// The time of the decision is known.
        pub const TIME: u64 = 64;
        /// The labels and annotations of the policy are known.
        pub const POLICY_METADATA: u64 = 128;
        /// The labels and annotations of the workload are known.
        pub const WORKLOAD_METADATA: u64 = 256;
    }
}

sized! {
    /// One attempt to schedule one binding against one snapshot, visible to every call of the cycle.
    CycleView<'a>(CycleViewRef, kind::CYCLE) {
        /// The snapshot: the words of an arena.
        snapshot: Slice<'a, u64> = Slice::EMPTY,
        /// Bits of [`flag`].
        flags: u64 = 0,
        /// Seed of the binding, from the profile's seed and the binding's UID.
        seed: u64 = 0,
        /// Replicas to divide.
        replicas: i64 = 0,
        /// The string that all texts below are spans of.
        pool: Str<'a> = Str::EMPTY,
        /// Names of the binding and its resource.
        names: BindingNames = BindingNames::EMPTY,
        /// Cluster names and selector values.
        texts: Slice<'a, Text> = Slice::EMPTY,
        /// Cluster affinities.
        affinities: Slice<'a, AffinityRow> = Slice::EMPTY,
        /// Expressions of the affinities' selectors.
        expressions: Slice<'a, ExpressionRow> = Slice::EMPTY,
        /// The affinities of the placement, in [`Self::affinities`]. A cluster must match one of them; without any,
        /// every cluster matches.
        placement_affinities: Span = Span::EMPTY,
        /// Tolerations.
        tolerations: Slice<'a, TolerationRow> = Slice::EMPTY,
        /// Spread constraints that are in force.
        spread_constraints: Slice<'a, SpreadConstraintRow> = Slice::EMPTY,
        /// Requests of the binding's replicas ([`Self::replica_requests`]) and of its components.
        requests: Slice<'a, RequestRow> = Slice::EMPTY,
        /// Requests of one replica, in [`Self::requests`].
        replica_requests: Span = Span::EMPTY,
        /// Components.
        components: Slice<'a, ComponentRow> = Slice::EMPTY,
        /// The last result, as the binding lists it.
        last: Slice<'a, TargetRow> = Slice::EMPTY,
        /// Row of each entry of [`Self::last`] in the snapshot; [`crate::arena::NO_ROW`] if the cluster is gone.
        last_rows: Slice<'a, u32> = Slice::EMPTY,
        /// Clusters that the binding is being evicted from.
        evictions: Slice<'a, Text> = Slice::EMPTY,
        /// Labels of the binding.
        labels: Slice<'a, PairRow> = Slice::EMPTY,
        /// Annotations of the binding.
        annotations: Slice<'a, PairRow> = Slice::EMPTY,
        /// Time of the decision in milliseconds since 1970, with [`flag::TIME`]; otherwise 0. Given only if a plugin of
        /// the profile declares that need; the same is true of the fields below.
        time: i64 = 0,
        /// Priority of the binding in the scheduling queue, larger first.
        priority: i64 = 0,
        /// Labels of the policy, by key, with [`flag::POLICY_METADATA`].
        policy_labels: Slice<'a, PairRow> = Slice::EMPTY,
        /// Annotations of the policy, by key, with [`flag::POLICY_METADATA`].
        policy_annotations: Slice<'a, PairRow> = Slice::EMPTY,
        /// Labels of the workload, by key, with [`flag::WORKLOAD_METADATA`].
        workload_labels: Slice<'a, PairRow> = Slice::EMPTY,
        /// Annotations of the workload, by key, with [`flag::WORKLOAD_METADATA`].
        workload_annotations: Slice<'a, PairRow> = Slice::EMPTY,
        /// Columns of the tables that the called plugin declares, in the order in which it declares them. Empty for a
        /// plugin that declares none, as are the fields below.
        table_columns: Slice<'a, TableColumnRow> = Slice::EMPTY,
        /// Cells of the tables, one per column and cluster: that of column `c` and row `r` of the snapshot is at `c` times
        /// the number of clusters plus `r`. 0 if the cell is missing.
        table_cells: Slice<'a, i64> = Slice::EMPTY,
        /// One bit per cell: 1 if the cell is there. A column has as many words as hold one bit per cluster; the bit of
        /// row `r` is bit `r % 64` of its word `r / 64`.
        table_presence: Slice<'a, u64> = Slice::EMPTY,
        /// Texts that cells refer to.
        table_texts: Slice<'a, Text> = Slice::EMPTY,
        /// The string that all texts of the tables are spans of.
        table_pool: Str<'a> = Str::EMPTY,
        /// Placements of the bindings with which this one shares a workload affinity group; null if they are not known.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        placements: Pointer<'a, PlacementsView<'a>> = Pointer::NULL,
        /// Cells of the tables that are declared with several rows per key. In [`Self::table_cells`], a column of such a table
        /// has the cluster's run of these cells: the upper 32 bits are the first, the lower 32 bits the number. All columns of
        /// a table have as many in the same order.
        table_row_cells: Slice<'a, i64> = Slice::EMPTY,
        /// One bit per cell of [`Self::table_row_cells`]: 1 if the cell is there.
        table_row_presence: Slice<'a, u64> = Slice::EMPTY,
        /// Hours of a week that cells refer to.
        table_weekly: Slice<'a, WeeklyRow> = Slice::EMPTY,
        /// Offsets of time zones that hours of a week refer to.
        table_offsets: Slice<'a, OffsetRow> = Slice::EMPTY,
    }
}

carried!(CycleView {
    snapshot,
    flags,
    seed,
    replicas,
    pool,
    names,
    texts,
    affinities,
    expressions,
    placement_affinities,
    tolerations,
    spread_constraints,
    requests,
    replica_requests,
    components,
    last,
    last_rows,
    evictions,
    labels,
    annotations,
    time,
    priority,
    policy_labels,
    policy_annotations,
    workload_labels,
    workload_annotations,
    table_columns,
    table_cells,
    table_presence,
    table_texts,
    table_pool,
    placements,
    table_row_cells,
    table_row_presence,
    table_weekly,
    table_offsets,
});

impl<'a> CycleView<'a> {
    /// The placements of the bindings with which this one shares a group; `None` if they are not known.
    pub fn placements(&self) -> Option<PlacementsView<'a>> {
        // SAFETY: by the contract of the calls, the field is null or the address of a struct that nothing writes to
        // while the view lives.
        unsafe { PlacementsView::read(self.placements.address()) }
    }
}

sized! {
    /// The workload affinity groups of a binding, and where the other bindings in them are placed. Like everything that a
    /// view points to, it lives as long as the call.
    PlacementsView<'a>(PlacementsViewRef, kind::PLACEMENTS) {
        /// The string that the texts of this view are spans of.
        pool: Str<'a> = Str::EMPTY,
        /// Name of the binding's affinity group, `<label key>=<label value>`; empty if it has none.
        affinity_group: Text = Text::EMPTY,
        /// Name of the binding's anti-affinity group; empty if it has none.
        anti_affinity_group: Text = Text::EMPTY,
        /// The other bindings in these groups, by name. All have the namespace of the binding.
        peers: Slice<'a, PeerRow> = Slice::EMPTY,
        /// Clusters of the peers with their replicas.
        targets: Slice<'a, TargetRow> = Slice::EMPTY,
        /// Row of each entry of [`Self::targets`] in the snapshot; [`crate::arena::NO_ROW`] if the cluster is gone.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        target_rows: Slice<'a, u32> = Slice::EMPTY,
    }
}

carried!(PlacementsView {
    pool,
    affinity_group,
    anti_affinity_group,
    peers,
    targets,
    target_rows,
});

sized! {
    /// The preferences and rules of the policy for the plugin that is called. Other plugins do not see them.
    PolicyView<'a>(PolicyViewRef, kind::POLICY) {
        /// Preferences as JSON, in [`CycleView::pool`]; empty if the policy carries none.
        preferences: Text = Text::EMPTY,
        /// Entries of the policy lists that the plugin declares.
        rules: Slice<'a, RuleRow> = Slice::EMPTY,
        /// Values of the rules.
        rule_values: Slice<'a, RuleValueRow> = Slice::EMPTY,
        /// Span of each rule's clusters in [`Self::rule_rows`].
        rule_spans: Slice<'a, Span> = Slice::EMPTY,
        /// Rows of the clusters that each rule matches, ascending within a rule.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        rule_rows: Slice<'a, u32> = Slice::EMPTY,
    }
}

carried!(PolicyView {
    preferences,
    rules,
    rule_values,
    rule_spans,
    rule_rows,
});
