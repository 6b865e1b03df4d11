//! The API server of `tests/world` over HTTP: lists and watches of any number of objects, and patches of bindings.
//!
//! Bindings that wait for a decision are stored there. All else is made when it is listed, so that a million bindings take no memory here.
//! Watches send nothing until they are made to expire.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use divvy_controller::objects::Kind;
use divvy_world::server::{Request, Server as Objects, Verb, key_of, requested, write};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::LoadError;
use crate::objects::{binding, cluster, policy, settled_binding};

/// Objects that the server holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contents {
    /// Bindings that are scheduled.
    pub(super) settled: usize,
    /// Bindings that wait for their first decision.
    pub(super) pending: usize,
    /// Clusters.
    pub(super) clusters: usize,
    /// Kinds that each cluster serves.
    pub(super) apis: usize,
}

/// A running server. It stops when it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    contents: Contents,
    /// Raised to make all watches expire.
    expired: watch::Sender<u64>,
    /// Complete lists of bindings and of clusters so far.
    lists: watch::Sender<(usize, usize)>,
    pending: Mutex<Pending>,
}

/// The bindings that wait for a decision, and what became of them.
#[derive(Default)]
struct Pending {
    server: Objects,
    /// Times of the first and the last binding that was scheduled, and their number.
    scheduled: Option<(Instant, Instant, usize)>,
}

impl Server {
    /// Starts a server on the current runtime.
    pub(super) async fn start(contents: Contents) -> Result<Self, LoadError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(LoadError::Listen)?;
        let address = listener.local_addr().map_err(LoadError::Listen)?;
        let mut pending = Pending::default();
        for number in contents.settled..contents.settled + contents.pending {
            let binding = created(binding(&pending_name(number)), 1);
            pending.server.create(0, Kind::Binding, binding);
        }
        // Watches repeat nothing here.
        pending.server.forget_history();
        let shared = Arc::new(Shared {
            contents,
            expired: watch::Sender::new(0),
            lists: watch::Sender::new((0, 0)),
            pending: Mutex::new(pending),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // It only ends with the task.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, task })
    }

    /// Writes a kubeconfig that leads here.
    pub(super) fn kubeconfig(&self, folder: &Path) -> Result<PathBuf, LoadError> {
        let path = folder.join("kubeconfig");
        // JSON is YAML.
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "memory", "cluster": {"server": format!("http://{}", self.address)}}],
            "users": [{"name": "memory", "user": {}}],
            "contexts": [{"name": "memory", "context": {"cluster": "memory", "user": "memory"}}],
            "current-context": "memory",
        });
        match std::fs::write(&path, kubeconfig.to_string()) {
            Ok(()) => Ok(path),
            Err(source) => Err(LoadError::File { path, source }),
        }
    }

    /// Makes all watches expire, so that everything is listed again, and returns once bindings and clusters are.
    pub(super) async fn relist(&self) {
        let mut lists = self.shared.lists.subscribe();
        let (bindings, clusters) = *lists.borrow_and_update();
        self.shared.expired.send_modify(|count| *count += 1);
        // The sender is held here.
        let _never = lists.wait_for(|lists| lists.0 > bindings && lists.1 > clusters).await;
    }

    /// Bindings that were scheduled since the start, and their number per second from the first to the last.
    pub(super) fn scheduled(&self) -> (usize, f64) {
        let pending = self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((first, last, count)) = pending.scheduled else {
            return (0, 0.0);
        };
        let seconds = (last - first).as_secs_f64().max(f64::EPSILON);
        (count, count.saturating_sub(1) as f64 / seconds)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let query = |name: &str| {
        let pairs = uri.query().unwrap_or_default().split('&');
        pairs
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    let kind = Kind::ALL.into_iter().find(|kind| uri.path() == kind.path(""));
    match (method, kind) {
        (Method::GET, Some(kind)) if query("watch") == Some("true") => watch_of(&shared, kind),
        (Method::GET, Some(kind)) => {
            let number = |name| query(name).and_then(|text| text.parse().ok());
            shared.page(
                kind,
                number("continue").unwrap_or(0),
                number("limit").unwrap_or(usize::MAX),
            )
        }
        (Method::PATCH, None) => shared.patch(&requested(0, &Method::PATCH, uri.path(), &body)),
        (Method::POST, None) => (StatusCode::CREATED, "{}").into_response(),
        _ => (
            StatusCode::NOT_FOUND,
            json!({"code": 404, "status": "Failure"}).to_string(),
        )
            .into_response(),
    }
}

/// A watch that says nothing until it expires.
fn watch_of(shared: &Shared, kind: Kind) -> Response {
    let mut expired = shared.expired.subscribe();
    expired.mark_unchanged();
    let line = json!({"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired",
        "message": format!("too old resource version of {}", kind.plural()),
    }});
    let stream = futures::stream::once(async move {
        // The server is gone only if the measurement is over.
        let _gone = expired.changed().await;
        Ok::<_, Infallible>(format!("{line}\n"))
    });
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(stream)).into_response()
}

impl Shared {
    /// One page of a list.
    fn page(&self, kind: Kind, start: usize, limit: usize) -> Response {
        let Contents {
            settled,
            pending,
            clusters,
            apis,
        } = self.contents;
        let all = match kind {
            Kind::Cluster => clusters,
            Kind::Binding => settled + pending,
            Kind::Policy => 1,
            _ => 0,
        };
        let end = start.saturating_add(limit).min(all);
        let items = (start..end).map(|number| match kind {
            Kind::Cluster => created(cluster(number, apis), number).to_string(),
            Kind::Policy => created(policy(), number).to_string(),
            _ if number < settled => settled_binding(number, clusters).to_string(),
            _ => self.pending(number),
        });
        let items: Vec<String> = items.collect();
        let next = match end < all {
            true => json!({"resourceVersion": "1", "continue": end.to_string(), "remainingItemCount": all - end}),
            false => json!({"resourceVersion": "1"}),
        };
        match kind {
            Kind::Binding if end == all => self.lists.send_modify(|lists| lists.0 += 1),
            Kind::Cluster if end == all => self.lists.send_modify(|lists| lists.1 += 1),
            _ => {}
        }
        let body = format!(
            r#"{{"kind":"List","apiVersion":"v1","metadata":{next},"items":[{}]}}"#,
            items.join(",")
        );
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    }

    /// A binding that was pending at the start, as it is now.
    fn pending(&self, number: usize) -> String {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key_of(&binding(&pending_name(number)));
        let stored = pending.server.get(Kind::Binding, &key);
        stored.map(ToString::to_string).unwrap_or_default()
    }

    /// Carries out a patch of a binding or of its status.
    fn patch(&self, request: &Request) -> Response {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = write(&mut pending.server, 0, request);
        pending.server.forget_history();
        if reply.code == 200 && request.verb == Verb::PatchStatus {
            let now = Instant::now();
            let (first, _, count) = pending.scheduled.unwrap_or((now, now, 0));
            pending.scheduled = Some((first, now, count + 1));
        }
        let code = StatusCode::from_u16(reply.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (code, [(header::CONTENT_TYPE, "application/json")], reply.body).into_response()
    }
}

fn pending_name(number: usize) -> String {
    format!("pending-{number:07}-deployment")
}

/// An object with the metadata that an API server adds.
fn created(mut object: Value, number: usize) -> Value {
    let metadata = &mut object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    metadata["uid"] = json!(format!("{name}-{number}"));
    metadata["generation"] = json!(1);
    metadata["resourceVersion"] = json!("1");
    metadata["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    object
}
