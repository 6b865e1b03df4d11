//! The running scheduler: watches, the thread that decides, and the tasks that write.
//!
//! Everything that waits for the network is a task; the engine has a thread of its own, which is never interrupted. They
//! meet in two channels: changes and outcomes go to the engine, writes come from it. The channel to the engine is
//! bounded, so a relist of many objects waits for the engine instead of piling up in memory.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use divvy_karmada::api::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, watch as signal};
use tokio_util::sync::CancellationToken;

use crate::client::{Clients, ConnectionError, ConnectionOptions, connect};
use crate::engine::{ActiveProfile, Engine, Moment};
use crate::events::EventSender;
use crate::objects::{BindingKey, Kind};
use crate::watch::{Change, watch};
use crate::write::execute::{Fence, Unfenced, Writer};
use crate::write::{WriteJob, Written};

/// Messages that wait for the engine.
const CHANNEL: usize = 1024;
/// Longest time for which the engine waits without looking at the clock.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// Time in which decisions under way are written after the end was requested.
const SHUTDOWN_MAX: Duration = Duration::from_secs(8);

/// Settings of a running scheduler.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The API server.
    pub connection: ConnectionOptions,
    /// The profile that decides.
    pub profile: ActiveProfile,
    /// Name of this process, for events and leases.
    pub identity: String,
    /// Writes at a time.
    pub concurrency: usize,
}

/// A scheduler that cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The API server cannot be reached as configured.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The thread that decides ended without having been asked to.
    #[error("the deciding thread ended unexpectedly")]
    EngineEnded,
    /// The thread that decides cannot be started.
    #[error("the deciding thread cannot be started: {0}")]
    Thread(std::io::Error),
}

/// A message to the engine.
enum Message {
    Change(Change),
    Written(Arc<BindingKey>, Box<Written>),
}

/// Runs the scheduler until `stop` is cancelled. Then decisions under way are written, for at most eight seconds.
///
/// # Errors
///
/// A [`RunError`] if the scheduler cannot be started, or if the thread that decides ends. An API server that is not
/// there is not an error: the watches try again for ever.
pub async fn run(options: RunOptions, stop: CancellationToken) -> Result<(), RunError> {
    let clients = connect(&options.connection).await?;
    tracing::info!(
        server = clients.server,
        profile = options.profile.profile.name(),
        "starting"
    );
    let (to_engine, from_tasks) = mpsc::channel(CHANNEL);
    let (to_writers, jobs) = mpsc::unbounded_channel();
    let fence: Arc<dyn Fence> = Arc::new(Unfenced);
    let component = options.profile.profile.scheduler_name().to_owned();
    let events = EventSender::start(clients.writing.clone(), component, options.identity.clone());
    start_watches(&clients, &to_engine);
    start_writers(&clients, fence, options.concurrency, jobs, to_engine);
    let (ended, mut has_ended) = signal::channel(false);
    let handle = Handle::current();
    let thread = Thread {
        profile: options.profile,
        inbox: from_tasks,
        writers: to_writers,
        events,
        stop: stop.clone(),
        in_flight_max: options.concurrency * 4,
        handle,
    };
    let joined = std::thread::Builder::new().name("decide".to_owned()).spawn(move || {
        thread.run();
        let _ignored = ended.send(true);
    });
    let joined = joined.map_err(RunError::Thread)?;
    // Ends when the thread has sent its last word, or is gone without one.
    let _closed = has_ended.wait_for(|ended| *ended).await.map(|_| ());
    let is_clean = joined.join().is_ok() && stop.is_cancelled();
    match is_clean {
        true => Ok(()),
        false => Err(RunError::EngineEnded),
    }
}

fn start_watches(clients: &Clients, to_engine: &mpsc::Sender<Message>) {
    for kind in Kind::ALL {
        let (clients, to_engine) = (clients.clone(), to_engine.clone());
        tokio::spawn(watch(clients, kind, to_engine));
    }
}

impl crate::watch::Sink for mpsc::Sender<Message> {
    async fn send(&self, change: Change) -> bool {
        mpsc::Sender::send(self, Message::Change(change)).await.is_ok()
    }
}

/// Writes jobs in parallel, at most `concurrency` at a time.
fn start_writers(
    clients: &Clients,
    fence: Arc<dyn Fence>,
    concurrency: usize,
    mut jobs: mpsc::UnboundedReceiver<WriteJob>,
    to_engine: mpsc::Sender<Message>,
) {
    let writer = Writer::new(clients.writing.clone(), fence);
    let permits = Arc::new(Semaphore::new(concurrency.max(1)));
    tokio::spawn(async move {
        while let Some(job) = jobs.recv().await {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                return;
            };
            let (writer, to_engine) = (writer.clone(), to_engine.clone());
            tokio::spawn(async move {
                let written = writer.write(&job).await;
                drop(permit);
                // The engine is gone only if the process ends.
                let _gone = to_engine.send(Message::Written(job.key, Box::new(written))).await;
            });
        }
    });
}

/// The thread that decides.
struct Thread {
    profile: ActiveProfile,
    inbox: mpsc::Receiver<Message>,
    writers: mpsc::UnboundedSender<WriteJob>,
    events: EventSender,
    stop: CancellationToken,
    in_flight_max: usize,
    handle: Handle,
}

impl Thread {
    fn run(mut self) {
        let mut engine = Engine::new(self.profile.clone());
        engine.lead(true, &now());
        let mut stopping_since: Option<Instant> = None;
        loop {
            while let Ok(message) = self.inbox.try_recv() {
                take_in(&mut engine, message);
            }
            engine.tick(Instant::now());
            if self.stop.is_cancelled() {
                let since = *stopping_since.get_or_insert_with(Instant::now);
                if engine.writes_under_way() == 0 || since.elapsed() > SHUTDOWN_MAX {
                    return;
                }
            } else {
                self.decide(&mut engine);
            }
            for announcement in engine.take_announcements() {
                self.events.send(announcement);
            }
            if !self.wait(&mut engine) {
                return;
            }
        }
    }

    /// Decides until nothing is ready, enough is being written, or messages wait.
    fn decide(&mut self, engine: &mut Engine) {
        while engine.writes_under_way() < self.in_flight_max {
            let Some(job) = engine.next(&now()) else { return };
            if self.writers.send(job).is_err() {
                return;
            }
            if !self.inbox.is_empty() {
                return;
            }
        }
    }

    /// Waits for a message or for the next due time. Returns false if no message can come any more.
    fn wait(&mut self, engine: &mut Engine) -> bool {
        let due = engine
            .next_due()
            .map(|due| due.saturating_duration_since(Instant::now()));
        let can_decide = engine.has_ready() && engine.writes_under_way() < self.in_flight_max;
        let wait = match can_decide && !self.stop.is_cancelled() {
            true => Duration::ZERO,
            false => due.unwrap_or(IDLE_MAX).min(IDLE_MAX),
        };
        let inbox = &mut self.inbox;
        let stop = &self.stop;
        let is_stopping = stop.is_cancelled();
        let received = self.handle.block_on(async {
            tokio::select! {
                message = inbox.recv() => Some(message),
                () = tokio::time::sleep(wait) => None,
                () = stop.cancelled(), if !is_stopping => None,
            }
        });
        match received {
            Some(Some(message)) => take_in(engine, message),
            Some(None) => return false,
            None => {}
        }
        true
    }
}

fn take_in(engine: &mut Engine, message: Message) {
    match message {
        Message::Change(change) => engine.observe(change, &now()),
        Message::Written(key, written) => engine.complete(&key, *written, &now()),
    }
}

/// The present, on both clocks.
fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment {
        instant: Instant::now(),
        wall: Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX)),
    }
}
