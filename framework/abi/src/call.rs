//! The payloads of calls: size-prefixed structs of numbers and borrowed columns.
//!
//! Each struct begins with its own size in bytes. Fields are only ever appended, so a reader copies as many bytes as
//! both sides know and uses the defaults for the rest: see [`SizePrefixed::read`].

use std::ffi::c_void;

use abi_stable::std_types::{RSlice, RSliceMut, RStr};
use bytemuck::{Pod, Zeroable};

use crate::object::Request;
use crate::text::{Span, Text};

/// A struct that begins with its size and grows only at its end.
///
/// # Safety
///
/// The type is `repr(C)`, its first field is a `usize` with the size of the struct as its creator knows it, and every
/// size that the struct had in any version ends at the end of a field.
pub unsafe trait SizePrefixed: Default {
    /// The struct behind a request: the fields that both sides know, and defaults for the rest.
    ///
    /// # Safety
    ///
    /// The request was made from this type, in this or another minor version of it. Everything that the struct borrows
    /// is alive, and nothing else borrows it.
    unsafe fn read(request: Request<'_>) -> Self {
        let mut known = Self::default();
        // SAFETY: the caller upholds the contract.
        unsafe { known.overwrite(request.address().cast()) };
        known
    }

    /// The struct at `address`: in place if its creator knew every field that this side knows, otherwise a copy in
    /// `storage` with defaults for the missing fields.
    ///
    /// # Safety
    ///
    /// As for [`Self::read`]. In addition, the struct at `address`, if it is not null, lives as long as `storage`, and
    /// nothing writes to it during that time.
    #[inline]
    unsafe fn view(address: *const Self, storage: &mut Option<Self>) -> &Self
    where
        Self: Sized,
    {
        if !address.is_null() {
            // SAFETY: every struct of this kind begins with its size, as the trait demands.
            let size = unsafe { *address.cast::<usize>() };
            if size >= size_of::<Self>() {
                // SAFETY: all bytes of the type are there, and the caller guarantees the rest.
                return unsafe { &*address };
            }
        }
        let completed = storage.insert(Self::default());
        if !address.is_null() {
            // SAFETY: the caller upholds the contract.
            unsafe { completed.overwrite(address) };
        }
        completed
    }

    /// Overwrites the fields of this struct that the struct at `address` also has.
    ///
    /// # Safety
    ///
    /// As for [`Self::read`].
    unsafe fn overwrite(&mut self, address: *const Self) {
        // SAFETY: every struct of this kind begins with its size, as the trait demands.
        let size = unsafe { *address.cast::<usize>() };
        let bytes = size.min(size_of::<Self>());
        // SAFETY: `bytes` bytes are readable there and writable here, and end at the end of a field on both sides.
        unsafe {
            std::ptr::copy_nonoverlapping(address.cast::<u8>(), std::ptr::from_mut(self).cast::<u8>(), bytes);
        }
    }
}

macro_rules! size_prefixed {
    ($($name:ident $(<$lifetime:lifetime>)?),+ $(,)?) => {$(
        // SAFETY: `repr(C)`, begins with `size`, and grows only by whole fields.
        unsafe impl$(<$lifetime>)? SizePrefixed for $name$(<$lifetime>)? {}
    )+};
}

size_prefixed!(
    CycleView<'a>,
    PrepareCall<'a>,
    FilterCall<'a>,
    ScoreCall<'a>,
    SelectCall<'a>,
    AssignCall<'a>,
);

/// Bits of [`CycleView::flags`].
pub mod flag {
    /// The division starts from scratch: a reschedule was requested.
    pub const FRESH: u64 = 1;
    /// The resource has replicas to divide.
    pub const WORKLOAD: u64 = 2;
    /// An explanation was requested: plugins hand over explanations and reasons.
    pub const EXPLAIN: u64 = 4;
    /// The binding has a namespace.
    pub const NAMESPACED: u64 = 8;
    /// Every candidate gets the full count.
    pub const DUPLICATED: u64 = 16;
    /// Select ignores the spread constraints, because the strategy does.
    pub const IGNORE_SPREAD: u64 = 32;
}

/// Kinds of text that a plugin hands to [`CycleView::text`].
pub mod text_kind {
    /// The reason for rejecting a cluster; the answer is the code to write for the cluster.
    pub const REASON: u32 = 1;
    /// An explanation of a cluster's count; the subject is the cluster's index in the call's columns.
    pub const EXPLANATION: u32 = 2;
    /// A remark on the whole decision.
    pub const NOTE: u32 = 3;
}

/// The function that hands a text to the host during a call. Its arguments: host value, kind, subject, text.
pub type TextFunction = for<'t> extern "C" fn(*const c_void, u32, u32, RStr<'t>) -> u32;

extern "C" fn ignore_text(_: *const c_void, _: u32, _: u32, _: RStr<'_>) -> u32 {
    0
}

/// A toleration.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
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

/// Values of [`TolerationRow::operator`].
pub mod toleration_operator {
    /// Key and value are equal.
    pub const EQUAL: u32 = 0;
    /// The key is there.
    pub const EXISTS: u32 = 1;
    /// Any other operator, which matches nothing.
    pub const UNKNOWN: u32 = 2;
}

/// A spread constraint: a field to group clusters by, and the allowed numbers of groups.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
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

/// Values of [`SpreadConstraintRow::field`].
pub mod spread_field {
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
}

/// A cluster affinity. A cluster matches if it satisfies all conditions.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct AffinityRow {
    /// The affinity group's name; empty if it has none.
    pub name: Text,
    /// `clusterNames`, in [`CycleView::texts`]; empty to match every name.
    pub cluster_names: Span,
    /// `exclude`, in [`CycleView::texts`].
    pub exclude: Span,
    /// Label and field expressions, in [`CycleView::expressions`].
    pub expressions: Span,
}

/// One expression of a selector.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ExpressionRow {
    /// The label's key; empty for a field.
    pub key: Text,
    /// The values, in [`CycleView::texts`].
    pub values: Span,
    /// A value of [`expression_source`].
    pub source: u32,
    /// A value of [`expression_operator`].
    pub operator: u32,
}

/// Values of [`ExpressionRow::source`].
pub mod expression_source {
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

/// Values of [`ExpressionRow::operator`].
pub mod expression_operator {
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

/// A quantity of a resource that one replica requests.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RequestRow {
    /// The resource's name.
    pub resource: Text,
    /// Quantity, rounded up: `cpu` in thousandths, everything else in its own unit.
    pub quantity: i64,
}

/// One pod template of a workload that has several.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ComponentRow {
    /// Its name.
    pub name: Text,
    /// Its replicas.
    pub replicas: i64,
    /// Requests of one of its replicas, in [`CycleView::requests`].
    pub requests: Span,
}

/// A cluster of the last result.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TargetRow {
    /// The cluster's name.
    pub cluster: Text,
    /// Its replicas.
    pub replicas: i64,
}

/// A pair of texts: a label or an annotation.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PairRow {
    /// Key.
    pub key: Text,
    /// Value.
    pub value: Text,
}

/// One entry of the policy lists that a strategy reads: numbers for a group of clusters.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RuleRow {
    /// The clusters that the entry is for: an index into [`CycleView::affinities`].
    pub target: u32,
    /// Zero.
    pub reserved: u32,
    /// The entry's values, in [`CycleView::rule_values`].
    pub values: Span,
    /// The entry's path in the policy, for messages.
    pub origin: Text,
}

/// A named number of a rule.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RuleValueRow {
    /// The field's name, such as `weight`.
    pub field: Text,
    /// Its value.
    pub value: i64,
}

/// The texts that name a binding and its resource.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
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
    /// Preferences as JSON; empty if the policy carried none.
    pub preferences: Text,
}

impl Default for BindingNames {
    fn default() -> Self {
        Self {
            name: Text::EMPTY,
            namespace: Text::EMPTY,
            uid: Text::EMPTY,
            resource_api_version: Text::EMPTY,
            resource_kind: Text::EMPTY,
            resource_namespace: Text::EMPTY,
            resource_name: Text::EMPTY,
            resource_uid: Text::EMPTY,
            strategy: Text::EMPTY,
            preferences: Text::EMPTY,
        }
    }
}

/// One attempt to schedule one binding against one snapshot, visible to every call of the cycle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CycleView<'a> {
    /// Size of this struct in bytes.
    pub size: usize,
    /// The snapshot: an [`crate::arena::Arena`].
    pub snapshot: RSlice<'a, u64>,
    /// The host's own value for [`Self::text`].
    pub text_context: *const c_void,
    /// Receives reasons and explanations.
    pub text: TextFunction,
    /// Bits of [`flag`].
    pub flags: u64,
    /// Seed of the binding, from the profile's seed and the binding's UID.
    pub seed: u64,
    /// Replicas to divide.
    pub replicas: i64,
    /// The string that all texts below are spans of.
    pub pool: RStr<'a>,
    /// Names of the binding and its resource.
    pub names: BindingNames,
    /// Cluster names and selector values.
    pub texts: RSlice<'a, Text>,
    /// Cluster affinities.
    pub affinities: RSlice<'a, AffinityRow>,
    /// Expressions of the affinities' selectors.
    pub expressions: RSlice<'a, ExpressionRow>,
    /// The affinities of the placement, in [`Self::affinities`]. A cluster must match one of them; without any, every
    /// cluster matches.
    pub placement_affinities: Span,
    /// Tolerations.
    pub tolerations: RSlice<'a, TolerationRow>,
    /// Spread constraints that are in force.
    pub spread_constraints: RSlice<'a, SpreadConstraintRow>,
    /// Requests of the binding's replicas ([`Self::replica_requests`]) and of its components.
    pub requests: RSlice<'a, RequestRow>,
    /// Requests of one replica, in [`Self::requests`].
    pub replica_requests: Span,
    /// Components.
    pub components: RSlice<'a, ComponentRow>,
    /// The last result, as the binding lists it.
    pub last: RSlice<'a, TargetRow>,
    /// Row of each entry of [`Self::last`] in the snapshot; [`crate::arena::NO_ROW`] if the cluster is gone.
    pub last_rows: RSlice<'a, u32>,
    /// Clusters that the binding is being evicted from.
    pub evictions: RSlice<'a, Text>,
    /// Rules of the policy for this strategy.
    pub rules: RSlice<'a, RuleRow>,
    /// Values of the rules.
    pub rule_values: RSlice<'a, RuleValueRow>,
    /// Span of each rule's clusters in [`Self::rule_rows`].
    pub rule_spans: RSlice<'a, Span>,
    /// Rows of the clusters that each rule matches, ascending within a rule.
    pub rule_rows: RSlice<'a, u32>,
    /// Labels of the binding.
    pub labels: RSlice<'a, PairRow>,
    /// Annotations of the binding.
    pub annotations: RSlice<'a, PairRow>,
}

impl Default for CycleView<'_> {
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            snapshot: RSlice::EMPTY,
            text_context: std::ptr::null(),
            text: ignore_text,
            flags: 0,
            seed: 0,
            replicas: 0,
            pool: RStr::empty(),
            names: BindingNames::default(),
            texts: RSlice::EMPTY,
            affinities: RSlice::EMPTY,
            expressions: RSlice::EMPTY,
            placement_affinities: Span::default(),
            tolerations: RSlice::EMPTY,
            spread_constraints: RSlice::EMPTY,
            requests: RSlice::EMPTY,
            replica_requests: Span::default(),
            components: RSlice::EMPTY,
            last: RSlice::EMPTY,
            last_rows: RSlice::EMPTY,
            evictions: RSlice::EMPTY,
            rules: RSlice::EMPTY,
            rule_values: RSlice::EMPTY,
            rule_spans: RSlice::EMPTY,
            rule_rows: RSlice::EMPTY,
            labels: RSlice::EMPTY,
            annotations: RSlice::EMPTY,
        }
    }
}

macro_rules! call {
    (
        $(#[$struct_attribute:meta])*
        $name:ident {
            $($(#[$field_attribute:meta])* $field:ident : $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$struct_attribute])*
        #[repr(C)]
        pub struct $name<'a> {
            /// Size of this struct in bytes.
            pub size: usize,
            /// The cycle: a [`CycleView`].
            pub cycle: *const CycleView<'a>,
            /// The address of the state that the plugin prepared.
            pub prepared: *const c_void,
            $($(#[$field_attribute])* pub $field: $type,)*
        }

        impl Default for $name<'_> {
            fn default() -> Self {
                Self {
                    size: size_of::<Self>(),
                    cycle: std::ptr::null(),
                    prepared: std::ptr::null(),
                    $($field: $default,)*
                }
            }
        }
    };
}

call! {
    /// Payload of Prepare. `prepared` is null.
    PrepareCall {}
}

call! {
    /// Payload of Filter.
    FilterCall {
        /// Per cluster of the snapshot: 0 while it is feasible, otherwise a code. The plugin writes codes where it
        /// finds 0.
        codes: RSliceMut<'a, u32> = RSliceMut::default(),
        /// The code to write if no explanation was requested; otherwise [`CycleView::text`] answers with the code.
        code: u32 = 1,
    }
}

call! {
    /// Payload of Score.
    ScoreCall {
        /// Rows of the feasible clusters, ascending.
        rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per feasible cluster: its last replicas, [`crate::arena::ABSENT`] if the last result does not list it.
        last: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: its score, to be written; 0 on entry.
        scores: RSliceMut<'a, i64> = RSliceMut::default(),
    }
}

call! {
    /// Payload of Select.
    SelectCall {
        /// Rows of the feasible clusters, ascending.
        rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per feasible cluster: its total score.
        scores: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: last replicas, [`crate::arena::ABSENT`] if the last result does not list it.
        last: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: replicas that fit now. Empty if no estimate was made.
        fits_now: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: replicas that fit now plus those that are there. Empty like `fits_now`.
        available: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: its tier, the best being 0. Empty if there are no tiers.
        tiers: RSlice<'a, u32> = RSlice::EMPTY,
        /// Replicas that the candidates together must have room for; negative if room does not matter.
        needed: i64 = -1,
        /// The candidates, as indices into the columns above, to be written from the front. Its length is the number of
        /// feasible clusters.
        candidates: RSliceMut<'a, u32> = RSliceMut::default(),
        /// One element: the number of candidates.
        count: RSliceMut<'a, u64> = RSliceMut::default(),
    }
}

call! {
    /// Payload of Assign.
    AssignCall {
        /// Replicas to divide in this call.
        replicas: i64 = 0,
        /// Rows of the candidates of this call, in the order in which Select gave them.
        rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per candidate: its total score.
        scores: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per candidate: last replicas; 0 if the last result does not list it.
        last: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per candidate: replicas that fit now. Empty if no estimate was made.
        fits_now: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per candidate: its tier, the best being 0. Empty if there are no tiers.
        tiers: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per candidate: its index in the cluster names of the placement's affinity; [`crate::arena::NO_ROW`] if it is
        /// not listed. Empty if the placement lists no names.
        places: RSlice<'a, u32> = RSlice::EMPTY,
        /// The tier that this call divides over, 0 being the best.
        tier: u32 = 0,
        /// Number of tiers; 1 without tiers, or if the strategy walks them itself.
        tier_count: u32 = 1,
        /// Rows of the candidates of all tiers.
        all_rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per candidate: its replicas, to be written; 0 on entry.
        result: RSliceMut<'a, i64> = RSliceMut::default(),
    }
}
