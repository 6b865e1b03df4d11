//! The log of plugins: one target for each, `divvy::plugin::NAME`, and the binding that is decided as a field.
//!
//! In `tracing`, the target and the level of an event are static. So each name of a plugin gets callsites of its own, one per
//! level, which are made at first use and never freed. Names are those of libraries, which are never closed either, so they
//! are few.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use divvy_framework_abi::service::level;
use divvy_framework_calls::binding::BindingRecord;
use tracing::callsite::{self, Callsite, Identifier};
use tracing::field::{FieldSet, Value};
use tracing::level_filters::LevelFilter;
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, dispatcher};

/// Target of all plugins. That of one plugin is below it.
const TARGET: &str = "divvy::plugin";

/// Levels, the gravest first.
const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

/// Their numbers at the boundary.
const NUMBERS: [u32; LEVELS.len()] = [level::ERROR, level::WARN, level::INFO, level::DEBUG, level::TRACE];

/// Fields of an event, in the order in which they are printed.
const FIELDS: &[&str] = &["message", "plugin", "binding", "metric", "module"];

thread_local! {
    /// The binding that this thread decides; null outside of cycles.
    static BINDING: Cell<*const BindingRecord> = const { Cell::new(std::ptr::null()) };
}

/// Runs `step` for a binding, which the records of this thread then name, as does whoever reports a plugin that crashes or hangs.
pub(crate) fn of_binding<T>(binding: &BindingRecord, step: impl FnOnce() -> T) -> T {
    struct Restore(*const BindingRecord);

    impl Drop for Restore {
        fn drop(&mut self) {
            BINDING.set(self.0);
        }
    }

    let _restore = Restore(BINDING.replace(binding));
    let _named = divvy_attribution::binding(binding.namespace(), binding.name());
    step()
}

/// The binding that this thread decides, as `namespace/name`.
pub(super) fn binding() -> Option<String> {
    // SAFETY: the pointer is set only for as long as the binding is borrowed, and the previous one is put back after a panic, too.
    let binding = unsafe { BINDING.get().as_ref() }?;
    Some(match binding.namespace() {
        "" => binding.name().to_owned(),
        namespace => format!("{namespace}/{}", binding.name()),
    })
}

/// The log of one plugin.
#[derive(Debug)]
pub(super) struct PluginLog {
    plugin: &'static str,
    callsites: [&'static PluginCallsite; LEVELS.len()],
}

impl PluginLog {
    /// The log of the plugin with this name.
    pub(super) fn of(plugin: &str) -> &'static Self {
        static LOGS: Mutex<BTreeMap<&'static str, &'static PluginLog>> = Mutex::new(BTreeMap::new());
        let mut logs = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = logs.get(plugin) {
            return log;
        }
        let plugin: &'static str = Box::leak(plugin.into());
        let target: &'static str = Box::leak(format!("{TARGET}::{plugin}").into());
        let callsites = LEVELS.map(|level| PluginCallsite::registered(target, level));
        let log = Box::leak(Box::new(Self { plugin, callsites }));
        logs.insert(plugin, log);
        log
    }

    /// The most verbose level that may be recorded of this plugin, as a number of [`level`].
    ///
    /// Only what subscribers said of the callsite in advance counts. A subscriber whose layers have filters of their own keeps its
    /// answer for the event that follows, so it must not be asked without one.
    pub(super) fn recorded_level(&self) -> u32 {
        let most = LevelFilter::current();
        let is_possible = |callsite: &PluginCallsite| {
            *callsite.metadata().level() <= most && callsite.interest.load(Ordering::Relaxed) != NEVER
        };
        let numbered = self.callsites.iter().zip(NUMBERS);
        let deepest = numbered.rev().find(|(callsite, _)| is_possible(callsite));
        deepest.map_or(level::OFF, |(_, number)| number)
    }

    /// Records a message of the plugin. A number that is not one of [`level`] counts as the most verbose.
    pub(super) fn record(&self, severity: u32, module: &str, message: &str) {
        self.record_with(severity, message, None, Some(module));
    }

    /// Warns of the plugin.
    pub(super) fn warn(&self, message: &str) {
        self.record_with(level::WARN, message, None, None);
    }

    /// Warns that a metric of the plugin is ignored.
    pub(super) fn warn_of_metric(&self, metric: &str, message: &str) {
        self.record_with(level::WARN, message, Some(metric), None);
    }

    fn record_with(&self, severity: u32, message: &str, metric: Option<&str>, module: Option<&str>) {
        let index = NUMBERS.iter().position(|number| *number == severity);
        let callsite = self.callsites[index.unwrap_or(LEVELS.len() - 1)];
        let metadata = callsite.metadata();
        if *metadata.level() > LevelFilter::current() || !callsite.is_enabled() {
            return;
        }
        let binding = binding();
        let message = format_args!("{message}");
        // In the order of `FIELDS`.
        let values = [
            Some(&message as &dyn Value),
            Some(&self.plugin),
            binding.as_ref().map(|binding| binding as &dyn Value),
            metric.as_ref().map(|metric| metric as &dyn Value),
            module.as_ref().map(|module| module as &dyn Value),
        ];
        Event::dispatch(metadata, &metadata.fields().value_set_all(&values));
    }
}

/// The callsite of a plugin's events of one level.
struct PluginCallsite {
    /// Set once the callsite has its place in memory, to which the metadata refers.
    metadata: OnceLock<Metadata<'static>>,
    /// One of [`NEVER`], [`SOMETIMES`] and [`ALWAYS`].
    interest: AtomicU8,
}

const NEVER: u8 = 0;
const SOMETIMES: u8 = 1;
const ALWAYS: u8 = 2;

impl PluginCallsite {
    /// A callsite that subscribers know.
    fn registered(target: &'static str, level: Level) -> &'static Self {
        let callsite: &'static Self = Box::leak(Box::new(Self {
            metadata: OnceLock::new(),
            interest: AtomicU8::new(SOMETIMES),
        }));
        let fields = FieldSet::new(FIELDS, Identifier(callsite));
        callsite.metadata.get_or_init(|| {
            Metadata::new(
                "event of a plugin",
                target,
                level,
                None,
                None,
                None,
                fields,
                Kind::EVENT,
            )
        });
        callsite::register(callsite);
        callsite
    }
}

impl PluginCallsite {
    fn metadata(&self) -> &Metadata<'static> {
        self.metadata.get().expect("`registered` sets it before anything else")
    }

    /// True if a subscriber of this thread takes the event that follows.
    fn is_enabled(&self) -> bool {
        match self.interest.load(Ordering::Relaxed) {
            NEVER => false,
            ALWAYS => true,
            _ => dispatcher::get_default(|subscriber| subscriber.enabled(self.metadata())),
        }
    }
}

impl Callsite for PluginCallsite {
    fn set_interest(&self, interest: Interest) {
        let interest = match () {
            () if interest.is_never() => NEVER,
            () if interest.is_always() => ALWAYS,
            () => SOMETIMES,
        };
        self.interest.store(interest, Ordering::Relaxed);
    }

    fn metadata(&self) -> &Metadata<'_> {
        self.metadata()
    }
}

impl std::fmt::Debug for PluginCallsite {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("PluginCallsite")
            .field(&self.metadata.get())
            .finish()
    }
}
