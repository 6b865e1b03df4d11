//! Contends for the lease: the loop around [`Election`].

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::api::{LeaseApi, LeaseApiError};
use super::clock::Moment;
use super::election::{Answer, Election, Next, Request, Role};
use super::fence::Fence;
use super::options::{JITTER, LeaseOptions, TimingError, random};

/// Time for the release. A process that has to end must not wait for an API server that does not answer.
const RELEASE_MAX: Duration = Duration::from_millis(1500);

/// Contends for a lease, renews it while it is held, and releases it at the end.
pub struct Elector<A> {
    api: A,
    election: Election,
    fence: Fence,
    role: watch::Sender<Role>,
    absence: watch::Sender<Option<String>>,
    /// The last moment at which this process or another one held the lease; at first, that of the start.
    held_at: Moment,
    /// Failures since a request of the kind that failed last succeeded, the last one at the end. Each is logged once.
    failures: Vec<String>,
    /// True if the last request that failed was a write.
    failed_to_write: bool,
}

/// Maximum of failures that are remembered. Others are logged each time.
const FAILURES_MAX: usize = 16;

impl<A: LeaseApi> Elector<A> {
    /// An elector that opens and closes `fence`.
    ///
    /// # Errors
    ///
    /// A [`TimingError`] if the times contradict each other.
    pub fn new(api: A, options: LeaseOptions, fence: Fence) -> Result<Self, TimingError> {
        options.timing.validate()?;
        let (role, _) = watch::channel(Role::Standby { holder: None });
        let (absence, _) = watch::channel(None);
        Ok(Self {
            api,
            election: Election::new(options),
            held_at: fence.clock().now(),
            fence,
            role,
            absence,
            failures: Vec::new(),
            failed_to_write: false,
        })
    }

    /// The role and its changes. Changes may be reported late; only the [`Fence`] decides whether a write may start.
    pub(crate) fn role(&self) -> watch::Receiver<Role> {
        self.role.subscribe()
    }

    /// The reason why no process is known to lead, once that has lasted for the lease's duration: this process cannot get the lease,
    /// and sees no other one that has it.
    pub(crate) fn absence(&self) -> watch::Receiver<Option<String>> {
        self.absence.subscribe()
    }

    /// Runs until `stop` is cancelled, then releases the lease.
    ///
    /// Cancel `stop` only after the last write has ended: from then on another scheduler may lead. Returns as soon as the
    /// API server has answered, after 1.5 seconds at the latest. Must run on a thread that no plugin can block.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let attempt = self.attempt();
            let ended = tokio::select! {
                biased;
                () = stop.cancelled() => true,
                () = attempt => false,
            };
            if ended {
                break;
            }
            let pause = self.pause();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = tokio::time::sleep(pause) => {}
            }
            self.publish();
        }
        self.release().await;
    }

    /// One attempt to acquire or renew the lease. A leader's attempt ends when its term does, so that the end is reported.
    async fn attempt(&mut self) {
        let mut request = self.election.begin(self.now(), Timestamp::now());
        loop {
            let answer = self.send(&request).await;
            let next = self.election.advance(answer, self.now(), Timestamp::now());
            self.publish();
            match next {
                Next::Send(next) => request = next,
                Next::Done => return,
            }
        }
    }

    async fn send(&mut self, request: &Request) -> Answer {
        let timeout = self.election.options().timing.request_timeout();
        let timeout = self
            .fence
            .remaining()
            .map_or(timeout, |remaining| remaining.min(timeout));
        let sending = async {
            match request {
                Request::Get => self.api.get().await,
                Request::Create(lease) => self.api.create(lease).await,
                Request::Update(lease) => self.api.update(lease).await,
            }
        };
        let sent = tokio::time::timeout(timeout, sending).await;
        let (answer, failure) = match sent {
            Ok(Ok(lease)) => (Answer::Lease(Box::new(lease)), None),
            Ok(Err(LeaseApiError::Conflict)) => (Answer::Conflict, None),
            // A namespace that is missing looks like this too, but it cannot be created here.
            Ok(Err(LeaseApiError::NotFound)) if matches!(request, Request::Create(_)) => {
                (Answer::Failed, Some("the lease's namespace does not exist".to_owned()))
            }
            Ok(Err(LeaseApiError::NotFound)) => (Answer::NotFound, None),
            Ok(Err(LeaseApiError::Other(error))) => (Answer::Failed, Some(error)),
            Err(_) => (Answer::Failed, Some("no answer in time".to_owned())),
        };
        let is_write = !matches!(request, Request::Get);
        match failure {
            Some(failure) => self.failed(failure, is_write),
            // A lease that can be read and not be written has not recovered.
            None if is_write || !self.failed_to_write => self.succeeded(),
            None => {}
        }
        answer
    }

    /// Logs the first of equal failures: attempts follow one another every few seconds.
    fn failed(&mut self, failure: String, is_write: bool) {
        self.failed_to_write = is_write;
        let lease = self.lease();
        match self.failures.iter().position(|known| *known == failure) {
            Some(index) => {
                self.failures.remove(index);
                tracing::debug!(%lease, error = failure, "a request about the lease failed again");
            }
            None => tracing::warn!(%lease, error = failure, "a request about the lease failed; trying again"),
        }
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failure);
        }
    }

    fn succeeded(&mut self) {
        self.failed_to_write = false;
        if !self.failures.is_empty() {
            self.failures.clear();
            tracing::info!(lease = %self.lease(), "requests about the lease succeed again");
        }
    }

    /// Passes the state of the election on to the fence and to the tasks that wait for the role.
    fn publish(&mut self) {
        let now = self.now();
        self.fence.set(self.election.tenure(now));
        let role = self.election.role(now);
        let lease = self.lease();
        let (identity, transitions) = (&self.election.options().identity, self.election.transitions());
        self.role.send_if_modified(|known| {
            if *known == role {
                return false;
            }
            match (&*known, &role) {
                (_, Role::Leader(term)) => {
                    tracing::info!(%lease, identity, term = term.0, transitions, "leading");
                }
                (Role::Leader(term), Role::Standby { holder }) => {
                    tracing::warn!(%lease, identity, term = term.0, holder, "the lease is lost, no longer leading");
                }
                (_, Role::Standby { holder }) => tracing::info!(%lease, identity, holder, "standby"),
            }
            *known = role;
            true
        });
        self.publish_absence(now);
    }

    /// Reports that no process is known to lead once that has lasted, and its end.
    fn publish_absence(&mut self, now: Moment) {
        let is_held = !matches!(&*self.role.borrow(), Role::Standby { holder: None });
        if is_held {
            self.held_at = now;
        }
        let limit = self.election.options().timing.lease_duration;
        let lease = self.lease();
        let cause = self.failures.last().map_or("it keeps changing", String::as_str);
        let absence = (now.since(self.held_at) >= limit).then(|| {
            format!("neither this process nor another one holds the lease {lease}, so nothing is scheduled: {cause}")
        });
        self.absence.send_if_modified(|known| {
            match (&*known, &absence) {
                (None, Some(_)) => tracing::error!(
                    %lease,
                    cause,
                    "no process holds the lease and this one cannot get it; it is not ready, and nothing is scheduled"
                ),
                (Some(_), None) => tracing::info!(%lease, "the lease is held again; ready"),
                _ => {}
            }
            let is_new = *known != absence;
            *known = absence;
            is_new
        });
    }

    /// Time until the next attempt.
    fn pause(&self) -> Duration {
        let period = self.election.options().timing.retry_period;
        match self.fence.remaining() {
            // The end of a term is reported when it comes.
            Some(remaining) => period.min(remaining),
            None => jittered(period),
        }
    }

    async fn release(mut self) {
        self.fence.set(None);
        let lease = self.lease();
        if let Some(request) = self.election.release(Timestamp::now()) {
            let in_time = tokio::time::timeout(RELEASE_MAX, self.converse(request)).await.is_ok();
            if in_time && self.election.is_released() {
                tracing::info!(%lease, "the lease is released");
            } else {
                tracing::warn!(%lease, "the lease could not be released and will expire");
            }
        }
        self.role.send_replace(Role::Standby { holder: None });
    }

    /// Sends a request, and those that its answer leads to.
    async fn converse(&mut self, mut request: Request) {
        loop {
            let answer = self.send(&request).await;
            match self.election.advance(answer, self.now(), Timestamp::now()) {
                Next::Send(next) => request = next,
                Next::Done => return,
            }
        }
    }

    fn now(&self) -> Moment {
        self.fence.clock().now()
    }

    /// The lease's name, for logs.
    fn lease(&self) -> String {
        let name = &self.election.options().name;
        format!("{}/{}", name.namespace, name.name)
    }
}

/// A random time from `period` to `period` times one plus [`JITTER`].
fn jittered(period: Duration) -> Duration {
    // 53 bits are what a fraction holds exactly.
    let fraction = (random() >> 11) as f64 / (1_u64 << 53) as f64;
    period.mul_f64(1.0 + JITTER * fraction)
}

#[cfg(test)]
mod tests;
