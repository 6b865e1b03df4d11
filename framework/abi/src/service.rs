//! Construction, failures, and the services that the host offers to a plugin.

use std::ffi::c_void;
use std::marker::PhantomData;

use crate::column::{Address, Function, PluginText, Pointer, Str};
use crate::definition::numbers;
use crate::reason::Reason;
use crate::signature::function;
use crate::sized::{kind, sized};

numbers! {
    /// Codes of failures.
    ///
    /// The upper sixteen bits of a code are its class, by which a host treats a code that it does not know. A class that it
    /// does not know counts as [`PLUGIN`](failure::PLUGIN).
    pub mod failure as "DIVVY_FAILURE_" {
        /// Class: a scheduling outcome, for which no one is at fault.
        pub const BINDING: u32 = 1;
        /// Class: the policy, the binding or the configuration is wrong, and its author has to change it.
        pub const INPUT: u32 = 2;
        /// Class: the plugin is at fault.
        pub const PLUGIN: u32 = 3;

        /// The binding cannot be scheduled on the clusters as they are.
        pub const UNSCHEDULABLE: u32 = BINDING << 16 | 1;
        /// The policy's preferences are invalid. The host reports an error in the policy.
        pub const PREFERENCES: u32 = INPUT << 16 | 1;
        /// The configuration is invalid at [`super::Failure::path`]. The host rejects the profile.
        pub const CONFIGURATION: u32 = INPUT << 16 | 2;
        /// A row of a table is invalid at [`super::Failure::path`]: the name of the table as the plugin declares it, the name of
        /// a cluster that the row is for, the number of the row among those for the cluster (from 0), and the name of the column
        /// (empty for the whole row), separated by line feeds. If a call for the value of a snapshot fails so when the host
        /// loads a profile, which it tries with every row of the tables, it rejects the profile.
        pub const TABLE: u32 = INPUT << 16 | 3;
        /// Any other error of the plugin.
        pub const INTERNAL: u32 = PLUGIN << 16 | 1;
        /// The plugin panicked. After several consecutive panics the host stops calling it.
        pub const PANIC: u32 = PLUGIN << 16 | 2;
        /// The plugin's constructor returned an error. The host rejects the profile.
        pub const CONSTRUCTION: u32 = PLUGIN << 16 | 3;
        /// The plugin does not know this kind of call, or does not serve it.
        pub const NOT_SERVED: u32 = PLUGIN << 16 | 4;
    }
    also {
        /// The class of a code.
        pub const fn class(code: u32) -> u32 {
            match code >> 16 {
                BINDING => BINDING,
                INPUT => INPUT,
                _ => PLUGIN,
            }
        }
    }
}

numbers! {
    /// Kinds of text that a plugin passes to [`Services::text`]. A host drops a kind that it does not know.
    pub mod text_kind as "DIVVY_TEXT_" {
        /// The reason for rejecting a cluster; the answer is the code to write for the cluster.
        pub const REASON: u32 = 1;
        /// An explanation of what the plugin decided for a cluster.
        pub const EXPLANATION: u32 = 2;
        /// A remark on the whole decision.
        pub const NOTE: u32 = 3;
    }
}

numbers! {
    /// Levels of log records, by which [`Services::log_level`] answers.
    pub mod level as "DIVVY_LEVEL_" {
        /// Nothing is recorded.
        pub const OFF: u32 = 0;
        /// Errors.
        pub const ERROR: u32 = 1;
        /// Warnings.
        pub const WARN: u32 = 2;
        /// Information.
        pub const INFO: u32 = 3;
        /// Details for debugging.
        pub const DEBUG: u32 = 4;
        /// Everything.
        pub const TRACE: u32 = 5;
    }
}

sized! {
    /// Why a call failed. Passed to [`Services::fail`]; the texts are borrowed for that call.
    Failure<'a>(FailureRef, kind::FAILURE) {
        /// A code of [`failure`].
        code: u32 = failure::INTERNAL,
        /// Zero.
        reserved: u32 = 0,
        /// One line, lower case, without a final period.
        message: PluginText<'a> = PluginText::EMPTY,
        /// Location of the fault: a path in the configuration or preferences, or a line of the plugin's source after
        /// a panic; empty if there is none.
        path: PluginText<'a> = PluginText::EMPTY,
        /// A suggested remedy; empty if none is known.
        hint: PluginText<'a> = PluginText::EMPTY,
        /// For [`failure::UNSCHEDULABLE`]: replicas requested; negative if too little room is not the cause.
        requested: i64 = -1,
        /// For [`failure::UNSCHEDULABLE`]: replicas that could be placed; negative if too little room is not the cause.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        available: i64 = -1,
    }
}

function! {
    /// Returns the most verbose level of [`level`] that is recorded. Its argument: [`Services::context`].
    LogLevelFunction(context: *const c_void) -> u32
}

function! {
    /// Takes one log record: [`Services::context`], level, module of the plugin, message.
    LogFunction<'t>(context: *const c_void, level: u32, target: PluginText<'t>, message: PluginText<'t>)
}

function! {
    /// Adds to one of the plugin's counters: [`Services::context`], name of the counter, amount. A name consists of
    /// ASCII letters, digits and underscores and does not begin with a digit; the host ignores any other. The number of
    /// names of a plugin is limited ([`limit`]).
    CountFunction<'t>(context: *const c_void, name: PluginText<'t>, amount: u64)
}

function! {
    /// Adds a value to one of the plugin's histograms: [`Services::context`], name of the histogram, value. Names are as for
    /// [`CountFunction`]. A value that is infinite or not a number is ignored.
    ObserveFunction<'t>(context: *const c_void, name: PluginText<'t>, value: f64)
}

function! {
    /// Takes a text during a call: the call's sink, a value of [`text_kind`], the row of the cluster that the text is about
    /// ([`crate::arena::NO_ROW`] for none), the text. Returns the code of a reason, otherwise 0.
    TextFunction<'t>(sink: *const c_void, kind: u32, row: u32, text: PluginText<'t>) -> u32
}

function! {
    /// Takes the reason for a call's failure: the call's sink and a [`Failure`]. The call then returns its code.
    FailFunction<'t>(sink: *const c_void, failure: *const Failure<'t>)
}

function! {
    /// Takes a reason during a call that is explained: the call's sink and a [`Reason`].
    ExplainFunction<'t>(sink: *const c_void, reason: *const Reason<'t>)
}

sized! {
    /// The services of the host for one instance of a plugin. The table lives as long as the process. A function may be
    /// null in a table from another host; the plugin then does without it.
    Services(ServicesRef, kind::SERVICES) {
        /// The host's own value for the functions that take a context.
        context: Address = Address::NULL,
        /// The level of the log. May be called from any thread at any time.
        log_level: Function<LogLevelFunction> = Function::NULL,
        /// The log. May be called from any thread at any time.
        log: Function<LogFunction> = Function::NULL,
        /// The plugin's counters. May be called from any thread at any time. Experimental: a minor version may leave it null.
        count: Function<CountFunction> = Function::NULL,
        /// Texts of a decision. Only during a call, from the calling thread.
        text: Function<TextFunction> = Function::NULL,
        /// Failures. Only during a call or a construction, from the calling thread.
        fail: Function<FailFunction> = Function::NULL,
        /// The plugin's histograms. May be called from any thread at any time. Experimental: a minor version may leave it null.
        observe: Function<ObserveFunction> = Function::NULL,
        /// Reasons of a decision, as data. Only during a call, from the calling thread.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        explain: Function<ExplainFunction> = Function::NULL,
    }
}

// SAFETY: the table's contract: the functions that take `context` may be called from any thread.
unsafe impl Send for Services {}
// SAFETY: as for `Send`.
unsafe impl Sync for Services {}

impl Services {
    /// Adds to one of the plugin's counters.
    ///
    /// # Safety
    ///
    /// The table comes from a host, or is a copy of such a table.
    pub unsafe fn add(&self, counter: &str, amount: u64) {
        if let Some(count) = self.count.get() {
            // SAFETY: function and context come from the same table of a host, as the caller promises.
            unsafe { count(self.context.get(), PluginText::new(counter), amount) };
        }
    }

    /// Adds a value to one of the plugin's histograms.
    ///
    /// # Safety
    ///
    /// As for [`Self::add`].
    pub unsafe fn observe(&self, histogram: &str, value: f64) {
        if let Some(observe) = self.observe.get() {
            // SAFETY: function and context come from the same table of a host, as the caller promises.
            unsafe { observe(self.context.get(), PluginText::new(histogram), value) };
        }
    }

    /// The most verbose level of [`level`] that is recorded.
    ///
    /// # Safety
    ///
    /// As for [`Self::add`].
    pub unsafe fn recorded_level(&self) -> u32 {
        match self.log_level.get() {
            // SAFETY: function and context come from the same table of a host, as the caller promises.
            Some(log_level) => unsafe { log_level(self.context.get()) },
            None => level::OFF,
        }
    }

    /// Passes a log record to the host.
    ///
    /// # Safety
    ///
    /// As for [`Self::add`].
    pub unsafe fn record(&self, level: u32, target: &str, message: &str) {
        if let Some(log) = self.log.get() {
            // SAFETY: function and context come from the same table of a host, as the caller promises.
            unsafe {
                log(
                    self.context.get(),
                    level,
                    PluginText::new(target),
                    PluginText::new(message),
                )
            };
        }
    }
}

/// Destination of the texts of one call: the host's function and its sink. It cannot be sent to another thread.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    function: Option<TextFunction>,
    explain: Option<ExplainFunction>,
    sink: Address,
    lifetime: PhantomData<&'a ()>,
}

impl Texts<'_> {
    /// Texts are dropped.
    pub const DROPPED: Self = Self {
        function: None,
        explain: None,
        sink: Address::NULL,
        lifetime: PhantomData,
    };

    /// Texts go to `function`, and reasons to `explain`.
    ///
    /// # Safety
    ///
    /// Both may be called with `sink` from this thread as long as the value lives.
    pub unsafe fn new(function: Function<TextFunction>, explain: Function<ExplainFunction>, sink: Address) -> Self {
        Self {
            function: function.get(),
            explain: explain.get(),
            sink,
            lifetime: PhantomData,
        }
    }

    /// Passes a text to the host: its kind ([`text_kind`]), and the row of the cluster that it is about. Returns the
    /// host's answer.
    pub fn hand_over(&self, kind: u32, row: u32, text: &str) -> u32 {
        match self.function {
            // SAFETY: the contract of `new`; the value cannot leave the thread.
            Some(function) => unsafe { function(self.sink.get(), kind, row, PluginText::new(text)) },
            None => 0,
        }
    }

    /// Passes a reason to the host. A host that does not take reasons as data gets its text.
    pub fn explain(&self, reason: &Reason<'_>) {
        match self.explain {
            // SAFETY: the contract of `new`; the value cannot leave the thread.
            Some(explain) => unsafe { explain(self.sink.get(), std::ptr::from_ref(reason)) },
            None => _ = self.hand_over(text_kind::EXPLANATION, reason.row, &reason.text.read()),
        }
    }
}

sized! {
    /// Constructs a plugin from its configuration.
    ConstructCall<'a>(ConstructCallRef, kind::CONSTRUCT) {
        /// The host's own value for [`Services::fail`].
        sink: Address = Address::NULL,
        /// The services for this instance.
        services: Pointer<'static, Services> = Pointer::NULL,
        /// The configuration, a JSON object.
        configuration: Str<'a> = Str::EMPTY,
        /// The host's minor ABI version.
        abi_minor: u32 = 0,
        /// Zero.
        reserved: u32 = 0,
        /// The instance, written by the plugin. The host passes it in every call, and finally to
        /// [`crate::descriptor::Descriptor::destroy`].
        instance: Address = Address::NULL,
        /// Bits of [`crate::descriptor::feature`] that the plugin needs with this configuration, in addition to those
        /// that it declares; written by the plugin. A host that does not know one of them rejects the profile.
        required: u64 = 0,
        /// As [`Self::required`], for features that a host may ignore.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        optional: u64 = 0,
    }
}

numbers! {
    /// Documents that [`DescribeCall::document`] asks for. A plugin provides nothing for one that it does not know.
    pub mod document as "DIVVY_DOCUMENT_" {
        /// The JSON Schema of the configuration.
        pub const CONFIGURATION_SCHEMA: u32 = 1;
        /// The JSON Schema of the preferences.
        pub const PREFERENCES_SCHEMA: u32 = 2;
        /// The policy lists that the strategies read: one text per list, a JSON object with `name`, `fields` (`name`,
        /// `minimum`, `required`) and `priorities`.
        pub const RULE_LISTS: u32 = 3;
        /// The tables that the plugin reads: one text per table, a JSON object with `name` and `columns` (`name`, `type`:
        /// `integer`, `decimal`, `text`, `boolean`, `time` or `weekly`, and `scale` for a decimal). The columns of all tables, in
        /// this order, are those of [`crate::view::CycleView::table_columns`]. A table with several rows per key has `"rows":
        /// "several"`, and needs [`crate::descriptor::feature::TABLE_ROWS`].
        pub const TABLES: u32 = 4;
    }
}

numbers! {
    /// Limits on what a plugin passes to the host while it runs. The host drops what exceeds them. It cuts a text
    /// between two characters, and reports the cut where it shows the text and, once per call, in its log.
    pub mod limit as "DIVVY_LIMIT_" {
        /// Maximum length of a text in bytes: a reason, an explanation, a note, a log message, or a text of a failure.
        pub const TEXT_BYTES: u32 = 1 << 16;
        /// Maximum number of reasons, explanations and notes of a call together.
        pub const TEXTS: u32 = 1 << 16;
        /// Maximum length of the reasons, explanations and notes of a call together, in bytes.
        pub const TEXTS_BYTES: u32 = 1 << 24;
        /// Maximum number of figures of a reason.
        pub const FIGURES: u32 = 32;
        /// Maximum length of the name of a figure, a counter or a histogram, in bytes.
        pub const FIGURE_NAME_BYTES: u32 = 64;
        /// Maximum number of counters of a plugin.
        pub const COUNTERS: u32 = 64;
        /// Maximum number of histograms of a plugin.
        pub const HISTOGRAMS: u32 = 16;
        /// Maximum number of log records of a call. Records from other threads of the plugin do not belong to a call,
        /// and are not limited.
        pub const LOG_RECORDS: u32 = 1 << 14;
        /// Maximum number of documents of one kind of [`super::document`]. The host refuses a plugin with more, or with
        /// longer ones.
        pub const DOCUMENTS: u32 = 256;
        /// Maximum length of a document in bytes.
        pub const DOCUMENT_BYTES: u32 = 1 << 20;
    }
}

function! {
    /// Takes a document: [`DescribeCall::sink`] and the text.
    DocumentFunction<'t>(sink: *const c_void, text: PluginText<'t>)
}

sized! {
    /// Asks for a document about the plugin. It needs no instance.
    DescribeCall<'a>(DescribeCallRef, kind::DESCRIBE) {
        /// A value of [`document`].
        document: u32 = 0,
        /// Zero.
        reserved: u32 = 0,
        /// The host's own value for [`Self::take`].
        sink: Address = Address::NULL,
        /// Takes each document.
        take: Function<DocumentFunction> = Function::NULL,
        /// Keeps the lifetime of the call; zero bytes.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        lifetime: PhantomData<&'a ()> = PhantomData,
    }
}

function! {
    /// Constructs a plugin. Returns 0, or a code of [`failure`].
    ConstructFunction<'a>(call: *mut ConstructCall<'a>) -> u32
}

function! {
    /// Drops the instance of a plugin.
    DestroyFunction = crate::call::ReleaseFunction as DESTROY_FUNCTION(instance)
}

function! {
    /// Passes the documents of one kind to [`DescribeCall::take`]. Returns 0, or a code of [`failure`].
    DescribeFunction<'a>(call: *const DescribeCall<'a>) -> u32
}
