//! The calls that a constructed plugin answers.
//!
//! All calls go to one function, [`CallFunction`], which dispatches by [`CallHead::kind`]. A kind that the plugin does
//! not know or does not serve is answered with [`crate::service::failure::NOT_SERVED`].
//!
//! # Contract
//!
//! - Calls may come from any thread, and several at the same time.
//! - Everything that a call points to lives until the call returns, and no longer. The host does not write to it
//!   meanwhile.
//! - Texts and failures are passed to the host from the calling thread only, and before the call returns.
//! - The plugin writes only to columns and fields that are documented as written by it. It writes within their length.
//! - A call without prepared state ([`CallHead::prepared`] is null) is complete: the plugin prepares within the call. The
//!   same is true of the values for the snapshot and the binding.

use std::ffi::c_void;

use crate::carry::carried;
use crate::column::{Address, Function, Pointer, Slice, SliceMut};
use crate::definition::{numbers, structure};
use crate::signature::function;
use crate::sized::{kind, sized};
use crate::view::{CycleView, PolicyView};

function! {
    /// The function that answers a plugin's calls. Its arguments: the instance that was constructed, and the call. It
    /// returns 0, or a code of [`crate::service::failure`].
    CallFunction<'a>(instance: *const c_void, call: *mut CallHead<'a>) -> u32
}

function! {
    /// The function that drops what a plugin prepared or keeps.
    ReleaseFunction(state: *mut c_void)
}

macro_rules! call {
    (
        $(#[doc = $doc:literal])*
        $name:ident ($reference:ident, $kind:expr) {
            $($fields:tt)*
        }
    ) => {
        sized! {
            $(#[doc = $doc])*
            $name<'a>($reference, $kind) {
                /// The cycle.
                cycle: Pointer<'a, CycleView<'a>> = Pointer::NULL,
                /// Preferences and rules of the policy for this plugin; null if there are none.
                policy: Pointer<'a, PolicyView<'a>> = Pointer::NULL,
                /// The host's own value for [`crate::service::Services::text`] and [`crate::service::Services::fail`].
                sink: Address = Address::NULL,
                /// State that the plugin prepared for this cycle; null if it prepared none.
                prepared: Address = Address::NULL,
                /// The value that the plugin keeps for this snapshot; null if it keeps none.
                snapshot_value: Address = Address::NULL,
                /// The value that the plugin keeps for this binding; null if it keeps none.
                binding_value: Address = Address::NULL,
                /// Time until which the answer holds, in milliseconds since 1970, written by the plugin; `i64::MAX` if the
                /// passing of time does not change it. The host ignores it in calls for values.
                valid_until: i64 = i64::MAX,
                $($fields)*
            }
        }

        carried_call!($name { $($fields)* });

        // SAFETY: after size and kind, the macro gives the struct the fields of `CallHead`, in the same order.
        unsafe impl Call for $name<'_> {}
    };
}

/// Carries the fields of every call, and these.
macro_rules! carried_call {
    ($name:ident { $($(#[$attribute:meta])* $field:ident : $type:ty = $default:expr,)* }) => {
        carried!($name {
            cycle, policy, sink, prepared, snapshot_value, binding_value, valid_until, $($field),*
        });
    };
}

structure! {
    /// The beginning of every call. It never changes.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct CallHead<'a> {
        /// Size of the call in bytes, as the host knows it.
        pub size: u32,
        /// Kind of the call: a value of [`kind`].
        pub kind: u32,
        /// The cycle.
        pub cycle: Pointer<'a, CycleView<'a>>,
        /// Preferences and rules of the policy for this plugin; null if there are none.
        pub policy: Pointer<'a, PolicyView<'a>>,
        /// The host's own value for [`crate::service::Services::text`] and [`crate::service::Services::fail`].
        pub sink: Address,
        /// State that the plugin prepared for this cycle; null if it prepared none.
        pub prepared: Address,
        /// The value that the plugin keeps for this snapshot; null if it keeps none.
        pub snapshot_value: Address,
        /// The value that the plugin keeps for this binding; null if it keeps none.
        pub binding_value: Address,
        /// Time until which the answer holds, in milliseconds since 1970, written by the plugin; `i64::MAX` if the passing of
        /// time does not change it. The host ignores it in calls for values.
        pub valid_until: i64,
    }
}

/// A struct that begins with the fields of [`CallHead`].
///
/// # Safety
///
/// The type begins with the fields of [`CallHead`], in the same order.
pub unsafe trait Call: crate::sized::SizePrefixed {}

call! {
    /// Prepares state for several calls of one kind in one cycle. Only plugins that declare this kind get it, and only
    /// before a call that is repeated, such as Assign over tiers. The host drops the state before the cycle ends. Experimental: a
    /// minor version may stop making this call.
    PrepareCall(PrepareCallRef, kind::PREPARE) {
        /// The kind of the calls that the state is for.
        point: u32 = 0,
        /// Zero.
        reserved: u32 = 0,
        /// The state, written by the plugin. The host passes it as [`CallHead::prepared`].
        state: Address = Address::NULL,
        /// The function that drops the state, written by the plugin; null if nothing is to be dropped.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        release: Function<ReleaseFunction> = Function::NULL,
    }
}

call! {
    /// Makes the value that a plugin keeps for a snapshot, before the first call that reads the snapshot. The host does
    /// not make the call if no column has changed that [`crate::descriptor::PointDescriptor::reads`] names. Only
    /// plugins that declare this kind get it. The cycle has the snapshot and the plugin's tables, but nothing of a
    /// binding. The host drops the value when it has the next one, or when the instance is dropped.
    SnapshotValueCall(SnapshotValueCallRef, kind::SNAPSHOT_VALUE) {
        /// The value for an earlier snapshot; null if there is none. It stays valid during the call.
        previous: Address = Address::NULL,
        /// Rows whose clusters have changed since the earlier snapshot, ascending and without duplicates, if
        /// `changes_known` is 1.
        changed_rows: Slice<'a, u32> = Slice::EMPTY,
        /// 1 if both snapshots have the same clusters in the same rows, the texts of the earlier one keep their symbols, the
        /// tables are the same, and `changed_rows` lists what changed; 0 if anything may have changed.
        changes_known: u32 = 0,
        /// Zero.
        reserved: u32 = 0,
        /// The value, written by the plugin. The host passes it as [`CallHead::snapshot_value`].
        value: Address = Address::NULL,
        /// The function that drops the value, written by the plugin; null if nothing is to be dropped.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        release: Function<ReleaseFunction> = Function::NULL,
    }
}

call! {
    /// Makes the value that a plugin keeps for a binding, once per plan of it. Only plugins that declare this kind get
    /// it. The cycle has only the binding: the snapshot is empty, and there are no rows. The host drops the value with
    /// the plan.
    BindingValueCall(BindingValueCallRef, kind::BINDING_VALUE) {
        /// The value, written by the plugin. The host passes it as [`CallHead::binding_value`].
        value: Address = Address::NULL,
        /// The function that drops the value, written by the plugin; null if nothing is to be dropped.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        release: Function<ReleaseFunction> = Function::NULL,
    }
}

call! {
    /// Rejects clusters.
    FilterCall(FilterCallRef, kind::FILTER) {
        /// Per cluster of the snapshot: 0 while it is feasible, otherwise a code. The plugin writes codes where it
        /// finds 0, and nothing elsewhere.
        codes: SliceMut<'a, u32> = SliceMut::EMPTY,
        /// The code to write if no explanation was requested; otherwise [`crate::service::Services::text`] answers
        /// with the code.
        code: u32 = 1,
        /// Zero.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        reserved: u32 = 0,
        /// Per cluster of the snapshot: 1 if it takes no further replicas of the binding and keeps those of the last result,
        /// written by the plugin where `codes` has 0; 0 on entry. Empty unless the plugin needs
        /// [`crate::descriptor::feature::CORDONS`]. A cluster that the last result does not list is rejected instead.
        cordoned: SliceMut<'a, u32> = SliceMut::EMPTY,
    }
}

macro_rules! call_over_clusters {
    (
        $(#[doc = $doc:literal])*
        $name:ident ($reference:ident, $kind:expr) {
            $($fields:tt)*
        }
    ) => {
        call! {
            $(#[doc = $doc])*
            $name($reference, $kind) {
                /// Rows of the clusters of the call: for Score the feasible ones, ascending; for Select the same, or what
                /// the selector before chose, in its order; for Assign the candidates, in the order of the last selector.
                /// The columns below have one element per row of this column.
                rows: Slice<'a, u32> = Slice::EMPTY,
                /// Total scores so far.
                scores: Slice<'a, i64> = Slice::EMPTY,
                /// Replicas in the last result; 0 if it does not list the cluster.
                last: Slice<'a, i64> = Slice::EMPTY,
                /// Index in [`CycleView::last`]; [`crate::arena::NO_ROW`] if it does not list the cluster. Empty if
                /// the last result lists no feasible cluster.
                last_index: Slice<'a, u32> = Slice::EMPTY,
                /// Replicas that fit now, beyond those of the last result.
                fits_now: Slice<'a, i64> = Slice::EMPTY,
                /// Maximum number of replicas for the cluster; never more than `fits_now` plus `last`.
                capacity: Slice<'a, i64> = Slice::EMPTY,
                /// Tier of each cluster, 0 being the best. Empty without tiers.
                tiers: Slice<'a, u32> = Slice::EMPTY,
                $($fields)*
            }
        }
    };
}

call_over_clusters! {
    /// Scores the feasible clusters, from 0 to 100 after normalisation.
    ScoreCall(ScoreCallRef, kind::SCORE) {
        /// Per feasible cluster: its score, written by the plugin; 0 on entry.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        result: SliceMut<'a, i64> = SliceMut::EMPTY,
    }
}

call_over_clusters! {
    /// Picks the candidates.
    SelectCall(SelectCallRef, kind::SELECT) {
        /// Replicas that the candidates together must have room for; negative if room does not matter.
        needed: i64 = -1,
        /// The candidates, as indices into the columns above, written by the plugin from the front. Its length is the
        /// number of rows.
        candidates: SliceMut<'a, u32> = SliceMut::EMPTY,
        /// The number of candidates, written by the plugin.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        count: u64 = 0,
    }
}

call_over_clusters! {
    /// Divides the replicas over the candidates.
    AssignCall(AssignCallRef, kind::ASSIGN) {
        /// Replicas to divide in this call.
        replicas: i64 = 0,
        /// The tier that this call divides over, 0 being the best.
        tier: u32 = 0,
        /// Number of tiers; 1 without tiers, or if the strategy walks them itself.
        tier_count: u32 = 1,
        /// Index in the cluster names of the placement's affinities; [`crate::arena::NO_ROW`] if the cluster is not
        /// listed. Empty if the placement lists no names.
        policy_index: Slice<'a, u32> = Slice::EMPTY,
        /// Rows of the candidates of all tiers.
        all_rows: Slice<'a, u32> = Slice::EMPTY,
        /// Per candidate: its replicas, written by the plugin; 0 on entry.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        result: SliceMut<'a, i64> = SliceMut::EMPTY,
        /// A promise about `result`, written by the plugin, as are the next four: replicas on at least this many candidates, or on
        /// as many as there are replicas, if these are fewer; 0 without a promise. The host checks each result against the
        /// promises that come with it, and a broken one is an error of the plugin. Since ABI 1.1.
        least_clusters: u32 = 0,
        /// Replicas on at most this many candidates; `u32::MAX` without a promise. Since ABI 1.1.
        most_clusters: u32 = u32::MAX,
        /// Replicas on at most this many candidates of each provider; `u32::MAX` without a promise. Clusters without a provider
        /// are not counted. Since ABI 1.1.
        most_per_provider: u32 = u32::MAX,
        /// The same for regions. Since ABI 1.1.
        most_per_region: u32 = u32::MAX,
        /// The same for zones; a cluster with several counts in each of them. Since ABI 1.1.
        most_per_zone: u32 = u32::MAX,
        /// Zero. Since ABI 1.1.
        reserved: u32 = 0,
    }
}

numbers! {
    /// Reasons for which a pace takes no step: values of [`PaceCall::wait`]. A host that does not know a value
    /// treats it as [`wait::OTHER`]. Since ABI 1.1.
    pub mod wait as "DIVVY_WAIT_" {
        /// It does not wait.
        pub const NONE: u32 = 0;
        /// For replicas to become ready.
        pub const READINESS: u32 = 1;
        /// For replicas that no result gives any more to be gone.
        pub const REMOVAL: u32 = 2;
        /// For room in the clusters that are to get replicas.
        pub const ROOM: u32 = 3;
        /// A further cluster would exceed the greatest number of clusters.
        pub const CLUSTERS: u32 = 4;
        /// The allowances permit no step.
        pub const ALLOWANCE: u32 = 5;
        /// Something else, which the plugin explains by a text.
        pub const OTHER: u32 = 6;
    }
}

call! {
    /// Says the next step of a move: the result that a binding gets on its way from its result to the target. Since ABI 1.1.
    ///
    /// The clusters of the call are those of the present result, of the target, and all in which replicas of the binding are
    /// still there. The columns have one element per cluster. In `cycle`, the last result is the present one, and the number of replicas
    /// is `total`.
    PaceCall(PaceCallRef, kind::PACE) {
        /// Row of each cluster in the snapshot; [`crate::arena::NO_ROW`] if the cluster is gone.
        rows: Slice<'a, u32> = Slice::EMPTY,
        /// Replicas that the present result gives.
        current: Slice<'a, i64> = Slice::EMPTY,
        /// Replicas that are there; more than `current` while replicas are being removed, fewer while they are being created.
        present: Slice<'a, i64> = Slice::EMPTY,
        /// Replicas that are known to be ready: a lower bound, never more than `present`.
        ready: Slice<'a, i64> = Slice::EMPTY,
        /// Replicas in the target.
        target: Slice<'a, i64> = Slice::EMPTY,
        /// Further replicas that fit, beyond `current`; `i64::MAX` if room does not limit them.
        room: Slice<'a, i64> = Slice::EMPTY,
        /// Replicas that the binding asks for.
        total: i64 = 0,
        /// Replicas that a result may have beyond `total`.
        max_surge: i64 = 0,
        /// Replicas by which the ready ones may fall below `total`.
        max_unavailable: i64 = 0,
        /// The greatest number of clusters that a result may have; 0 without a limit.
        max_clusters: u32 = 0,
        /// Why the plugin takes no step, written by it: a value of [`wait`]; 0 on entry.
        wait: u32 = 0,
        /// Per cluster: its replicas in the next result, written by the plugin; `current` on entry.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        next: SliceMut<'a, i64> = SliceMut::EMPTY,
    }
}
