//! A registry that answers what it must not: what it is asked for, what it gets to know, and what is refused.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;

/// A request, as a server sees it.
#[derive(Debug, Clone)]
struct Asked {
    path: String,
    headers: BTreeMap<String, String>,
}

/// Bytes of an answer.
type Answer = Arc<dyn Fn(&Asked) -> Vec<u8> + Send + Sync>;

/// A server on this machine. Its thread ends with the process.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn start(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answer): (_, Answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that has enough hangs up.
                let _hung_up = serve(stream, &log, &answer);
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no test panicked").clone()
    }
}

/// Answers one request for each connection.
fn serve(stream: TcpStream, log: &Mutex<Vec<Asked>>, answer: &Answer) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    // A client asks first whether a registry on its machine wants encryption.
    if reader.fill_buf()?.first() == Some(&0x16) {
        return Ok(());
    }
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.trim().to_owned()),
            None => break,
        };
    }
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    reader.take(length).read_to_end(&mut Vec::new())?;
    let asked = Asked { path, headers };
    log.lock().expect("no test panicked").push(asked.clone());
    let mut stream = stream;
    stream.write_all(&answer(&asked))
}

fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Content-Length") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    [format!("{head}\r\n").as_bytes(), body].concat()
}

fn redirect(location: &str) -> Vec<u8> {
    answer("307 Temporary Redirect", &[("Location", location)], b"")
}

/// An artifact that is not changed, and answers with it.
#[derive(Clone)]
struct Content {
    folder: PathBuf,
    manifest: Vec<u8>,
}

impl Content {
    fn of(workshop: &Workshop) -> Self {
        workshop.push("1", &[]);
        let folder = Folder(workshop.path("outbox"));
        Self {
            manifest: folder.read(&folder.digest("1")),
            folder: folder.0,
        }
    }

    /// What a registry answers.
    fn honest(&self, asked: &Asked) -> Vec<u8> {
        if asked.path.starts_with("/v2/plugins/average/manifests/") {
            return answer("200 OK", &[("Content-Type", MANIFEST)], &self.manifest);
        }
        match asked.path.strip_prefix("/v2/plugins/average/blobs/") {
            Some(digest) => answer("200 OK", &[], &Folder(self.folder.clone()).read(digest)),
            None => answer("404 Not Found", &[], b""),
        }
    }
}

fn is_blob(asked: &Asked) -> bool {
    asked.path.contains("/blobs/")
}

fn pull(workshop: &Workshop, server: &Server, more: &[&str]) -> Ran {
    let reference = format!("{}/plugins/average:1", server.address);
    let pull = ["plugin", "pull", &reference, "--into", "plugins", "--unsigned"];
    workshop.run(&[&pull[..], more].concat())
}

/// Credentials for hosts, as `docker login` writes them: `user:password`.
fn log_in(workshop: &Workshop, hosts: &[&str]) {
    let auths: serde_json::Map<String, Value> = hosts
        .iter()
        .map(|host| ((*host).to_owned(), json!({ "auth": "dXNlcjpwYXNzd29yZA==" })))
        .collect();
    fs::create_dir_all(workshop.path(".docker")).expect("a folder");
    workshop.write(".docker/config.json", json!({ "auths": auths }).to_string());
}

#[test]
fn answers_that_a_registry_must_not_give_are_refused() {
    type Lie = fn(&Content, &Asked) -> Option<Vec<u8>>;
    let cases: [(&str, Lie, &str); 14] = [
        (
            "another digest in the header",
            |content, asked| {
                let said = format!("sha256:{}", "0".repeat(64));
                let headers = [("Content-Type", MANIFEST), ("Docker-Content-Digest", said.as_str())];
                (!is_blob(asked)).then(|| answer("200 OK", &headers, &content.manifest))
            },
            "has the digest `sha256:0000",
        ),
        (
            "another media type in the header",
            |content, asked| (!is_blob(asked)).then(|| answer("200 OK", &[("Content-Type", INDEX)], &content.manifest)),
            "has another media type",
        ),
        (
            "a manifest that goes on for ever",
            |_, asked| {
                let chunk = [b"fffff\r\n".to_vec(), vec![b' '; 0xf_ffff], b"\r\n".to_vec()].concat();
                let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
                (!is_blob(asked)).then(|| [head, chunk.clone(), chunk].concat())
            },
            "is too large: expected at most 262144 bytes",
        ),
        (
            "a blob that goes on for ever",
            |_, asked| {
                let chunk = [b"fffff\r\n".to_vec(), vec![b' '; 0xf_ffff], b"\r\n".to_vec()].concat();
                let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
                is_blob(asked).then(|| [head, chunk].concat())
            },
            "has another size than is said of it",
        ),
        (
            "a blob that breaks off",
            |_, asked| is_blob(asked).then(|| answer("200 OK", &[("Content-Length", "1000000")], b"{")),
            "the configuration sha256:",
        ),
        (
            "another blob",
            |_, asked| {
                let other = "x".repeat(asked.path.len());
                is_blob(asked).then(|| answer("200 OK", &[], other.as_bytes()))
            },
            "the configuration sha256:",
        ),
        (
            "a compressed blob",
            |_, asked| {
                is_blob(asked).then(|| answer("200 OK", &[("Content-Encoding", "gzip")], &[0x1f, 0x8b, 8, 0, 0]))
            },
            "has another size than is said of it",
        ),
        (
            "a circle of redirects",
            |_, asked| is_blob(asked).then(|| redirect(&asked.path)),
            "more than 5 redirects",
        ),
        (
            "a redirect to nowhere",
            |_, asked| is_blob(asked).then(|| answer("307 Temporary Redirect", &[], b"")),
            "the answer has no `Location`",
        ),
        (
            "a redirect to another machine without encryption",
            |_, asked| is_blob(asked).then(|| redirect("http://storage.example/blob")),
            "http://storage.example/blob is not encrypted",
        ),
        (
            "a redirect to a file",
            |_, asked| is_blob(asked).then(|| redirect("file:///etc/passwd")),
            "file:///etc/passwd is not encrypted",
        ),
        (
            "a token from another machine without encryption",
            |_, _| {
                let demand = "Bearer realm=\"http://auth.example/token\",service=\"s\"";
                Some(answer("401 Unauthorized", &[("WWW-Authenticate", demand)], b""))
            },
            "is not encrypted",
        ),
        (
            "credentials of an unknown kind",
            |_, _| Some(answer("401 Unauthorized", &[("WWW-Authenticate", "Negotiate")], b"")),
            "an unknown kind: `Negotiate`",
        ),
        (
            "a page of HTML",
            |_, _| {
                Some(answer(
                    "200 OK",
                    &[("Content-Type", "text/html")],
                    b"<html>Please accept our terms</html>",
                ))
            },
            "is neither a manifest nor an index",
        ),
    ];
    let workshop = Workshop::new();
    let content = Content::of(&workshop);
    let honest = content.clone();
    let server = Server::start(move |asked| honest.honest(asked));
    pull(&workshop, &server, &[]).expect_success();
    fs::remove_dir_all(workshop.path("plugins")).expect("it was pulled");
    for (name, lie, refusal) in cases {
        let content = content.clone();
        let server = Server::start(move |asked| lie(&content, asked).unwrap_or_else(|| content.honest(asked)));
        let ran = pull(&workshop, &server, &[]);
        assert_eq!(ran.exit, Some(2), "{name}: {ran:#?}");
        assert!(
            ran.stderr.contains(refusal),
            "{name}: expected `{refusal}`, got {}",
            ran.stderr
        );
        assert!(!workshop.path("plugins/index.json").exists(), "{name}");
    }
}

/// A registry sends its clients to the storage of someone else.
#[test]
fn credentials_are_for_the_registry_alone() {
    let workshop = Workshop::new();
    let content = Content::of(&workshop);
    let blobs = content.clone();
    let storage = Server::start(move |asked| {
        let digest = asked.path.trim_start_matches("/storage/");
        answer("200 OK", &[], &Folder(blobs.folder.clone()).read(digest))
    });
    let elsewhere = storage.address.clone();
    let server = Server::start(move |asked| {
        if asked.headers.get("authorization").map(String::as_str) != Some("Basic dXNlcjpwYXNzd29yZA==") {
            return answer("401 Unauthorized", &[("WWW-Authenticate", "Basic realm=\"r\"")], b"");
        }
        match asked.path.rsplit_once("/blobs/") {
            Some((_, digest)) => redirect(&format!("http://{elsewhere}/storage/{digest}")),
            None => content.honest(asked),
        }
    });
    pull(&workshop, &server, &[]).expect_refusal("the registry answers 401");
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| !asked.headers.contains_key("authorization"))
    );
    log_in(&workshop, &[&server.address, &storage.address]);
    let ran = pull(&workshop, &server, &["-v"]).expect_success();
    assert!(!ran.stderr.contains("dXNlcjpwYXNzd29yZA"), "{}", ran.stderr);
    assert!(
        server
            .asked()
            .iter()
            .any(|asked| asked.headers.contains_key("authorization"))
    );
    let asked = storage.asked();
    assert_eq!(asked.len(), 2, "configuration and library: {asked:?}");
    assert!(
        asked.iter().all(|asked| !asked.headers.contains_key("authorization")),
        "{asked:?}"
    );
}

/// So may an upload be.
#[test]
fn an_upload_elsewhere_gets_no_credentials() {
    let workshop = Workshop::new();
    let storage = Server::start(|_| answer("201 Created", &[], b""));
    let elsewhere = storage.address.clone();
    let server = Server::start(move |asked| {
        if !asked.headers.contains_key("authorization") {
            return answer("401 Unauthorized", &[("WWW-Authenticate", "Basic realm=\"r\"")], b"");
        }
        match asked.path.as_str() {
            "/v2/plugins/average/blobs/uploads/" => {
                let location = format!("http://{elsewhere}/upload?state=1");
                answer("202 Accepted", &[("Location", &location)], b"")
            }
            path if path.contains("/manifests/") => answer("201 Created", &[], b""),
            _ => answer("404 Not Found", &[], b""),
        }
    });
    log_in(&workshop, &[&server.address, &storage.address]);
    let reference = format!("{}/plugins/average:1", server.address);
    workshop
        .run(&["plugin", "push", &reference, &plugin("average").display().to_string()])
        .expect_success();
    let asked = storage.asked();
    assert_eq!(asked.len(), 2, "configuration and library: {asked:?}");
    for asked in asked {
        assert!(asked.path.starts_with("/upload?state=1&digest=sha256:"), "{asked:?}");
        assert!(!asked.headers.contains_key("authorization"), "{asked:?}");
    }
}

#[test]
fn a_token_is_asked_for_and_used() {
    let workshop = Workshop::new();
    let content = Content::of(&workshop);
    let tokens = Server::start(|asked| match asked.headers.get("authorization") {
        Some(basic) if basic == "Basic dXNlcjpwYXNzd29yZA==" => answer("200 OK", &[], br#"{"token":"the-token"}"#),
        _ => answer("200 OK", &[], b"{\"token\":\"bad\\r\\nEvil: header\"}"),
    });
    let realm = tokens.address.clone();
    let server = Server::start(move |asked| match asked.headers.get("authorization") {
        Some(token) if token == "Bearer the-token" => content.honest(asked),
        _ => {
            let demand = format!("Bearer realm=\"http://{realm}/token\",service=\"s t\",error=\"x\"");
            answer("401 Unauthorized", &[("WWW-Authenticate", &demand)], b"")
        }
    });
    pull(&workshop, &server, &[]).expect_refusal("the answer has no token");
    log_in(&workshop, &[&server.address]);
    pull(&workshop, &server, &[]).expect_success();
    let asked = tokens.asked();
    let path = &asked.last().expect("it was asked").path;
    assert_eq!(path, "/token?scope=repository%3Aplugins%2Faverage%3Apull&service=s%20t");
    // One token serves for all three documents.
    assert_eq!(asked.len(), 2, "{asked:?}");
}
