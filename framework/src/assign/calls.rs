//! Assign at the boundary: its descriptor, and the answer to a call of the host. For [`export_plugin!`](crate::export_plugin).

use divvy_framework_abi::PluginText;
use divvy_framework_abi::call::AssignCall;
use divvy_framework_abi::descriptor::{StrategyDescriptor, feature, limit};

use super::{AssignContext, AssignPlugin, AssignResult};
use crate::clusters::Row;
use crate::configuration::Preferences;
use crate::cycle::CallContext;
use crate::export::{
    Arguments, Dispatch, Failed, PreferencesReader, Storage, call_context, count_dropped, enter, preferences_at,
};
use crate::plugin::RuleList;

/// The descriptors of the `N` strategies of a plugin.
pub const fn strategies<T: Preferences + 'static, P: AssignPlugin<T>, const N: usize>() -> [StrategyDescriptor; N] {
    assert!(
        P::PROMISES.bits() & feature::ENFORCES == 0,
        "only a selector can promise that it enforces spread constraints, and only a filter that it enforces workload affinity"
    );
    assert!(
        P::PROMISES.bits() & feature::EACH_ALONE == 0 || P::PROMISES.bits() & feature::DUPLICATES != 0,
        "only a strategy that duplicates can promise that it judges each cluster alone"
    );
    assert!(
        N <= limit::STRATEGIES as usize,
        "a plugin serves more than 256 strategies"
    );
    let features = P::NEEDS.and(P::PROMISES.bits());
    let mut strategies = [StrategyDescriptor::DEFAULT; N];
    let mut number = 0;
    while number < N {
        let name = P::STRATEGIES[number];
        assert!(
            name.len() <= limit::NAME_BYTES as usize,
            "the name of a strategy has more than 64 bytes"
        );
        strategies[number].name = PluginText::new(name);
        strategies[number].required = features.required();
        strategies[number].optional = features.optional();
        number += 1;
    }
    strategies
}

/// The policy lists of a strategy, as texts that cross the boundary.
pub fn rule_list_texts<T: Preferences + 'static, P: AssignPlugin<T>>() -> Vec<String> {
    P::RULE_LISTS.iter().map(|list: &RuleList| list.to_json()).collect()
}

/// The reader at Assign.
pub const fn assign_preferences<T: Preferences + 'static, P: AssignPlugin<T>>() -> PreferencesReader {
    PreferencesReader::for_type::<T>()
}

/// Answers Assign. The counts are written to the host's column of replicas.
///
/// # Safety
///
/// The arguments are those of a call by the host, for an instance of `P`.
pub unsafe fn assign<T: Preferences + 'static, P: Dispatch + AssignPlugin<T>>(
    plugin: &P,
    arguments: Arguments<'_>,
) -> Result<(), Failed> {
    let mut storage = Storage::default();
    // SAFETY: the caller upholds the contract; the storage outlives the cycle.
    let (call, cycle, kept): (AssignCall<'_>, _, _) =
        unsafe { enter(arguments, <P as AssignPlugin<T>>::NEEDS, &mut storage) }?;
    // Invalid preferences never reach the plugin.
    let preferences = preferences_at::<T, P>(&cycle, &kept)?;
    let context = AssignContext {
        call: call_context!(plugin, cycle, kept, call, preferences),
        preferences: &preferences,
        assign: call,
    };
    // A host of ABI 1.0 has no fields for promises, and checks none.
    // SAFETY: `enter` has read the call, which begins with its head.
    if unsafe { (*arguments.call).size } as usize >= std::mem::offset_of!(AssignCall<'_>, reserved) {
        let stated = plugin.stated_promises(&context)?;
        let written = arguments.call.cast::<AssignCall<'_>>();
        // SAFETY: the call is of this kind and has the field. The next four are behind it: the layout never changes.
        let fields = unsafe { &raw mut (*written).least_clusters }.cast::<[u32; 5]>();
        // SAFETY: the contract lets the plugin write these fields.
        unsafe { fields.write(stated.numbers()) };
    }
    // SAFETY: the contract lends the column to this call alone, and it is taken once.
    let mut result = AssignResult::new(unsafe { call.result.as_mut_slice() });
    plugin.assign(&context, &mut result)?;
    count_dropped(arguments.services, result.dropped);
    Ok(())
}
