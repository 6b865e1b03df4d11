//! Forwards plugins' log records to the host's `tracing`, with the target `divvy::plugin` and the plugin's name.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use divvy_framework::abi::AbiStr;
use divvy_framework::abi::object::HostLog;
use tracing::level_filters::LevelFilter;

/// Names of plugins that log. They are never freed, because a library can log as long as the process lives.
static NAMES: Mutex<BTreeMap<String, &'static String>> = Mutex::new(BTreeMap::new());

/// The log that the plugin with this name writes to.
pub(super) fn for_plugin(name: &str) -> HostLog {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let kept: &'static String = names
        .entry(name.to_owned())
        .or_insert_with(|| Box::leak(Box::new(name.to_owned())));
    HostLog {
        context: std::ptr::from_ref(kept).cast(),
        level,
        record,
    }
}

extern "C" fn level(_: *const c_void) -> u32 {
    match LevelFilter::current() {
        LevelFilter::OFF => 0,
        LevelFilter::ERROR => 1,
        LevelFilter::WARN => 2,
        LevelFilter::INFO => 3,
        LevelFilter::DEBUG => 4,
        _ => 5,
    }
}

extern "C" fn record(context: *const c_void, level: u32, target: AbiStr<'_>, message: AbiStr<'_>) {
    // SAFETY: `for_plugin` made the context from a name that is never freed.
    let plugin = unsafe { &*context.cast::<String>() }.as_str();
    let module = target.as_str();
    let message = message.as_str();
    // A level is part of an event's static metadata, so each level needs its own macro.
    match level {
        1 => tracing::error!(target: "divvy::plugin", plugin, module, "{message}"),
        2 => tracing::warn!(target: "divvy::plugin", plugin, module, "{message}"),
        3 => tracing::info!(target: "divvy::plugin", plugin, module, "{message}"),
        4 => tracing::debug!(target: "divvy::plugin", plugin, module, "{message}"),
        _ => tracing::trace!(target: "divvy::plugin", plugin, module, "{message}"),
    }
}
