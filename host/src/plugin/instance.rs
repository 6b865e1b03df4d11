//! A constructed plugin: its calls, with every failure as a typed error that names it, and its quarantine.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use divvy_framework::abi::AbiResult;
use divvy_framework::abi::call::{AssignCall, CycleView, FilterCall, PrepareCall, ScoreCall, SelectCall, SizePrefixed};
use divvy_framework::abi::object::{PluginFailure, PluginObject, PluginObjectBox, Prepared, Request, failure};

use super::error::CallError;
use super::loader::PluginLibrary;

/// So many panics in a row, and a plugin is not called any more until its profile is loaded again.
pub const PANICS_TO_QUARANTINE: u32 = 3;

/// A plugin constructed from its configuration.
pub struct PluginInstance {
    library: PluginLibrary,
    object: PluginObjectBox,
    panics: AtomicU32,
    last_panic: Mutex<String>,
}

impl std::fmt::Debug for PluginInstance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PluginInstance")
            .field("library", &self.library)
            .finish_non_exhaustive()
    }
}

impl PluginInstance {
    pub(super) fn new(library: PluginLibrary, object: PluginObjectBox) -> Self {
        Self {
            library,
            object,
            panics: AtomicU32::new(0),
            last_panic: Mutex::new(String::new()),
        }
    }

    /// The library that it comes from, with its metadata.
    pub fn library(&self) -> &PluginLibrary {
        &self.library
    }

    /// The plugin's name.
    pub fn name(&self) -> &'static str {
        self.library.name()
    }

    /// Whether the plugin panicked so often that it is not called any more.
    pub fn is_quarantined(&self) -> bool {
        self.panics.load(Ordering::Relaxed) >= PANICS_TO_QUARANTINE
    }

    /// Prepares state for one binding.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn prepare(&self, cycle: &CycleView<'_>) -> Result<Prepared, CallError> {
        let mut call = PrepareCall {
            cycle: std::ptr::from_ref(cycle),
            ..PrepareCall::default()
        };
        self.call(&mut call, PluginObject::prepare)
    }

    /// Rejects clusters.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), CallError> {
        self.call(call, PluginObject::filter)
    }

    /// Scores feasible clusters.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), CallError> {
        self.call(call, PluginObject::score)
    }

    /// Picks candidates.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn select(&self, call: &mut SelectCall<'_>) -> Result<(), CallError> {
        self.call(call, PluginObject::select)
    }

    /// Divides replicas.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn assign(&self, call: &mut AssignCall<'_>) -> Result<(), CallError> {
        self.call(call, PluginObject::assign)
    }

    fn call<C: SizePrefixed, T>(
        &self,
        call: &mut C,
        method: impl FnOnce(&PluginObjectBox, Request<'_>) -> AbiResult<T, PluginFailure>,
    ) -> Result<T, CallError> {
        if self.is_quarantined() {
            return Err(CallError::Quarantined {
                plugin: self.name().to_owned(),
                panics: self.panics.load(Ordering::Relaxed),
                message: self.last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            });
        }
        match method(&self.object, Request::new(call)) {
            AbiResult::ROk(value) => {
                // Reading is cheaper than writing, and nearly always enough.
                if self.panics.load(Ordering::Relaxed) != 0 {
                    self.panics.store(0, Ordering::Relaxed);
                }
                Ok(value)
            }
            AbiResult::RErr(failure) => Err(self.error(failure)),
        }
    }

    #[cold]
    fn error(&self, failure: PluginFailure) -> CallError {
        let plugin = self.name().to_owned();
        let message = failure.message.to_string();
        match failure.kind {
            failure::UNSCHEDULABLE => CallError::Unschedulable {
                plugin,
                message,
                figures: (failure.requested >= 0).then_some((failure.requested, failure.available)),
            },
            failure::PREFERENCES => CallError::Preferences {
                plugin,
                message,
                path: failure.path.to_string(),
                hint: (!failure.hint.is_empty()).then(|| failure.hint.to_string()),
            },
            failure::PANIC => {
                self.panics.fetch_add(1, Ordering::Relaxed);
                (*self.last_panic.lock().unwrap_or_else(PoisonError::into_inner)).clone_from(&message);
                CallError::Panic {
                    plugin,
                    message,
                    place: failure.path.to_string(),
                }
            }
            failure::NOT_SERVED => CallError::NotServed { plugin, message },
            _ => CallError::Internal { plugin, message },
        }
    }
}
