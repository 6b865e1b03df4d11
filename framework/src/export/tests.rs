//! The functions of a descriptor, called as a host calls them.

use std::cell::RefCell;
use std::ffi::c_void;

use divvy_framework_abi::call::{AssignCall, CallHead, FilterCall};
use divvy_framework_abi::service::{ConstructCall, Failure as AbiFailure, Services, failure};
use divvy_framework_abi::sized::SizePrefixed;
use divvy_framework_abi::view::CycleView;
use divvy_framework_abi::{Address, Function, PluginText, Pointer, SliceMut, Str};

use super::Dispatch;
use crate::prelude::*;

/// Rejects the first cluster.
#[derive(Default)]
struct First;

impl Plugin for First {
    const NAME: &'static str = "first";
    const DESCRIPTION: &'static str = "rejects the first cluster";
}

impl FilterPlugin for First {
    fn filter(&self, _: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        result.reject(Row::from_index(0), String::new);
        result.reject(Row::from_index(9), String::new);
        Ok(())
    }
}

/// Promises at most two clusters, and one of each zone.
#[derive(Default)]
struct Stating;

impl Plugin for Stating {
    const NAME: &'static str = "stating";
    const DESCRIPTION: &'static str = "states promises";
}

impl AssignPlugin for Stating {
    const STRATEGIES: &'static [&'static str] = &["Stating"];
    const PROMISES: Promises = Promises::NONE;

    fn stated_promises(&self, _: &AssignContext<'_, Self>) -> Result<StatedPromises, Failure> {
        Ok(StatedPromises::NONE.most_clusters(2).most_per_zone(1))
    }

    fn assign(&self, _: &AssignContext<'_, Self>, _: &mut AssignResult<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

crate::export_plugin!(First: Filter; Stating: Assign);

thread_local! {
    static COUNTED: RefCell<Vec<(String, u64)>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn count(_: *const c_void, name: PluginText<'_>, amount: u64) {
    COUNTED.with_borrow_mut(|counted| counted.push((name.read().into_owned(), amount)));
}

unsafe extern "C" fn fail(sink: *const c_void, failure: *const AbiFailure<'_>) {
    // SAFETY: the tests pass a sink of this type.
    let said = unsafe { &*sink.cast::<RefCell<Vec<String>>>() };
    // SAFETY: the plugin passes a failure.
    let failure = unsafe { AbiFailure::read(failure) }.expect("the plugin passes a failure");
    said.borrow_mut().push(failure.message.read().into_owned());
}

/// An instance with these services.
fn construct(services: &'static Services) -> *mut c_void {
    construct_as::<First>(services)
}

fn construct_as<P: Dispatch>(services: &'static Services) -> *mut c_void {
    let mut call = ConstructCall {
        services: Pointer::new(services),
        configuration: Str::new("{}"),
        ..ConstructCall::DEFAULT
    };
    let construct = P::DESCRIPTOR.construct.get().expect("the descriptor has it");
    // SAFETY: the call is complete.
    let code = unsafe { construct(&raw mut call) };
    assert_eq!(code, 0);
    call.instance.get()
}

/// Calls the instance and returns its answer.
fn answer(instance: *mut c_void, call: *mut CallHead<'_>) -> u32 {
    answer_as::<First>(instance, call)
}

fn answer_as<P: Dispatch>(instance: *mut c_void, call: *mut CallHead<'_>) -> u32 {
    let function = P::DESCRIPTOR.call.get().expect("the descriptor has it");
    // SAFETY: the tests pass an instance, and a call that is at least as long as its size.
    unsafe { function(instance, call) }
}

static SERVICES: Services = Services {
    count: Function::new(count),
    fail: Function::new(fail),
    ..Services::DEFAULT
};

/// Before calls had a kind, a call of the wrong kind was undefined behaviour.
#[test]
fn calls_of_unknown_and_wrong_kinds_are_refused() {
    let instance = construct(&SERVICES);
    let said = RefCell::new(Vec::<String>::new());
    let view = CycleView::DEFAULT;
    let mut assign = AssignCall {
        sink: Address::of(&said),
        cycle: Pointer::new(&view),
        ..AssignCall::DEFAULT
    };
    assert_eq!(answer(instance, (&raw mut assign).cast()), failure::NOT_SERVED);
    // A number between kinds that is free, one beyond them, and a call that is too short to have a head.
    for (kind, size) in [(6, assign.size), (4_000_000_000, assign.size), (2, 7), (2, 8)] {
        (assign.kind, assign.size) = (kind, size);
        assert_eq!(
            answer(instance, (&raw mut assign).cast()),
            failure::NOT_SERVED,
            "{kind} {size}"
        );
    }
    assert_eq!(
        said.into_inner(),
        [
            "does not serve Assign",
            "does not know calls of kind 6",
            "does not know calls of kind 4000000000"
        ]
    );
}

/// Mixed-up indices compile; they must not go unnoticed.
#[test]
fn results_out_of_range_are_counted() {
    let instance = construct(&SERVICES);
    let view = CycleView::DEFAULT;
    let mut codes = [0_u32; 3];
    let mut call = FilterCall {
        cycle: Pointer::new(&view),
        codes: SliceMut::new(&mut codes),
        code: 7,
        ..FilterCall::DEFAULT
    };
    assert_eq!(answer(instance, (&raw mut call).cast()), 0);
    assert_eq!(codes, [7, 0, 0]);
    assert_eq!(COUNTED.take(), [("results_out_of_range".to_owned(), 1)]);
    let kit = crate::testing::Scenario::new().cluster(crate::testing::ClusterBuilder::new("a"));
    assert_eq!(
        kit.feasible(&First),
        Err(Failure::internal("1 results are out of range"))
    );
}

/// A host of an older minor version lacks functions and fields; a newer one has more.
#[test]
fn a_shorter_table_of_services_has_fewer_functions() {
    let shorter: &'static Services = Box::leak(Box::new(Services { size: 16, ..SERVICES }));
    let instance = construct(shorter);
    let mut call = AssignCall::DEFAULT;
    assert_eq!(answer(instance, (&raw mut call).cast()), failure::NOT_SERVED);
    let destroy = First::DESCRIPTOR.destroy.get().expect("the descriptor has it");
    // SAFETY: the instance is not used again.
    unsafe { destroy(instance) };
}

#[test]
fn promises_are_stated_only_to_a_host_that_has_the_fields() {
    let instance = construct_as::<Stating>(&SERVICES);
    let view = CycleView::DEFAULT;
    let mut call = AssignCall {
        cycle: Pointer::new(&view),
        ..AssignCall::DEFAULT
    };
    let stated = |call: &AssignCall<'_>| (call.least_clusters, call.most_clusters, call.most_per_zone);
    // As a host of ABI 1.0 makes it: what is behind the call is not the plugin's.
    call.size = std::mem::offset_of!(AssignCall<'_>, least_clusters) as u32;
    assert_eq!(answer_as::<Stating>(instance, (&raw mut call).cast()), 0);
    assert_eq!(stated(&call), (0, u32::MAX, u32::MAX));
    call.size = AssignCall::DEFAULT.size;
    assert_eq!(answer_as::<Stating>(instance, (&raw mut call).cast()), 0);
    assert_eq!(stated(&call), (0, 2, 1));
    let destroy = Stating::DESCRIPTOR.destroy.get().expect("the descriptor has it");
    // SAFETY: the instance is not used again.
    unsafe { destroy(instance) };
}
