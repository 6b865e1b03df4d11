//! Refused requests of a kind: one log line with a hint at the start, and one at the end.
//!
//! A refusal (401, 403, 404) does not go away by itself as an outage does, but a starting API server refuses, too, and so does one whose
//! resources are being installed. Requests are tried again; what is logged does not depend on what failed before.

use std::time::{Duration, Instant};

use kube::core::Status;

/// Time for which a server that was away before may refuse without a line.
const STARTING: Duration = Duration::from_secs(5);

/// Refused requests of one kind.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// The first of consecutive refusals.
    since: Option<Instant>,
    /// The status code of the refusal that was logged.
    logged: Option<u16>,
}

/// Suggested fix for a status code that is a refusal.
fn hint(code: u16) -> Option<&'static str> {
    match code {
        401 => Some(
            "the API server does not know the user of the kubeconfig: renew its token, certificate or plugin; \
             the kubeconfig and its files are read again when they change",
        ),
        403 => Some(
            "the user may not list and watch this kind: apply the ClusterRole and the ClusterRoleBinding in \
             `examples/deploy/karmada`, and compare their subject with the user in the message",
        ),
        404 => Some(
            "the API server does not serve this kind: install Karmada's custom resource definitions, and check that \
             the kubeconfig leads to Karmada's API server and not to that of the host cluster",
        ),
        _ => None,
    }
}

impl Refusals {
    /// A request failed with a status. Returns false if that is not a refusal. `is_starting` says that the server has not been there for long.
    pub(crate) fn refused(&mut self, kind: &'static str, status: &Status, cause: &str, is_starting: bool) -> bool {
        let Some(hint) = hint(status.code) else { return false };
        let since = *self.since.get_or_insert_with(Instant::now);
        if self.logged == Some(status.code) || is_starting && since.elapsed() < STARTING {
            tracing::debug!(kind, cause, "the API server refuses to list or watch a kind");
            return true;
        }
        self.logged = Some(status.code);
        tracing::error!(
            kind,
            cause,
            hint,
            "the API server refuses to list or watch a kind; trying again"
        );
        true
    }

    /// A request was answered.
    pub(crate) fn answered(&mut self, kind: &'static str) {
        self.since = None;
        if self.logged.take().is_some() {
            tracing::info!(kind, "the API server does not refuse the kind any more");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_logged_once_for_each_code_and_not_by_a_server_that_starts() {
        let status = |code| Status {
            code,
            ..Status::default()
        };
        let mut refusals = Refusals::default();
        assert!(!refusals.refused("Cluster", &status(410), "", false), "no refusal");
        assert!(!refusals.refused("Cluster", &status(503), "", false), "an outage");
        assert!(refusals.refused("Cluster", &status(403), "", true));
        assert_eq!(refusals.logged, None, "the server starts");
        for code in [401, 403, 404] {
            assert!(refusals.refused("Cluster", &status(code), "", false));
            assert_eq!(refusals.logged, Some(code));
        }
        refusals.since = Instant::now().checked_sub(STARTING);
        assert!(refusals.refused("Cluster", &status(403), "", true));
        assert_eq!(refusals.logged, Some(403), "it has lasted too long for a start");
        refusals.answered("Cluster");
        assert_eq!((refusals.since, refusals.logged), (None, None));
    }
}
