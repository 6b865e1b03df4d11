//! The functions of a plugin's descriptor. They read the host's call, run the author's trait, and return its result to
//! the host.

use std::cell::Cell;
use std::ffi::c_void;

use divvy_framework_abi::call::{Call, CallHead, ReleaseFunction};
use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::service::{ConstructCall, DescribeCall, Services, Texts, document, failure};
use divvy_framework_abi::sized::{Head, SizePrefixed, head};
use divvy_framework_abi::view::{CycleView, PolicyView};
use divvy_framework_abi::{Address, Function, PluginText};

use super::{Dispatch, Failed, Instance, PreferencesReader, panics};
use crate::cycle::Cycle;
use crate::plugin::Needs;
use crate::prepare::{Boxed, Kept};

/// The arguments of a call, on their way to the function that answers it.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    pub(crate) call: *mut Head,
    pub(crate) services: &'a Services,
    /// Needs of the instance with its configuration.
    needs: u64,
}

/// Completed copies of a call and its views, for a host of an older minor version.
pub(crate) struct Storage<'a, T> {
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
pub(crate) unsafe fn kept_at<'a>(address: Address) -> Option<&'a Boxed> {
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
pub(crate) fn keep<T: Send + Sync + 'static>(services: &Services, value: T) -> (Address, Function<ReleaseFunction>) {
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
pub(crate) unsafe fn enter<'s, 'v: 's, T: Call>(
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

pub(crate) use call_context;

/// Counts a part of a result that was out of range, for the instance that is called on this thread.
#[cold]
pub(crate) fn count_out_of_range(dropped: u64) {
    if let Some(services) = panics::current_services() {
        report_dropped(&services, dropped);
    }
}

/// Counts entries of a result that were out of range.
#[inline]
pub(crate) fn count_dropped(services: &Services, dropped: u64) {
    if dropped > 0 {
        report_dropped(services, dropped);
    }
}

#[cold]
fn report_dropped(services: &Services, dropped: u64) {
    // SAFETY: the services are those that the host offered when it constructed the instance.
    unsafe { services.add("results_out_of_range", dropped) };
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
        if PreferencesReader::disagree(P::PREFERENCES) {
            let message = "its extension points read preferences of different types";
            return Err(Failed::new(failure::CONSTRUCTION, message));
        }
        let (plugin, needs) = (P::making().make)(&value)?;
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
        document::CONFIGURATION_SCHEMA => vec![(P::making().schema)()],
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
