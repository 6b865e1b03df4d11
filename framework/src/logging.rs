//! Logging: forwards a plugin's `tracing` events to the host's `tracing`, under the plugin's name.
//!
//! Each library has its own copy of `tracing` and therefore its own dispatcher. The SDK installs one in the library
//! that formats an event's message and fields and hands them to the host. It asks the host for its level first, so a
//! disabled event costs one call. Spans are accepted but not forwarded: the host has a span of its own around each
//! call.

use std::fmt::Write;
use std::sync::OnceLock;

use divvy_framework_abi::AbiStr;
use divvy_framework_abi::object::HostLog;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// The host's log, to which this library's events go: one per library, however many plugins it constructs.
static HOST: OnceLock<HostLog> = OnceLock::new();

/// Forwards this library's events to the host from now on. A second call has no effect.
pub(crate) fn forward_to(host: HostLog) {
    if HOST.set(host).is_ok() {
        // This fails if the library has set a dispatcher of its own, which then stays in place.
        let _ = tracing::subscriber::set_global_default(Forwarder);
    }
}

fn level_number(level: Level) -> u32 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        _ => 5,
    }
}

struct Forwarder;

impl Subscriber for Forwarder {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The host's level can change at any time.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        HOST.get()
            .is_some_and(|host| metadata.is_event() && level_number(*metadata.level()) <= (host.level)(host.context))
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
        let Some(host) = HOST.get() else { return };
        let mut line = Line::default();
        event.record(&mut line);
        let text = line.message + &line.fields;
        (host.record)(
            host.context,
            level_number(*event.metadata().level()),
            AbiStr::from_str(event.metadata().target()),
            AbiStr::from_str(&text),
        );
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

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
        } else {
            self.record_debug(field, &value);
        }
    }
}
