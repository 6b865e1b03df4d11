//! Select at the boundary: its descriptor, and the answer to a call of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::call::SelectCall;
use divvy_framework_abi::descriptor::{PointDescriptor, feature};
use divvy_framework_abi::sized::kind;

use super::{SelectContext, SelectPlugin, SelectResult};
use crate::clusters::Row;
use crate::configuration::Preferences;
use crate::cycle::CallContext;
use crate::export::{
    Arguments, Dispatch, Failed, PreferencesReader, Storage, call_context, enter, point, preferences_at,
};
use crate::plugin::{Needs, Promises};

/// The descriptor of Select for a plugin with these needs and promises.
pub const fn select_point(needs: Needs, promises: Promises) -> PointDescriptor {
    assert!(
        promises.bits() & !(feature::ENFORCES_SPREAD | feature::EACH_ALONE) == 0,
        "a selector can promise only that it enforces spread constraints, and that it judges each cluster alone"
    );
    point(kind::SELECT, needs.and(promises.bits()))
}

/// The reader at Select.
pub const fn select_preferences<T: Preferences + 'static, P: SelectPlugin<T>>() -> PreferencesReader {
    PreferencesReader::for_type::<T>()
}

/// Answers Select. The count also covers candidates that did not fit the column, so that the host can report them.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn select<T: Preferences + 'static, P: Dispatch + SelectPlugin<T>>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, kept): (SelectCall<'_>, _, _) =
        unsafe { enter(arguments, <P as SelectPlugin<T>>::NEEDS, &mut storage) }?;
    let preferences = preferences_at::<T, P>(&cycle, &kept)?;
    let context = SelectContext {
        call: call_context!(plugin, cycle, kept, call, preferences),
        preferences: &preferences,
        needed: call.needed,
    };
    // SAFETY: the contract lends the column to this call alone, and it is taken once.
    let mut result = SelectResult::new(unsafe { call.candidates.as_mut_slice() });
    plugin.select(&context, &mut result)?;
    let written = arguments.call.cast::<SelectCall<'_>>();
    // SAFETY: `enter` has read a call of this kind, and the contract lets the plugin write this field.
    unsafe { (*written).count = result.written() };
    Ok(())
}
