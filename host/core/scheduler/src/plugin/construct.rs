//! Constructing a plugin, in this process or in a worker.

use std::ffi::c_void;
use std::sync::Arc;

use divvy_attribution::Site;
use divvy_framework_abi::call::CallFunction;
use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::service::{ConstructCall, DestroyFunction, failure};
use divvy_framework_abi::{ABI_VERSION, Str};
use divvy_framework_memory::{Packer, packed_words};
use divvy_isolation::{IsolatedLibrary, IsolatedPlugin};
use divvy_loader::{LoadError, PluginLibrary};

use super::call::Call;
use super::error::ConstructError;
use super::instance::{Crossing, PluginInstance};
use super::limits::Handed;
use super::services::{CallSink, HostServices, Reported};

/// A plugin in this process: its instance, and the functions of its library.
pub(super) struct InProcess {
    /// Handle that the plugin's constructor returned.
    pub(super) instance: *mut c_void,
    /// Answers its calls.
    pub(super) call: CallFunction,
    /// Drops it.
    destroy: DestroyFunction,
    pub(super) sites: Sites,
}

/// What the calls of a plugin in this process are marked as, so that one that crashes or hangs is known.
pub(super) struct Sites {
    /// By the number of [`Call`].
    pub(super) calls: [&'static Site; Call::ALL.len()],
    pub(super) release: &'static Site,
    destroy: &'static Site,
}

impl Sites {
    fn of(plugin: &str) -> Self {
        Self {
            calls: Call::ALL.map(|call| Site::new(plugin, call.word())),
            release: Site::new(plugin, "the release of a value"),
            destroy: Site::new(plugin, "its destruction"),
        }
    }
}

// SAFETY: a plugin's functions may be called with its instance from any thread, and several at the same time.
unsafe impl Send for InProcess {}
// SAFETY: as above.
unsafe impl Sync for InProcess {}

impl Drop for InProcess {
    fn drop(&mut self) {
        let _marked = self.sites.destroy.enter();
        // SAFETY: the instance is the plugin's own, and is no longer used anywhere else.
        unsafe { (self.destroy)(self.instance) };
    }
}

impl PluginInstance {
    /// Constructs a plugin from its configuration.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the plugin rejects its configuration, if its constructor fails or panics, or if it needs a
    /// feature that this host does not have. The host then rejects the profile.
    pub fn construct(library: &PluginLibrary, configuration: &serde_json::Value) -> Result<Self, LoadError> {
        // No plugin in another process sees it: it may hold secrets.
        let text = configuration.to_string();
        let text = Packer::of_this_process(packed_words(text.as_bytes())).text(&text);
        let services = HostServices::for_instance(library.name());
        let sink = CallSink::new(None);
        let mut call = ConstructCall {
            sink: sink.name(),
            services: services.table(),
            configuration: Str::new(&text),
            abi_minor: ABI_VERSION.minor,
            ..ConstructCall::DEFAULT
        };
        let functions = library.functions().ok_or_else(|| LoadError::ConstructorError {
            plugin: library.name().to_owned(),
            message: "its library is not open in this process".to_owned(),
        })?;
        Handed::begin();
        let marked = Site::new(library.name(), "its construction").enter();
        // SAFETY: the call follows the contract; what it points to outlives it.
        let code = sink.during(|| unsafe { (functions.construct)(&raw mut call) });
        drop(marked);
        sink.finish(services);
        if code != 0 {
            return Err(not_constructed(library, sink.reported(code)));
        }
        let in_process = InProcess {
            instance: call.instance.get(),
            call: functions.call,
            destroy: functions.destroy,
            sites: Sites::of(library.name()),
        };
        let features = known_features(library, call.required, call.optional)?;
        Ok(Self::new(
            library.clone(),
            Crossing::InProcess(in_process),
            services,
            features,
        ))
    }

    /// Has a worker construct a plugin from its configuration.
    ///
    /// # Errors
    ///
    /// As for [`Self::construct`], and an [`IsolationError`](divvy_isolation::IsolationError) if the worker ends or hangs.
    pub fn construct_isolated(
        library: &PluginLibrary,
        isolated: IsolatedLibrary,
        configuration: &serde_json::Value,
    ) -> Result<Self, ConstructError> {
        let services = HostServices::for_instance(library.name());
        let sink = CallSink::new(None);
        let plugin = IsolatedPlugin::new(isolated, configuration.to_string());
        let constructed = plugin.construct(services.recorded_level(), &mut |event| services.take(event, &sink))?;
        if constructed.code != 0 {
            return Err(not_constructed(library, sink.reported(constructed.code)).into());
        }
        let features = known_features(library, constructed.required, constructed.optional)?;
        Ok(Self::new(
            library.clone(),
            Crossing::Isolated(Arc::new(plugin)),
            services,
            features,
        ))
    }
}

/// Features of an instance.
fn known_features(library: &PluginLibrary, required: u64, optional: u64) -> Result<u64, LoadError> {
    match required & !feature::ALL {
        0 => Ok(required | optional),
        bits => Err(LoadError::UnknownFeatures {
            plugin: library.name().to_owned(),
            path: library.path().to_owned(),
            bits,
        }),
    }
}

fn not_constructed(library: &PluginLibrary, reported: Reported) -> LoadError {
    let plugin = library.name().to_owned();
    let Reported {
        code,
        message,
        path,
        hint,
        ..
    } = reported;
    match (code, failure::class(code)) {
        (failure::PANIC, _) => LoadError::ConstructorPanic {
            plugin,
            message,
            location: path,
        },
        (_, failure::INPUT) => LoadError::Configuration {
            plugin,
            message,
            path,
            hint,
        },
        _ => LoadError::ConstructorError { plugin, message },
    }
}
