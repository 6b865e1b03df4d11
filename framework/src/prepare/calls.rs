//! Prepare at the boundary: the answer to a call of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::call::PrepareCall;
use divvy_framework_abi::sized::kind;

use super::{PrepareContext, PreparePlugin};
use crate::export::{Arguments, Dispatch, Failed, Storage, enter, keep};

/// Answers Prepare.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn prepare<P: Dispatch + PreparePlugin>(plugin: &P, arguments: Arguments<'_>) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, _): (PrepareCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;
    let preferences = match call.point {
        kind::ASSIGN => P::preferences().read(cycle.policy().preferences_json())?,
        _ => None,
    };
    let state = plugin.prepare(&PrepareContext::new(cycle, preferences.as_deref()))?;
    let (state, release) = keep(arguments.services, state);
    let written = arguments.call.cast::<PrepareCall<'_>>();
    // SAFETY: `enter` has read a call of this kind, and the contract lets the plugin write these two fields.
    unsafe { (*written).state = state };
    // SAFETY: as for the previous field.
    unsafe { (*written).release = release };
    Ok(())
}
