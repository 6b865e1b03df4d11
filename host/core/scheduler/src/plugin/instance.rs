//! A constructed plugin: its calls, the errors that name it, and its quarantine.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use divvy_framework_abi::call::{
    AssignCall, BindingValueCall, CallHead, FilterCall, PaceCall, PrepareCall, ReleaseFunction, ScoreCall, SelectCall,
    SnapshotValueCall,
};
use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::service::failure;
use divvy_framework_abi::sized::kind;
use divvy_framework_abi::view::CycleView;
use divvy_framework_abi::{Address, Function, Pointer, Slice};
use divvy_framework_calls::metrics::MetricFigures;
use divvy_framework_calls::snapshot::{Snapshot, SnapshotVersion};
use divvy_framework_memory::{Column, Slot};
use divvy_isolation::{IsolatedPlugin, MissingFacility};
use divvy_loader::PluginLibrary;
use divvy_profile::{OnError, ProfileConfiguration};

use super::call::{CallObserver, Callable};
use super::construct::InProcess;
use super::error::{CallError, RefusedRow};
use super::inputs::unprotected_input;
use super::limits::Handed;
use super::log;
use super::services::{CallSink, HostServices, Reported, TakeText};
use super::suspension::WorkerFailures;
use super::value::{KeptValue, Owner, PreparedState};
use crate::placements::Enforced;

/// Consecutive panics in one kind of call after which a plugin is quarantined until its profile is loaded again.
pub const PANICS_TO_QUARANTINE: u32 = 3;

/// Where a plugin answers.
pub(super) enum Crossing {
    InProcess(InProcess),
    Isolated(Arc<IsolatedPlugin>),
}

/// The tables that a plugin sees while it makes a value for a snapshot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ValueTables {
    /// A number that no other tables have; 0 if the plugin reads none.
    pub(crate) number: u64,
    /// Groups of columns on which their cells depend, as bits of [`divvy_framework_abi::arena::group`].
    pub(crate) groups: u64,
}

/// Sources for which a snapshot's value is right: the snapshot, and the tables that the plugin saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ValueVersion {
    snapshot: SnapshotVersion,
    /// Number of the tables; 0 if the plugin reads none.
    tables: u64,
}

/// A plugin constructed from its configuration.
pub struct PluginInstance {
    library: PluginLibrary,
    crossing: Crossing,
    services: &'static HostServices,
    /// Features that the plugin needs with its configuration.
    features: u64,
    /// Consecutive panics per kind of call, because a plugin whose Filter succeeds can still panic in every division.
    panics: [AtomicU32; kind::PACE as usize + 1],
    /// A number that no other instance of this process has.
    number: u64,
    keeps_values: bool,
    /// True if a decision goes on without the plugin when it fails.
    skips_failures: bool,
    /// The value for the snapshot that the plugin was last called with, and what it was made from.
    snapshot_value: Mutex<Option<(ValueVersion, KeptValue)>>,
    quarantined: AtomicBool,
    last_panic: Mutex<String>,
    workers: WorkerFailures,
    /// True after a call that failed by the plugin's fault, until one is answered.
    is_failing: AtomicBool,
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
    pub(super) fn new(
        library: PluginLibrary,
        crossing: Crossing,
        services: &'static HostServices,
        features: u64,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let keeps_values = library.serves(kind::SNAPSHOT_VALUE) || library.serves(kind::BINDING_VALUE);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            keeps_values,
            skips_failures: false,
            snapshot_value: Mutex::new(None),
            library,
            crossing,
            services,
            features,
            panics: Default::default(),
            quarantined: AtomicBool::new(false),
            last_panic: Mutex::new(String::new()),
            workers: WorkerFailures::default(),
            is_failing: AtomicBool::new(false),
            observer: OnceLock::new(),
        }
    }

    /// The plugin, with what happens to a decision when it fails.
    #[must_use]
    pub fn with_on_error(mut self, on_error: OnError) -> Self {
        self.skips_failures = on_error == OnError::Skip;
        self
    }

    /// True if a decision goes on without the plugin when it fails.
    #[inline]
    pub fn skips_failures(&self) -> bool {
        self.skips_failures
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

    /// The observer of the plugin's calls, if there is one.
    pub(crate) fn observer(&self) -> Option<&dyn CallObserver> {
        self.observer.get().map(|observer| &**observer)
    }

    /// True if the plugin runs in a worker.
    pub fn is_isolated(&self) -> bool {
        matches!(self.crossing, Crossing::Isolated(_))
    }

    /// Facilities that this system lacks, so that the plugin's worker is confined less than it could be; empty for a plugin in this
    /// process.
    pub fn missing_facilities(&self) -> Vec<MissingFacility> {
        match &self.crossing {
            Crossing::InProcess(_) => Vec::new(),
            Crossing::Isolated(plugin) => plugin.worker().missing(),
        }
    }

    /// True if the plugin is not called: it panicked too many times in a row, or its worker failed too many times.
    pub fn is_quarantined(&self) -> bool {
        self.quarantined.load(Ordering::Relaxed) || self.is_suspended()
    }

    /// True if the plugin is not called because its worker ended too many times in a row, until [`Self::resume`].
    pub fn is_suspended(&self) -> bool {
        self.workers.is_suspended()
    }

    /// Number of times that the plugin was suspended since it last answered.
    pub fn suspensions(&self) -> u32 {
        self.workers.suspensions()
    }

    /// Lets a suspended plugin be called again. If that call ends its worker as well, it is suspended at once.
    pub fn resume(&self) {
        self.workers.resume();
    }

    /// True if the plugin's last call failed by its own fault.
    pub fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    /// True if the plugin needs a feature, given as a bit of [`divvy_framework_abi::descriptor::feature`], at any
    /// extension point or with its configuration.
    pub fn needs(&self, feature: u64) -> bool {
        self.features() & feature != 0
    }

    /// Features of the plugin at any extension point or with its configuration.
    pub(crate) fn features(&self) -> u64 {
        self.features | self.library.features()
    }

    /// True if the plugin reads this table of a profile.
    pub fn reads_table(&self, table: &str, profile: &ProfileConfiguration) -> bool {
        let renamed = profile.plugin.get(self.name()).map(|own| &own.tables);
        self.library.tables().iter().any(|declared| {
            let name = renamed.and_then(|renamed| renamed.get(&declared.name));
            name.unwrap_or(&declared.name) == table
        })
    }

    /// True if the plugin promises that its selection satisfies the spread constraints.
    pub fn enforces_spread(&self) -> bool {
        self.library.enforces_spread()
    }

    /// True if the plugin promises, for the calls of this kind, that it judges each cluster alone.
    pub(crate) fn judges_each_alone(&self, point: u32) -> bool {
        self.library.has_at(point, feature::EACH_ALONE)
    }

    /// Workload affinity that the plugin promises to enforce at Filter.
    pub fn enforced_affinity(&self) -> Enforced {
        Enforced {
            affinity: self.library.has_at(kind::FILTER, feature::ENFORCES_AFFINITY),
            anti_affinity: self.library.has_at(kind::FILTER, feature::ENFORCES_ANTI_AFFINITY),
        }
    }

    /// A number that no other instance of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// True if the plugin keeps a value for each snapshot or for each binding.
    #[inline]
    pub(crate) fn keeps_values(&self) -> bool {
        self.keeps_values
    }

    /// Features that the plugin needs with its configuration, in addition to those that its library lists.
    pub(crate) fn instance_features(&self) -> u64 {
        self.features
    }

    /// The plugin's counters and histograms since it was constructed. The SDK counts results that were out of range as
    /// `results_out_of_range`.
    pub fn metrics(&self) -> MetricFigures {
        self.services.metrics()
    }

    /// Prepares state for several calls of one kind: [`PreparedState::NONE`] if the plugin does not prepare. The caller
    /// keeps it as long as it makes these calls.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn prepare(
        &self,
        call: &mut PrepareCall<'_>,
        texts: Option<&dyn TakeText>,
    ) -> Result<PreparedState, CallError> {
        if !self.library.serves(kind::PREPARE) {
            return Ok(PreparedState::NONE);
        }
        self.call(call, texts)?;
        Ok(self.kept(call.state, call.release))
    }

    /// Drops the value that is kept for a snapshot.
    pub(crate) fn forget_snapshot_value(&self) {
        *self.snapshot_value.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The value for a snapshot: the kept value, unless something that it was made from has changed, or a new one, made from
    /// it. `cycle` contains only the snapshot and these tables.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place. The kept value stays.
    pub(crate) fn snapshot_value(
        &self,
        snapshot: &Snapshot,
        tables: ValueTables,
        cycle: &CycleView<'_>,
    ) -> Result<KeptValue, CallError> {
        let version = ValueVersion {
            snapshot: snapshot.version(),
            tables: tables.number,
        };
        let reads = self.library.value_reads() | tables.groups;
        // Held while the value is made, so that calls on other threads wait for it instead of making their own.
        let mut kept = self.snapshot_value.lock().unwrap_or_else(PoisonError::into_inner);
        // What was lost with a worker says nothing about changes.
        kept.take_if(|(_, value)| !value.is_there());
        let (previous, changed) = match &mut *kept {
            Some((known, value)) if *known == version => return Ok(value.clone()),
            Some((known, value))
                if known.tables == tables.number && reads & !snapshot.unchanged_since(known.snapshot) == 0 =>
            {
                // It is as right for this snapshot, from which the next changes count.
                *known = version;
                return Ok(value.clone());
            }
            Some((known, value)) => {
                // If the tables are others, any cell may differ.
                let changed = snapshot
                    .changed_since(known.snapshot)
                    .filter(|_| known.tables == tables.number);
                (value.address(), changed.map(Iterator::collect::<Column<u32>>))
            }
            None => (Address::NULL, None),
        };
        let mut shown = Slot::new();
        let mut call = SnapshotValueCall {
            cycle: Pointer::new(shown.show(*cycle)),
            previous,
            changed_rows: changed.as_deref().map_or(Slice::EMPTY, Slice::new),
            changes_known: changed.is_some().into(),
            ..SnapshotValueCall::DEFAULT
        };
        self.call(&mut call, None)?;
        let value = KeptValue::new(self.kept(call.value, call.release));
        *kept = Some((version, value.clone()));
        Ok(value)
    }

    /// A new value for a binding.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub(crate) fn binding_value(&self, call: &mut BindingValueCall<'_>) -> Result<KeptValue, CallError> {
        self.call(call, None)?;
        Ok(KeptValue::new(self.kept(call.value, call.release)))
    }

    /// Calls Filter: writes a code for every cluster that the plugin rejects.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn filter(&self, call: &mut FilterCall<'_>, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        self.call(call, texts)
    }

    /// Calls Score: writes a score for every feasible cluster.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn score(&self, call: &mut ScoreCall<'_>, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        self.call(call, texts)
    }

    /// Calls Select: picks the candidates and their order.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn select(&self, call: &mut SelectCall<'_>, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        self.call(call, texts)
    }

    /// Calls Assign: divides the replicas among the candidates.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which aborts this cycle and leaves the previous result in place.
    pub fn assign(&self, call: &mut AssignCall<'_>, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        self.call(call, texts)
    }

    /// Calls Pace: says the next step of a move.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which leaves the present result in place.
    pub fn pace(&self, call: &mut PaceCall<'_>, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        self.call(call, texts)
    }

    #[inline]
    fn call<C: Callable>(&self, call: &mut C, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        if self.is_quarantined() {
            return Err(self.quarantine_error());
        }
        let Some(observer) = self.observer.get() else {
            return self.cross(call, texts);
        };
        observer.begins(self.name(), C::CALL);
        let result = self.cross(call, texts);
        observer.ends(self.name(), C::CALL, result.as_ref().err());
        result
    }

    #[inline]
    fn cross<C: Callable>(&self, call: &mut C, texts: Option<&dyn TakeText>) -> Result<(), CallError> {
        let sink = CallSink::new(texts);
        call.set_sink(sink.name());
        Handed::begin();
        let code = match &self.crossing {
            Crossing::InProcess(plugin) => {
                // A thread that a library ends in the call, with `pthread_exit`, has not returned: the process aborts, and names it.
                let marked = ManuallyDrop::new(plugin.sites.calls[C::CALL as usize].enter());
                debug_assert_eq!(unprotected_input(call), None, "a plugin can write to this input");
                // SAFETY: the instance is the plugin's own, and the call keeps what it points to alive; the sink outlives it.
                let cross =
                    || unsafe { (plugin.call)(plugin.instance, std::ptr::from_mut(call).cast::<CallHead<'_>>()) };
                let code = sink.during(cross);
                drop(ManuallyDrop::into_inner(marked));
                Ok(code)
            }
            Crossing::Isolated(plugin) => self.cross_to_worker(plugin, call, &sink),
        };
        sink.finish(self.services);
        let code = code?;
        let panics = &self.panics[C::KIND as usize];
        if code != 0 {
            let error = self.error(panics, sink.reported(code));
            let is_outcome = matches!(
                error,
                CallError::Unschedulable { .. } | CallError::Preferences { .. } | CallError::Table(_)
            );
            if !is_outcome {
                self.is_failing.store(true, Ordering::Relaxed);
            }
            return Err(error);
        }
        // The count is nearly always 0 already, and reading is cheaper than writing.
        if panics.load(Ordering::Relaxed) != 0 {
            panics.store(0, Ordering::Relaxed);
        }
        if self.is_failing.load(Ordering::Relaxed) || self.workers.owes() {
            self.answered(C::KIND);
        }
        Ok(())
    }

    /// Forgets failures: a call was answered.
    #[cold]
    fn answered(&self, kind: u32) {
        self.is_failing.store(false, Ordering::Relaxed);
        self.workers.answered(kind);
    }

    /// Makes a call in the plugin's worker, and returns the code that the plugin returned.
    fn cross_to_worker<C: Callable>(
        &self,
        plugin: &IsolatedPlugin,
        call: &mut C,
        sink: &CallSink<'_>,
    ) -> Result<u32, CallError> {
        let level = self.services.recorded_level();
        let answered = plugin.call(call, level, &mut |event| self.services.take(event, sink));
        let answered = answered.map_err(|error| {
            self.is_failing.store(true, Ordering::Relaxed);
            if error.ended_worker() {
                self.workers
                    .failed(log::binding(), C::KIND, &error.to_string(), error.is_lasting());
            }
            CallError::Isolated {
                plugin: self.name().to_owned(),
                call: C::CALL,
                error,
            }
        })?;
        if answered.code == 0
            && let Some((value, release)) = call.keeps()
        {
            let function = release.get().map_or(0, |release| release as usize as u64);
            *value = plugin.keep(answered.generation, *value, function);
            // The function is the worker's own.
            *release = Function::NULL;
        }
        Ok(answered.code)
    }

    /// A value that the plugin keeps.
    fn kept(&self, value: Address, release: Function<ReleaseFunction>) -> PreparedState {
        let owner = match &self.crossing {
            Crossing::InProcess(plugin) => release
                .get()
                .map_or(Owner::Nobody, |release| Owner::InProcess(release, plugin.sites.release)),
            Crossing::Isolated(plugin) => Owner::Isolated(Arc::clone(plugin)),
        };
        PreparedState::new(value, owner)
    }

    #[cold]
    fn quarantine_error(&self) -> CallError {
        if self.is_suspended() {
            return self.workers.error(self.name());
        }
        CallError::Quarantined {
            plugin: self.name().to_owned(),
            panics: PANICS_TO_QUARANTINE,
            message: self.last_panic.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    #[cold]
    fn error(&self, panics: &AtomicU32, reported: Reported) -> CallError {
        let plugin = self.name().to_owned();
        let Reported {
            code,
            message,
            path,
            hint,
            figures,
        } = reported;
        match code {
            failure::PANIC => {
                // Repeated panics are the plugin's fault, whatever the binding, so it is not called again and again.
                if panics.fetch_add(1, Ordering::Relaxed) + 1 >= PANICS_TO_QUARANTINE {
                    self.quarantined.store(true, Ordering::Relaxed);
                }
                (*self.last_panic.lock().unwrap_or_else(PoisonError::into_inner)).clone_from(&message);
                CallError::Panic {
                    plugin,
                    message,
                    location: path,
                }
            }
            failure::NOT_SERVED => CallError::NotServed { plugin, message },
            failure::TABLE => {
                let mut parts = path.split('\n');
                let mut part = || parts.next().unwrap_or_default().to_owned();
                CallError::Table(Box::new(RefusedRow {
                    plugin,
                    table: part(),
                    cluster: part(),
                    number: part().parse().unwrap_or(0),
                    column: part(),
                    message,
                    hint,
                }))
            }
            // A code that this host does not know is treated by its class.
            _ => match failure::class(code) {
                failure::BINDING => CallError::Unschedulable {
                    plugin,
                    message,
                    figures,
                },
                failure::INPUT => CallError::Preferences {
                    plugin,
                    message,
                    path,
                    hint,
                },
                _ => CallError::Internal { plugin, message },
            },
        }
    }
}
