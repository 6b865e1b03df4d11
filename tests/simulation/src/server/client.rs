//! The client that the real writer uses: its requests go to the world instead of a network.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use kube::Client;
use kube::client::Body;
use tokio::sync::{mpsc, oneshot};
use tower_service::Service;

use super::{Reply, Request, requested};
use crate::world::Inbound;

/// The connection broke before an answer came.
#[derive(Debug, thiserror::Error)]
#[error("connection reset by peer")]
struct Reset;

/// A client of one process, whose requests go to `world`.
pub(crate) fn client(process: u64, world: mpsc::UnboundedSender<Inbound>) -> Client {
    Client::new(Network { process, world }, "default")
}

struct Network {
    process: u64,
    world: mpsc::UnboundedSender<Inbound>,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Box<dyn std::error::Error + Send + Sync>>> + Send>>;

impl Service<http::Request<Body>> for Network {
    type Response = Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Answer;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (process, world) = (self.process, self.world.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await.map_err(Box::new)?;
            let (sender, answer) = oneshot::channel();
            let request: Request = requested(process, &parts.method, parts.uri.path(), &body);
            // The world is gone only if the life is over.
            let _over = world.send(Inbound::Request(request, sender));
            let Reply { code, body } = answer.await.map_err(|_| Reset)?;
            let response = Response::builder()
                .status(code)
                .header("content-type", "application/json");
            let response = response.body(Body::from(body.into_bytes()))?;
            Ok::<_, Self::Error>(response)
        })
    }
}
