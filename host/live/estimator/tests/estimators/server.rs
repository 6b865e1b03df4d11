//! An estimator that misbehaves on request, and the lookup that finds it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use divvy_estimator::{Address, LookupError, ServiceLookup};
use futures::future::BoxFuture;
use prost::Message;
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// The fields of every request that the tests check.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Asked {
    #[prost(string, tag = "1")]
    pub(crate) cluster: String,
    /// Encoded [`Assumed`] workloads in a request about replicas, the namespace in one about sets.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) third: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Assumed {
    #[prost(string, tag = "1")]
    pub(crate) namespace: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) components: Vec<AssumedComponent>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AssumedComponent {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(int32, tag = "3")]
    pub(crate) replicas: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Counted {
    #[prost(int32, tag = "1")]
    pub(crate) count: i32,
}

/// An answer whose first field has the wrong type.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Garbled {
    #[prost(string, tag = "1")]
    pub(crate) text: String,
}

/// Behaviour of the estimator.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    Count(i32),
    /// Answers after a while.
    Slow(Duration, i32),
    Refuse(tonic::Code),
    Garble,
    /// Knows only the method that counts replicas.
    Old(i32),
}

#[derive(Debug)]
struct Shared {
    behaviour: Behaviour,
    /// Clusters and methods of the calls so far.
    calls: Vec<(String, String)>,
    /// Assumed workloads of the last call about replicas.
    assumed: Vec<Assumed>,
}

/// A running estimator, which stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Estimator {
    pub(crate) port: u16,
    shared: Arc<Mutex<Shared>>,
    /// A runtime of its own: ending it closes every connection, as the end of a process does.
    runtime: Option<tokio::runtime::Runtime>,
}

impl Estimator {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        Self::start_at(0, behaviour, None).await
    }

    pub(crate) async fn start_with_tls(behaviour: Behaviour, tls: ServerTlsConfig) -> Self {
        Self::start_at(0, behaviour, Some(tls)).await
    }

    pub(crate) async fn start_at(port: u16, behaviour: Behaviour, tls: Option<ServerTlsConfig>) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", port)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("a socket");
        let shared = Arc::new(Mutex::new(Shared {
            behaviour,
            calls: Vec::new(),
            assumed: Vec::new(),
        }));
        let mut server = Server::builder();
        if let Some(tls) = tls {
            server = server.tls_config(tls).expect("a TLS configuration");
        }
        let router = server.add_service(Service(Arc::clone(&shared)));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().expect("a runtime");
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a socket");
            let serving = router.serve_with_incoming(TcpIncoming::from(listener));
            serving.await.expect("the server runs")
        });
        Self {
            port,
            shared,
            runtime: Some(runtime),
        }
    }

    pub(crate) fn behave(&self, behaviour: Behaviour) {
        self.shared.lock().expect("not poisoned").behaviour = behaviour;
    }

    pub(crate) fn calls(&self) -> Vec<(String, String)> {
        self.shared.lock().expect("not poisoned").calls.clone()
    }

    pub(crate) fn assumed(&self) -> Vec<Assumed> {
        self.shared.lock().expect("not poisoned").assumed.clone()
    }

    /// Stops listening and closes all connections.
    pub(crate) async fn stop(mut self) {
        if let Some(runtime) = self.runtime.take() {
            let ended = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(1)));
            ended.await.expect("the server ends");
        }
    }
}

impl Drop for Estimator {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Clone)]
struct Service(Arc<Mutex<Shared>>);

impl NamedService for Service {
    const NAME: &'static str = "github.com.karmada_io.karmada.pkg.estimator.service.Estimator";
}

impl tower_service::Service<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        let shared = Arc::clone(&self.0);
        let behaviour = shared.lock().expect("not poisoned").behaviour.clone();
        Box::pin(async move {
            Ok(if let Behaviour::Garble = behaviour {
                Grpc::new(ProstCodec::default()).unary(Garble, request).await
            } else {
                let method = Method {
                    name: method,
                    shared,
                    behaviour,
                };
                Grpc::new(ProstCodec::default()).unary(method, request).await
            })
        })
    }
}

struct Garble;

impl UnaryService<Asked> for Garble {
    type Response = Garbled;
    type Future = futures::future::Ready<Result<Response<Garbled>, Status>>;

    fn call(&mut self, _request: Request<Asked>) -> Self::Future {
        let text = "plenty".to_owned();
        futures::future::ready(Ok(Response::new(Garbled { text })))
    }
}

struct Method {
    name: String,
    shared: Arc<Mutex<Shared>>,
    behaviour: Behaviour,
}

impl UnaryService<Asked> for Method {
    type Response = Counted;
    type Future = BoxFuture<'static, Result<Response<Counted>, Status>>;

    fn call(&mut self, request: Request<Asked>) -> Self::Future {
        let Asked { cluster, third } = request.into_inner();
        let call = (cluster, self.name.clone());
        let behaviour = self.behaviour.clone();
        let known = matches!(self.name.as_str(), "MaxAvailableReplicas" | "MaxAvailableComponentSets");
        let replicas = self.name == "MaxAvailableReplicas";
        let mut shared = self.shared.lock().expect("not poisoned");
        shared.calls.push(call);
        if replicas {
            let decoded = third.iter().map(|workload| Assumed::decode(workload.as_slice()));
            shared.assumed = decoded.collect::<Result<_, _>>().expect("assumed workloads");
        }
        drop(shared);
        Box::pin(async move {
            let count = match behaviour {
                _ if !known => return Err(Status::unimplemented("unknown method")),
                Behaviour::Old(_) if !replicas => return Err(Status::unimplemented("unknown method")),
                Behaviour::Count(count) | Behaviour::Old(count) => count,
                Behaviour::Slow(time, count) => {
                    tokio::time::sleep(time).await;
                    count
                }
                Behaviour::Refuse(code) => return Err(Status::new(code, "not today")),
                Behaviour::Garble => unreachable!("garbled answers have another type"),
            };
            Ok(Response::new(Counted { count }))
        })
    }
}

/// ExternalName Services for ports of this machine, by cluster.
#[derive(Debug, Default)]
pub(crate) struct Services(Mutex<HashMap<String, u16>>);

impl Services {
    pub(crate) fn new<'a>(ports: impl IntoIterator<Item = (&'a str, u16)>) -> Arc<Self> {
        let services = Self::default();
        for (cluster, port) in ports {
            services.set(cluster, port);
        }
        Arc::new(services)
    }

    pub(crate) fn set(&self, cluster: &str, port: u16) {
        let service = format!("karmada-scheduler-estimator-{cluster}");
        self.0.lock().expect("not poisoned").insert(service, port);
    }
}

impl ServiceLookup for Services {
    fn external_name<'a>(
        &'a self,
        _namespace: &'a str,
        service: &'a str,
        _port: u16,
    ) -> BoxFuture<'a, Result<Option<Address>, LookupError>> {
        let port = self.0.lock().expect("not poisoned").get(service).copied();
        Box::pin(async move {
            Ok(port.map(|port| Address {
                host: "127.0.0.1".to_owned(),
                port,
            }))
        })
    }
}
