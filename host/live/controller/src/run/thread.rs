//! The thread that decides: it owns the engine, and alone reads the clock for it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use divvy_estimator::Estimators;
use divvy_karmada::api::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{IDLE_MAX, Message, Relists, SHUTDOWN_MAX};
use crate::engine::{ActiveProfile, Engine, Moment, Task, Trial};
use crate::events::EventSender;
use crate::holdings::HoldingLimits;
use crate::lease::Role;
use crate::panel::Panel;
use crate::serve::Confirmation;

/// The thread that decides.
pub(super) struct Thread {
    pub(super) profile: ActiveProfile,
    pub(super) panel: Arc<Panel>,
    pub(super) inbox: mpsc::Receiver<Message>,
    pub(super) workers: mpsc::UnboundedSender<Task>,
    pub(super) estimators: Option<Arc<Estimators>>,
    pub(super) dry_run: bool,
    pub(super) holding_limits: HoldingLimits,
    pub(super) events: Option<EventSender>,
    pub(super) relists: Relists,
    /// A new profile that waits for lists, and the channel for the result of its trial.
    pub(super) pending: Option<(Box<ActiveProfile>, oneshot::Sender<Trial>)>,
    pub(super) stop: CancellationToken,
    pub(super) in_flight_max: usize,
    pub(super) handle: Handle,
}

impl Thread {
    pub(super) fn run(mut self) {
        let mut engine = Engine::new(self.profile.clone(), Arc::clone(&self.panel));
        engine = engine.asking_estimators(self.estimators.is_some());
        let assumes = self
            .estimators
            .as_ref()
            .is_some_and(|estimators| estimators.wants_assumed_workloads());
        engine = engine.assuming_workloads(assumes).holding_within(self.holding_limits);
        if self.dry_run {
            engine = engine.in_shadow();
        }
        let mut stopping_since: Option<Instant> = None;
        let mut published: Option<Instant> = None;
        loop {
            while let Ok(message) = self.inbox.try_recv() {
                self.take_in(&mut engine, message);
                // In shadow mode, the decision must come before the other scheduler's write is seen.
                if self.dry_run {
                    self.decide(&mut engine);
                }
            }
            let moment = Instant::now();
            engine.tick(moment);
            if published.is_none_or(|published| moment.duration_since(published) >= IDLE_MAX) || !engine.is_synced() {
                published = Some(moment);
                engine.publish(moment);
                if let Some(estimators) = self.estimators.as_ref().filter(|_| engine.is_synced()) {
                    estimators.retain(|cluster| engine.may_come_back(cluster));
                }
            }
            if self.stop.is_cancelled() {
                let since = *stopping_since.get_or_insert_with(Instant::now);
                if engine.writes_under_way() == 0 || since.elapsed() > SHUTDOWN_MAX {
                    return;
                }
            } else {
                self.decide(&mut engine);
            }
            for announcement in engine.take_announcements() {
                if let Some(events) = &self.events {
                    events.send(announcement);
                }
            }
            if !self.wait(&mut engine) {
                return;
            }
        }
    }

    /// Decides until nothing is ready, enough is being written, or messages wait.
    fn decide(&mut self, engine: &mut Engine) {
        while engine.tasks_under_way() < self.in_flight_max {
            let Some(task) = engine.next(&now()) else { return };
            if self.workers.send(task).is_err() {
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
        let can_decide = engine.has_ready() && engine.tasks_under_way() < self.in_flight_max;
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
            Some(Some(message)) => self.take_in(engine, message),
            Some(None) => return false,
            None => {}
        }
        true
    }

    fn take_in(&mut self, engine: &mut Engine, message: Message) {
        match message {
            Message::Change(change) => engine.observe(change, &now()),
            Message::Written(key, written) => engine.complete(&key, *written, &now()),
            Message::Role(role) => {
                let (term, is_held) = match role {
                    Role::Leader(term) => (Some(term), false),
                    Role::Standby { holder } => (None, holder.is_some()),
                };
                self.panel.metrics.standby(is_held);
                engine.lead(term, &now());
            }
            Message::Profile(profile, tried) => {
                for kind in engine.prepare(&profile.profile) {
                    tracing::info!(
                        kind = kind.kind(),
                        "listing again: the changed profile reads more of it"
                    );
                    if let Some(relist) = self.relists.get(&kind) {
                        relist.notify_one();
                    }
                }
                self.pending = Some((profile, tried));
            }
            Message::Confirmed(Confirmation { clusters, outcome }) => {
                // The caller may have given up.
                let _gone = outcome.send(engine.confirm_missing_clusters(&clusters, Instant::now()));
                engine.publish(Instant::now());
            }
            Message::Estimated(key, answers) => {
                if let Some(task) = engine.estimated(&key, &answers, &now()) {
                    // The workers are gone only if the process ends.
                    let _gone = self.workers.send(task);
                }
            }
        }
        if engine.is_prepared()
            && let Some((profile, tried)) = self.pending.take()
        {
            // The receiver is gone only if the process ends.
            let _gone = tried.send(engine.exchange(*profile, Instant::now()));
        }
    }
}

/// The present, on both clocks.
fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment {
        instant: Instant::now(),
        wall: Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX)),
        milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
    }
}
