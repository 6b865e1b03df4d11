//! The running scheduler: watches, the thread that decides, and the tasks that write.
//!
//! Everything that waits for the network is a task; the engine has a thread of its own, which is never interrupted. They
//! meet in two channels: changes and outcomes go to the engine, writes come from it. The channel to the engine is
//! bounded, so a relist of many objects waits for the engine instead of piling up in memory.

mod hang;
mod thread;
mod worker;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use divvy_client::{Clients, ConnectionError, ConnectionOptions, REQUEST_DEADLINE, connect};
use divvy_estimator::{EstimatorOptions, Estimators};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot, watch as signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::thread::Thread;
use self::worker::{Worker, start_workers};
use crate::engine::{ActiveProfile, Trial};
use crate::estimates::Answers;
use crate::events::EventSender;
use crate::holdings::HoldingLimits;
use crate::lease::{BootClock, Elector, Fence, LeaseOptions, LeasesOfCluster, Role, Term, TimingError};
use crate::lookup::ServicesOfKarmada;
use crate::objects::{BindingKey, Kind};
use crate::observe::Metrics;
use crate::outage::Outage;
use crate::panel::Panel;
use crate::reload::{self, Reloading};
use crate::serve::{Confirmation, Confirmations, ServeError, Server};
use crate::watch::{Change, watch};
use crate::watchdog::Hanging;
use crate::write::Written;
use crate::write::execute::Writer;

/// Messages that wait for the engine.
const CHANNEL: usize = 1024;
/// Longest time for which the engine waits without looking at the clock.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// Time in which decisions under way are written after the end was requested.
const SHUTDOWN_MAX: Duration = Duration::from_secs(8);

/// Settings of a running scheduler.
#[derive(Clone)]
pub struct RunOptions {
    /// The API server.
    pub connection: ConnectionOptions,
    /// The profile that decides.
    pub profile: ActiveProfile,
    /// Name of this process, for events and the lease. No other process may have the same.
    pub identity: String,
    /// Writes at a time.
    pub concurrency: usize,
    /// Address for probes, metrics and explanations.
    pub listen: SocketAddr,
    /// The lease; `None` to decide without one.
    pub lease: Option<LeaseOptions>,
    /// True to write nothing, and to compare each decision with that of the scheduler in charge.
    pub dry_run: bool,
    /// Accurate estimators; `None` for the general estimate alone.
    pub estimators: Option<EstimatorOptions>,
    /// Loads the profile again when its files change; `None` to keep it as it is.
    pub reloading: Option<Reloading>,
    /// Limits of the time for which capacity is held that clusters do not report.
    pub holding_limits: HoldingLimits,
    /// Time that a plugin call may take before the process gives up; `None` to wait for ever.
    pub hang_limit: Option<Duration>,
    /// Version of the program, for metrics.
    pub version: &'static str,
    /// True to write events.
    pub events: bool,
    /// Wait before each write of a binding or an event, to measure the effect of a slow API server.
    pub write_latency: Duration,
}

/// A scheduler that cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The API server cannot be reached as configured.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// Probes and metrics cannot be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The times of the lease contradict each other.
    #[error(transparent)]
    Lease(#[from] TimingError),
    /// The thread that decides ended without having been asked to.
    #[error("the deciding thread ended unexpectedly")]
    EngineEnded,
    /// A plugin call did not return, so that no decision can be made any more.
    #[error("{0}; the process ends so that another scheduler can lead")]
    PluginHangs(Hanging),
    /// The thread that decides cannot be started.
    #[error("the deciding thread cannot be started")]
    Thread(#[source] std::io::Error),
}

/// A message to the engine.
enum Message {
    Change(Change),
    Written(Arc<BindingKey>, Box<Written>),
    Role(Role),
    Estimated(Arc<BindingKey>, Answers),
    Profile(Box<ActiveProfile>, oneshot::Sender<Trial>),
    Confirmed(Confirmation),
}

/// Runs the scheduler until `stop` is cancelled. Then decisions under way are written, for at most eight seconds, and the
/// lease is released.
///
/// # Errors
///
/// A [`RunError`] if the scheduler cannot be started, or if the thread that decides ends. An API server that is not
/// there is not an error: the watches try again for ever.
pub async fn run(options: RunOptions, stop: CancellationToken) -> Result<(), RunError> {
    let clients = connect(&options.connection).await?;
    let server = Server::bind(options.listen).await?;
    let name = options.profile.profile.scheduler_name().to_owned();
    tracing::info!(
        server = clients.server,
        scheduler = name,
        profile = options.profile.profile.name(),
        listen = %server.address(),
        "starting"
    );
    let services = ServicesOfKarmada::new(clients.writing.clone());
    let estimators = options
        .estimators
        .map(|options| Arc::new(Estimators::new(options, Arc::new(services))));
    let panel = Arc::new(Panel::new(Arc::new(Metrics::new(options.version, estimators.clone()))));
    let (to_engine, from_tasks) = mpsc::channel(CHANNEL);
    let (to_workers, jobs) = mpsc::unbounded_channel();
    // Cancelled after the last write: from then on another scheduler may lead.
    let written = CancellationToken::new();
    if options.dry_run {
        panel.shadowed(serde_json::json!({"agreed": 0, "differed": 0, "waiting": 0, "differences": []}));
    }
    let (fence, elector) = match options.lease.filter(|_| !options.dry_run) {
        Some(lease) => contend(&clients, lease, &panel, &to_engine, &written)?,
        None => {
            let clock = Arc::new(BootClock);
            // Nothing may be written in shadow mode, whatever is asked for.
            let fence = match options.dry_run {
                true => Fence::new(clock),
                false => Fence::without_lease(clock),
            };
            let role = Role::Leader(fence.term().unwrap_or(Term(1)));
            let _closed = to_engine.send(Message::Role(role)).await;
            (fence, None)
        }
    };
    let latency = options.write_latency;
    let events = options.events.then(|| {
        EventSender::start(
            clients.writing.clone(),
            name,
            options.identity,
            Arc::clone(&panel.metrics),
            latency,
        )
    });
    let confirmations = take_confirmations(&to_engine);
    let serving = tokio::spawn(server.run(Arc::clone(&panel) as _, confirmations, written.clone()));
    let hung = hang::watch(Arc::clone(&panel), options.hang_limit, divvy_attribution::in_progress);
    let outage = Outage::default();
    let relists = start_watches(&clients, &outage, &to_engine);
    if let Some(reloading) = options.reloading {
        start_reloads(reloading, options.hang_limit, &panel, &to_engine);
    }
    let writer = Writer::new(clients.writing.clone(), fence.clone(), Arc::clone(&panel.metrics));
    let writer = writer.delayed(latency).reporting(outage);
    let worker = Worker {
        writer,
        estimators: estimators.clone(),
        metrics: Arc::clone(&panel.metrics),
        to_engine,
    };
    start_workers(worker, options.concurrency, jobs);
    let (ended, mut has_ended) = signal::channel(false);
    let thread = Thread {
        profile: options.profile,
        panel,
        inbox: from_tasks,
        workers: to_workers,
        estimators,
        dry_run: options.dry_run,
        holding_limits: options.holding_limits,
        events,
        relists,
        pending: None,
        stop: stop.clone(),
        in_flight_max: options.concurrency * 4,
        handle: Handle::current(),
    };
    let joined = std::thread::Builder::new().name("decide".to_owned()).spawn(move || {
        thread.run();
        let _ignored = ended.send(true);
    });
    let joined = joined.map_err(RunError::Thread)?;
    let ended = tokio::select! {
        // Ends when the thread has sent its last word, or is gone without one.
        _ = has_ended.wait_for(|ended| *ended) => match joined.join().is_ok() && stop.is_cancelled() {
            true => Ok(()),
            false => Err(RunError::EngineEnded),
        },
        // A plugin that hangs must not hold up the exit.
        () = overdue(&stop) => {
            tracing::error!("decisions under way did not end in time");
            Ok(())
        }
        // Nor may it keep the lease from a scheduler that can decide.
        hanging = hung => {
            fence.close();
            // Requests that are under way end first, so that none arrives after the lease is free.
            tokio::time::sleep(REQUEST_DEADLINE).await;
            Err(RunError::PluginHangs(hanging))
        }
    };
    written.cancel();
    if let Some(elector) = elector {
        let _ended = elector.await;
    }
    let _ended = serving.await;
    ended
}

/// Ends when decisions have had their time after `stop`.
async fn overdue(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(SHUTDOWN_MAX).await;
}

/// Contends for the lease in the background, and reports each change to the engine, and to probes if no process leads.
fn contend(
    clients: &Clients,
    lease: LeaseOptions,
    panel: &Arc<Panel>,
    to_engine: &mpsc::Sender<Message>,
    stop: &CancellationToken,
) -> Result<(Fence, Option<JoinHandle<()>>), TimingError> {
    let fence = Fence::new(Arc::new(BootClock));
    let api = kube::Api::namespaced(clients.writing.clone(), &lease.name.namespace);
    let api = LeasesOfCluster::new(api, &lease.name.name);
    let elector = Elector::new(api, lease, fence.clone())?;
    let mut role = elector.role();
    let (mut absence, panel) = (elector.absence(), Arc::clone(panel));
    tokio::spawn(async move {
        while absence.changed().await.is_ok() {
            panel.leaderless(absence.borrow_and_update().clone());
        }
    });
    let to_engine = to_engine.clone();
    tokio::spawn(async move {
        while role.changed().await.is_ok() {
            let role = role.borrow_and_update().clone();
            if to_engine.send(Message::Role(role)).await.is_err() {
                return;
            }
        }
    });
    Ok((fence, Some(tokio::spawn(elector.run(stop.clone())))))
}

/// Hands confirmations by people to the engine.
fn take_confirmations(to_engine: &mpsc::Sender<Message>) -> Confirmations {
    let (confirmations, mut taken) = mpsc::channel(1);
    let to_engine = to_engine.clone();
    tokio::spawn(async move {
        while let Some(confirmation) = taken.recv().await {
            if to_engine.send(Message::Confirmed(confirmation)).await.is_err() {
                return;
            }
        }
    });
    confirmations
}

/// Asks for relists, by kind.
type Relists = BTreeMap<Kind, Arc<Notify>>;

fn start_watches(clients: &Clients, outage: &Outage, to_engine: &mpsc::Sender<Message>) -> Relists {
    let watches = Kind::ALL.map(|kind| {
        let relist = Arc::new(Notify::new());
        let (clients, to_engine) = (clients.clone(), to_engine.clone());
        tokio::spawn(watch(clients, kind, Arc::clone(&relist), outage.clone(), to_engine));
        (kind, relist)
    });
    watches.into()
}

/// Watches the files of the profile, and has the engine try each changed set.
fn start_reloads(reloading: Reloading, hang_limit: Option<Duration>, panel: &Panel, to_engine: &mpsc::Sender<Message>) {
    let to_engine = to_engine.clone();
    let reloads = reload::watch(reloading, hang_limit, Arc::clone(&panel.metrics), move |profile| {
        let to_engine = to_engine.clone();
        async move {
            let (tried, trial) = oneshot::channel();
            to_engine.send(Message::Profile(Box::new(profile), tried)).await.ok()?;
            trial.await.ok()
        }
    });
    tokio::spawn(reloads);
}

impl crate::watch::Sink for mpsc::Sender<Message> {
    async fn send(&self, change: Change) -> bool {
        mpsc::Sender::send(self, Message::Change(change)).await.is_ok()
    }
}
