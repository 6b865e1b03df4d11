//! The answers to requests.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;

use super::confirmation::{Confirmations, confirm};
use super::{Check, Insight, ObjectPath};
use crate::observe::Metrics;

/// Media type of JSON.
pub(super) const JSON: &str = "application/json";

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

impl Format {
    /// The format that a query asks for, text if it says nothing; `None` if it is not known, or asked for twice.
    fn requested(query: Option<&str>) -> Option<Self> {
        let pairs = query.unwrap_or_default().split('&');
        let mut formats = pairs.filter_map(|pair| pair.strip_prefix("format="));
        let format = match formats.next() {
            None | Some("text") => Self::Text,
            Some("json") => Self::Json,
            Some(_) => return None,
        };
        formats.next().is_none().then_some(format)
    }
}

#[derive(Debug, Serialize)]
struct Readiness {
    ready: bool,
    checks: Vec<Check>,
}

async fn ready(State(insight): Shared, RawQuery(query): RawQuery) -> Response {
    let Some(format) = Format::requested(query.as_deref()) else {
        let reason = "`format` is `text` or `json`, once";
        return (StatusCode::BAD_REQUEST, format!("{reason}\n")).into_response();
    };
    let checks = insight.checks();
    let ready = checks.iter().all(|check| check.problem.is_none());
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    match format {
        Format::Json => json(status, &Readiness { ready, checks }),
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
        Ok(explanation) => json(StatusCode::OK, &explanation),
        Err(unexplained) => not_found(&unexplained.to_string()),
    }
}

async fn missing_clusters(State(insight): Shared) -> Response {
    json(StatusCode::OK, &insight.missing_clusters())
}

async fn shadow(State(insight): Shared) -> Response {
    insight.shadow().map_or_else(
        || not_found("this scheduler writes its decisions, so there is nothing to compare; start it with --dry-run"),
        |differences| json(StatusCode::OK, &differences),
    )
}

/// An answer for programs.
pub(super) fn json(status: StatusCode, content: &impl Serialize) -> Response {
    match serde_json::to_vec(content) {
        Ok(text) => (status, [(header::CONTENT_TYPE, JSON)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

fn not_found(reason: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("{reason}\n")).into_response()
}
