//! Filter at the boundary: its descriptor, and the answer to a call of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::call::FilterCall;
use divvy_framework_abi::descriptor::{PointDescriptor, feature};
use divvy_framework_abi::sized::kind;

use super::{FilterContext, FilterPlugin, FilterResult};
use crate::configuration::Preferences;
use crate::export::{
    Arguments, Dispatch, Failed, PreferencesReader, Storage, count_dropped, enter, point, preferences_at,
};
use crate::plugin::{BindingParts, Needs, Promises};

/// The descriptor of Filter for a plugin with these needs and promises, which acts on these parts of a binding.
pub const fn filter_point(needs: Needs, promises: Promises, acts_on: BindingParts) -> PointDescriptor {
    assert!(
        promises.bits() & !(feature::ENFORCES_AFFINITY | feature::ENFORCES_ANTI_AFFINITY | feature::EACH_ALONE) == 0,
        "a filter can promise only that it enforces workload affinity or anti-affinity, and that it judges each cluster alone"
    );
    PointDescriptor {
        acts_on: acts_on.bits(),
        ..point(kind::FILTER, needs.and(promises.bits()))
    }
}

/// The reader at Filter.
pub const fn filter_preferences<T: Preferences + 'static, P: FilterPlugin<T>>() -> PreferencesReader {
    PreferencesReader::for_type::<T>()
}

/// Answers Filter. The rejections are written to the host's column of codes.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn filter<T: Preferences + 'static, P: Dispatch + FilterPlugin<T>>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, kept): (FilterCall<'_>, _, _) =
        unsafe { enter(arguments, <P as FilterPlugin<T>>::NEEDS, &mut storage) }?;
    let preferences = preferences_at::<T, P>(&cycle, &kept)?;
    // SAFETY: the contract lends the column to this call alone, and it is taken once.
    let codes = unsafe { call.codes.as_mut_slice() };
    // SAFETY: as for the codes.
    let cordoned = unsafe { call.cordoned.as_mut_slice() };
    let mut result = FilterResult::new(&cycle, codes, cordoned, call.code);
    let context = FilterContext {
        plugin,
        cycle: &cycle,
        kept,
        preferences: &preferences,
    };
    plugin.filter(&context, &mut result)?;
    count_dropped(arguments.services, result.dropped);
    Ok(())
}
