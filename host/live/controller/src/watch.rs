//! Watches of all kinds, as one stream of changes.
//!
//! Each kind is listed in pages and then watched; events are passed on as they arrive, so a relist needs no second copy of
//! the objects. A watch that fails is begun again after a growing wait: at the version at which it ended if the API server
//! still has it, otherwise with a relist. A relist can also be requested when more of the objects has to be kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_client::{Clients, WATCH_SECONDS, asked_wait, worded};
use futures::StreamExt;
use kube::Api;
use kube::core::Status;
use kube::runtime::watcher::{self, Event, watcher};
use tokio::sync::Notify;

use crate::objects::{Fetched, Kind, Object, ObjectKey};
use crate::outage::{Outage, is_outage};
use crate::queue::doubled;
use crate::refusals::Refusals;

/// A change of one kind.
#[derive(Debug)]
pub enum Change {
    /// A list begins: every object that exists is named until it ends.
    ListBegins(Kind),
    /// An object that the list names.
    Listed(Kind, Object),
    /// The list is complete.
    ListEnds(Kind),
    /// An object that is new or changed.
    Applied(Kind, Object),
    /// An object that a list or the watch names, and whose new version cannot be read. The version before stays.
    Unreadable(Kind, ObjectKey),
    /// An object that is gone.
    Deleted(Kind, ObjectKey),
}

/// Receiver of changes.
pub(crate) trait Sink: Send {
    /// Accepts a change, waiting if there are too many. Returns false if no more are wanted.
    fn send(&self, change: Change) -> impl Future<Output = bool> + Send;
}

/// Wait after the first failure of a watch; it doubles with each further one.
const WAIT_MIN: Duration = Duration::from_millis(250);
/// Maximum wait that an API server can ask for.
const ASKED_MAX: Duration = Duration::from_secs(60);
/// Maximum wait after a failure.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Watches a kind and passes each change to `sink`, until that wants no more. Each notification of `relist` begins a new list.
pub(crate) async fn watch(clients: Clients, kind: Kind, relist: Arc<Notify>, outage: Outage, sink: impl Sink) {
    let api: Api<Fetched> = Api::all_with(clients.watching, &kind);
    let configuration = watcher::Config::default()
        .timeout(WATCH_SECONDS)
        .page_size(kind.page_size());
    let begin = || watcher(api.clone(), configuration.clone()).boxed();
    let mut events = begin();
    let mut failures = 0_u32;
    let mut refusals = Refusals::default();
    let mut resumed = (Instant::now(), Duration::ZERO);
    loop {
        let event = tokio::select! {
            biased;
            () = relist.notified() => {
                events = begin();
                continue;
            }
            event = events.next() => event,
        };
        let Some(event) = event else { return };
        // A list that begins has not succeeded yet. Anything else shows that the API server answers, so that a watch
        // which is often cut off is resumed at once; the client's own backoff would count that as failures.
        if matches!(event, Ok(Event::Apply(_) | Event::Delete(_) | Event::InitDone)) {
            failures = 0;
            outage.answered();
            refusals.answered(kind.kind());
        }
        let change = match event {
            Ok(Event::Init) => Some(Change::ListBegins(kind)),
            Ok(Event::InitApply(fetched)) => Some(read(kind, fetched, Change::Listed)),
            Ok(Event::InitDone) => Some(Change::ListEnds(kind)),
            Ok(Event::Apply(fetched)) => Some(read(kind, fetched, Change::Applied)),
            Ok(Event::Delete(fetched)) => Some(Change::Deleted(kind, fetched.key())),
            Err(error) => {
                let (since, last_wait) = resumed;
                // A watch that lasted longer than the last wait had recovered.
                if since.elapsed() > last_wait.max(WAIT_MIN) {
                    failures = 0;
                }
                failures = failures.saturating_add(1);
                let status = status(&error);
                let asked = status.and_then(asked_wait).unwrap_or_default();
                let wait = doubled(WAIT_MIN, failures, WAIT_MAX).max(asked.min(ASKED_MAX));
                let text = described(&error);
                match request_error(&error).is_some_and(is_outage) {
                    true => _ = outage.failed(&text),
                    false => {
                        let is_starting = outage.is_fresh();
                        let is_refused =
                            status.is_some_and(|status| refusals.refused(kind.kind(), status, &text, is_starting));
                        // A refusal is an answer, so an outage before it has ended.
                        if is_refused {
                            outage.answered();
                        }
                        // Only the first of consecutive failures is a warning.
                        if !is_refused && failures == 1 {
                            tracing::warn!(kind = kind.kind(), error = text, ?wait, "watch failed; trying again");
                        }
                    }
                }
                tracing::debug!(kind = kind.kind(), error = text, ?wait, "watch failed; trying again");
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    // Failures during an outage do not count after it.
                    () = outage.ended() => failures = 0,
                }
                resumed = (Instant::now(), wait);
                None
            }
        };
        if let Some(change) = change
            && !sink.send(change).await
        {
            return;
        }
    }
}

/// An error of a watch, in the API server's words if there are any.
fn described(error: &watcher::Error) -> String {
    match (request_error(error), status(error)) {
        (Some(error), _) => worded(error),
        (None, Some(status)) => status.message.clone(),
        (None, None) => error.to_string(),
    }
}

/// The request that failed, for errors of one.
fn request_error(error: &watcher::Error) -> Option<&kube::Error> {
    use watcher::Error::{InitialListFailed, NoResourceVersion, WatchError, WatchFailed, WatchStartFailed};
    match error {
        InitialListFailed(error) | WatchStartFailed(error) | WatchFailed(error) => Some(error),
        WatchError(_) | NoResourceVersion => None,
    }
}

/// The API server's answer, if there is one.
fn status(error: &watcher::Error) -> Option<&Status> {
    match (error, request_error(error)) {
        (watcher::Error::WatchError(status), _) | (_, Some(kube::Error::Api(status))) => Some(status),
        _ => None,
    }
}

/// Reads an object; a version that cannot be read is reported and left out.
fn read(kind: Kind, fetched: Fetched, change: impl FnOnce(Kind, Object) -> Change) -> Change {
    match Object::read(kind, fetched) {
        Ok(object) => change(kind, object),
        Err(error) => {
            tracing::error!(%error, "object left out");
            Change::Unreadable(kind, error.key)
        }
    }
}
