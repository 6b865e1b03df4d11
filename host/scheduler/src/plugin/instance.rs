//! A constructed plugin: its calls, the errors that name it, and its quarantine.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use divvy_framework::abi::call::{AssignCall, CycleView, FilterCall, PrepareCall, ScoreCall, SelectCall};
use divvy_framework::abi::object::{PluginFailure, PluginObject, PluginObjectBox, Prepared, Request, failure};

use super::error::CallError;
use super::loader::PluginLibrary;

/// Consecutive panics in one kind of call after which a plugin is quarantined until its profile is loaded again.
pub const PANICS_TO_QUARANTINE: u32 = 3;

/// Kinds of calls to a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// State for one binding is prepared.
    Prepare,
    /// Clusters are filtered.
    Filter,
    /// Clusters are scored.
    Score,
    /// Candidates are selected.
    Select,
    /// Replicas are assigned.
    Assign,
}

/// Watches the calls of a profile's plugins, for metrics and for a watchdog. The scheduler reads no clock, so it is up to
/// the observer to time them. Each call begins and ends on the thread that decides.
pub trait CallObserver: Send + Sync {
    /// A call begins.
    fn begins(&self, plugin: &'static str, call: Call);
    /// The call that began last has ended: with a result, or with this error.
    fn ends(&self, plugin: &'static str, call: Call, error: Option<&CallError>);
}

/// Calls to a constructed plugin, wherever it runs: today always in this process. Every call goes through this trait.
///
/// An error is the plugin's own failure, which [`PluginInstance`] turns into a [`CallError`].
pub trait PluginCalls: Send + Sync {
    /// Prepares the plugin's state for one binding.
    fn prepare(&self, call: &mut PrepareCall<'_>) -> Result<Prepared, PluginFailure>;
    /// Writes a code for every cluster that the plugin rejects.
    fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), PluginFailure>;
    /// Writes a score for every feasible cluster.
    fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), PluginFailure>;
    /// Picks the candidates and their order.
    fn select(&self, call: &mut SelectCall<'_>) -> Result<(), PluginFailure>;
    /// Divides the replicas among the candidates.
    fn assign(&self, call: &mut AssignCall<'_>) -> Result<(), PluginFailure>;
}

/// A plugin in this process, called through its library's vtable.
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
    /// Consecutive panics per kind of call, because a plugin whose `prepare` succeeds can still panic in every
    /// division.
    panics: [AtomicU32; 5],
    quarantined: AtomicBool,
    last_panic: Mutex<String>,
    observer: OnceLock<Arc<dyn CallObserver>>,
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
            observer: OnceLock::new(),
        }
    }

    /// Library that the plugin comes from, with its metadata.
    pub fn library(&self) -> &PluginLibrary {
        &self.library
    }

    /// The plugin's name.
    pub fn name(&self) -> &'static str {
        self.library.name()
    }

    /// Lets `observer` watch all calls from now on. Only the first observer of a plugin counts.
    pub fn observe(&self, observer: Arc<dyn CallObserver>) {
        let _known = self.observer.set(observer);
    }

    /// True if the plugin panicked too many times in a row and is no longer called.
    pub fn is_quarantined(&self) -> bool {
        self.quarantined.load(Ordering::Relaxed)
    }

    /// Prepares the plugin's state for one binding. The caller keeps it as long as it makes other calls for this
    /// binding.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn prepare(&self, cycle: &CycleView<'_>) -> Result<Prepared, CallError> {
        let mut call = PrepareCall {
            cycle: std::ptr::from_ref(cycle),
            ..PrepareCall::default()
        };
        self.call(Call::Prepare, || self.calls.prepare(&mut call))
    }

    /// Calls Filter: writes a code for every cluster that the plugin rejects.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn filter(&self, call: &mut FilterCall<'_>) -> Result<(), CallError> {
        self.call(Call::Filter, || self.calls.filter(call))
    }

    /// Calls Score: writes a score for every feasible cluster.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn score(&self, call: &mut ScoreCall<'_>) -> Result<(), CallError> {
        self.call(Call::Score, || self.calls.score(call))
    }

    /// Calls Select: picks the candidates and their order.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn select(&self, call: &mut SelectCall<'_>) -> Result<(), CallError> {
        self.call(Call::Select, || self.calls.select(call))
    }

    /// Calls Assign: divides the replicas among the candidates.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
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
        let Some(observer) = self.observer.get() else {
            return self.judged(kind, call());
        };
        observer.begins(self.name(), kind);
        let result = self.judged(kind, call());
        observer.ends(self.name(), kind, result.as_ref().err());
        result
    }

    fn judged<T>(&self, kind: Call, result: Result<T, PluginFailure>) -> Result<T, CallError> {
        match result {
            Ok(value) => {
                // The count is nearly always 0 already, and reading is cheaper than writing.
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
                // Repeated panics are the plugin's fault, whatever the binding, so it is not called again and again.
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
