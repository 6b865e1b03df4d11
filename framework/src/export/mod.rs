//! The code behind [`export_plugin!`](crate::export_plugin).
//!
//! A plugin crate ends with this macro. It makes the library's records and descriptors, and forwards each call of the
//! host to the author's trait: it reads the structs of the host, catches panics and reports failures. Plugin authors do
//! not use anything here directly. Functions that could be misused are `unsafe`, so the safe code of a plugin cannot
//! call them:
//!
//! ```compile_fail,E0133
//! use divvy_framework::export::{Arguments, Dispatch, assign};
//! use divvy_framework::prelude::*;
//!
//! fn misuse<P: Dispatch + AssignPlugin>(plugin: &P, arguments: Arguments<'_>) {
//!     let _ = assign(plugin, arguments);
//! }
//! ```

mod calls;
mod descriptors;
mod making;
pub(crate) mod measuring;
mod panics;
mod preferences;
#[cfg(all(test, feature = "testing"))]
mod tests;

pub use calls::{Arguments, call, construct, describe, destroy};
pub(crate) use calls::{Storage, call_context, count_dropped, count_out_of_range, enter, keep, kept_at};
pub use descriptors::{all_needs, description, least_minor, library, point, pointers};
pub use divvy_framework_abi::descriptor::{Descriptor, Library, PointDescriptor, StrategyDescriptor};
pub use divvy_framework_abi::section::{PluginRecord, record_flag};
pub use divvy_framework_abi::sized::kind;
pub use divvy_framework_abi::{Pointer, Slice};
pub use making::{Constructor, MadeByDefault, Making};
#[cfg(feature = "testing")]
pub(crate) use panics::with_services;
pub(crate) use panics::{caught_while_dropping_in_call, current_services};
#[cfg(feature = "testing")]
pub(crate) use preferences::preferences;
pub(crate) use preferences::{Given, GivenAny, preferences_at};
pub use preferences::{PreferencesReader, no_preferences};

// What each extension point exports is in its own folder.
pub use crate::assign::calls::{assign, assign_preferences, rule_list_texts, strategies};
pub use crate::filter::calls::{filter, filter_point, filter_preferences};
pub use crate::pace::calls::{pace, pace_preferences};
pub use crate::prepare::calls::prepare;
pub use crate::score::calls::{score, score_point, score_preferences};
pub use crate::select::calls::{select, select_point, select_preferences};
pub use crate::value::calls::{binding_value, snapshot_value, snapshot_value_point};

#[cfg(feature = "certificate")]
pub use divvy_framework_abi::certificate::{LibraryHeader, certificate};

use divvy_framework_abi::service::{Failure as AbiFailure, Services, failure};
use divvy_framework_abi::{ABI_VERSION, Address, Function, PluginText};

use crate::configuration::ValueError;
use crate::plugin::{Failure, Needs, Plugin};

/// The version of this SDK.
pub const SDK_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Flags of the records that the macro writes.
pub const RECORD_FLAGS: u32 = if cfg!(feature = "certificate") {
    record_flag::CERTIFIED
} else {
    0
};

/// A failed call, as the host receives it. Boxed, because the results of successful calls are moved several times.
#[derive(Debug)]
pub struct Failed(Box<Facts>);

/// The facts of a failed call that the host receives.
#[derive(Debug)]
struct Facts {
    code: u32,
    message: String,
    path: String,
    hint: String,
    figures: Option<(i64, i64)>,
}

impl Failed {
    #[cold]
    fn new(code: u32, message: impl Into<String>) -> Self {
        Self(Box::new(Facts {
            code,
            message: message.into(),
            path: String::new(),
            hint: String::new(),
            figures: None,
        }))
    }

    /// The code of the failure.
    fn code(&self) -> u32 {
        self.0.code
    }

    /// The message with the location of the fault, in one line.
    fn described(&self) -> String {
        let Facts { message, path, .. } = &*self.0;
        match path.as_str() {
            "" => message.clone(),
            path => format!("{message} (at {path})"),
        }
    }

    /// Adds the location of the fault: keys of a configuration or of preferences, or a line of code.
    fn at(mut self, path: String) -> Self {
        self.0.path = path;
        self
    }

    /// Adds the message, the location and the hint of a value that cannot be read.
    fn value(code: u32, error: &ValueError) -> Self {
        let mut failed = Self::new(code, error.to_string()).at(error.key_path());
        failed.0.hint = error.hint().unwrap_or_default();
        failed
    }

    /// The answer to a kind of call that the plugin does not serve.
    pub fn not_served(kind: u32) -> Self {
        let point = match kind {
            kind::PREPARE => "does not serve Prepare".to_owned(),
            kind::SNAPSHOT_VALUE => "does not keep values for snapshots".to_owned(),
            kind::BINDING_VALUE => "does not keep values for bindings".to_owned(),
            kind::FILTER => "does not serve Filter".to_owned(),
            kind::SCORE => "does not serve Score".to_owned(),
            kind::SELECT => "does not serve Select".to_owned(),
            kind::ASSIGN => "does not serve Assign".to_owned(),
            kind::PACE => "does not serve Pace".to_owned(),
            other => format!("does not know calls of kind {other}"),
        };
        Self::new(failure::NOT_SERVED, point)
    }

    /// Passes the failure to the host, and returns its code.
    #[cold]
    fn hand_over(&self, services: &Services, sink: Address) -> u32 {
        let facts = &*self.0;
        let (requested, available) = facts.figures.unwrap_or((-1, -1));
        let handed = AbiFailure {
            code: facts.code,
            message: PluginText::new(&facts.message),
            path: PluginText::new(&facts.path),
            hint: PluginText::new(&facts.hint),
            requested,
            available,
            ..AbiFailure::DEFAULT
        };
        if let Some(fail) = services.fail.get() {
            // SAFETY: the host offers the function for this sink, until the call returns, from this thread.
            unsafe { fail(sink.get(), &raw const handed) };
        }
        facts.code
    }
}

impl From<Failure> for Failed {
    fn from(given: Failure) -> Self {
        match &given {
            Failure::Unschedulable { figures, .. } => {
                let mut failed = Self::new(failure::UNSCHEDULABLE, given.to_string());
                failed.0.figures = *figures;
                failed
            }
            Failure::Preferences(error) => Self::value(failure::PREFERENCES, error),
            Failure::Table(row) => {
                let mut failed = Self::new(failure::TABLE, row.message.clone());
                failed.0.path = row.path();
                failed.0.hint = row.hint.clone().unwrap_or_default();
                failed
            }
            Failure::Internal { .. } => Self::new(failure::INTERNAL, given.to_string()),
        }
    }
}

/// An instance of a plugin, of which the host keeps the address.
pub struct Instance<P> {
    plugin: P,
    services: Services,
    /// Its needs with its configuration.
    needs: u64,
}

/// The author's type behind the boundary, with the calls that it answers. Only the export macro implements it.
pub trait Dispatch: Plugin {
    /// The plugin's version.
    const VERSION: &'static str;
    /// The kinds of calls that the plugin answers.
    const POINTS: &'static [Pointer<'static, PointDescriptor>];
    /// The union of its needs at all of them.
    const NEEDS: Needs;
    /// Its strategies; empty unless it serves Assign.
    const STRATEGIES: &'static [Pointer<'static, StrategyDescriptor>] = &[];
    /// The descriptor of the plugin.
    const DESCRIPTOR: Descriptor = Descriptor {
        abi_minor: ABI_VERSION.minor,
        least_minor: least_minor(Self::POINTS),
        name: PluginText::new(Self::NAME),
        version: PluginText::new(Self::VERSION),
        description: description(Self::DESCRIPTION),
        sdk_version: PluginText::new(SDK_VERSION),
        points: Slice::new(Self::POINTS),
        strategies: Slice::new(Self::STRATEGIES),
        construct: Function::new(construct::<Self>),
        destroy: Function::new(destroy::<Self>),
        call: Function::new(call::<Self>),
        describe: Function::new(describe::<Self>),
        ..Descriptor::DEFAULT
    };

    /// How the plugin is constructed.
    fn making() -> Making<Self>;

    /// Answers a call of a kind.
    ///
    /// # Errors
    ///
    /// The failure of the call, for the host.
    ///
    /// # Safety
    ///
    /// The arguments are those of a call by the host, for this instance.
    unsafe fn answer(&self, kind: u32, arguments: Arguments<'_>) -> Result<(), Failed>;

    /// Readers of the preferences, one per extension point.
    const PREFERENCES: &'static [PreferencesReader] = &[];

    /// The reader of the plugin's preferences.
    fn preferences() -> PreferencesReader {
        PreferencesReader::from_points(Self::PREFERENCES)
    }

    /// The policy lists that the plugin reads.
    fn rule_lists() -> Vec<String> {
        Vec::new()
    }
}

/// Exports the plugins of a crate, a `cdylib`. By convention, it is the last line of the crate.
///
/// The type is followed by the extension points that it serves: `Filter`, `Score`, `Select`, `Assign`, `Pace`. Add
/// `Prepare` if the host should keep its prepared state where it repeats a call, and `SnapshotValue` and `BindingValue` if the host
/// should keep the plugin's [values](crate::value). The plugin's version is that of its crate.
///
/// `divvy_framework::export_plugin!(Average: Assign);` exports a strategy. A plugin that serves two extension points
/// lists both: `export_plugin!(Zones: Filter, Score)`. A library with two plugins separates them by a semicolon:
/// `export_plugin!(Zones: Filter; Even: Assign)`. The [crate's documentation](crate) starts with a complete plugin.
#[macro_export]
macro_rules! export_plugin {
    ($($plugin:ty : $($point:ident),+ $(,)?);+ $(;)?) => {
        $crate::__private::require_shared_library!();

        $(
            impl $crate::export::Dispatch for $plugin {
                const VERSION: &'static str = env!("CARGO_PKG_VERSION");
                const POINTS: &'static [$crate::export::Pointer<'static, $crate::export::PointDescriptor>] = &[
                    $($crate::__point!($plugin, $point)),+
                ];
                const NEEDS: $crate::plugin::Needs = $crate::export::all_needs(&[
                    $($crate::__needs!($plugin, $point)),+
                ]);
                const PREFERENCES: &'static [$crate::export::PreferencesReader] = &[
                    $($crate::__preferences!($plugin, $point)),+
                ];

                fn making() -> $crate::export::Making<Self> {
                    // Only a plugin without settings uses the trait.
                    #[allow(unused_imports)]
                    use $crate::export::MadeByDefault as _;
                    $crate::export::Constructor::<$plugin>::PLUGIN.making()
                }

                unsafe fn answer(
                    &self,
                    kind: u32,
                    arguments: $crate::export::Arguments<'_>,
                ) -> ::core::result::Result<(), $crate::export::Failed> {
                    $($crate::__answer!(self, kind, arguments, $point);)+
                    ::core::result::Result::Err($crate::export::Failed::not_served(kind))
                }

                $($crate::__assign_items!($plugin, $point);)+
            }

            const _: () = {
                #[used]
                #[unsafe(link_section = ".divvy.plugin")]
                static RECORD: $crate::export::PluginRecord = $crate::export::PluginRecord::new(
                    $crate::export::SDK_VERSION,
                    <$plugin as $crate::plugin::Plugin>::NAME,
                    env!("CARGO_PKG_VERSION"),
                )
                .with_flags($crate::export::RECORD_FLAGS)
                .with_least_minor($crate::export::least_minor(<$plugin as $crate::export::Dispatch>::POINTS));
            };
        )+

        const _: () = {
            #[unsafe(export_name = "divvy_plugin_v1")]
            static LIBRARY: $crate::export::Library = $crate::export::library(&[
                $($crate::export::Pointer::new({
                    const DESCRIPTOR: &$crate::export::Descriptor =
                        &<$plugin as $crate::export::Dispatch>::DESCRIPTOR;
                    DESCRIPTOR
                })),+
            ]);
        };

        $crate::__certificate!();

        // Without this macro, a second export would fail only in the linker, with an error about a symbol. Its name
        // makes the compiler fail at the second export, with a message that shows the remedy.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! one_export_plugin_per_crate_lists_all_plugins_separated_by_semicolons {
            () => {};
        }
    };
}

/// The certificate of a library.
#[cfg(feature = "certificate")]
#[doc(hidden)]
#[macro_export]
macro_rules! __certificate {
    () => {
        const _: () = {
            #[unsafe(export_name = "divvy_certificate_v1")]
            static CERTIFICATE: $crate::export::LibraryHeader = $crate::export::certificate();
        };
    };
}

/// A library without a certificate.
#[cfg(not(feature = "certificate"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __certificate {
    () => {};
}

/// The descriptor of an extension point; an unknown name does not compile.
#[doc(hidden)]
#[macro_export]
macro_rules! __point {
    ($plugin:ty, Prepare) => {
        $crate::__point!($plugin, Prepare, PREPARE)
    };
    ($plugin:ty, SnapshotValue) => {{
        const POINT: $crate::export::PointDescriptor = $crate::export::snapshot_value_point::<$plugin>();
        $crate::export::Pointer::new(&POINT)
    }};
    ($plugin:ty, BindingValue) => {
        $crate::__point!($plugin, BindingValue, BINDING_VALUE)
    };
    ($plugin:ty, Filter) => {{
        const POINT: $crate::export::PointDescriptor = $crate::export::filter_point(
            <$plugin as $crate::filter::FilterPlugin<_>>::NEEDS,
            <$plugin as $crate::filter::FilterPlugin<_>>::PROMISES,
            <$plugin as $crate::filter::FilterPlugin<_>>::ACTS_ON,
        );
        $crate::export::Pointer::new(&POINT)
    }};
    ($plugin:ty, Score) => {{
        const POINT: $crate::export::PointDescriptor = $crate::export::score_point(
            <$plugin as $crate::score::ScorePlugin<_>>::NEEDS,
            <$plugin as $crate::score::ScorePlugin<_>>::PROMISES,
            <$plugin as $crate::score::ScorePlugin<_>>::ACTS_ON,
        );
        $crate::export::Pointer::new(&POINT)
    }};
    ($plugin:ty, Select) => {{
        const POINT: $crate::export::PointDescriptor = $crate::export::select_point(
            <$plugin as $crate::select::SelectPlugin<_>>::NEEDS,
            <$plugin as $crate::select::SelectPlugin<_>>::PROMISES,
        );
        $crate::export::Pointer::new(&POINT)
    }};
    ($plugin:ty, Assign) => {
        $crate::__point!($plugin, Assign, ASSIGN)
    };
    ($plugin:ty, Pace) => {
        $crate::__point!($plugin, Pace, PACE)
    };
    ($plugin:ty, $other:ident) => {
        compile_error!(concat!(
            "`",
            stringify!($other),
            "` is not an extension point: expected one of `Filter`, `Score`, `Select`, `Assign`, `Pace`, `Prepare`, \
             `SnapshotValue`, `BindingValue`"
        ))
    };
    ($plugin:ty, $point:ident, $kind:ident) => {{
        const POINT: $crate::export::PointDescriptor =
            $crate::export::point($crate::export::kind::$kind, $crate::__needs!($plugin, $point));
        $crate::export::Pointer::new(&POINT)
    }};
}

/// Needs of a plugin at an extension point.
#[doc(hidden)]
#[macro_export]
macro_rules! __needs {
    ($plugin:ty, Filter) => {
        <$plugin as $crate::filter::FilterPlugin<_>>::NEEDS
    };
    ($plugin:ty, Score) => {
        <$plugin as $crate::score::ScorePlugin<_>>::NEEDS
    };
    ($plugin:ty, Select) => {
        <$plugin as $crate::select::SelectPlugin<_>>::NEEDS
    };
    ($plugin:ty, Assign) => {
        <$plugin as $crate::assign::AssignPlugin<_>>::NEEDS
    };
    ($plugin:ty, Pace) => {
        <$plugin as $crate::pace::PacePlugin<_>>::NEEDS
    };
    ($plugin:ty, $other:ident) => {
        $crate::plugin::Needs::NONE
    };
}

/// Reader of the preferences at an extension point.
#[doc(hidden)]
#[macro_export]
macro_rules! __preferences {
    ($plugin:ty, Filter) => {
        $crate::export::filter_preferences::<_, $plugin>()
    };
    ($plugin:ty, Score) => {
        $crate::export::score_preferences::<_, $plugin>()
    };
    ($plugin:ty, Select) => {
        $crate::export::select_preferences::<_, $plugin>()
    };
    ($plugin:ty, Assign) => {
        $crate::export::assign_preferences::<_, $plugin>()
    };
    ($plugin:ty, Pace) => {
        $crate::export::pace_preferences::<_, $plugin>()
    };
    ($plugin:ty, $other:ident) => {
        $crate::export::no_preferences()
    };
}

/// Answers a call of one kind.
#[doc(hidden)]
#[macro_export]
macro_rules! __answer {
    ($self:ident, $kind:ident, $arguments:ident, Prepare) => {
        $crate::__answer!($self, $kind, $arguments, PREPARE, prepare)
    };
    ($self:ident, $kind:ident, $arguments:ident, SnapshotValue) => {
        $crate::__answer!($self, $kind, $arguments, SNAPSHOT_VALUE, snapshot_value)
    };
    ($self:ident, $kind:ident, $arguments:ident, BindingValue) => {
        $crate::__answer!($self, $kind, $arguments, BINDING_VALUE, binding_value)
    };
    ($self:ident, $kind:ident, $arguments:ident, Filter) => {
        $crate::__answer!($self, $kind, $arguments, FILTER, filter)
    };
    ($self:ident, $kind:ident, $arguments:ident, Score) => {
        $crate::__answer!($self, $kind, $arguments, SCORE, score)
    };
    ($self:ident, $kind:ident, $arguments:ident, Select) => {
        $crate::__answer!($self, $kind, $arguments, SELECT, select)
    };
    ($self:ident, $kind:ident, $arguments:ident, Assign) => {
        $crate::__answer!($self, $kind, $arguments, ASSIGN, assign)
    };
    ($self:ident, $kind:ident, $arguments:ident, Pace) => {
        $crate::__answer!($self, $kind, $arguments, PACE, pace)
    };
    ($self:ident, $kind:ident, $arguments:ident, $other:ident) => {};
    ($self:ident, $kind:ident, $arguments:ident, $code:ident, $function:ident) => {
        if $kind == $crate::export::kind::$code {
            // SAFETY: the contract of `Dispatch::answer` is that of the function.
            return unsafe { $crate::export::$function($self, $arguments) };
        }
    };
}

/// The items of `Dispatch` that only strategies have.
#[doc(hidden)]
#[macro_export]
macro_rules! __assign_items {
    ($plugin:ty, Assign) => {
        const STRATEGIES: &'static [$crate::export::Pointer<'static, $crate::export::StrategyDescriptor>] = {
            const COUNT: usize = <$plugin as $crate::assign::AssignPlugin<_>>::STRATEGIES.len();
            const TABLE: [$crate::export::StrategyDescriptor; COUNT] =
                $crate::export::strategies::<_, $plugin, COUNT>();
            const POINTERS: [$crate::export::Pointer<'static, $crate::export::StrategyDescriptor>; COUNT] =
                $crate::export::pointers(&TABLE);
            &POINTERS
        };

        fn rule_lists() -> ::std::vec::Vec<::std::string::String> {
            $crate::export::rule_list_texts::<_, $plugin>()
        }
    };
    ($plugin:ty, $other:ident) => {};
}
