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
}

impl<A: LeaseApi> Elector<A> {
    /// An elector that opens and closes `fence`.
    ///
    /// # Errors
    ///
    /// A [`TimingError`] if the times contradict each other.
    pub fn new(api: A, options: LeaseOptions, fence: Fence) -> Result<Self, TimingError> {
        options.timing.validate()?;
        let (role, _) = watch::channel(Role::Standby { holder: None });
        Ok(Self {
            api,
            election: Election::new(options),
            fence,
            role,
        })
    }

    /// The role and its changes. Changes may be reported late; only the [`Fence`] decides whether a write may start.
    pub(crate) fn role(&self) -> watch::Receiver<Role> {
        self.role.subscribe()
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

    async fn send(&self, request: &Request) -> Answer {
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
        let lease = self.lease();
        match tokio::time::timeout(timeout, sending).await {
            Ok(Ok(lease)) => Answer::Lease(Box::new(lease)),
            Ok(Err(LeaseApiError::Conflict)) => Answer::Conflict,
            // A namespace that is missing looks like this too, but it cannot be created here.
            Ok(Err(LeaseApiError::NotFound)) if matches!(request, Request::Create(_)) => {
                tracing::warn!(%lease, "the lease's namespace does not exist");
                Answer::Failed
            }
            Ok(Err(LeaseApiError::NotFound)) => Answer::NotFound,
            Ok(Err(LeaseApiError::Other(error))) => {
                tracing::warn!(%lease, %error, "a request about the lease failed");
                Answer::Failed
            }
            Err(_) => {
                tracing::warn!(%lease, timeout = ?timeout, "a request about the lease had no answer in time");
                Answer::Failed
            }
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
