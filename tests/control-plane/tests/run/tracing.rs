//! Spans of decisions, sent to a collector of the test.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::PATIENCE;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Error, Scenario, templates};
use prost::Message;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::{folder, three_clusters};

/// The parts of an `ExportTraceServiceRequest` that the test looks at.
#[derive(Clone, PartialEq, Message)]
struct Export {
    #[prost(message, repeated, tag = "1")]
    resources: Vec<Spans>,
}

#[derive(Clone, PartialEq, Message)]
struct Spans {
    #[prost(message, repeated, tag = "2")]
    scopes: Vec<Scope>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AttributeValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeValue {
    #[prost(string, tag = "1")]
    text: String,
}

#[derive(Clone, PartialEq, Message)]
struct Accepted {}

impl Span {
    fn attribute(&self, key: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|attribute| attribute.key == key)?;
        found.value.as_ref().map(|value| value.text.as_str())
    }
}

/// Keeps every span.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

impl NamedService for Collector {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl tower_service::Service<http::Request<Body>> for Collector {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let collector = self.clone();
        Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).unary(collector, request).await) })
    }
}

impl UnaryService<Export> for Collector {
    type Response = Accepted;
    type Future = futures::future::Ready<Result<Response<Accepted>, Status>>;

    fn call(&mut self, request: Request<Export>) -> Self::Future {
        let scopes = request
            .into_inner()
            .resources
            .into_iter()
            .flat_map(|spans| spans.scopes);
        let spans = scopes.flat_map(|scope| scope.spans);
        self.0.lock().expect("not poisoned").extend(spans);
        futures::future::ready(Ok(Response::new(Accepted {})))
    }
}

#[tokio::test]
async fn each_decision_is_a_trace_of_its_steps() -> Result<(), Error> {
    let folder = folder()?;
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(Error::file("a port"))?;
    let address = listener.local_addr().map_err(Error::file("a port"))?;
    let collector = Collector::default();
    let serving = Server::builder().add_service(collector.clone());
    tokio::spawn(serving.serve_with_incoming(TcpIncoming::from(listener)));
    let mut configuration = scenario.configuration(SCHEDULER);
    configuration.further = vec![format!("--otlp-endpoint=http://{address}")];
    scenario.start_scheduler_with(&configuration)?;
    scenario
        .deploy("web", 3, templates::divided_by_weight(&[("a", 1), ("b", 2)]))
        .await?;
    scenario.wait_for_result("web", &[("a", 1), ("b", 2)]).await?;
    let start = Instant::now();
    loop {
        let spans = collector.0.lock().expect("not poisoned").clone();
        let of_web = |span: &&Span| span.attribute("binding") == Some("default/web-deployment");
        let traces: Vec<&Span> = spans
            .iter()
            .filter(of_web)
            .filter(|span| span.name == "schedule")
            .collect();
        let has_steps = |root: &&&Span| {
            let has = |name: &str| spans.iter().any(|span| span.trace == root.trace && span.name == name);
            has("decide") && has("write")
        };
        if traces.iter().any(|root| has_steps(&root)) {
            return Ok(());
        }
        assert!(start.elapsed() < PATIENCE, "{spans:#?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
