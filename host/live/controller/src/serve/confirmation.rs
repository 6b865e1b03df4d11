//! The confirmation by a person that missing clusters are gone.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::answers::{self, JSON};

/// Time that a confirmation waits for the thread that decides.
const DEADLINE: Duration = Duration::from_secs(5);

/// A person's confirmation that clusters are gone.
#[derive(Debug)]
pub(crate) struct Confirmation {
    /// Names of the clusters.
    pub(crate) clusters: Vec<String>,
    /// Receives the outcome.
    pub(crate) outcome: oneshot::Sender<Result<(), Unconfirmed>>,
}

/// Destination of confirmations.
pub(crate) type Confirmations = mpsc::Sender<Confirmation>;

/// The reason why a confirmation had no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unconfirmed {
    /// Another process decides, or the caches are not complete.
    #[error("this scheduler does not decide; confirm it to the one that holds the lease")]
    NotDeciding,
    /// A cluster exists, or was never known.
    #[error("cluster `{cluster}` is not missing; missing clusters: {}", listed(missing))]
    NotMissing {
        /// The cluster.
        cluster: String,
        /// The clusters that are missing.
        missing: Vec<String>,
    },
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

/// Accepts a confirmation, from this machine or pod only.
pub(super) async fn confirm(
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    State(confirmations): State<Confirmations>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // A page in a browser cannot send this type to another origin without being permitted to.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case(JSON) {
        let reason = format!("expected the content type `{JSON}`, got `{kind}`");
        return answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, &reason);
    }
    let clusters: Vec<String> = match serde_json::from_slice(&body) {
        Ok(clusters) => clusters,
        Err(error) => {
            let reason = format!("expected a JSON list of names of clusters: {error}");
            return answer(StatusCode::BAD_REQUEST, &reason);
        }
    };
    if !peer.ip().to_canonical().is_loopback() {
        let reason = "confirmations are accepted only from the pod itself: use `kubectl port-forward`";
        return answer(StatusCode::FORBIDDEN, reason);
    }
    if clusters.is_empty() {
        return answer(StatusCode::BAD_REQUEST, "name the clusters that are gone");
    }
    let confirmed = clusters.clone();
    let (outcome, received) = oneshot::channel();
    let asked = async {
        confirmations.send(Confirmation { clusters, outcome }).await.ok()?;
        received.await.ok()
    };
    match timeout(DEADLINE, asked).await.ok().flatten() {
        Some(Ok(())) => answers::json(StatusCode::OK, &json!({"confirmed": confirmed})),
        Some(Err(unconfirmed)) => answer(StatusCode::CONFLICT, &unconfirmed.to_string()),
        None => answer(
            StatusCode::SERVICE_UNAVAILABLE,
            "the thread that decides does not answer; see /readyz",
        ),
    }
}

fn answer(status: StatusCode, text: &str) -> Response {
    (status, format!("{text}\n")).into_response()
}
