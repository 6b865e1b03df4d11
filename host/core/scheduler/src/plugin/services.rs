//! The services that the host offers to a plugin: its log, its metrics, the texts of a decision and failures.
//!
//! Every instance of a plugin has a table of its own. The table and what it refers to are never freed, because a
//! library can log as long as the process lives.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::reason::{FigureRow, Reason};
use divvy_framework_abi::service::{Failure, Services, failure, limit, text_kind};
use divvy_framework_abi::sized::SizePrefixed;
use divvy_framework_abi::{Address, Function, PluginText, Pointer, Slice};
use divvy_framework_calls::metrics::{MetricFigures, PluginMetrics, Refusal};
use divvy_framework_memory::Slot;
use divvy_isolation::Event;
use divvy_loader::shown::one_line;

use super::limits::{self, Handed};
use super::log::PluginLog;

/// Reason of the clusters that a plugin rejects after it has given as many reasons as a call may.
const FURTHER_REASON: &str = "cluster(s) were rejected for reasons that were left out";

/// The host's side of the services for one instance.
pub(super) struct HostServices {
    log: &'static PluginLog,
    metrics: PluginMetrics,
    /// True after the warning that a metric is ignored.
    has_warned: AtomicBool,
}

impl fmt::Debug for HostServices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HostServices")
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

impl HostServices {
    /// The services for a new instance of the plugin with this name.
    pub(super) fn for_instance(plugin: &str) -> &'static Self {
        Box::leak(Box::new(Self {
            log: PluginLog::of(plugin),
            metrics: PluginMetrics::default(),
            has_warned: AtomicBool::new(false),
        }))
    }

    /// The table that the plugin sees, in memory that it can only read, and no other process: it has addresses of this one. It is never
    /// freed.
    pub(super) fn table(&'static self) -> Pointer<'static, Services> {
        let [context, table] = Box::leak(Box::new([Slot::of_this_process(), Slot::of_this_process()]));
        Pointer::new(table.show(Services {
            // What the plugin sees is where the host finds the address of its own value.
            context: Address::of(context.show(self)),
            log_level: Function::new(log_level),
            log: Function::new(log),
            count: Function::new(count),
            text: Function::new(text),
            fail: Function::new(fail),
            observe: Function::new(observe),
            explain: Function::new(explain),
            ..Services::DEFAULT
        }))
    }

    /// The services behind a context.
    ///
    /// # Safety
    ///
    /// The context is that of a table of [`Self::table`].
    unsafe fn of_context(context: *const c_void) -> &'static Self {
        // SAFETY: `table` made the context from a reference that is never freed.
        unsafe { *context.cast::<&Self>() }
    }

    /// The plugin's counters and histograms, by name.
    pub(super) fn metrics(&self) -> MetricFigures {
        self.metrics.figures()
    }

    /// The most verbose level that is recorded.
    pub(super) fn recorded_level(&self) -> u32 {
        self.log.recorded_level()
    }

    /// Takes what the plugin handed over in another process during a call. Returns the code of a text, otherwise 0.
    pub(super) fn take(&self, event: Event<'_>, sink: &CallSink<'_>) -> u32 {
        match event {
            Event::Log(severity, target, message) => self.log(severity, target, message),
            Event::Count(name, amount) => self.count(name, amount),
            Event::Observe(name, value) => self.observe(name, value),
            Event::Text(kind, row, text) => return sink.take_text(kind, row, text),
            Event::Explain(reason) => sink.take_reason(reason),
            Event::Fail(failure) => sink.take_failure(failure),
            Event::LeftOut(left_out) => sink.handed.leaves_out(left_out),
        }
        0
    }

    fn log(&self, severity: u32, target: PluginText<'_>, message: PluginText<'_>) {
        if limits::takes_log_record([target, message]) {
            self.log.record(severity, &limits::read(target), &limits::read(message));
        }
    }

    fn count(&self, name: PluginText<'_>, amount: u64) {
        let name = metric_name(name);
        self.check(&name, self.metrics.count(&name, amount));
    }

    fn observe(&self, name: PluginText<'_>, value: f64) {
        let name = metric_name(name);
        self.check(&name, self.metrics.observe(&name, value));
    }

    /// Warns of the first metric that is ignored: a plugin that uses one uses it in every call.
    fn check(&self, name: &str, recorded: Result<(), Refusal>) {
        if let Err(refusal) = recorded
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            self.log
                .warn_of_metric(name, &format!("a metric is ignored: {refusal}"));
        }
    }
}

/// Takes the texts that a plugin hands over during a call. `row` is that of the cluster that the text is about. The
/// answer is the code of a reason, otherwise 0.
pub trait TakeText {
    /// Takes a text of a kind of [`divvy_framework_abi::service::text_kind`].
    fn take(&self, kind: u32, row: u32, text: String) -> u32;

    /// Takes a plugin's reason for its decision about a cluster. Nothing in it has been checked.
    fn explain(&self, reason: &Reason<'_>);
}

thread_local! {
    /// The sink of the call that this thread makes to a plugin in this process; null outside of calls.
    static CURRENT: Cell<*const CallSink<'static>> = const { Cell::new(std::ptr::null()) };
}

/// Texts and failures that a plugin hands over during one call.
pub(super) struct CallSink<'a> {
    texts: Option<&'a dyn TakeText>,
    failure: RefCell<Option<Reported>>,
    handed: Handed,
    /// Code of [`FURTHER_REASON`]; 0 before it is needed.
    further: Cell<u32>,
}

/// A failure as the plugin reported it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reported {
    /// Code that the call returned.
    pub(super) code: u32,
    pub(super) message: String,
    pub(super) path: String,
    pub(super) hint: Option<String>,
    pub(super) figures: Option<(i64, i64)>,
}

impl<'a> CallSink<'a> {
    pub(super) fn new(texts: Option<&'a dyn TakeText>) -> Self {
        Self {
            texts,
            failure: RefCell::new(None),
            handed: Handed::default(),
            further: Cell::new(0),
        }
    }

    /// Warns of what the call handed over beyond the limits, in the log and, if there are any, with the call's texts.
    #[inline]
    pub(super) fn finish(&self, services: &HostServices) {
        self.handed.end();
        if self.handed.is_over() {
            self.warn(services);
        }
    }

    #[cold]
    fn warn(&self, services: &HostServices) {
        let warning = self.handed.warning();
        services.log.warn(&warning);
        if let Some(texts) = self.texts {
            texts.take(text_kind::NOTE, NO_ROW, warning);
        }
    }

    /// What the plugin sees as the sink: a name of it, at which no memory is.
    #[inline]
    pub(super) fn name(&self) -> Address {
        Address::new(std::ptr::without_provenance_mut(!std::ptr::from_ref(self).addr()))
    }

    /// Makes a call to a plugin in this process, which hands over to this sink from this thread.
    #[inline]
    pub(super) fn during<T>(&self, call: impl FnOnce() -> T) -> T {
        let outer = CURRENT.replace(std::ptr::from_ref(self).cast());
        let answer = call();
        CURRENT.set(outer);
        answer
    }

    /// Takes what a plugin hands over to the sink with this name. A plugin that does so from another thread, or after the call, breaks
    /// the contract; what it hands over is dropped.
    fn with_current<T>(name: *const c_void, take: impl FnOnce(&CallSink<'_>) -> T) -> Option<T> {
        let current = CURRENT.get();
        if current.is_null() || !current.addr() != name.addr() {
            return None;
        }
        // SAFETY: `during` sets the sink for as long as it borrows it, and only for its thread.
        Some(take(unsafe { &*current }))
    }

    fn take_text(&self, kind: u32, row: u32, text: PluginText<'_>) -> u32 {
        let Some(texts) = self.texts else {
            return 0;
        };
        if self.handed.takes(text, 0) {
            return texts.take(kind, row, limits::read(text));
        }
        if kind == text_kind::REASON && self.further.get() == 0 {
            self.further.set(texts.take(kind, row, FURTHER_REASON.to_owned()));
        }
        match kind {
            text_kind::REASON => self.further.get(),
            _ => 0,
        }
    }

    fn take_reason(&self, reason: &Reason<'_>) {
        let Some(texts) = self.texts else {
            return;
        };
        let figures = reason.figures.as_slice();
        let is_kept = |figure: &&FigureRow<'_>| figure.name.bytes().len() <= limit::FIGURE_NAME_BYTES as usize;
        let kept = figures.iter().take(limit::FIGURES as usize).filter(is_kept);
        let names = kept.clone().map(|figure| figure.name.bytes().len()).sum();
        if !self.handed.takes(reason.text, names) {
            return;
        }
        let number = kept.clone().count();
        self.handed.drops_figures(figures.len() - number);
        let is_whole = number == figures.len() && reason.text.bytes().len() <= limit::TEXT_BYTES as usize;
        match is_whole {
            true => texts.explain(reason),
            false => {
                let (kept, text) = (kept.copied().collect::<Vec<_>>(), limits::read(reason.text));
                texts.explain(&Reason {
                    figures: Slice::new(&kept),
                    text: PluginText::new(&text),
                    ..*reason
                });
            }
        }
    }

    fn take_failure(&self, failure: &Failure<'_>) {
        for text in [failure.message, failure.path, failure.hint] {
            self.handed.fails_with(text);
        }
        let hint = limits::read(failure.hint);
        let reported = Reported {
            code: failure.code,
            message: limits::read(failure.message),
            path: limits::read_parts(failure.path),
            hint: (!hint.is_empty()).then_some(hint),
            figures: (failure.requested >= 0).then_some((failure.requested, failure.available)),
        };
        if let Ok(mut kept) = self.failure.try_borrow_mut() {
            *kept = Some(reported);
        }
    }

    /// The failure of a call that returned `code`. The code counts, whatever the plugin handed over.
    pub(super) fn reported(&self, code: u32) -> Reported {
        let mut reported = self.failure.take().unwrap_or_default();
        reported.code = code;
        // The path of a row has parts; any other is one text.
        if code != failure::TABLE {
            reported.path = one_line(&reported.path).into_owned();
        }
        if reported.message.is_empty() {
            reported.message = match code {
                failure::NOT_SERVED => "does not serve this call".to_owned(),
                _ => format!("code {code:#x} without a message"),
            };
        }
        reported
    }
}

unsafe extern "C" fn log_level(context: *const c_void) -> u32 {
    // SAFETY: a plugin passes the context of its table.
    let services = unsafe { HostServices::of_context(context) };
    services.log.recorded_level()
}

unsafe extern "C" fn log(context: *const c_void, severity: u32, target: PluginText<'_>, message: PluginText<'_>) {
    // SAFETY: a plugin passes the context of its table.
    let services = unsafe { HostServices::of_context(context) };
    services.log(severity, target, message);
}

/// The name of a metric. One that is too long stays so, and is not valid.
fn metric_name(name: PluginText<'_>) -> Cow<'_, str> {
    name.cut(limit::FIGURE_NAME_BYTES + 4).read()
}

unsafe extern "C" fn count(context: *const c_void, name: PluginText<'_>, amount: u64) {
    // SAFETY: a plugin passes the context of its table.
    let services = unsafe { HostServices::of_context(context) };
    services.count(name, amount);
}

unsafe extern "C" fn observe(context: *const c_void, name: PluginText<'_>, value: f64) {
    // SAFETY: a plugin passes the context of its table.
    let services = unsafe { HostServices::of_context(context) };
    services.observe(name, value);
}

unsafe extern "C" fn text(sink: *const c_void, kind: u32, row: u32, text: PluginText<'_>) -> u32 {
    CallSink::with_current(sink, |sink| sink.take_text(kind, row, text)).unwrap_or(0)
}

unsafe extern "C" fn explain(sink: *const c_void, reason: *const Reason<'_>) {
    // SAFETY: the plugin hands over a reason of its minor version.
    if let Some(reason) = unsafe { Reason::read(reason) } {
        CallSink::with_current(sink, |sink| sink.take_reason(&reason));
    }
}

unsafe extern "C" fn fail(sink: *const c_void, failure: *const Failure<'_>) {
    // SAFETY: the plugin hands over a failure of its minor version.
    if let Some(failure) = unsafe { Failure::read(failure) } {
        CallSink::with_current(sink, |sink| sink.take_failure(&failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It has addresses of this process's code, which no worker may learn.
    #[test]
    fn no_other_process_sees_a_table_of_services() {
        divvy_framework_memory::protection().expect("this system has sealed files");
        let table = HostServices::for_instance("tested").table();
        let services: *const u8 = table.address().cast();
        // SAFETY: `table` has just written it, and it is never freed.
        let context = unsafe { (*table.address()).context.get() };
        for address in [services, context.cast_const().cast()] {
            assert!(divvy_framework_memory::is_protected(address) && !divvy_framework_memory::is_shared(address));
        }
    }
}
