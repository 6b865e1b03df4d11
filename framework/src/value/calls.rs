//! Values at the boundary: the answers to calls of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::call::{BindingValueCall, SnapshotValueCall};
use divvy_framework_abi::descriptor::PointDescriptor;
use divvy_framework_abi::sized::kind;

use super::{BindingValueContext, BindingValuePlugin, SnapshotValuePlugin, make};
use crate::clusters::Row;
use crate::export::{Arguments, Dispatch, Failed, Storage, enter, keep, kept_at, point};
use crate::plugin::Needs;
use crate::prepare::kept;

/// The descriptor of the point at which `P` makes its value for a snapshot.
pub const fn snapshot_value_point<P: SnapshotValuePlugin>() -> PointDescriptor {
    PointDescriptor {
        reads: P::READS.bits(),
        ..point(kind::SNAPSHOT_VALUE, Needs::NONE)
    }
}

/// Answers the call for the value of a snapshot.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn snapshot_value<P: Dispatch + SnapshotValuePlugin>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, _): (SnapshotValueCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;
    // SAFETY: the host passes null or a value that this function wrote in an earlier call, and does not release it
    // meanwhile.
    let previous = unsafe { kept_at(call.previous) };
    let changed_rows = (call.changes_known == 1).then(|| Row::cast(call.changed_rows.as_slice()));
    let made = make(plugin, cycle, changed_rows, kept(previous))?;
    let (value, release) = keep(arguments.services, made);
    let written = arguments.call.cast::<SnapshotValueCall<'_>>();
    // SAFETY: `enter` has read a call of this kind, and the contract lets the plugin write these two fields.
    unsafe { (*written).value = value };
    // SAFETY: as for the previous field.
    unsafe { (*written).release = release };
    Ok(())
}

/// Answers the call for the value of a binding.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn binding_value<P: Dispatch + BindingValuePlugin>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (_, cycle, _): (BindingValueCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;
    let preferences = P::preferences().read(cycle.policy().preferences_json())?;
    let context = BindingValueContext::new(cycle, preferences.as_deref());
    let (value, release) = keep(arguments.services, plugin.binding_value(&context)?);
    let written = arguments.call.cast::<BindingValueCall<'_>>();
    // SAFETY: `enter` has read a call of this kind, and the contract lets the plugin write these two fields.
    unsafe { (*written).value = value };
    // SAFETY: as for the previous field.
    unsafe { (*written).release = release };
    Ok(())
}
