//! The arguments of `divvy run`, and what they mean for the controller.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use divvy_client::ConnectionOptions;
use divvy_command::allocator;
use divvy_command::connection::ConnectionArguments;
use divvy_command::console::Console;
use divvy_command::duration::parse as duration;
use divvy_command::ends;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::setup::ProfileArguments;
use divvy_controller::holdings::HoldingLimits;
use divvy_controller::lease::{LeaseName, LeaseOptions, LeaseTiming, unique_identity};
use divvy_controller::reload::{FileVersions, Reloading};
use divvy_controller::run::{RunError, RunOptions};
use divvy_controller::serve::ServeError;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::estimators::EstimatorArguments;
use super::loading::Loader;
use super::logging::{LogFormat, start_service};

/// Time for the last spans at the end.
const SPANS_MAX: Duration = Duration::from_secs(1);

pub(super) const EXAMPLES: &str = "\
Examples:
  # Instead of karmada-scheduler, with Karmada's kubeconfig
  divvy run --kubeconfig /etc/karmada/karmada-apiserver.config

  # Beside it: policies choose Divvy with `schedulerName: divvy`, the profile has `scheduler-name = \"divvy\"`
  divvy run --profile profile.toml#divvy

Bindings are taken if their `schedulerName` is the profile's `scheduler-name`, which is `default-scheduler` \
unless the profile says otherwise. Decisions are written to the bindings: the clusters and their replicas, \
the condition `Scheduled`, and events.

It decides only while it holds a lease. With the scheduler name `default-scheduler`, this is \
karmada-scheduler's own lease, so that the two never decide at the same time; any other name has a lease of its own. \
A second process waits as a standby.

A changed profile, table or plugin file is loaded, tried on the last decisions, and used from then on; one that \
fails is refused, and the old one stays. It is tried again when one of its files changes or a missing one appears.

Under a profile with `[profile.moves]`, a result that takes replicas from one cluster and gives them to another is \
written in steps, each once the last one is ready. The annotation `divvy.io/move` of the binding has the target.

SIGTERM and SIGINT end it: it writes the decisions under way, for at most eight seconds, and releases the \
lease.";

/// Arguments of the command.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    connection: ConnectionArguments,
    #[command(flatten)]
    estimators: EstimatorArguments,
    /// Write nothing, and compare each decision with that of the scheduler in charge: shadow mode
    ///
    /// No lease is needed. Differences are at `/shadow` of the `--listen` address, agreement is in the metrics.
    #[arg(long)]
    dry_run: bool,
    /// Schedule the bindings with this scheduler name, instead of the profile's `scheduler-name`
    #[arg(long, value_name = "NAME")]
    scheduler_name: Option<String>,
    /// Address for probes, metrics and explanations; any client that reaches it can read them
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10351")]
    listen: SocketAddr,
    /// Form of the log
    ///
    /// `-v` adds a line for each decision, `-vv` everything. The environment variable DIVVY_LOG sets the level of each target
    /// instead: `DIVVY_LOG=info,divvy::plugin::average=debug`.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// Send a span for each decision and its steps to this OpenTelemetry collector, by OTLP over gRPC
    ///
    /// The variables `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` choose how many.
    #[arg(long, value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// End with exit code 3 if a call of a plugin does not return for this long; 0s waits forever
    ///
    /// The lease is released, so that a standby takes over. `/readyz` fails from the tenth second of the call on, and a decision has at
    /// least these. A changed profile is refused instead if a plugin does not return while it is opened or constructed.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    hang_limit: Duration,
    /// Time between two reports of a cluster's resources: `--cluster-status-update-frequency` of Karmada's controller manager
    ///
    /// Capacity that a result has taken is held until the cluster reports it, unless the profile has
    /// `while-capacity-is-unreported = "ignore"`. Once the cluster has applied the result, it is held for at most two reports.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    cluster_report_period: Duration,
    /// Maximum time for which capacity that a result has taken is held, even if it is not reported
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    holding_limit: Duration,
    /// Decide without holding a lease; safe only if no other process schedules the same bindings
    #[arg(long)]
    no_lease: bool,
    /// Maximum number of bindings written at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    write_concurrency: u16,
    /// Use files of the profile, its tables and its plugins even if users other than root and that of this process can replace them
    ///
    /// Such files are refused otherwise, because whoever replaces them decides where replicas run. Other commands only warn.
    #[arg(long)]
    allow_replaceable_files: bool,
    /// Write no events
    #[arg(long)]
    no_events: bool,
    /// Wait before each write, for measurements: `divvy-load run --write-latency`
    #[arg(long, value_name = "DURATION", default_value = "0ms", value_parser = duration, hide = true)]
    write_latency: Duration,
}

/// Runs the scheduler until a signal ends it.
///
/// A profile that cannot be used, and a kubeconfig that cannot be read, end it with exit code 2 before anything is
/// watched. An API server that does not answer does not end it.
pub(super) fn run(arguments: &RunArguments, console: &Console) -> Result<Exit, Failure> {
    allocator::return_memory_at_once();
    let identity = unique_identity();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| internal("the runtime cannot be started", &error))?;
    let spans = {
        let _on_runtime = runtime.enter();
        let collector = arguments.otlp_endpoint.as_deref();
        start_service(console, arguments.log_format, collector, &identity)?
    };
    let loader = Loader {
        arguments: arguments.profile.clone(),
        scheduler_name: arguments.scheduler_name.clone(),
        allow_replaceable_files: arguments.allow_replaceable_files,
    };
    let mut files = FileVersions::default();
    // From then on, the controller watches.
    let starting = ends::watch(arguments.hang_limit)?;
    let active = loader.profile(&mut files)?;
    drop(starting);
    let profile = &active.profile;
    let lease = (!arguments.no_lease).then(|| LeaseOptions {
        name: LeaseName::for_scheduler(profile.scheduler_name()),
        identity: identity.clone(),
        timing: LeaseTiming::default(),
    });
    let options = RunOptions {
        listen: arguments.listen,
        lease,
        dry_run: arguments.dry_run,
        estimators: arguments.estimators.options(),
        version: env!("CARGO_PKG_VERSION"),
        connection: ConnectionOptions::new(
            arguments.connection.kubeconfig.clone(),
            arguments.connection.context.clone(),
            &identity,
        ),
        profile: active,
        reloading: Some(Reloading {
            loader: Arc::new(loader),
            files,
        }),
        holding_limits: HoldingLimits {
            report_period: arguments.cluster_report_period,
            limit: arguments.holding_limit,
        },
        hang_limit: (!arguments.hang_limit.is_zero()).then_some(arguments.hang_limit),
        identity,
        concurrency: usize::from(arguments.write_concurrency),
        events: !arguments.no_events,
        write_latency: arguments.write_latency,
    };
    runtime.block_on(async {
        let stop = CancellationToken::new();
        stop_on_signals(stop.clone()).map_err(|error| internal("signals cannot be handled", &error))?;
        divvy_controller::run::run(options, stop).await.map_err(failure)
    })?;
    // Sends the last spans. A collector that does not answer must not delay the end.
    if let Some(spans) = spans
        && let Err(error) = spans.shutdown_with_timeout(SPANS_MAX)
    {
        tracing::warn!(%error, "the last spans were not sent");
    }
    // Watches that still wait for an answer must not delay the end.
    runtime.shutdown_background();
    Ok(Exit::Success)
}

fn stop_on_signals(stop: CancellationToken) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("ending: decisions under way are written first");
        stop.cancel();
    });
    Ok(())
}

fn failure(error: RunError) -> Failure {
    let diagnostic = Diagnostic::new(error.to_string()).with_causes_of(&error);
    match &error {
        RunError::Connection(error) => Failure::usage(Diagnostic {
            hint: error.hint(),
            ..diagnostic
        }),
        RunError::Serve(ServeError::Listen { .. }) => {
            Failure::usage(diagnostic.with_hint("`--listen ADDRESS` chooses another address"))
        }
        RunError::Lease(_) => Failure::usage(diagnostic),
        RunError::PluginHangs(_) => {
            Failure::internal(diagnostic.with_hint(format!("replace the plugin's file; {}", ends::HINT)))
        }
        RunError::Serve(_) | RunError::EngineEnded | RunError::Thread(_) => Failure::internal(diagnostic),
    }
}

fn internal(message: &str, error: &std::io::Error) -> Failure {
    Failure::internal(Diagnostic::new(message).with_cause(error.to_string()))
}
