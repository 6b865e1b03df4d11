//! Requests over real sockets, written by hand, because the server is tested and not a client.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Check, Confirmation, Insight, ObjectPath, ServeError, Server, Unconfirmed, Unexplained};
use crate::observe::Metrics;

/// A scheduler that knows one binding.
struct Fake {
    checks: Mutex<Vec<Check>>,
    metrics: Metrics,
    in_shadow: bool,
}

impl Insight for Fake {
    fn checks(&self) -> Vec<Check> {
        self.checks.lock().expect("not poisoned").clone()
    }

    fn metrics(&self) -> String {
        self.metrics.render()
    }

    fn explain(&self, object: &ObjectPath) -> Result<Value, Unexplained> {
        let object = object.clone();
        match (
            object.kind.to_lowercase().as_str(),
            object.namespace.as_deref(),
            object.name.as_str(),
        ) {
            ("resourcebinding", Some("shop"), "web-deployment") => Ok(json!({"clusters": ["m1"]})),
            ("clusterresourcebinding", None, "web") => Ok(json!({"clusters": ["m2"]})),
            ("resourcebinding", Some("shop"), "old") => Err(Unexplained::Forgotten { object }),
            ("resourcebinding" | "clusterresourcebinding", _, _) => Err(Unexplained::Unknown { object }),
            _ => Err(Unexplained::Kind { kind: object.kind }),
        }
    }

    fn missing_clusters(&self) -> Vec<String> {
        vec!["m1".to_owned()]
    }

    fn shadow(&self) -> Option<Value> {
        self.in_shadow.then(|| json!({"differences": []}))
    }
}

struct Running {
    fake: Arc<Fake>,
    address: std::net::SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

async fn start(in_shadow: bool) -> Running {
    let fake = Arc::new(Fake {
        checks: Mutex::new(vec![Check::passing("caches"), Check::passing("plugins")]),
        metrics: Metrics::new("1.2.3", None),
        in_shadow,
    });
    let server = Server::bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
    let stop = CancellationToken::new();
    let (confirmations, mut confirmed) = mpsc::channel::<Confirmation>(1);
    tokio::spawn(async move {
        while let Some(confirmation) = confirmed.recv().await {
            let outcome = match confirmation.clusters.iter().find(|cluster| *cluster != "m1") {
                None => Ok(()),
                Some(cluster) => Err(Unconfirmed::NotMissing {
                    cluster: cluster.clone(),
                    missing: vec!["m1".to_owned()],
                }),
            };
            confirmation.outcome.send(outcome).expect("the handler waits");
        }
    });
    Running {
        address: server.address(),
        task: tokio::spawn(server.run(Arc::clone(&fake) as Arc<dyn Insight>, confirmations, stop.clone())),
        fake,
        stop,
    }
}

/// A response: status, headers in lower case, body.
struct Response {
    status: u16,
    headers: String,
    body: String,
}

impl Running {
    async fn request(&self, line: &str) -> io::Result<Response> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!("{line} HTTP/1.1\r\nhost: divvy\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").expect("an empty line after the headers");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok(Response {
            status: status.expect("a status"),
            headers: head.to_lowercase(),
            body: body.to_owned(),
        })
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let response = self.request(&format!("GET {path}")).await.expect("a response");
        (response.status, response.body)
    }
}

#[tokio::test]
async fn a_process_that_answers_is_alive() {
    let running = start(false).await;
    assert_eq!(running.get("/healthz").await, (200, "ok\n".to_owned()));
    running
        .fake
        .checks
        .lock()
        .expect("not poisoned")
        .push(Check::failing("watchdog", "a call hangs"));
    assert_eq!(running.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn readiness_lists_every_check() {
    let running = start(false).await;
    let passed = "[+]caches ok\n[+]plugins ok\nreadyz check passed\n";
    assert_eq!(running.get("/readyz").await, (200, passed.to_owned()));

    let problem = "plugin `average` has been busy with default/web for 12 s";
    running
        .fake
        .checks
        .lock()
        .expect("not poisoned")
        .push(Check::failing("watchdog", problem));
    let failed = format!("[+]caches ok\n[+]plugins ok\n[-]watchdog failed: {problem}\nreadyz check failed\n");
    assert_eq!(running.get("/readyz").await, (503, failed));
    let (status, body) = running.get("/readyz?format=json").await;
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let expected = json!({"ready": false, "checks": [
        {"name": "caches", "problem": null},
        {"name": "plugins", "problem": null},
        {"name": "watchdog", "problem": problem},
    ]});
    assert_eq!((status, body), (503, expected));
    assert_eq!(running.get("/readyz?format=xml").await.0, 400);
}

#[tokio::test]
async fn metrics_have_the_media_type_of_their_format() {
    let running = start(false).await;
    let response = running.request("GET /metrics").await.expect("a response");
    assert_eq!(response.status, 200);
    let media = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(response.headers.contains(media), "{}", response.headers);
    assert!(response.body.ends_with("# EOF\n"), "{}", response.body);
    assert!(response.body.contains("\ndivvy_leader 0\n"), "{}", response.body);
}

#[tokio::test]
async fn explanations_are_found_by_kind_namespace_and_name() {
    let running = start(false).await;
    let reason = |text: &str| format!("{text}\n");
    for (path, expected) in [
        (
            "resourcebinding/shop/web-deployment",
            (200, r#"{"clusters":["m1"]}"#.to_owned()),
        ),
        (
            "ResourceBinding/shop/web-deployment",
            (200, r#"{"clusters":["m1"]}"#.to_owned()),
        ),
        ("clusterresourcebinding/web", (200, r#"{"clusters":["m2"]}"#.to_owned())),
        (
            "resourcebinding/shop/none",
            (
                404,
                reason("there is no resourcebinding shop/none that this scheduler is responsible for"),
            ),
        ),
        (
            "resourcebinding/shop/old",
            (
                404,
                reason(
                    "no decision about resourcebinding shop/old is remembered; only the newest explanations are kept",
                ),
            ),
        ),
        (
            "deployment/shop/web",
            (
                404,
                reason("`deployment` is not a kind of binding, expected `ResourceBinding` or `ClusterResourceBinding`"),
            ),
        ),
    ] {
        assert_eq!(running.get(&format!("/explain/{path}")).await, expected, "{path}");
    }
}

#[tokio::test]
async fn differences_are_shown_in_shadow_mode_only() {
    let shadow = start(true).await;
    assert_eq!(shadow.get("/shadow").await, (200, r#"{"differences":[]}"#.to_owned()));
    let (status, reason) = start(false).await.get("/shadow").await;
    assert_eq!(status, 404);
    assert!(reason.contains("--dry-run"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_clusters_are_confirmed_by_name() {
    let running = start(false).await;
    assert_eq!(running.get("/missing-clusters").await, (200, r#"["m1"]"#.to_owned()));
    let (address, deadline) = (running.address, Duration::from_secs(5));
    let post = move |body: &'static str| async move {
        let posted = move || divvy_client::request::post(address, "/missing-clusters", body, deadline);
        let response = tokio::task::spawn_blocking(posted)
            .await
            .expect("no panic")
            .expect("a response");
        (response.status, String::from_utf8(response.body).expect("text"))
    };
    assert_eq!(post(r#"["m1"]"#).await, (200, r#"{"confirmed":["m1"]}"#.to_owned()));
    let (status, reason) = post(r#"["m1", "m2"]"#).await;
    assert_eq!(
        (status, reason.as_str()),
        (409, "cluster `m2` is not missing; missing clusters: m1\n")
    );
    assert_eq!(post("[]").await.0, 400);
    assert_eq!(post("all").await.0, 400);
    // A form in a browser can post text to any address, but not as JSON.
    let response = running.request("POST /missing-clusters").await.expect("a response");
    assert_eq!(response.status, 415);
}

#[tokio::test]
async fn nothing_can_be_written() {
    let running = start(false).await;
    for (request, status) in [("POST /readyz", 405), ("DELETE /explain/a/b/c", 405), ("GET /", 404)] {
        let response = running.request(request).await.expect("a response");
        assert_eq!(response.status, status, "{request}");
    }
}

#[tokio::test]
async fn shutdown_does_not_wait_for_idle_or_slow_clients() {
    let running = start(false).await;
    // One connection is idle, the other has sent half a request.
    let _idle = TcpStream::connect(running.address).await.expect("a connection");
    let mut slow = TcpStream::connect(running.address).await.expect("a connection");
    slow.write_all(b"GET /metrics HTTP/1.1\r\nhost:")
        .await
        .expect("a write");
    assert_eq!(running.get("/healthz").await.0, 200);

    let began = Instant::now();
    running.stop.cancel();
    running.task.await.expect("no panic").expect("no error");
    assert!(began.elapsed() < Duration::from_secs(3), "took {:?}", began.elapsed());
    assert!(TcpStream::connect(running.address).await.is_err(), "the port is closed");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let running = start(false).await;
    let error = Server::bind(running.address).await.expect_err("the port is taken");
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {} for probes and metrics", running.address)
    );
}

/// Pods of clusters with IPv6 alone, with IPv4 alone and with both have the same arguments.
#[tokio::test]
async fn every_address_of_the_pod_is_served() {
    let server = Server::bind("[::]:0".parse().expect("an address"))
        .await
        .expect("it listens");
    let port = server.address().port();
    TcpStream::connect(("127.0.0.1", port)).await.expect("IPv4 is served");
    // This machine may have no IPv6.
    let has_v6 = tokio::net::TcpListener::bind("[::1]:0").await.is_ok();
    assert_eq!(TcpStream::connect(("::1", port)).await.is_ok(), has_v6);
}
