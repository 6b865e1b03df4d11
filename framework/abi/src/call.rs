//! What a call hands over: size-prefixed structs of numbers and borrowed columns.
//!
//! Each struct begins with its own size in bytes. Fields are only ever appended, so a reader copies as many bytes as
//! both sides know and reads the rest as its default: see [`SizePrefixed::read`].

use std::ffi::c_void;

use abi_stable::std_types::{RSlice, RSliceMut, RStr};
use bytemuck::{Pod, Zeroable};

use crate::object::Request;
use crate::text::{Span, Text};

/// A struct that begins with its size and grows at its end alone.
///
/// # Safety
///
/// The type is `repr(C)`, its first field is a `usize` that holds the size of the struct as its maker knows it, and
/// every size that a version of it ever had ends at the end of a field.
pub unsafe trait SizePrefixed: Default {
    /// The struct behind a request, as far as both sides know it; the rest has its default.
    ///
    /// # Safety
    ///
    /// The request was made from this type, in this or another minor version of it, and what it borrows is alive and
    /// borrowed by nobody else.
    unsafe fn read(request: Request<'_>) -> Self {
        let mut known = Self::default();
        // SAFETY: passed on to the caller.
        unsafe { known.overwrite(request.address().cast()) };
        known
    }

    /// The struct at `address`: in place if its maker knew every field that this side knows, else completed in `storage`.
    ///
    /// # Safety
    ///
    /// As for [`Self::read`]; and the struct at `address`, if it is not null, lives as long as `storage` and nobody writes
    /// to it.
    #[inline]
    unsafe fn view(address: *const Self, storage: &mut Option<Self>) -> &Self
    where
        Self: Sized,
    {
        if !address.is_null() {
            // SAFETY: every struct of this kind begins with its size, as the trait demands.
            let size = unsafe { *address.cast::<usize>() };
            if size >= size_of::<Self>() {
                // SAFETY: all bytes of the type are there, and the caller promises the rest.
                return unsafe { &*address };
            }
        }
        let completed = storage.insert(Self::default());
        if !address.is_null() {
            // SAFETY: passed on to the caller.
            unsafe { completed.overwrite(address) };
        }
        completed
    }

    /// Writes what both sides know of the struct at `address` over this one.
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
    /// The division starts from scratch: a reschedule was asked for.
    pub const FRESH: u64 = 1;
    /// The resource has replicas to divide.
    pub const WORKLOAD: u64 = 2;
    /// Somebody asked why: explanations and reasons are wanted.
    pub const EXPLAIN: u64 = 4;
    /// The binding has a namespace.
    pub const NAMESPACED: u64 = 8;
    /// Every candidate gets the full count.
    pub const DUPLICATED: u64 = 16;
    /// Select leaves the spread constraints out of account: the strategy ignores them.
    pub const IGNORE_SPREAD: u64 = 32;
}

/// Kinds of text that a plugin hands to [`CycleView::text`].
pub mod text_kind {
    /// Why a cluster was rejected; the answer is the code to write for it.
    pub const REASON: u32 = 1;
    /// Why a cluster got what it got; the subject is the index in the call's columns.
    pub const EXPLANATION: u32 = 2;
    /// A remark on the whole decision.
    pub const NOTE: u32 = 3;
}

/// The function by which a plugin hands a text to the host during a call: host value, kind, subject, text.
pub type TextFunction = for<'t> extern "C" fn(*const c_void, u32, u32, RStr<'t>) -> u32;

extern "C" fn ignore_text(_: *const c_void, _: u32, _: u32, _: RStr<'_>) -> u32 {
    0
}

/// A toleration.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TolerationRow {
    /// Key; empty: every key.
    pub key: Text,
    /// Value, for `Equal`.
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

/// A spread constraint: one field, at least and at most so many groups.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SpreadConstraintRow {
    /// The label key of a constraint by label; else empty.
    pub label: Text,
    /// A value of [`spread_field`].
    pub field: u32,
    /// Zero.
    pub reserved: u32,
    /// Least number of groups.
    pub minimum_groups: i64,
    /// Largest number of groups; 0 or less: no limit.
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

/// A cluster affinity: what a cluster must satisfy, all of it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct AffinityRow {
    /// The affinity group's name; empty if it has none.
    pub name: Text,
    /// `clusterNames`, in the texts of [`CycleView::texts`]; empty: any.
    pub cluster_names: Span,
    /// `exclude`, in the same texts.
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
    /// The values, in the texts of [`CycleView::texts`].
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
    /// A field that no cluster has: as a label that is never there.
    pub const NOTHING: u32 = 4;
}

/// Values of [`ExpressionRow::operator`].
pub mod expression_operator {
    /// The value is one of the values.
    pub const IN: u32 = 0;
    /// The value is none of the values, or absent.
    pub const NOT_IN: u32 = 1;
    /// The key is present.
    pub const EXISTS: u32 = 2;
    /// The key is absent.
    pub const DOES_NOT_EXIST: u32 = 3;
    /// The value is an integer above the one given.
    pub const GREATER_THAN: u32 = 4;
    /// The value is an integer below the one given.
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
    /// How much: `cpu` in thousandths, everything else in its own unit, rounded up.
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
    /// What one of its replicas requests, in [`CycleView::requests`].
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

/// One entry of the lists by which a policy says what each group of clusters is to get.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RuleRow {
    /// Which clusters, in [`CycleView::affinities`].
    pub target: u32,
    /// Zero.
    pub reserved: u32,
    /// The entry's values, in [`CycleView::rule_values`].
    pub values: Span,
    /// Where it stands in the policy, for messages.
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
    /// UID of the binding, or what stands for it.
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

/// One binding scheduled against one snapshot: what every call of the cycle can see.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CycleView<'a> {
    /// Size of this struct in bytes.
    pub size: usize,
    /// The snapshot: an [`crate::arena::Arena`].
    pub snapshot: RSlice<'a, u64>,
    /// The host's own value for [`Self::text`].
    pub text_context: *const c_void,
    /// Takes reasons and explanations.
    pub text: TextFunction,
    /// Bits of [`flag`].
    pub flags: u64,
    /// Seed of the binding, from the profile's seed and the binding's UID.
    pub seed: u64,
    /// Replicas to divide.
    pub replicas: i64,
    /// The string that all texts below are spans of.
    pub pool: RStr<'a>,
    /// What the binding is called.
    pub names: BindingNames,
    /// Cluster names and selector values.
    pub texts: RSlice<'a, Text>,
    /// Cluster affinities.
    pub affinities: RSlice<'a, AffinityRow>,
    /// Expressions of the affinities' selectors.
    pub expressions: RSlice<'a, ExpressionRow>,
    /// The affinities of the placement, in [`Self::affinities`]: a cluster must satisfy one of them; empty: any cluster.
    pub placement_affinities: Span,
    /// Tolerations.
    pub tolerations: RSlice<'a, TolerationRow>,
    /// Spread constraints that are in force.
    pub spread_constraints: RSlice<'a, SpreadConstraintRow>,
    /// What the replicas request; the first [`Self::replica_requests`] are those of the binding itself.
    pub requests: RSlice<'a, RequestRow>,
    /// What one replica requests, in [`Self::requests`].
    pub replica_requests: Span,
    /// Components.
    pub components: RSlice<'a, ComponentRow>,
    /// The last result, as the binding lists it.
    pub last: RSlice<'a, TargetRow>,
    /// For each entry of [`Self::last`] its row in the snapshot, [`crate::arena::NO_ROW`] if there is none.
    pub last_rows: RSlice<'a, u32>,
    /// Clusters that the binding is being evicted from.
    pub evictions: RSlice<'a, Text>,
    /// Rules of the policy for this strategy.
    pub rules: RSlice<'a, RuleRow>,
    /// Values of the rules.
    pub rule_values: RSlice<'a, RuleValueRow>,
    /// For each rule the span of its clusters in [`Self::rule_rows`].
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
            /// What the plugin prepared: the address of its state.
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
    /// Prepare state for one binding. `prepared` is null.
    PrepareCall {}
}

call! {
    /// Reject clusters.
    FilterCall {
        /// Per cluster of the snapshot: 0 while it is feasible, else a code. The plugin writes codes where it finds 0.
        codes: RSliceMut<'a, u32> = RSliceMut::default(),
        /// The code to write when no reasons are wanted; when they are, [`CycleView::text`] answers with the code.
        code: u32 = 1,
    }
}

call! {
    /// Score the feasible clusters.
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
    /// Pick the candidates.
    SelectCall {
        /// Rows of the feasible clusters, ascending.
        rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per feasible cluster: its total score.
        scores: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: last replicas, [`crate::arena::ABSENT`] if the last result does not list it.
        last: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: replicas that fit now. Empty if nothing asked for the estimate.
        fits_now: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: replicas that fit now plus those that are there. Empty like `fits_now`.
        available: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per feasible cluster: its tier, the best being 0. Empty if there are no tiers.
        tiers: RSlice<'a, u32> = RSlice::EMPTY,
        /// Replicas that the candidates must be able to hold together; negative: availability does not matter.
        needed: i64 = -1,
        /// The candidates, as places in the columns above, to be written from the front. As long as there are feasible
        /// clusters.
        candidates: RSliceMut<'a, u32> = RSliceMut::default(),
        /// How many were written: one element.
        count: RSliceMut<'a, u64> = RSliceMut::default(),
    }
}

call! {
    /// Divide replicas over candidates.
    AssignCall {
        /// Replicas to divide in this call.
        replicas: i64 = 0,
        /// Rows of the candidates of this call, in the order in which Select gave them.
        rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per candidate: its total score.
        scores: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per candidate: last replicas; 0 if the last result does not list it.
        last: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per candidate: replicas that fit now. Empty if the strategy's metadata did not ask for it.
        fits_now: RSlice<'a, i64> = RSlice::EMPTY,
        /// Per candidate: its tier, the best being 0. Empty if there are no tiers.
        tiers: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per candidate: its place in the list of names of the placement's affinity; [`crate::arena::NO_ROW`] if it is
        /// not listed. Empty if the placement lists no names.
        places: RSlice<'a, u32> = RSlice::EMPTY,
        /// Which tier this call divides over, the best being 0.
        tier: u32 = 0,
        /// How many tiers there are; 1 without tiers, or if the strategy walks them itself.
        tier_count: u32 = 1,
        /// Rows of the candidates of all tiers.
        all_rows: RSlice<'a, u32> = RSlice::EMPTY,
        /// Per candidate: its replicas, to be written; 0 on entry.
        result: RSliceMut<'a, i64> = RSliceMut::default(),
    }
}
