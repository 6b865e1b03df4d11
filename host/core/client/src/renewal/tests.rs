//! Renewals against servers of HTTP that the tests start.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;

use http::Request as HttpRequest;
use serde_json::{Value, json};

use super::*;

/// A server that knows the tokens of a list, and counts requests by their token. It answers one request per connection.
struct Server {
    address: String,
    known: Arc<Mutex<Vec<&'static str>>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(known: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let known = Arc::new(Mutex::new(known.to_vec()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (allowed, log) = (Arc::clone(&known), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut token = String::new();
                let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                    if let Some(value) = line.to_lowercase().strip_prefix("authorization: bearer ") {
                        token = value.trim().to_owned();
                    }
                    line.clear();
                }
                let is_known = allowed.lock().expect("no panic").iter().any(|known| *known == token);
                log.lock().expect("no panic").push(token);
                respond(&mut stream, is_known);
            }
        });
        Self { address, known, seen }
    }

    fn know(&self, tokens: &[&'static str]) {
        *self.known.lock().expect("no panic") = tokens.to_vec();
    }

    fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().expect("no panic"))
    }
}

/// Answers a request, and refuses one of an unknown user. The client may have gone.
pub(super) fn respond(stream: &mut impl Write, is_known: bool) {
    let (status, body) = match is_known {
        true => ("200 OK", "{}"),
        false => (
            "401 Unauthorized",
            r#"{"kind":"Status","code":401,"message":"Unauthorized"}"#,
        ),
    };
    let length = body.len();
    let _closed = write!(
        stream,
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
}

/// Writes a kubeconfig with one user.
fn write_kubeconfig(file: &Path, server: &Server, user: Value) {
    write_kubeconfig_of(file, json!({"server": format!("http://{}", server.address)}), user);
}

/// Writes a kubeconfig with one cluster and one user.
pub(super) fn write_kubeconfig_of(file: &Path, cluster: Value, user: Value) {
    let kubeconfig = json!({
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    });
    replace(file, &kubeconfig.to_string());
}

/// Replaces a file at once, as the kubelet does, so that no half of it is read.
pub(super) fn replace(file: &Path, text: &str) {
    let next = file.with_extension("next");
    std::fs::write(&next, text).expect("written");
    std::fs::rename(next, file).expect("renamed");
}

pub(super) async fn clients(file: &Path) -> Clients {
    let options = ConnectionOptions {
        kubeconfig: Some(file.to_owned()),
        context: None,
        user_agent: "divvy/test".to_owned(),
    };
    connect(&options).await.expect("a valid kubeconfig")
}

/// The result of a request: `ok`, or the message.
pub(super) async fn ask(client: &Client) -> String {
    let request = HttpRequest::get("/").body(Vec::new()).expect("a request");
    match client.request_text(request).await {
        Ok(_) => "ok".to_owned(),
        Err(error) => worded(&error),
    }
}

#[tokio::test]
async fn a_token_that_is_replaced_is_read_after_the_first_refusal_or_the_next_look() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config");
    let server = Server::start(&["one"]);
    write_kubeconfig(&file, &server, json!({"token": "one\n"}));
    let clients = clients(&file).await;
    assert_eq!(ask(&clients.writing).await, "ok");
    // Both are rotated at once: the request that is refused is sent again.
    write_kubeconfig(&file, &server, json!({"token": "two"}));
    server.know(&["two"]);
    assert_eq!(
        (
            ask(&clients.writing).await.as_str(),
            ask(&clients.watching).await.as_str()
        ),
        ("ok", "ok")
    );
    assert_eq!(server.take_seen(), ["one", "one", "two", "two"]);
    // The file is replaced before the old token ends: nothing is refused.
    write_kubeconfig(&file, &server, json!({"token": "three"}));
    server.know(&["two", "three"]);
    tokio::time::sleep(LOOK_INTERVAL).await;
    assert_eq!(ask(&clients.watching).await, "ok");
    assert_eq!(server.take_seen(), ["three"]);
}

#[tokio::test]
async fn a_file_that_the_kubeconfig_names_is_watched_too_and_what_cannot_be_read_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, token) = (folder.path().join("config"), folder.path().join("token"));
    let server = Server::start(&["one"]);
    std::fs::write(&token, "one\n").expect("written");
    write_kubeconfig(&file, &server, json!({"tokenFile": "token"}));
    let clients = clients(&file).await;
    assert_eq!(ask(&clients.writing).await, "ok");
    std::fs::remove_file(&token).expect("removed");
    tokio::time::sleep(LOOK_INTERVAL).await;
    assert_eq!(ask(&clients.writing).await, "ok", "the last token is used");
    server.know(&["two"]);
    assert_eq!(ask(&clients.writing).await, "Unauthorized");
    std::fs::write(&token, "two\n").expect("written");
    tokio::time::sleep(LOOK_INTERVAL).await;
    assert_eq!(ask(&clients.writing).await, "ok");
}

/// A plugin that counts its runs in a file and prints a token.
fn plugin(folder: &Path, status: &str) -> serde_json::Value {
    let runs = folder.join("runs").display().to_string();
    let script = format!(
        "echo run >> {runs}; printf '{{\"status\": {{{status}}}}}' \"$(cat {}/token)\"",
        folder.display()
    );
    json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script]}})
}

fn runs(folder: &Path) -> usize {
    let mut text = String::new();
    let file = std::fs::File::open(folder.join("runs"));
    file.and_then(|mut file| file.read_to_string(&mut text))
        .map_or(0, |_| text.lines().count())
}

#[tokio::test]
async fn a_plugin_runs_once_for_both_clients_and_again_after_a_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config");
    let server = Server::start(&["one"]);
    std::fs::write(folder.path().join("token"), "one").expect("written");
    write_kubeconfig(&file, &server, plugin(folder.path(), r#""token": "%s""#));
    let clients = clients(&file).await;
    for client in [&clients.watching, &clients.writing, &clients.watching] {
        assert_eq!(ask(client).await, "ok");
    }
    // A second connection of the process asks nobody again.
    assert_eq!(ask(&self::clients(&file).await.writing).await, "ok");
    assert_eq!(runs(folder.path()), 1);
    server.know(&["two"]);
    std::fs::write(folder.path().join("token"), "two").expect("written");
    assert_eq!(ask(&clients.writing).await, "ok");
    assert_eq!(runs(folder.path()), 2);
    // A refusal that lasts does not run it for each request.
    server.know(&[]);
    for _ in 0..5 {
        assert_eq!(ask(&clients.writing).await, "Unauthorized");
    }
    assert_eq!(runs(folder.path()), 2, "it ran less than five seconds ago");
}

#[tokio::test]
async fn a_plugin_runs_again_before_its_credentials_expire() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config");
    let server = Server::start(&["one"]);
    std::fs::write(folder.path().join("token"), "one").expect("written");
    let expired = r#""token": "%s", "expirationTimestamp": "2020-01-01T00:00:00Z""#;
    write_kubeconfig(&file, &server, plugin(folder.path(), expired));
    let clients = clients(&file).await;
    assert_eq!(runs(folder.path()), 1);
    assert_eq!(ask(&clients.writing).await, "ok");
    assert_eq!(runs(folder.path()), 2);
    assert_eq!(ask(&clients.writing).await, "ok");
    assert_eq!(runs(folder.path()), 2, "not for each request");
}

#[test]
fn the_wait_of_a_header_is_put_into_the_status() {
    let code = StatusCode::TOO_MANY_REQUESTS;
    let of = |body: &str| -> serde_json::Value {
        serde_json::from_slice(&asking_to_wait(body.as_bytes(), code, 7)).expect("JSON")
    };
    let plain = of("Too many requests, please try again later.\n");
    assert_eq!(plain["message"], "Too many requests, please try again later.");
    assert_eq!(
        (&plain["code"], &plain["details"]["retryAfterSeconds"]),
        (&json!(429), &json!(7))
    );
    let status = of(r#"{"kind": "Status", "code": 429, "message": "wait", "details": {"kind": "pods"}}"#);
    assert_eq!(status["details"], json!({"kind": "pods", "retryAfterSeconds": 7}));
    let own = of(r#"{"kind": "Status", "code": 429, "details": {"retryAfterSeconds": 3}}"#);
    assert_eq!(own["details"]["retryAfterSeconds"], 3);
}
