//! The log of a running scheduler, and the spans of its decisions.
//!
//! It prints its actions for a log collector, one line per message with the time: as text, or as JSON with one field per fact.

use clap::ValueEnum;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::log_lines::{LineForm, LogLines};
use divvy_command::logging::{chosen_levels, has_colour, levels};
use divvy_controller::observe::CYCLE;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

/// Form of the messages of a running scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

/// Prints the messages of a running scheduler, and exports the spans of its decisions to an OpenTelemetry collector if one
/// is named. Must run in a tokio runtime, on which spans are sent.
///
/// An invalid `DIVVY_LOG` or address of the collector is an error of usage. A collector that does not answer is not an
/// error: spans are dropped.
pub(super) fn start_service(
    console: &Console,
    format: LogFormat,
    collector: Option<&str>,
    identity: &str,
) -> Result<Option<SdkTracerProvider>, Failure> {
    let level = match console.verbosity() {
        0 => LevelFilter::INFO,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let levels = levels(level)?;
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Json => Box::new(
            tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_span_list(false)
                .with_writer(LogLines::new(LineForm::Json))
                .with_filter(levels),
        ),
        LogFormat::Text => Box::new(
            tracing_subscriber::fmt::layer()
                .with_writer(LogLines::new(LineForm::Text {
                    has_colour: has_colour(),
                }))
                .with_target(console.verbosity() > 0 || chosen_levels().is_some())
                .with_filter(levels),
        ),
    };
    let provider = collector.map(|collector| exporter(collector, identity)).transpose()?;
    let spans = provider.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("divvy"))
            .with_filter(Targets::new().with_target(CYCLE, LevelFilter::INFO))
    });
    tracing_subscriber::registry().with(lines).with(spans).init();
    Ok(provider)
}

/// Sends spans in batches by OTLP over gRPC.
fn exporter(collector: &str, identity: &str) -> Result<SdkTracerProvider, Failure> {
    let refused = |cause: String| {
        let message = format!("--otlp-endpoint: `{collector}` is not the address of a collector");
        let diagnostic = Diagnostic::new(message).with_hint("write `http://collector:4317`");
        Failure::usage(diagnostic.with_cause(cause))
    };
    // The exporter would take such an address, and fail at the first span.
    if !collector.starts_with("http://") {
        return Err(refused(
            "only unencrypted gRPC is supported: use a collector on the same machine or network".to_owned(),
        ));
    }
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector).build();
    let exporter = exporter.map_err(|error| refused(error.to_string()))?;
    let resource = Resource::builder()
        .with_service_name("divvy")
        .with_attribute(opentelemetry::KeyValue::new("service.instance.id", identity.to_owned()))
        .build();
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource)
        .build())
}
