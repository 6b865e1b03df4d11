//! Kubeconfigs that people write, and certificates that servers have.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::*;

mod certificates;

/// A folder with a kubeconfig.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.path().join(name);
        std::fs::write(&file, content).expect("written");
        file
    }
}

/// A kubeconfig of one context, `x`.
fn kubeconfig(cluster: Value, user: Value) -> Value {
    json!({
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    })
}

async fn connected(file: &Path, context: Option<&str>) -> Result<Clients, ConnectionError> {
    connect(&ConnectionOptions {
        kubeconfig: Some(file.to_owned()),
        context: context.map(str::to_owned),
        user_agent: "divvy/test".to_owned(),
    })
    .await
}

/// The message about a kubeconfig, without its beginning, and the hint.
async fn complaint(folder: &Folder, content: impl AsRef<[u8]>) -> String {
    let file = folder.write("config", content);
    match connected(&file, None).await {
        Ok(_) => "none".to_owned(),
        Err(error) => {
            let beginning = format!("kubeconfig `{}` cannot be used: ", file.display());
            let text = error.to_string();
            let problem = text
                .strip_prefix(&beginning)
                .unwrap_or_else(|| panic!("the file is not named: {text}"));
            let hint = error.hint().map_or_else(String::new, |hint| format!(" ({hint})"));
            format!("{problem}{hint}").replace(&folder.0.path().display().to_string(), "FOLDER")
        }
    }
}

#[tokio::test]
async fn a_kubeconfig_that_cannot_be_used_is_reported_with_the_field_and_a_hint() {
    let folder = Folder::new();
    folder.write("empty", " \n");
    folder.write("two-lines", "one\ntwo\n");
    let server = json!({"server": "https://127.0.0.1:1"});
    let with_user = |user: Value| kubeconfig(server.clone(), user);
    let with_cluster = |cluster: Value| kubeconfig(cluster, json!({}));
    let base64 = |text: &str| STANDARD.encode(text);
    let scheme = "write it with scheme, host and port: ";
    for (content, expected) in [
        // The server.
        (
            with_cluster(json!({"server": "127.0.0.1:7443"})),
            format!("`server` of the cluster `c` has no scheme: `127.0.0.1:7443` ({scheme}`https://127.0.0.1:7443`)"),
        ),
        (
            with_cluster(json!({"server": "localhost"})),
            format!("`server` of the cluster `c` has no scheme: `localhost` ({scheme}`https://localhost`)"),
        ),
        (
            with_cluster(json!({"server": "ftp://a"})),
            format!(
                "`server` of the cluster `c` has the scheme `ftp`, expected `https` or `http` ({scheme}`https://karmada.example.com:5443`)"
            ),
        ),
        (
            with_cluster(json!({"server": "https://a b"})),
            format!(
                "`server` of the cluster `c` is not a URL: `https://a b`: invalid uri character ({scheme}`https://karmada.example.com:5443`)"
            ),
        ),
        (
            with_cluster(json!({"server": "https://a:99999"})),
            format!(
                "`server` of the cluster `c` has no port between 1 and 65535 after the colon: `https://a:99999` \
                 ({scheme}`https://karmada.example.com:5443`)"
            ),
        ),
        (
            with_cluster(json!({"server": ""})),
            "`server` of the cluster `c` is missing (`--context NAME` chooses another context)".to_owned(),
        ),
        (
            with_cluster(json!({"server": "https://a", "proxy-url": "ftp://p"})),
            "`proxy-url` of the cluster `c` has the scheme `ftp`, expected `http`, `https` or `socks5`".to_owned(),
        ),
        (
            with_cluster(json!({"server": "https://a", "certificate-authority-data": "not base64!"})),
            "`certificate-authority-data` of the cluster `c` is not base64 \
             (`base64 -w0 FILE` makes it; `certificate-authority` names a file instead)"
                .to_owned(),
        ),
        (
            with_cluster(json!({"server": "https://a", "certificate-authority-data": base64("nothing")})),
            "`certificate-authority-data` of the cluster `c` holds no certificate in PEM (`-----BEGIN CERTIFICATE-----`)"
                .to_owned(),
        ),
        (
            with_cluster(json!({"server": "https://a", "certificate-authority": "none.crt"})),
            "`certificate-authority` of the cluster `c` is `FOLDER/none.crt`, which cannot be read: \
             No such file or directory (os error 2) (a relative path begins at the folder of the kubeconfig)"
                .to_owned(),
        ),
        // The user.
        (
            with_user(json!({"token": "one\ntwo"})),
            "`token` of the user `u` holds a character that cannot be sent, such as a line break in the middle \
             (write it in one line)"
                .to_owned(),
        ),
        (
            with_user(json!({"tokenFile": "two-lines"})),
            "`tokenFile` of the user `u` holds a character that cannot be sent, such as a line break in the middle \
             (write it in one line)"
                .to_owned(),
        ),
        (
            with_user(json!({"tokenFile": "empty"})),
            "`tokenFile` of the user `u` is `FOLDER/empty`, which holds no token".to_owned(),
        ),
        (
            with_user(json!({"client-certificate-data": base64("x")})),
            "`client-key` of the user `u` is missing (`--context NAME` chooses another context)".to_owned(),
        ),
        (
            with_user(json!({"as": "some\none"})),
            "`as` of the user `u` holds a character that cannot be sent, such as a line break in the middle \
             (write it in one line)"
                .to_owned(),
        ),
        (
            with_user(json!({"exec": {"command": "no-such-command", "installHint": "get it at example.com"}})),
            "`exec` of the user `u`: the command `no-such-command` is not found (get it at example.com)".to_owned(),
        ),
        (
            with_user(json!({"exec": {"command": "sh", "args": ["-c", "echo '{\"status\": {}}'"]}})),
            "`exec` of the user `u`: the command printed neither a token nor a certificate".to_owned(),
        ),
        (
            with_user(json!({"auth-provider": {"name": "gcp"}})),
            "`auth-provider` of the user `u` is `gcp`, which is not supported, as in kubectl since 1.26 \
             (use the plugin for `exec` of your provider)"
                .to_owned(),
        ),
        // Fields of other types. A secret is not shown.
        (
            with_user(json!({"token": 5})),
            "`users[0].user.token`: expected a string, got the number `5` \
             (`kubectl config view --kubeconfig FILE` reads it, too)"
                .to_owned(),
        ),
        (
            json!({"users": [{"name": "u", "user": "secret"}]}),
            "`users[0].user`: expected a mapping, got a string \
             (`kubectl config view --kubeconfig FILE` reads it, too)"
                .to_owned(),
        ),
        (
            json!([]),
            "`kubeconfig`: expected a mapping, got a list (`kubectl config view --kubeconfig FILE` reads it, too)"
                .to_owned(),
        ),
        (
            json!({"contexts": {"x": {}}}),
            "`contexts`: expected a list, got a mapping (`kubectl config view --kubeconfig FILE` reads it, too)"
                .to_owned(),
        ),
        // Contexts.
        (
            json!({}),
            "it has no contexts (`--kubeconfig FILE` chooses another file)".to_owned(),
        ),
        (
            json!({"contexts": [{"name": "a", "context": {"cluster": "c"}}, {"name": "b", "context": {"cluster": "c"}}]}),
            "`current-context` is missing (its contexts are `a`, `b`; choose one with `--context NAME`)".to_owned(),
        ),
        (
            json!({"contexts": [{"name": "a", "context": {"cluster": "c"}}], "current-context": "b"}),
            "it has no context `b` (its contexts are `a`; choose one with `--context NAME`)".to_owned(),
        ),
        (
            json!({"contexts": [{"name": "a", "context": {"cluster": "c"}}], "current-context": "a"}),
            "`cluster` of the context `a` is `c`, and it has no cluster of this name \
             (`--context NAME` chooses another context)"
                .to_owned(),
        ),
    ] {
        assert_eq!(complaint(&folder, content.to_string()).await, expected);
    }
}

#[tokio::test]
async fn a_file_that_is_no_kubeconfig_is_reported() {
    let folder = Folder::new();
    let other = "(`--kubeconfig FILE` chooses another file)";
    assert_eq!(complaint(&folder, "").await, format!("it has no contexts {other}"));
    assert_eq!(
        complaint(&folder, b"\xff\xfe\x20").await,
        format!("it is not text in UTF-8 {other}")
    );
    assert_eq!(
        complaint(&folder, b"a: \xff").await,
        format!("it is not text in UTF-8 {other}")
    );
    let text = complaint(&folder, "users:\n- token: [secret\n").await;
    assert!(
        text.starts_with("it is not YAML: ") && !text.contains("secret"),
        "{text}"
    );
    assert!(
        complaint(&folder, "just text")
            .await
            .contains("`kubeconfig`: expected a mapping, got a string")
    );
    let missing = connected(Path::new("/no/such/file"), None)
        .await
        .err()
        .expect("there is none");
    assert_eq!(
        missing.to_string(),
        "kubeconfig `/no/such/file` cannot be used: it cannot be read: No such file or directory (os error 2)"
    );
}

#[tokio::test]
async fn what_kubectl_takes_is_taken() {
    let folder = Folder::new();
    folder.write("token", "abc\n");
    let server = json!({"server": " https://127.0.0.1:1/path/ "});
    for user in [
        json!({"token": "abc\n"}),
        json!({"token": ""}),
        json!({"tokenFile": "token"}),
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": "abc\n"}}}),
        json!({"username": "a\nb", "password": "c\nd"}),
        json!({"client-certificate": "", "client-key": "", "client-certificate-data": "", "client-key-data": ""}),
        json!({"exec": {"command": "sh", "args": ["-c", "printf %s '{\"status\": {\"token\": \"abc\\n\"}}'"]}}),
        Value::Null,
    ] {
        let text = kubeconfig(server.clone(), user).to_string();
        assert_eq!(complaint(&folder, &text).await, "none", "{text}");
        // Windows' tools.
        let wide: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        assert_eq!(complaint(&folder, wide).await, "none", "{text}");
        assert_eq!(complaint(&folder, format!("\u{feff}{text}")).await, "none", "{text}");
    }
    // A user that does not exist has no credentials.
    let mut stranger = kubeconfig(server, json!({}));
    stranger["contexts"][0]["context"]["user"] = json!("nobody");
    assert_eq!(complaint(&folder, stranger.to_string()).await, "none");
}

/// A proxy that keeps the first bytes that it is sent, and ends the connection.
fn proxy() -> (String, std::sync::mpsc::Receiver<Vec<u8>>) {
    use std::io::Read as _;

    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, first) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut bytes = [0; 64];
            let count = stream.and_then(|mut stream| stream.read(&mut bytes)).unwrap_or(0);
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    (address, first)
}

#[tokio::test]
async fn the_proxy_of_a_kubeconfig_is_used_also_for_this_machine() {
    let folder = Folder::new();
    let http = b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n".as_slice();
    // SOCKS 5, one method: no authentication.
    for (scheme, expected) in [("http", http), ("socks5", &[5, 1, 0])] {
        let (address, first) = proxy();
        let cluster = json!({"server": "https://127.0.0.1:1", "proxy-url": format!("{scheme}://{address}")});
        let file = folder.write("config", kubeconfig(cluster, json!({})).to_string());
        let clients = connected(&file, None).await.expect("a valid kubeconfig");
        let request = http::Request::get("/").body(Vec::new()).expect("a request");
        let error = clients
            .writing
            .request_text(request)
            .await
            .expect_err("the proxy ends the connection");
        assert!(!worded(&error).is_empty());
        let first = first.recv().expect("the proxy was asked");
        assert!(
            first.starts_with(expected),
            "{scheme}: {:?}",
            String::from_utf8_lossy(&first)
        );
    }
}
