//! A constructed plugin: its calls, with every failure as a typed error that names it, and its quarantine.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use divvy_framework::abi::call::{AssignCall, CycleView, FilterCall, PrepareCall, ScoreCall, SelectCall};
use divvy_framework::abi::object::{PluginFailure, PluginObject, PluginObjectBox, Prepared, Request, failure};

use super::error::CallError;
use super::loader::PluginLibrary;

/// Consecutive panics in one call after which a plugin is quarantined until its profile is loaded again.
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

/// The calls of a constructed plugin, wherever it runs: today in this process. Whatever calls a plugin goes through here.
pub trait PluginCalls: Send + Sync {
    /// Prepares state for one binding.
    fn prepare(&self, call: &mut PrepareCall<'_>) -> Result<Prepared, PluginFailure>;
    /// Rejects clusters.
    fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), PluginFailure>;
    /// Scores feasible clusters.
    fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), PluginFailure>;
    /// Picks candidates.
    fn select(&self, call: &mut SelectCall<'_>) -> Result<(), PluginFailure>;
    /// Divides replicas.
    fn assign(&self, call: &mut AssignCall<'_>) -> Result<(), PluginFailure>;
}

/// A plugin in this process, behind the vtable that its library made.
struct InProcess(PluginObjectBox);

impl PluginCalls for InProcess {
    fn prepare(&self, call: &mut PrepareCall<'_>) -> Result<Prepared, PluginFailure> {
        PluginObject::prepare(&self.0, Request::new(call)).into_result()
    }

    fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), PluginFailure> {
        PluginObject::filter(&self.0, Request::new(call)).into_result()
    }

    fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), PluginFailure> {
        PluginObject::score(&self.0, Request::new(call)).into_result()
    }

    fn select(&self, call: &mut SelectCall<'_>) -> Result<(), PluginFailure> {
        PluginObject::select(&self.0, Request::new(call)).into_result()
    }

    fn assign(&self, call: &mut AssignCall<'_>) -> Result<(), PluginFailure> {
        PluginObject::assign(&self.0, Request::new(call)).into_result()
    }
}

/// A plugin constructed from its configuration.
pub struct PluginInstance {
    library: PluginLibrary,
    calls: Box<dyn PluginCalls>,
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
            calls: Box::new(InProcess(object)),
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
        self.call(Call::Prepare, || self.calls.prepare(&mut call))
    }

    /// Rejects clusters.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), CallError> {
        self.call(Call::Filter, || self.calls.filter(call))
    }

    /// Scores feasible clusters.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), CallError> {
        self.call(Call::Score, || self.calls.score(call))
    }

    /// Picks candidates.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn select(&self, call: &mut SelectCall<'_>) -> Result<(), CallError> {
        self.call(Call::Select, || self.calls.select(call))
    }

    /// Divides replicas.
    ///
    /// # Errors
    ///
    /// What the plugin fails with.
    pub fn assign(&self, call: &mut AssignCall<'_>) -> Result<(), CallError> {
        self.call(Call::Assign, || self.calls.assign(call))
    }

    fn call<T>(&self, kind: Call, call: impl FnOnce() -> Result<T, PluginFailure>) -> Result<T, CallError> {
        if self.is_quarantined() {
            return Err(CallError::Quarantined {
                plugin: self.name().to_owned(),
                panics: PANICS_TO_QUARANTINE,
                message: self.last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            });
        }
        match call() {
            Ok(value) => {
                // Reading is cheaper than writing, and nearly always enough.
                let panics = &self.panics[kind as usize];
                if panics.load(Ordering::Relaxed) != 0 {
                    panics.store(0, Ordering::Relaxed);
                }
                Ok(value)
            }
            Err(failure) => Err(self.error(kind, failure)),
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
