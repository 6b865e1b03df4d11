//! One request: passed on, refused, delayed or lost.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming as IncomingBody};
use kube::Client;
use serde_json::json;
use tokio::time::Sleep;

use super::{Effect, Incoming};

/// Any failure. It breaks the connection.
type Broken = Box<dyn std::error::Error + Send + Sync>;
/// A body of either kind: made here, or passed on as it arrives.
type AnyBody = http_body_util::combinators::UnsyncBoxBody<Bytes, Broken>;

/// The parts of a request that a fault may look at.
pub(super) fn incoming<B>(request: &Request<B>) -> Incoming {
    let authorization = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = authorization.and_then(|value| value.strip_prefix("Bearer "));
    Incoming {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        token: token.unwrap_or_default().to_owned(),
    }
}

/// Answers a request under the effect of a fault. An error breaks the connection without an answer.
pub(super) async fn answer(
    upstream: Client,
    request: Request<IncomingBody>,
    effect: Option<Effect>,
) -> Result<Response<AnyBody>, Broken> {
    match effect {
        None => forward(upstream, request).await,
        Some(Effect::Refuse { code, reason, message }) => refuse(code, reason, message),
        Some(Effect::Delay(time)) => {
            tokio::time::sleep(time).await;
            forward(upstream, request).await
        }
        Some(Effect::DelayAnswer(time)) => {
            let response = forward(upstream, request).await?;
            tokio::time::sleep(time).await;
            Ok(response)
        }
        Some(Effect::LoseRequest) => Err("the request is lost".into()),
        Some(Effect::LoseAnswer) => {
            // The whole answer is read, so that the write is certainly carried out.
            forward(upstream, request).await?.into_body().collect().await?;
            Err("the answer is lost".into())
        }
        Some(Effect::Hang) => std::future::pending().await,
        Some(Effect::BreakOff(time)) => {
            let response = forward(upstream, request).await?;
            let deadline = Box::pin(tokio::time::sleep(time));
            Ok(response.map(|body| BreaksOff { body, deadline }.boxed_unsync()))
        }
        Some(Effect::Expire) => expire(),
    }
}

async fn forward(upstream: Client, request: Request<IncomingBody>) -> Result<Response<AnyBody>, Broken> {
    let (mut parts, body) = request.into_parts();
    let bytes = body.collect().await?.to_bytes();
    // The client of the API server adds its own address.
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse::<Uri>()?;
    for header in [HOST, CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH] {
        parts.headers.remove(header);
    }
    let request = Request::from_parts(parts, kube::client::Body::from(bytes));
    let response = upstream.send(request).await?;
    let (mut parts, body) = response.into_parts();
    for header in [CONNECTION, TRANSFER_ENCODING] {
        parts.headers.remove(header);
    }
    // Connections to the API server and to the client may differ in version.
    parts.version = http::Version::HTTP_11;
    Ok(Response::from_parts(parts, body.map_err(Broken::from).boxed_unsync()))
}

fn refuse(code: u16, reason: &str, message: &str) -> Result<Response<AnyBody>, Broken> {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    });
    respond(code, status.to_string())
}

/// The first and only event of a watch whose version is too old.
fn expire() -> Result<Response<AnyBody>, Broken> {
    let event = json!({
        "type": "ERROR",
        "object": {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "too old resource version",
            "reason": "Expired",
            "code": 410,
        },
    });
    respond(200, format!("{event}\n"))
}

fn respond(code: u16, text: String) -> Result<Response<AnyBody>, Broken> {
    let body = Full::new(Bytes::from(text))
        .map_err(|never| match never {})
        .boxed_unsync();
    Ok(Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(body)?)
}

/// A body that fails at a time.
struct BreaksOff {
    body: AnyBody,
    deadline: Pin<Box<Sleep>>,
}

impl Body for BreaksOff {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if self.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err("the answer breaks off".into())));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}
