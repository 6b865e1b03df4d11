//! The client that the real writer uses: its requests go to the world instead of a network.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use kube::Client;
use kube::client::Body;
use tokio::sync::oneshot;
use tower_service::Service;

use super::{Reply, Request, requested};

/// The connection broke before an answer came.
#[derive(Debug, thiserror::Error)]
#[error("connection reset by peer")]
struct Reset;

/// A client of one process. `send` takes each request, and where its answer goes: without an answer, the connection breaks.
pub fn client(process: u64, send: impl Fn(Request, oneshot::Sender<Reply>) + Clone + Send + 'static) -> Client {
    Client::new(Network { process, send }, "default")
}

struct Network<S> {
    process: u64,
    send: S,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Box<dyn std::error::Error + Send + Sync>>> + Send>>;

impl<S> Service<http::Request<Body>> for Network<S>
where
    S: Fn(Request, oneshot::Sender<Reply>) + Clone + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Answer;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (process, send) = (self.process, self.send.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await.map_err(Box::new)?;
            let (sender, answer) = oneshot::channel();
            let request: Request = requested(process, &parts.method, parts.uri.path(), &body);
            send(request, sender);
            let Reply { code, body } = answer.await.map_err(|_| Reset)?;
            let response = Response::builder()
                .status(code)
                .header("content-type", "application/json");
            let response = response.body(Body::from(body.into_bytes()))?;
            Ok::<_, Self::Error>(response)
        })
    }
}
