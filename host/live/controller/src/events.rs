//! Events about bindings and the objects that they propagate, as `kubectl describe` shows them.
//!
//! kube's recorder is not used, because it scans its whole cache at each event and repeats an old text when the new one
//! differs. An event that repeats within ten minutes raises the count of the first, at most once per minute. Each object
//! may cause a burst of events and then one every five minutes, as in client-go. If the API server cannot keep up, events
//! are dropped first: decisions never wait for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use divvy_client::{REQUEST_DEADLINE, delay, worded};
use divvy_karmada::api::{ObjectReference, ResourceBinding, Timestamp};
use kube::Client;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Request;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use crate::condition::shortened;
use crate::engine::Announcement;
use crate::observe::{Metrics, WriteKind, WriteResult};

/// Longest text of an event, in bytes.
const MESSAGE_MAX: usize = 1024;
/// Maximum number of events that wait to be sent. Further ones are dropped.
const BACKLOG_MAX: usize = 10_000;
/// Maximum number of concurrent requests.
const CONCURRENCY: usize = 8;
/// Time within which an equal event counts as a repetition.
const REPETITION_WINDOW: Duration = Duration::from_secs(600);
/// Time between two updates of a repeated event.
const REPETITION_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of events that an object may cause at once, and the time after which it may cause another.
const BURST: f64 = 25.0;
const REFILL: Duration = Duration::from_secs(300);
/// Maximum number of objects and texts that are remembered.
const REMEMBERED_MAX: usize = 8192;

/// Sends events in the background.
#[derive(Debug, Clone)]
pub(crate) struct EventSender {
    queue: mpsc::Sender<Announcement>,
}

impl EventSender {
    /// Starts the background task on the current runtime. `component` is the scheduler's name, `instance` this process.
    /// Each request waits for `latency` first.
    pub(crate) fn start(
        client: Client,
        component: String,
        instance: String,
        metrics: Arc<Metrics>,
        latency: Duration,
    ) -> Self {
        let (queue, mut incoming) = mpsc::channel::<Announcement>(BACKLOG_MAX);
        tokio::spawn(async move {
            let mut correlator = Correlator::default();
            let permits = Arc::new(Semaphore::new(CONCURRENCY));
            while let Some(announcement) = incoming.recv().await {
                for regarding in subjects(&announcement) {
                    let now = Instant::now();
                    let Some(action) = correlator.judge(&regarding, &announcement, now) else {
                        continue;
                    };
                    let request = request(&action, &regarding, &announcement, &component, &instance);
                    let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                        return;
                    };
                    let (client, metrics) = (client.clone(), Arc::clone(&metrics));
                    tokio::spawn(async move {
                        delay(latency).await;
                        let result = send(&client, request).await;
                        metrics.write(WriteKind::Event, result, now.elapsed());
                        drop(permit);
                    });
                }
            }
        });
        Self { queue }
    }

    /// Sends an event, or drops it if too many wait.
    pub(crate) fn send(&self, announcement: Announcement) {
        // Nothing waits for an event, and decisions go on without it.
        let _dropped = self.queue.try_send(announcement);
    }
}

/// The object that an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Subject {
    api_version: String,
    kind: String,
    namespace: String,
    name: String,
    uid: String,
}

/// The binding, and the object that it propagates.
fn subjects(announcement: &Announcement) -> Vec<Subject> {
    let Announcement { key, uid, resource, .. } = announcement;
    let binding = Subject {
        api_version: ResourceBinding::API_VERSION.to_owned(),
        kind: key.scope.kind().to_owned(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        uid: uid.clone(),
    };
    let ObjectReference {
        api_version,
        kind,
        namespace,
        name,
        uid,
        ..
    } = resource.clone();
    let resource = Subject {
        api_version,
        kind,
        namespace,
        name,
        uid,
    };
    let has_resource = !resource.kind.is_empty() && !resource.name.is_empty();
    std::iter::once(binding)
        .chain(has_resource.then_some(resource))
        .collect()
}

/// Action on an event.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    /// A new event of this name.
    Create(String),
    /// The event of this name happened this many times.
    Count(String, u32),
}

/// Recognises repetitions and holds back floods.
#[derive(Debug, Default)]
struct Correlator {
    known: HashMap<(Subject, String), Known>,
    /// Number of known events at which old ones are forgotten, if more than [`REMEMBERED_MAX`].
    known_max: usize,
    budgets: HashMap<Subject, (f64, Instant)>,
    created: u64,
}

#[derive(Debug)]
struct Known {
    name: String,
    count: u32,
    last: Instant,
    sent: Instant,
}

impl Correlator {
    /// The action on an event; `None` to drop it.
    fn judge(&mut self, subject: &Subject, announcement: &Announcement, now: Instant) -> Option<Action> {
        if self.known.len() >= self.known_max.max(REMEMBERED_MAX) {
            self.known
                .retain(|_, known| now.saturating_duration_since(known.last) < REPETITION_INTERVAL);
            self.known.shrink_to(REMEMBERED_MAX);
            // In a burst, all of them are young. The next cleanup comes once there are twice as many, not with each event.
            self.known_max = 2 * self.known.len();
        }
        if self.budgets.len() >= REMEMBERED_MAX {
            self.budgets.retain(|_, (left, _)| *left < BURST - 1.0);
        }
        let text = format!("{}\n{}", announcement.reason(), announcement.message);
        let key = (subject.clone(), text);
        if let Some(known) = self.known.get_mut(&key)
            && now.saturating_duration_since(known.last) < REPETITION_WINDOW
        {
            known.count += 1;
            known.last = now;
            if now.saturating_duration_since(known.sent) < REPETITION_INTERVAL {
                return None;
            }
            known.sent = now;
            return Some(Action::Count(known.name.clone(), known.count));
        }
        if !self.has_budget(subject, now) {
            return None;
        }
        self.created += 1;
        let name = event_name(&subject.name, self.created);
        let known = Known {
            name: name.clone(),
            count: 1,
            last: now,
            sent: now,
        };
        self.known.insert(key, known);
        Some(Action::Create(name))
    }

    fn has_budget(&mut self, subject: &Subject, now: Instant) -> bool {
        let (left, since) = self.budgets.entry(subject.clone()).or_insert((BURST, now));
        let regained = now.saturating_duration_since(*since).as_secs_f64() / REFILL.as_secs_f64();
        *left = (*left + regained).min(BURST);
        *since = now;
        if *left < 1.0 {
            return false;
        }
        *left -= 1.0;
        true
    }
}

/// A name that no other event of the object has.
fn event_name(subject: &str, number: u64) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let unique = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).wrapping_add(number);
    // Names have at most 253 characters.
    let subject: String = subject.chars().take(230).collect();
    format!("{subject}.{unique:016x}")
}

fn request(
    action: &Action,
    subject: &Subject,
    announcement: &Announcement,
    component: &str,
    instance: &str,
) -> HttpRequest {
    // Events about cluster-scoped objects are in this namespace.
    let namespace = match subject.namespace.as_str() {
        "" => "default",
        namespace => namespace,
    };
    let path = Request::new(format!("/api/v1/namespaces/{namespace}/events"));
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    match action {
        Action::Create(name) => {
            let body = json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": namespace},
                "involvedObject": {
                    "apiVersion": subject.api_version,
                    "kind": subject.kind,
                    "namespace": subject.namespace,
                    "name": subject.name,
                    "uid": subject.uid,
                },
                "type": announcement.event_type(),
                "reason": announcement.reason(),
                "message": shortened(announcement.message.clone(), MESSAGE_MAX),
                "source": {"component": component},
                "reportingComponent": component,
                "reportingInstance": instance,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            });
            path.create(&PostParams::default(), body.to_string().into_bytes())
        }
        Action::Count(name, count) => {
            let body = json!({"count": count, "lastTimestamp": now});
            path.patch(name, &PatchParams::default(), &Patch::Merge(&body))
        }
    }
}

type HttpRequest = Result<axum::http::Request<Vec<u8>>, kube::core::request::Error>;

/// Sends one event. A failure is logged and counted; nothing depends on events.
async fn send(client: &Client, request: HttpRequest) -> WriteResult {
    let request = match request {
        Ok(request) => request,
        Err(error) => {
            tracing::debug!(%error, "event not written");
            return WriteResult::Failed;
        }
    };
    match timeout(REQUEST_DEADLINE, client.request::<Value>(request)).await {
        Ok(Ok(_)) => WriteResult::Written,
        Ok(Err(error)) => {
            tracing::debug!(error = worded(&error), "event not written");
            match error {
                kube::Error::Api(status) if status.code < 500 && status.code != 429 => WriteResult::Refused,
                _ => WriteResult::Failed,
            }
        }
        Err(_) => WriteResult::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::News;
    use crate::objects::BindingKey;
    use divvy_karmada::api::BindingScope;

    fn announcement(message: &str) -> Announcement {
        Announcement {
            key: Arc::new(BindingKey {
                scope: BindingScope::Namespaced,
                namespace: "default".to_owned(),
                name: "web".to_owned(),
            }),
            uid: "u".to_owned(),
            resource: ObjectReference::default(),
            news: News::Failed,
            message: message.to_owned(),
        }
    }

    #[test]
    fn a_repetition_raises_the_count_once_per_minute() {
        let mut correlator = Correlator::default();
        let failed = announcement("no room");
        let [subject] = <[Subject; 1]>::try_from(subjects(&failed)).unwrap();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let Some(Action::Create(name)) = correlator.judge(&subject, &failed, start) else {
            panic!("not created")
        };
        assert_eq!(correlator.judge(&subject, &failed, after(10)), None);
        assert_eq!(
            correlator.judge(&subject, &failed, after(60)),
            Some(Action::Count(name, 3))
        );
        let other = announcement("no cluster");
        assert!(matches!(
            correlator.judge(&subject, &other, after(61)),
            Some(Action::Create(_))
        ));
        assert!(matches!(
            correlator.judge(&subject, &failed, after(700)),
            Some(Action::Create(_))
        ));
    }

    #[test]
    fn an_object_cannot_flood() {
        let mut correlator = Correlator::default();
        let now = Instant::now();
        let created = (0..100).filter(|number| {
            let announcement = announcement(&number.to_string());
            let subject = subjects(&announcement).remove(0);
            correlator.judge(&subject, &announcement, now).is_some()
        });
        assert_eq!(created.count(), 25);
    }
}
