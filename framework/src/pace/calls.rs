//! Pace at the boundary: its descriptor, and the answer to a call of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::call::PaceCall;

use super::{PaceContext, PacePlugin, PaceResult};
use crate::configuration::Preferences;
use crate::export::{Arguments, Dispatch, Failed, PreferencesReader, Storage, count_dropped, enter, preferences_at};
use crate::prepare::Kept;

/// The reader at Pace.
pub const fn pace_preferences<T: Preferences + 'static, P: PacePlugin<T>>() -> PreferencesReader {
    PreferencesReader::for_type::<T>()
}

/// Answers Pace. The step is written to the host's column, the reason for waiting to the call.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn pace<T: Preferences + 'static, P: Dispatch + PacePlugin<T>>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, _): (PaceCall<'_>, _, _) =
        unsafe { enter(arguments, <P as PacePlugin<T>>::NEEDS, &mut storage) }?;
    let preferences = preferences_at::<T, P>(&cycle, &Kept::default())?;
    let context = PaceContext::new(&cycle, &preferences, call);
    // SAFETY: the contract lends the column to this call alone, and it is taken once.
    let mut result = PaceResult::new(unsafe { call.next.as_mut_slice() });
    plugin.pace(&context, &mut result)?;
    let written = arguments.call.cast::<PaceCall<'_>>();
    // SAFETY: `enter` has read a call of this kind, and the contract lets the plugin write this field.
    unsafe { (*written).wait = result.wait() };
    count_dropped(arguments.services, result.dropped);
    Ok(())
}
