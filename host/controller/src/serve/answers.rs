//! The answers to requests.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::confirmation::{Confirmations, confirm};
use super::{Check, Insight, ObjectPath};
use crate::observe::Metrics;

/// The routes of the server. They read from `insight` and pass confirmations to the scheduler.
pub(super) fn router(insight: Arc<dyn Insight>, confirmations: Confirmations) -> Router {
    let confirming = Router::new()
        .route("/missing-clusters", post(confirm))
        .with_state(confirmations);
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/explain/{kind}/{namespace}/{name}", get(explain))
        .route("/explain/{kind}/{name}", get(explain_cluster))
        .route("/shadow", get(shadow))
        .route("/missing-clusters", get(missing_clusters))
        .with_state(insight)
        .merge(confirming)
}

type Shared = State<Arc<dyn Insight>>;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Deserialize)]
struct ReadyQuery {
    #[serde(default)]
    format: Format,
}

#[derive(Debug, Serialize)]
struct Readiness {
    ready: bool,
    checks: Vec<Check>,
}

async fn ready(State(insight): Shared, Query(query): Query<ReadyQuery>) -> Response {
    let checks = insight.checks();
    let ready = checks.iter().all(|check| check.problem.is_none());
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    match query.format {
        Format::Json => (status, Json(Readiness { ready, checks })).into_response(),
        Format::Text => (status, listing(ready, &checks)).into_response(),
    }
}

/// One line per check, in the form of Kubernetes' own components.
fn listing(ready: bool, checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { name, problem } in checks {
        // Writing to a string cannot fail.
        let _ = match problem {
            None => writeln!(text, "[+]{name} ok"),
            Some(problem) => writeln!(text, "[-]{name} failed: {problem}"),
        };
    }
    text.push_str(if ready {
        "readyz check passed\n"
    } else {
        "readyz check failed\n"
    });
    text
}

async fn metrics(State(insight): Shared) -> Response {
    ([(header::CONTENT_TYPE, Metrics::CONTENT_TYPE)], insight.metrics()).into_response()
}

async fn explain(State(insight): Shared, Path((kind, namespace, name)): Path<(String, String, String)>) -> Response {
    explanation(&*insight, kind, Some(namespace), name)
}

async fn explain_cluster(State(insight): Shared, Path((kind, name)): Path<(String, String)>) -> Response {
    explanation(&*insight, kind, None, name)
}

fn explanation(insight: &dyn Insight, kind: String, namespace: Option<String>, name: String) -> Response {
    let object = ObjectPath { kind, namespace, name };
    match insight.explain(&object) {
        Ok(explanation) => Json(explanation).into_response(),
        Err(unexplained) => not_found(&unexplained.to_string()),
    }
}

async fn missing_clusters(State(insight): Shared) -> Response {
    Json(insight.missing_clusters()).into_response()
}

async fn shadow(State(insight): Shared) -> Response {
    insight.shadow().map_or_else(
        || not_found("this scheduler writes its decisions, so there is nothing to compare; start it with --dry-run"),
        |differences| Json(differences).into_response(),
    )
}

fn not_found(reason: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("{reason}\n")).into_response()
}
