//! The functions of a plugin's descriptor. They read the host's call, run the author's trait, and return its result to
//! the host.

use std::cell::Cell;
use std::ffi::c_void;

use divvy_framework_abi::call::{
    AssignCall, BindingValueCall, Call, CallHead, FilterCall, PaceCall, PrepareCall, ReleaseFunction, ScoreCall,
    SelectCall, SnapshotValueCall,
};
use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::service::{ConstructCall, DescribeCall, Services, Texts, document, failure};
use divvy_framework_abi::sized::{Head, SizePrefixed, head, kind};
use divvy_framework_abi::view::{CycleView, PolicyView};
use divvy_framework_abi::{Address, Function, PluginText};

use super::preferences::preferences_at;
use super::{Dispatch, Failed, Instance, PreferencesReader, panics};
use crate::assign::{AssignContext, AssignPlugin, AssignResult};
use crate::clusters::Row;
use crate::configuration::{Configuration, Preferences, ValueError};
use crate::cycle::{CallContext, Cycle};
use crate::filter::{FilterContext, FilterPlugin, FilterResult};
use crate::pace::{PaceContext, PacePlugin, PaceResult};
use crate::plugin::{Needs, PreparePlugin};
use crate::prepare::{Boxed, Kept, PrepareContext, kept};
use crate::score::{ScoreContext, ScorePlugin, ScoreResult};
use crate::select::{SelectContext, SelectPlugin, SelectResult};
use crate::value::{BindingValueContext, BindingValuePlugin, SnapshotValuePlugin};

/// The arguments of a call, on their way to the function that answers it.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    call: *mut Head,
    services: &'a Services,
    /// Needs of the instance with its configuration.
    needs: u64,
}

/// Completed copies of a call and its views, for a host of an older minor version.
struct Storage<'a, T> {
    call: Option<Box<T>>,
    cycle: Option<Box<CycleView<'a>>>,
    policy: Option<Box<PolicyView<'a>>>,
}

impl<T> Default for Storage<'_, T> {
    #[inline]
    fn default() -> Self {
        Self {
            call: None,
            cycle: None,
            policy: None,
        }
    }
}

/// Reads a call; fails if it is of another kind.
///
/// # Safety
///
/// The arguments are those of a call by the host.
#[inline]
unsafe fn read<T: Call>(arguments: Arguments<'_>, storage: &mut Option<Box<T>>) -> Result<T, Failed> {
    // SAFETY: the caller passes a call by the host, and `locate` reads its kind before any other field.
    let located = unsafe { T::locate(arguments.call.cast_const().cast(), storage) };
    let located = located.ok_or_else(|| Failed::not_served(T::KIND))?;
    // SAFETY: `locate` returns the address of all fields: in the call itself, or in a copy that it completed in
    // `storage`.
    Ok(unsafe { located.read() })
}

/// The cycle of a call.
///
/// # Safety
///
/// As for [`read`]. The call lives as long as `storage`.
#[inline]
unsafe fn read_cycle<'s, 'v: 's, T>(
    arguments: Arguments<'v>,
    needs: Needs,
    storage: &'s mut Storage<'v, T>,
) -> Cycle<'s> {
    // SAFETY: every call begins with the fields of its head; `call` below refuses one that is shorter.
    let head = unsafe { *arguments.call.cast::<CallHead<'v>>() };
    // SAFETY: a call points to a cycle that outlives it, and the host does not write to it meanwhile.
    let view = unsafe { CycleView::view(head.cycle.address(), &mut storage.cycle) };
    let policy = if head.policy.address().is_null() {
        &PolicyView::DEFAULT
    } else {
        // SAFETY: the address is not null, so it points to a policy that outlives the call, and to which the host does
        // not write meanwhile.
        unsafe { PolicyView::view(head.policy.address(), &mut storage.policy) }
    };
    // SAFETY: the host offers the functions for this sink, until the call returns, from this thread.
    let texts = unsafe { Texts::new(arguments.services.text, arguments.services.explain, head.sink) };
    // SAFETY: every call begins with the fields of its head, and the host lends this one to the call.
    let valid_until = unsafe { &raw mut (*arguments.call.cast::<CallHead<'v>>()).valid_until };
    // SAFETY: the pointer is to a field of the call, which outlives `storage`; until the call returns, only this
    // reference accesses the field.
    let valid_until: &'s Cell<i64> = unsafe { &*valid_until.cast() };
    Cycle::new(view, policy, texts, needs.and(arguments.needs), valid_until)
}

/// A prepared state or a value, of which the host keeps the address.
struct Keeping {
    value: Boxed,
    /// Services of the instance that made it, for panics in its destructor.
    services: Services,
}

/// The value that the host keeps at an address.
///
/// # Safety
///
/// The address is null or one that [`keep`] returned, and its value lives for `'a`.
#[inline]
unsafe fn kept_at<'a>(address: Address) -> Option<&'a Boxed> {
    // SAFETY: the caller upholds the contract.
    let kept = unsafe { address.get().cast_const().cast::<Keeping>().as_ref() };
    kept.map(|kept| &kept.value)
}

/// The values that the host keeps for the plugin of a call.
///
/// # Safety
///
/// As for [`read`].
#[inline]
unsafe fn read_kept<'a>(arguments: Arguments<'a>) -> Kept<'a> {
    // SAFETY: every call begins with the fields of its head; `call` below refuses one that is shorter.
    let head = unsafe { *arguments.call.cast::<CallHead<'a>>() };
    // SAFETY: the host passes null or an address that `keep` returned to this instance for this cycle, and does not
    // release it meanwhile.
    let prepared = unsafe { kept_at(head.prepared) };
    // SAFETY: the host passes null or an address that `keep` returned to this instance for this snapshot, and does not
    // release it meanwhile.
    let snapshot_value = unsafe { kept_at(head.snapshot_value) };
    // SAFETY: the host passes null or an address that `keep` returned to this instance for this binding, and does not
    // release it meanwhile.
    let binding_value = unsafe { kept_at(head.binding_value) };
    Kept::new(prepared, snapshot_value, binding_value)
}

/// Passes a state or value to the host: its address, and the function that drops it.
fn keep<T: Send + Sync + 'static>(services: &Services, value: T) -> (Address, Function<ReleaseFunction>) {
    unsafe extern "C" fn release(state: *mut c_void) {
        // SAFETY: the host passes an address that `keep` returned, and passes it once.
        let Keeping { value, services } = *unsafe { Box::from_raw(state.cast::<Keeping>()) };
        panics::caught_while_dropping(&services, "a value", move || drop(value));
    }
    let keeping = Box::new(Keeping {
        value: Box::new(value),
        services: *services,
    });
    (Address::new(Box::into_raw(keeping).cast()), Function::new(release))
}

/// Reads a call of an extension point with these needs: the call, its cycle, and the values that the host keeps for it.
///
/// # Safety
///
/// As for [`read`]. The call lives as long as `storage`.
#[inline]
unsafe fn enter<'s, 'v: 's, T: Call>(
    arguments: Arguments<'v>,
    needs: Needs,
    storage: &'s mut Storage<'v, T>,
) -> Result<(T, Cycle<'s>, Kept<'v>), Failed> {
    // SAFETY: the caller upholds the contract.
    let call = unsafe { read(arguments, &mut storage.call) }?;
    // SAFETY: the arguments are the caller's, and the cycle lives no longer than the call.
    let cycle = unsafe { read_cycle(arguments, needs, storage) };
    // SAFETY: the arguments are the caller's.
    let kept = unsafe { read_kept(arguments) };
    Ok((call, cycle, kept))
}

/// The common part of the contexts of Score, Select and Assign, from a call that begins with the columns of clusters.
macro_rules! call_context {
    ($plugin:ident, $cycle:ident, $kept:ident, $call:ident, $preferences:ident) => {
        CallContext {
            plugin: $plugin,
            cycle: &$cycle,
            kept: $kept,
            preferences: &$preferences,
            rows: Row::cast($call.rows.as_slice()),
            scores: $call.scores.as_slice(),
            last: $call.last.as_slice(),
            last_index: $call.last_index.as_slice(),
            fits_now: $call.fits_now.as_slice(),
            capacity: $call.capacity.as_slice(),
            tiers: $call.tiers.as_slice(),
        }
    };
}

/// Counts a part of a result that was out of range, for the instance that is called on this thread.
#[cold]
pub(crate) fn count_out_of_range(dropped: u64) {
    if let Some(services) = panics::current_services() {
        report_dropped(&services, dropped);
    }
}

/// Counts entries of a result that were out of range.
#[inline]
fn count_dropped(services: &Services, dropped: u64) {
    if dropped > 0 {
        report_dropped(services, dropped);
    }
}

#[cold]
fn report_dropped(services: &Services, dropped: u64) {
    // SAFETY: the services are those that the host offered when it constructed the instance.
    unsafe { services.add("results_out_of_range", dropped) };
}

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

/// Answers the call for the value of a snapshot.
///
/// # Safety
///
/// As for [`prepare`].
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
    let made = crate::value::make(plugin, cycle, changed_rows, kept(previous))?;
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
/// As for [`prepare`].
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

/// Answers Filter. The rejections are written to the host's column of codes.
///
/// # Safety
///
/// As for [`prepare`].
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

/// Answers Score, normalisation included.
///
/// # Safety
///
/// As for [`prepare`].
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

/// Answers Select. The count also covers candidates that did not fit the column, so that the host can report them.
///
/// # Safety
///
/// As for [`prepare`].
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

/// Answers Assign. The counts are written to the host's column of replicas.
///
/// # Safety
///
/// As for [`prepare`].
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

/// Answers Pace. The step is written to the host's column, the reason for waiting to the call.
///
/// # Safety
///
/// As for [`prepare`].
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

/// [`Descriptor::call`](divvy_framework_abi::descriptor::Descriptor::call): dispatches by kind.
///
/// # Safety
///
/// `instance` is one that [`construct`] of `P` made, and `call` is a call that follows the contract of
/// [`divvy_framework_abi::call`].
pub unsafe extern "C" fn call<P: Dispatch>(instance: *const c_void, call: *mut CallHead<'_>) -> u32 {
    // SAFETY: the caller upholds the contract.
    let instance = unsafe { &*instance.cast::<Instance<P>>() };
    // SAFETY: by the contract, a call begins with its size and kind, and `head` reads nothing else.
    let head = unsafe { head(call.cast_const().cast()) };
    let Some(head) = head.filter(|head| head.size as usize >= size_of::<CallHead<'_>>()) else {
        return failure::NOT_SERVED;
    };
    let arguments = Arguments {
        call: call.cast(),
        services: &instance.services,
        needs: instance.needs,
    };
    let answer = panics::caught(&instance.services, || {
        // SAFETY: the arguments are those of this call, whose head is complete, as checked above.
        unsafe { instance.plugin.answer(head.kind, arguments) }
    });
    match answer.and_then(|answer| answer) {
        Ok(()) => 0,
        // SAFETY: the call has at least the fields of its head, as checked above.
        Err(failed) => failed.hand_over(&instance.services, unsafe { (*call).sink }),
    }
}

/// [`Descriptor::construct`](divvy_framework_abi::descriptor::Descriptor::construct): constructs a plugin from its
/// configuration. Also installs the library's panic hook and its log forwarder, so that both are in place before the
/// plugin is constructed.
///
/// # Safety
///
/// `call` is a [`ConstructCall`] of this or another minor version.
pub unsafe extern "C" fn construct<P: Dispatch>(call: *mut ConstructCall<'_>) -> u32 {
    // SAFETY: the caller upholds the contract.
    let Some(given) = (unsafe { ConstructCall::read(call.cast_const()) }) else {
        return failure::NOT_SERVED;
    };
    // SAFETY: the host passes null or the address of its table of services.
    let services = match unsafe { Services::read(given.services.address()) } {
        Some(services) => services,
        // Without a table, the plugin has no services.
        None if given.services.address().is_null() => Services::DEFAULT,
        // Another struct in its place means that the host is broken.
        None => return failure::CONSTRUCTION,
    };
    // The hook and the forwarder come first: a panic or an event in the constructor must already reach the host.
    panics::install_hook();
    crate::logging::forward_to(services);
    // Reading the configuration runs code of the author's types, so it is guarded as well.
    let constructed = panics::caught(&services, || {
        let value: serde_json::Value = serde_json::from_str(given.configuration.as_str())
            .map_err(|error| Failed::new(failure::CONFIGURATION, error.to_string()))?;
        let configuration =
            P::Configuration::read(&value).map_err(|error| Failed::value(failure::CONFIGURATION, &error))?;
        if PreferencesReader::disagree(P::PREFERENCES) {
            let message = "its extension points read preferences of different types";
            return Err(Failed::new(failure::CONSTRUCTION, message));
        }
        let plugin = P::new(configuration).map_err(|error| match error.downcast_ref::<ValueError>() {
            Some(refused) => Failed::value(failure::CONFIGURATION, refused),
            None => Failed::new(failure::CONSTRUCTION, error.to_string()),
        })?;
        let needs = plugin.needs();
        if needs.has(feature::TABLES) {
            // Tables are read before a plugin is constructed, so that a profile without them is refused with their
            // names.
            let message = "its configuration asks for tables, which only an extension point can declare";
            return Err(Failed::new(failure::CONSTRUCTION, message));
        }
        let instance = Instance {
            plugin,
            services,
            needs: needs.bits(),
        };
        Ok((Box::new(instance), needs))
    });
    match constructed.and_then(|constructed| constructed) {
        Ok((instance, needs)) => {
            // SAFETY: the call was read as a `ConstructCall` above, and the contract lets the plugin write these three
            // fields.
            unsafe { (*call).instance = Address::new(Box::into_raw(instance).cast()) };
            // SAFETY: as for the previous field.
            unsafe { (*call).required = needs.required() };
            // SAFETY: as for the previous field.
            unsafe { (*call).optional = needs.optional() };
            0
        }
        Err(failed) => failed.hand_over(&services, given.sink),
    }
}

/// [`Descriptor::destroy`](divvy_framework_abi::descriptor::Descriptor::destroy): drops an instance.
///
/// # Safety
///
/// `instance` is one that [`construct`] of `P` made, and is not used again.
pub unsafe extern "C" fn destroy<P: Dispatch>(instance: *mut c_void) {
    // SAFETY: the caller upholds the contract.
    let instance = unsafe { Box::from_raw(instance.cast::<Instance<P>>()) };
    let services = instance.services;
    panics::caught_while_dropping(&services, "the plugin", move || drop(instance));
}

/// [`Descriptor::describe`](divvy_framework_abi::descriptor::Descriptor::describe): passes a document to the host.
///
/// # Safety
///
/// `call` is a [`DescribeCall`] of this or another minor version.
pub unsafe extern "C" fn describe<P: Dispatch>(call: *const DescribeCall<'_>) -> u32 {
    // SAFETY: the caller upholds the contract.
    let Some(call) = (unsafe { DescribeCall::read(call) }) else {
        return failure::NOT_SERVED;
    };
    let Some(take) = call.take.get() else {
        return failure::NOT_SERVED;
    };
    let documents = panics::caught(&Services::DEFAULT, || match call.document {
        document::CONFIGURATION_SCHEMA => vec![P::Configuration::schema()],
        document::PREFERENCES_SCHEMA => vec![P::preferences().schema()],
        document::RULE_LISTS => P::rule_lists(),
        // A constant condition, so that a plugin without tables does not contain the code.
        document::TABLES if const { P::NEEDS.has(feature::TABLES) } => crate::table::documents(P::NEEDS),
        _ => Vec::new(),
    });
    match documents {
        Ok(documents) => {
            for document in &documents {
                // SAFETY: the host offers the function for this sink during the call.
                unsafe { take(call.sink.get(), PluginText::new(document)) };
            }
            0
        }
        Err(failed) => failed.code(),
    }
}
