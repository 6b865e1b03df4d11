//! A constructed plugin: its calls, with every failure as a typed error that names it, and its quarantine.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use divvy_framework::abi::AbiResult;
use divvy_framework::abi::call::{AssignCall, CycleView, FilterCall, PrepareCall, ScoreCall, SelectCall, SizePrefixed};
use divvy_framework::abi::object::{PluginFailure, PluginObject, PluginObjectBox, Prepared, Request, failure};

use super::error::CallError;
use super::loader::PluginLibrary;

/// So many panics in a row in one and the same call, and a plugin is not called any more until its profile is loaded again.
pub const PANICS_TO_QUARANTINE: u32 = 3;

/// The calls of a plugin.
#[derive(Debug, Clone, Copy)]
enum Call {
    Prepare,
    Filter,
    Score,
    Select,
    Assign,
}

/// A plugin constructed from its configuration.
pub struct PluginInstance {
    library: PluginLibrary,
    object: PluginObjectBox,
    /// Panics in a row, by call: a plugin that prepares well and then divides badly fails all the same.
    panics: [AtomicU32; 5],
    quarantined: AtomicBool,
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
            panics: Default::default(),
            quarantined: AtomicBool::new(false),
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
        self.quarantined.load(Ordering::Relaxed)
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
        self.call(Call::Prepare, &mut call, PluginObject::prepare)
    }

    /// Rejects clusters.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), CallError> {
        self.call(Call::Filter, call, PluginObject::filter)
    }

    /// Scores feasible clusters.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), CallError> {
        self.call(Call::Score, call, PluginObject::score)
    }

    /// Picks candidates.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn select(&self, call: &mut SelectCall<'_>) -> Result<(), CallError> {
        self.call(Call::Select, call, PluginObject::select)
    }

    /// Divides replicas.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn assign(&self, call: &mut AssignCall<'_>) -> Result<(), CallError> {
        self.call(Call::Assign, call, PluginObject::assign)
    }

    fn call<C: SizePrefixed, T>(
        &self,
        kind: Call,
        call: &mut C,
        method: impl FnOnce(&PluginObjectBox, Request<'_>) -> AbiResult<T, PluginFailure>,
    ) -> Result<T, CallError> {
        if self.is_quarantined() {
            return Err(CallError::Quarantined {
                plugin: self.name().to_owned(),
                panics: PANICS_TO_QUARANTINE,
                message: self.last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            });
        }
        match method(&self.object, Request::new(call)) {
            AbiResult::ROk(value) => {
                // Reading is cheaper than writing, and nearly always enough.
                let panics = &self.panics[kind as usize];
                if panics.load(Ordering::Relaxed) != 0 {
                    panics.store(0, Ordering::Relaxed);
                }
                Ok(value)
            }
            AbiResult::RErr(failure) => Err(self.error(kind, failure)),
        }
    }

    #[cold]
    fn error(&self, kind: Call, failure: PluginFailure) -> CallError {
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
                let panics = self.panics[kind as usize].fetch_add(1, Ordering::Relaxed) + 1;
                if panics >= PANICS_TO_QUARANTINE {
                    self.quarantined.store(true, Ordering::Relaxed);
                }
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
