//! Log messages of the library and the plugins, and the spans of decisions.
//!
//! Commands that decide once print warnings for a person. A running scheduler prints its actions for a log collector, one
//! line per message with the time: as text, or as JSON with one field per fact. Messages about a binding name it in the
//! field `binding`.

use std::collections::BTreeMap;

use clap::ValueEnum;
use divvy_controller::observe::CYCLE;
use divvy_scheduler::cycle::explanation::ClusterExplanation;
use divvy_scheduler::decision::Decision;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};

/// Environment variable that sets log levels.
const LOG_VARIABLE: &str = "DIVVY_LOG";

/// Form of the messages of a running scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

/// Prints the messages of a command that ends by itself: warnings, and more with `--verbose`.
///
/// An invalid `DIVVY_LOG` is an error of usage: the command does not run.
pub(super) fn start(console: &Console) -> Result<(), Failure> {
    let level = match console.verbosity() {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let format = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(has_colour())
        .without_time()
        .with_target(console.verbosity() > 1 || chosen_levels().is_some());
    let format = format.with_filter(levels(level)?);
    tracing_subscriber::registry().with(format).init();
    Ok(())
}

/// True if reasons are printed: at `-vv`.
pub(super) fn gives_reasons(console: &Console) -> bool {
    console.verbosity() > 1
}

/// Logs a decision and its reasons, as far as it was explained: at `-vv`, the strategy and the rejections by reason; at `-vvv`,
/// every cluster.
pub(super) fn decision(decision: &Decision) {
    // There may be hundreds of thousands of decisions.
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let binding = decision.binding.as_str();
    let (result, strategy) = (decision.outcome.word(), decision.strategy());
    let source = match decision.plan.as_ref() {
        Ok(plan) => plan.source.to_string(),
        Err(_) => String::new(),
    };
    let message = decision.message();
    let (replicas, affinity) = (decision.replicas, decision.affinity.as_str());
    tracing::debug!(
        binding, result, strategy, source, affinity, replicas, message, "decided"
    );
    let mut rejections: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let clusters = decision
        .explanation
        .iter()
        .flat_map(|explanation| &explanation.clusters);
    for cluster in clusters {
        let name = cluster.name.as_str();
        if let Some(note) = &cluster.rejected {
            *rejections.entry((&note.plugin, &note.text)).or_default() += 1;
            tracing::trace!(
                binding,
                cluster = name,
                plugin = note.plugin,
                reason = note.text,
                "rejected"
            );
            continue;
        }
        let ClusterExplanation {
            score,
            fits_now,
            last,
            candidate,
            replicas,
            ..
        } = cluster;
        let reasons: Vec<&str> = cluster.reasons.iter().map(|reason| reason.text.as_str()).collect();
        let reasons = reasons.join("; ");
        tracing::trace!(
            binding,
            cluster = name,
            score,
            fits_now,
            last,
            candidate,
            replicas,
            reasons,
            "considered"
        );
    }
    for ((plugin, reason), clusters) in rejections {
        tracing::debug!(binding, plugin, reason, clusters, "rejected");
    }
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
                .with_writer(std::io::stderr)
                .with_filter(levels),
        ),
        LogFormat::Text => Box::new(
            tracing_subscriber::fmt::layer()
                .with_writer(std::io::stderr)
                .with_ansi(has_colour())
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

/// Log levels: those of `DIVVY_LOG`, such as `warn,divvy::plugin::average=debug`; otherwise `level` for Divvy's own targets.
fn levels(level: LevelFilter) -> Result<Targets, Failure> {
    match chosen_levels() {
        Some(levels) => levels.parse::<Targets>().map_err(|error| {
            Failure::usage(
                Diagnostic::new(format!("{LOG_VARIABLE}: `{levels}` is not a list of log levels"))
                    .with_hint("write `debug`, or `warn,divvy::plugin::average=debug`")
                    .with_cause(error.to_string()),
            )
        }),
        // Messages of libraries repeat the controller's in the form of a debugger. They are printed only at the most verbose
        // level.
        None => Ok(Targets::new()
            .with_default(if level == LevelFilter::TRACE {
                level
            } else {
                level.min(LevelFilter::WARN)
            })
            .with_target("divvy", level)
            .with_target(
                "kube_client",
                if level == LevelFilter::TRACE {
                    level
                } else {
                    LevelFilter::OFF
                },
            )
            .with_target("kube_runtime", level.min(LevelFilter::ERROR))),
    }
}

/// The value of `DIVVY_LOG`, unless it is empty.
fn chosen_levels() -> Option<String> {
    std::env::var(LOG_VARIABLE).ok().filter(|levels| !levels.is_empty())
}

fn has_colour() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
