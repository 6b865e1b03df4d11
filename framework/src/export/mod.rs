//! The code behind [`export_plugin!`](crate::export_plugin).
//!
//! A plugin crate ends with this macro. It makes the library's header, record section and root module, and forwards
//! each call of the host to the author's trait: it reads the size-prefixed structs, catches panics and converts
//! failures to the form that crosses the boundary. Plugin authors do not call anything here directly.

mod calls;
mod panics;

#[cfg(any(test, doc, feature = "testing"))]
pub(crate) use calls::preferences;
pub use calls::{assign, construct, filter, prepare, score, select};
pub use divvy_framework_abi::module::{
    LeakIntoPrefix, LibraryHeader, ModuleResult, PluginModule, PluginModuleRef, extension_point, library_header,
    load_module,
};
pub use divvy_framework_abi::object::{HostLog, PluginFailure, PluginObject, PluginObjectBox, Prepared, Request};
pub use divvy_framework_abi::section::PluginRecord;
pub use divvy_framework_abi::{ABI_VERSION, AbiResult, AbiSlice, AbiStr, AbiString};

use crate::plugin::RuleList;

/// The version of this SDK.
pub const SDK_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The answer of an extension point that the plugin does not serve.
pub fn not_served<T>(point: &str) -> AbiResult<T, PluginFailure> {
    AbiResult::RErr(PluginFailure {
        kind: divvy_framework_abi::object::failure::NOT_SERVED,
        message: format!("does not serve {point}").into(),
        path: AbiString::new(),
        hint: AbiString::new(),
        requested: -1,
        available: -1,
    })
}

/// The author's type behind the boundary, with the calls that it answers. Only the export macro implements it.
pub trait Dispatch: crate::plugin::Plugin {
    /// Bits of the extension points that the plugin serves.
    const EXTENSION_POINTS: u32;
    /// Names of its strategies; empty unless it serves Assign.
    const STRATEGIES: &'static [&'static str] = &[];
    /// Bits of its promises; 0 unless it serves Assign.
    const PROMISES: u64 = 0;
    /// Bits of its needs; 0 unless it serves Assign.
    const NEEDS: u64 = 0;
    /// The policy lists that it reads; empty unless it serves Assign.
    const RULE_LISTS: &'static [RuleList] = &[];

    /// Answers Filter.
    fn answer_filter(&self, _: Request<'_>) -> AbiResult<(), PluginFailure> {
        not_served("Filter")
    }

    /// Answers Score.
    fn answer_score(&self, _: Request<'_>) -> AbiResult<(), PluginFailure> {
        not_served("Score")
    }

    /// Answers Select.
    fn answer_select(&self, _: Request<'_>) -> AbiResult<(), PluginFailure> {
        not_served("Select")
    }

    /// Answers Assign.
    fn answer_assign(&self, _: Request<'_>) -> AbiResult<(), PluginFailure> {
        not_served("Assign")
    }
}

/// The author's plugin as the object that the host calls.
struct Exported<P> {
    /// `None` only while the object is being dropped.
    plugin: Option<P>,
}

impl<P> Drop for Exported<P> {
    fn drop(&mut self) {
        let plugin = self.plugin.take();
        // A panic must not cross the boundary, and a destructor has no way to report it.
        let _ = panics::caught(move || drop(plugin));
    }
}

impl<P: Dispatch> Exported<P> {
    fn answer<T>(&self, call: impl FnOnce(&P) -> AbiResult<T, PluginFailure>) -> AbiResult<T, PluginFailure> {
        match &self.plugin {
            Some(plugin) => panics::caught(|| call(plugin)).unwrap_or_else(AbiResult::RErr),
            None => not_served("anything any more"),
        }
    }
}

impl<P: Dispatch> PluginObject for Exported<P> {
    fn prepare(&self, request: Request<'_>) -> AbiResult<Prepared, PluginFailure> {
        self.answer(|plugin| calls::prepare(plugin, request))
    }

    fn filter(&self, request: Request<'_>) -> AbiResult<(), PluginFailure> {
        self.answer(|plugin| plugin.answer_filter(request))
    }

    fn score(&self, request: Request<'_>) -> AbiResult<(), PluginFailure> {
        self.answer(|plugin| plugin.answer_score(request))
    }

    fn select(&self, request: Request<'_>) -> AbiResult<(), PluginFailure> {
        self.answer(|plugin| plugin.answer_select(request))
    }

    fn assign(&self, request: Request<'_>) -> AbiResult<(), PluginFailure> {
        self.answer(|plugin| plugin.answer_assign(request))
    }
}

/// The JSON Schema of a plugin's configuration.
pub extern "C" fn configuration_schema<P: Dispatch>() -> AbiString {
    schema::<P::Configuration>()
}

/// The JSON Schema of a plugin's preferences.
pub extern "C" fn preferences_schema<P: Dispatch>() -> AbiString {
    schema::<P::Preferences>()
}

fn schema<T: crate::configuration::Configuration>() -> AbiString {
    match panics::caught(|| AbiResult::<String, PluginFailure>::ROk(T::schema())) {
        Ok(AbiResult::ROk(schema)) => schema.into(),
        // If generating the schema panics, fall back to the schema that accepts everything.
        _ => "true".into(),
    }
}

/// Makes the root module of a plugin.
pub fn module<P: Dispatch>(version: &'static str) -> PluginModuleRef {
    let strategies: Vec<AbiStr<'static>> = P::STRATEGIES.iter().map(|&name| AbiStr::from_str(name)).collect();
    let rule_lists: Vec<AbiStr<'static>> = P::RULE_LISTS
        .iter()
        .map(|rules| {
            let declaration: &'static str = rules.to_json().leak();
            AbiStr::from_str(declaration)
        })
        .collect();
    PluginModule {
        name: AbiStr::from_str(P::NAME),
        version: AbiStr::from_str(version),
        description: AbiStr::from_str(P::DESCRIPTION),
        sdk_version: AbiStr::from_str(SDK_VERSION),
        abi_minor: ABI_VERSION.minor,
        extension_points: P::EXTENSION_POINTS,
        // Leaking is fine: a library lives as long as the process, and its module is made once.
        strategies: AbiSlice::from_slice(strategies.leak()),
        promises: P::PROMISES,
        needs: P::NEEDS,
        rule_lists: AbiSlice::from_slice(rule_lists.leak()),
        configuration_schema: configuration_schema::<P>,
        preferences_schema: preferences_schema::<P>,
        construct: construct::<P>,
    }
    .leak_into_prefix()
}

/// Exports a plugin from its crate, a `cdylib`. By convention, it is the last line of the crate.
///
/// The type is followed by the extension points that it serves: `Filter`, `Score`, `Select`, `Assign`. The plugin's
/// version is that of its crate.
///
/// `divvy_framework::export_plugin!(Average: Assign);` exports a strategy. A plugin that serves two extension points
/// lists both: `export_plugin!(Zones: Filter, Score)`. The [crate's documentation](crate) starts with a complete
/// plugin.
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ty : $($point:ident),+ $(,)?) => {
        impl $crate::export::Dispatch for $plugin {
            const EXTENSION_POINTS: u32 = 0 $(| $crate::__extension_point!($point))+;
            $($crate::__dispatch!($plugin, $point);)+
        }

        const _: () = {
            #[used]
            #[unsafe(link_section = ".divvy.plugin")]
            static RECORD: $crate::export::PluginRecord = $crate::export::PluginRecord::new(
                $crate::export::SDK_VERSION,
                <$plugin as $crate::plugin::Plugin>::NAME,
                env!("CARGO_PKG_VERSION"),
            );

            extern "C" fn load() -> $crate::export::ModuleResult {
                $crate::export::load_module(|| $crate::export::module::<$plugin>(env!("CARGO_PKG_VERSION")))
            }

            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            static HEADER: $crate::export::LibraryHeader =
                // SAFETY: `load` returns the module that `export::module` makes.
                unsafe { $crate::export::library_header(load) };
        };
    };
}

/// The bit of an extension point; an unknown name does not compile.
#[doc(hidden)]
#[macro_export]
macro_rules! __extension_point {
    (Filter) => {
        $crate::export::extension_point::FILTER
    };
    (Score) => {
        $crate::export::extension_point::SCORE
    };
    (Select) => {
        $crate::export::extension_point::SELECT
    };
    (Assign) => {
        $crate::export::extension_point::ASSIGN
    };
    ($other:ident) => {
        compile_error!(concat!(
            "`",
            stringify!($other),
            "` is not an extension point: expected one of `Filter`, `Score`, `Select`, `Assign`"
        ))
    };
}

/// The items of `Dispatch` for one extension point.
#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch {
    ($plugin:ty, Filter) => {
        fn answer_filter(
            &self,
            request: $crate::export::Request<'_>,
        ) -> $crate::export::AbiResult<(), $crate::export::PluginFailure> {
            $crate::export::filter(self, request)
        }
    };
    ($plugin:ty, Score) => {
        fn answer_score(
            &self,
            request: $crate::export::Request<'_>,
        ) -> $crate::export::AbiResult<(), $crate::export::PluginFailure> {
            $crate::export::score(self, request)
        }
    };
    ($plugin:ty, Select) => {
        fn answer_select(
            &self,
            request: $crate::export::Request<'_>,
        ) -> $crate::export::AbiResult<(), $crate::export::PluginFailure> {
            $crate::export::select(self, request)
        }
    };
    ($plugin:ty, Assign) => {
        const STRATEGIES: &'static [&'static str] = <$plugin as $crate::assign::AssignPlugin>::STRATEGIES;
        const PROMISES: u64 = <$plugin as $crate::assign::AssignPlugin>::PROMISES.bits();
        const NEEDS: u64 = <$plugin as $crate::assign::AssignPlugin>::NEEDS.bits();
        const RULE_LISTS: &'static [$crate::plugin::RuleList] = <$plugin as $crate::assign::AssignPlugin>::RULE_LISTS;

        fn answer_assign(
            &self,
            request: $crate::export::Request<'_>,
        ) -> $crate::export::AbiResult<(), $crate::export::PluginFailure> {
            $crate::export::assign(self, request)
        }
    };
    ($plugin:ty, $other:ident) => {};
}
