//! Outages of the API server: one log line at the start and one at the end, and a wake-up for waiting tasks.
//!
//! Every request reports its outcome here. An outage begins with a request that the server does not answer, or answers as a server that
//! is starting or overloaded does; it ends with the next answer of any other kind. Meanwhile, retries are not logged one by one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Time for which a server that answers again may still be starting.
const STARTING: Duration = Duration::from_secs(15);

/// The state of the connection to an API server, shared by everything that makes requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outage {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Start of the present outage; `None` while the server answers.
    since: Mutex<Option<Instant>>,
    /// Time of the last answer.
    answered: Mutex<Option<Instant>>,
    /// End of the last outage.
    ended: Mutex<Option<Instant>>,
    over: Notify,
}

impl Outage {
    /// A request failed in a way that shows that the server is not working. Returns true if this begins an outage.
    pub(crate) fn failed(&self, cause: &str) -> bool {
        let mut since = self.lock();
        let begins = since.is_none();
        if begins {
            *since = Some(Instant::now());
            tracing::error!(
                cause,
                "the API server does not answer; requests are tried again until it does"
            );
        } else {
            tracing::debug!(cause, "the API server still does not answer");
        }
        begins
    }

    /// The server answered a request.
    pub(crate) fn answered(&self) {
        *self.state.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let ended = self.lock().take();
        if let Some(since) = ended {
            *self.state.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            let seconds = since.elapsed().as_secs();
            tracing::info!(seconds, "the API server answers again");
            self.state.over.notify_waiters();
        }
    }

    /// True if the server has answered a request since a time.
    pub(crate) fn answered_since(&self, time: Instant) -> bool {
        let answered = self.state.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.is_some_and(|answered| answered >= time)
    }

    /// True during an outage.
    pub(crate) fn is_on(&self) -> bool {
        self.lock().is_some()
    }

    /// True during an outage and shortly after it: the server may still be starting.
    pub(crate) fn is_fresh(&self) -> bool {
        let ended = *self.state.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_on() || ended.is_some_and(|ended| ended.elapsed() < STARTING)
    }

    /// Returns when the present outage ends; never if there is none.
    pub(crate) async fn ended(&self) {
        let over = self.state.over.notified();
        if self.is_on() {
            over.await;
        } else {
            std::future::pending::<()>().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.state.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if an API server refuses a request because the right to it is missing: an answer of authorisation, not of an admission plugin.
/// A starting API server answers like this until it has loaded its roles.
///
/// Kubernetes gives both the code 403 and the reason `Forbidden`; only authorisation names user and verb (`responsewriters.Forbidden`,
/// `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go`).
pub(crate) fn lacks_right(status: &kube::core::Status) -> bool {
    let refusal = status
        .message
        .split_once("forbidden: User \"")
        .map(|(_, refusal)| refusal);
    status.code == 403 && refusal.is_some_and(|refusal| refusal.contains("\" cannot "))
}

/// True if an error shows that the whole API server is not working. A missing right does not, because other requests may succeed.
pub(crate) fn is_outage(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => matches!(status.code, 502..=504),
        // The server did answer.
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn refusal(message: &str) -> Status {
        Status {
            code: 403,
            reason: "Forbidden".to_owned(),
            message: message.to_owned(),
            ..Status::default()
        }
    }

    #[test]
    fn only_authorisation_lacks_a_right() {
        for (message, expected) in [
            (
                "resourcebindings.work.karmada.io \"web\" is forbidden: User \"divvy\" cannot patch resource \"resourcebindings\" in API \
                 group \"work.karmada.io\" in the namespace \"shop\": RBAC: clusterrole.rbac.authorization.k8s.io \"divvy\" not found",
                true,
            ),
            ("forbidden: User \"divvy\" cannot get path \"/api\"", true),
            (
                "resourcebindings.work.karmada.io \"web\" is forbidden: exceeded quota: compute, requested: cpu=1",
                false,
            ),
            (
                "admission webhook \"policy.example.com\" denied the request: User \"divvy\" may not",
                false,
            ),
            (
                "resourcebindings.work.karmada.io \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
                false,
            ),
        ] {
            assert_eq!(lacks_right(&refusal(message)), expected, "{message}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_begins_and_ends_once_and_wakes_those_who_wait() {
        let outage = Outage::default();
        assert!(outage.failed("refused"));
        assert!(!outage.failed("refused"));
        let waiting = outage.clone();
        let waiter = tokio::spawn(async move { waiting.ended().await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!waiter.is_finished());
        outage.answered();
        waiter.await.expect("it was woken");
        assert!(!outage.is_on());
        assert!(outage.failed("refused"), "another one");
    }
}
