//! The certificate: the layouts of all types that cross the boundary, for a check when a library is loaded.
//!
//! A library works without a certificate, and no call uses it. With one, the host sees that both sides were built from
//! the same definitions before it runs any of the plugin's code: a swapped field, which no version announces, is then an
//! error message instead of undefined behaviour. This is all that `abi_stable` does here.
//!
//! The check compares names, order, types and sizes of fields. Structs that can grow are compared as far as both sides
//! know them. A function is compared by the types of its arguments and its result, a pointer by the struct that it points
//! to; see [`crate::signature`].
//!
//! Columns of the arena and the meaning of numbers are not part of a certificate: the golden test has them.

use abi_stable::StableAbi;
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModule, RootModuleError, RootModuleResult};
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::RResult;

use crate::call::{
    AssignCallRef, BindingValueCallRef, FilterCallRef, PaceCallRef, PrepareCallRef, ScoreCallRef, SelectCallRef,
    SnapshotValueCallRef,
};
use crate::descriptor::{DescriptorRef, LibraryRef, PointDescriptorRef, StrategyDescriptorRef};
use crate::reason::ReasonRef;
use crate::service::{ConstructCallRef, DescribeCallRef, FailureRef, ServicesRef};
use crate::view::{CycleViewRef, PlacementsViewRef, PolicyViewRef};

/// The types that a certificate covers. It has no value: only its layout is used.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = CertificateRef)))]
#[sabi(missing_field(option))]
pub struct Certificate {
    /// Exports of a library.
    pub library: LibraryRef,
    /// A plugin.
    pub descriptor: DescriptorRef,
    /// An extension point.
    pub point: PointDescriptorRef,
    /// A strategy.
    pub strategy: StrategyDescriptorRef,
    /// Construction.
    pub construct: ConstructCallRef<'static>,
    /// Documents.
    pub describe: DescribeCallRef<'static>,
    /// Services of the host.
    pub services: ServicesRef,
    /// Failures.
    pub failure: FailureRef<'static>,
    /// The view of a cycle.
    pub cycle: CycleViewRef<'static>,
    /// The view of a policy.
    pub policy: PolicyViewRef<'static>,
    /// Prepare.
    pub prepare: PrepareCallRef<'static>,
    /// Filter.
    pub filter: FilterCallRef<'static>,
    /// Score.
    pub score: ScoreCallRef<'static>,
    /// Select.
    pub select: SelectCallRef<'static>,
    /// Assign.
    pub assign: AssignCallRef<'static>,
    /// The value for a snapshot.
    pub snapshot_value: SnapshotValueCallRef<'static>,
    /// The value for a binding.
    pub binding_value: BindingValueCallRef<'static>,
    /// Reasons.
    pub reason: ReasonRef<'static>,
    /// The view of the placements of other bindings.
    #[sabi(last_prefix_field)]
    pub placements: PlacementsViewRef<'static>,
    /// Pace.
    pub pace: PaceCallRef<'static>,
}

// SAFETY: `no_value` never returns a value of this type, and nothing else makes one, so none crosses a thread.
unsafe impl Send for Certificate_Prefix {}
// SAFETY: no value of this type is ever made, so none is shared between threads.
unsafe impl Sync for Certificate_Prefix {}

impl RootModule for CertificateRef {
    abi_stable::declare_root_module_statics! {CertificateRef}
    const BASE_NAME: &'static str = "divvy_plugin";
    const NAME: &'static str = "divvy plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// The certificate of this ABI, for the SDK's export macro.
pub const fn certificate() -> LibHeader {
    /// A certificate has no value to construct.
    extern "C" fn no_value() -> RootModuleResult {
        RResult::RErr(RootModuleError::Unwound)
    }
    // SAFETY: the constructor never returns a module.
    unsafe { LibHeader::from_constructor::<CertificateRef>(no_value, CheckTypeLayout::Yes) }
}

pub use abi_stable::library::LibHeader as LibraryHeader;
