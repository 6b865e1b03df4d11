//! Score at the boundary: its descriptor, and the answer to a call of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::call::ScoreCall;
use divvy_framework_abi::descriptor::{PointDescriptor, feature};
use divvy_framework_abi::sized::kind;

use super::{ScoreContext, ScorePlugin, ScoreResult};
use crate::clusters::Row;
use crate::configuration::Preferences;
use crate::cycle::CallContext;
use crate::export::{
    Arguments, Dispatch, Failed, PreferencesReader, Storage, call_context, count_dropped, enter, point, preferences_at,
};
use crate::plugin::{BindingParts, Needs, Promises};

/// The descriptor of Score for a plugin with these needs and promises, which acts on these parts of a binding.
pub const fn score_point(needs: Needs, promises: Promises, acts_on: BindingParts) -> PointDescriptor {
    assert!(
        promises.bits() & !feature::EACH_ALONE == 0,
        "a score can promise only that it judges each cluster alone"
    );
    PointDescriptor {
        acts_on: acts_on.bits(),
        ..point(kind::SCORE, needs.and(promises.bits()))
    }
}

/// The reader at Score.
pub const fn score_preferences<T: Preferences + 'static, P: ScorePlugin<T>>() -> PreferencesReader {
    PreferencesReader::for_type::<T>()
}

/// Answers Score, normalisation included.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn score<T: Preferences + 'static, P: Dispatch + ScorePlugin<T>>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, kept): (ScoreCall<'_>, _, _) =
        unsafe { enter(arguments, <P as ScorePlugin<T>>::NEEDS, &mut storage) }?;
    let preferences = preferences_at::<T, P>(&cycle, &kept)?;
    let context = ScoreContext {
        call: call_context!(plugin, cycle, kept, call, preferences),
        preferences: &preferences,
    };
    // SAFETY: the contract lends the column to this call alone, and it is taken once.
    let mut result = ScoreResult::new(unsafe { call.result.as_mut_slice() });
    plugin.score(&context, &mut result)?;
    plugin.normalize(&context, &mut result)?;
    count_dropped(arguments.services, result.dropped);
    Ok(())
}
