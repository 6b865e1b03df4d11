//! The calls that a constructed plugin answers, the state that it prepares, and its failures.

use std::ffi::c_void;
use std::marker::PhantomData;

use abi_stable::StableAbi;
use abi_stable::sabi_trait;
use abi_stable::std_types::{RBox, RResult, RStr, RString};

/// A call's payload: the address of a size-prefixed struct of [`crate::call`].
///
/// The layout check does not follow the address, so the structs can grow. The size at the start of each struct,
/// together with the major ABI version, determines which fields are present.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy)]
pub struct Request<'a> {
    address: *const c_void,
    #[sabi(unsafe_opaque_field)]
    lifetime: PhantomData<&'a mut ()>,
}

impl<'a> Request<'a> {
    /// A request for the payload `call`, which stays borrowed as long as the request lives.
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

/// State that a plugin prepared for one binding. The host owns it and hands it back with each call.
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
    /// Takes ownership of `state`, which the calling library's own code drops. A zero-sized state allocates nothing.
    pub fn new<T: Send + Sync + 'static>(state: T) -> Self {
        unsafe extern "C" fn drop_state<T>(state: *mut c_void) {
            // A panic must not cross the boundary, and no call is in progress that could report it.
            let dropped = std::panic::catch_unwind(|| {
                // SAFETY: the pointer comes from `Box::into_raw` in `new` with the same `T`, and is dropped once.
                drop(unsafe { Box::from_raw(state.cast::<T>()) });
            });
            if let Err(payload) = dropped {
                // Dropping the payload may panic again, here outside of any guard.
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

    /// An empty handle without state.
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

/// Kinds of failures. The host treats each kind differently.
pub mod failure {
    /// The configuration is invalid at [`super::PluginFailure::path`]. The host rejects the profile.
    pub const CONFIGURATION: u32 = 1;
    /// The plugin's constructor returned an error. The host rejects the profile.
    pub const CONSTRUCTION: u32 = 2;
    /// The policy's preferences are invalid. The host reports an error in the policy.
    pub const PREFERENCES: u32 = 3;
    /// The binding cannot be scheduled on the clusters as they are: a scheduling outcome, not a plugin fault.
    pub const UNSCHEDULABLE: u32 = 4;
    /// The plugin could not do its work. The host reports an error of the plugin.
    pub const INTERNAL: u32 = 5;
    /// The plugin panicked. After several consecutive panics the host stops calling it.
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
    /// Location of the fault: a path in the configuration or preferences, or a line of the plugin's source after a
    /// panic; empty if there is none.
    pub path: RString,
    /// A suggested remedy; empty if none is known.
    pub hint: RString,
    /// For [`failure::UNSCHEDULABLE`]: replicas requested; negative if too little room is not the cause.
    pub requested: i64,
    /// For [`failure::UNSCHEDULABLE`]: replicas that could be placed; negative if too little room is not the cause.
    pub available: i64,
}

/// The sink of a plugin's log records: two functions of the host, and the value to pass to them.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct HostLog {
    /// The host's own value, passed to each call.
    pub context: *const c_void,
    /// Returns the most verbose level that is currently enabled: 0 none, 1 error … 5 trace.
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
/// Each call takes a size-prefixed struct of [`crate::call`] with columns to read and columns to write. A failure
/// aborts the cycle. A plugin catches its own panics: none crosses this boundary.
#[sabi_trait]
pub trait PluginObject: Send + Sync {
    /// Prepares state for one binding, before the other calls. Takes a [`crate::call::PrepareCall`].
    fn prepare(&self, request: Request<'_>) -> RResult<Prepared, PluginFailure>;

    /// Rejects clusters. Takes a [`crate::call::FilterCall`].
    fn filter(&self, request: Request<'_>) -> RResult<(), PluginFailure>;

    /// Scores the feasible clusters, from 0 to 100 after normalisation. Takes a [`crate::call::ScoreCall`].
    fn score(&self, request: Request<'_>) -> RResult<(), PluginFailure>;

    /// Picks the candidates. Takes a [`crate::call::SelectCall`].
    fn select(&self, request: Request<'_>) -> RResult<(), PluginFailure>;

    /// Divides the replicas over the candidates. Takes an [`crate::call::AssignCall`].
    #[sabi(last_prefix_field)]
    fn assign(&self, request: Request<'_>) -> RResult<(), PluginFailure>;
}

/// An owned [`PluginObject`].
pub type PluginObjectBox = PluginObject_TO<'static, RBox<()>>;

/// Boxes a plugin for the other side.
pub fn boxed<T: PluginObject + 'static>(plugin: T) -> PluginObjectBox {
    PluginObject_TO::from_value(plugin, sabi_trait::TD_Opaque)
}
