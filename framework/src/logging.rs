//! Logging: forwards a plugin's `tracing` events to the host's `tracing`, where each plugin has a target of its own.
//!
//! Each library has its own copy of `tracing` and therefore its own dispatcher. In each library, the SDK installs one
//! that formats an event's message and fields and passes them to the host. It asks the host for the level first, so a
//! disabled event costs one call. Spans are accepted but not forwarded: the host has its own span around each call.
//!
//! The host offers a log per instance of a plugin. An event during a call goes to the log of the called instance; an
//! event on a thread that the plugin started goes to the log of the library's first instance.

use std::fmt::Write;
use std::sync::OnceLock;

use divvy_framework_abi::service::{Services, level};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::export::current_services;

/// The services of the library's first instance.
static FIRST: OnceLock<Services> = OnceLock::new();

/// Forwards this library's events to the host from now on. A second call has no effect.
pub(crate) fn forward_to(services: Services) {
    if FIRST.set(services).is_ok() {
        // This fails if the library has set a dispatcher of its own, which then stays in place.
        let _ = tracing::subscriber::set_global_default(Forwarder);
    }
}

/// The services that receive an event or a count.
pub(crate) fn services() -> Option<Services> {
    current_services().or_else(|| FIRST.get().copied())
}

fn level_number(severity: Level) -> u32 {
    match severity {
        Level::ERROR => level::ERROR,
        Level::WARN => level::WARN,
        Level::INFO => level::INFO,
        Level::DEBUG => level::DEBUG,
        _ => level::TRACE,
    }
}

struct Forwarder;

impl Subscriber for Forwarder {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The host's level can change at any time.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let Some(services) = services().filter(|_| metadata.is_event()) else {
            return false;
        };
        // SAFETY: `services` returns a table that the host offered when it constructed an instance.
        let recorded = unsafe { services.recorded_level() };
        level_number(*metadata.level()) <= recorded
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        None
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let Some(services) = services() else { return };
        let mut line = Line::default();
        event.record(&mut line);
        let text = line.message + &line.fields;
        let (severity, module) = (level_number(*event.metadata().level()), event.metadata().target());
        // SAFETY: `services` returns a table that the host offered when it constructed an instance.
        unsafe { services.record(severity, module, &text) };
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An event as one line: the message, then its fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
    }

    // Formatted by serde_json, which a plugin contains anyway, because the standard library's formatting of
    // floating-point numbers is large.
    fn record_f64(&mut self, field: &Field, value: f64) {
        let number = serde_json::Number::from_f64(value);
        let text = number.map_or_else(|| not_finite(value).to_owned(), |number| number.to_string());
        self.record_debug(field, &format_args!("{text}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
        } else {
            self.record_debug(field, &value);
        }
    }
}

/// The name of a number that JSON does not have.
fn not_finite(value: f64) -> &'static str {
    match (value.is_nan(), value > 0.0) {
        (true, _) => "NaN",
        (_, true) => "inf",
        (_, false) => "-inf",
    }
}
