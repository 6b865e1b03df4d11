//! The calls that a constructed plugin answers, the state it prepares, and how it fails.

use std::ffi::c_void;
use std::marker::PhantomData;

use abi_stable::StableAbi;
use abi_stable::sabi_trait;
use abi_stable::std_types::{RBox, RResult, RStr, RString};

/// A call's payload: a size-prefixed struct of [`crate::call`], seen from outside as its address.
///
/// The layout check does not look behind the address, so that the structs can grow; the size that each begins with, and
/// the major ABI version, say what is there.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy)]
pub struct Request<'a> {
    address: *const c_void,
    #[sabi(unsafe_opaque_field)]
    lifetime: PhantomData<&'a mut ()>,
}

impl<'a> Request<'a> {
    /// The payload `call`, which stays borrowed as long as the request lives.
    pub fn new<T: crate::call::SizePrefixed>(call: &'a mut T) -> Self {
        Self {
            address: std::ptr::from_mut(call).cast_const().cast(),
            lifetime: PhantomData,
        }
    }

    /// The address of the payload.
    pub fn address(self) -> *const c_void {
        self.address
    }
}

/// State that a plugin prepared for one binding, owned by the host and handed back with each call.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Prepared {
    state: *mut c_void,
    drop: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: `Prepared::new` takes only values that are `Send` and `Sync`.
unsafe impl Send for Prepared {}
// SAFETY: as above.
unsafe impl Sync for Prepared {}

impl Prepared {
    /// Owns `state`, which the library that calls this drops; a zero-sized state allocates nothing.
    pub fn new<T: Send + Sync + 'static>(state: T) -> Self {
        unsafe extern "C" fn drop_state<T>(state: *mut c_void) {
            // A panic must not cross the boundary, and no call is under way that could report it.
            let dropped = std::panic::catch_unwind(|| {
                // SAFETY: the pointer comes from `Box::into_raw` in `new` with the same `T`, and is dropped once.
                drop(unsafe { Box::from_raw(state.cast::<T>()) });
            });
            if let Err(payload) = dropped {
                // What was thrown may panic again when it is dropped, here outside of any guard.
                std::mem::forget(payload);
            }
        }
        Self {
            state: Box::into_raw(Box::new(state)).cast(),
            drop: std::mem::needs_drop::<T>()
                .then_some(drop_state::<T> as unsafe extern "C" fn(*mut c_void))
                .or((size_of::<T>() > 0).then_some(drop_state::<T>)),
        }
    }

    /// No state.
    pub const fn none() -> Self {
        Self {
            state: std::ptr::null_mut(),
            drop: None,
        }
    }

    /// The address of the state; null if there is none.
    pub fn address(&self) -> *const c_void {
        self.state.cast_const()
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: `state` was made together with `drop` in `new`, and is dropped nowhere else.
            unsafe { drop(self.state) };
        }
    }
}

/// What went wrong in a call, by kind: the host treats each in its own way.
pub mod failure {
    /// The configuration was refused: see [`super::PluginFailure::path`].
    pub const CONFIGURATION: u32 = 1;
    /// The plugin's constructor returned an error.
    pub const CONSTRUCTION: u32 = 2;
    /// The preferences that the policy carried were refused.
    pub const PREFERENCES: u32 = 3;
    /// The binding cannot be scheduled as things stand; not the plugin's fault.
    pub const UNSCHEDULABLE: u32 = 4;
    /// The plugin could not do its work.
    pub const INTERNAL: u32 = 5;
    /// The plugin panicked.
    pub const PANIC: u32 = 6;
    /// The plugin does not serve the extension point it was called for.
    pub const NOT_SERVED: u32 = 7;
}

/// Why a call failed.
#[repr(C)]
#[derive(StableAbi, Debug, Clone)]
pub struct PluginFailure {
    /// One of [`failure`].
    pub kind: u32,
    /// One line, lower case, without a final period.
    pub message: RString,
    /// Where in the configuration or preferences, or where in the plugin's source; empty if neither.
    pub path: RString,
    /// What would help; empty if nothing is known.
    pub hint: RString,
    /// For [`failure::UNSCHEDULABLE`]: replicas asked for; negative if that is not the cause.
    pub requested: i64,
    /// For [`failure::UNSCHEDULABLE`]: replicas that could be placed; negative if that is not the cause.
    pub available: i64,
}

/// Where a plugin's log records go: a function of the host and the value it wants back.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct HostLog {
    /// The host's own value, handed back in each call.
    pub context: *const c_void,
    /// The most verbose level wanted now: 0 none, 1 error … 5 trace.
    pub level: extern "C" fn(*const c_void) -> u32,
    /// Takes one record: level, target, message.
    pub record: for<'a> extern "C" fn(*const c_void, u32, RStr<'a>, RStr<'a>),
}

// SAFETY: the host makes `context` so that its two functions may be called from any thread.
unsafe impl Send for HostLog {}
// SAFETY: as above.
unsafe impl Sync for HostLog {}

/// A constructed plugin, as the host sees it.
///
/// Each call takes a size-prefixed struct of [`crate::call`] with columns to read and columns to write. A plugin
/// catches its own panics: none crosses this boundary.
#[sabi_trait]
pub trait PluginObject: Send + Sync {
    /// Prepares state for one binding; called once, before the other calls.
    fn prepare(&self, request: Request<'_>) -> RResult<Prepared, PluginFailure>;

    /// Rejects clusters: a [`crate::call::FilterCall`].
    fn filter(&self, request: Request<'_>) -> RResult<(), PluginFailure>;

    /// Scores the feasible clusters, normalised: a [`crate::call::ScoreCall`].
    fn score(&self, request: Request<'_>) -> RResult<(), PluginFailure>;

    /// Picks the candidates: a [`crate::call::SelectCall`].
    fn select(&self, request: Request<'_>) -> RResult<(), PluginFailure>;

    /// Divides the replicas over the candidates: an [`crate::call::AssignCall`].
    #[sabi(last_prefix_field)]
    fn assign(&self, request: Request<'_>) -> RResult<(), PluginFailure>;
}

/// An owned [`PluginObject`].
pub type PluginObjectBox = PluginObject_TO<'static, RBox<()>>;

/// Boxes a plugin for the other side.
pub fn boxed<T: PluginObject + 'static>(plugin: T) -> PluginObjectBox {
    PluginObject_TO::from_value(plugin, sabi_trait::TD_Opaque)
}
