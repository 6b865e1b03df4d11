//! Debian's Chromium without a window, driven by its DevTools protocol.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// Maximum wait of any step. The tests wait for conditions, so only a failing test waits this long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Arguments that keep the browser from anything but the file: no window, no sandbox (tests may run as root), no connections.
const ARGUMENTS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--remote-debugging-port=0",
    "about:blank",
];

/// A browser with one tab.
pub(crate) struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    last: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser.
    ///
    /// # Panics
    ///
    /// Panics if there is no Chromium, or if it cannot be driven.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder can be made");
        let mut command = Command::new("chromium");
        command
            .args(ARGUMENTS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn().unwrap_or_else(|error| {
            panic!("`chromium` cannot be started ({error}): install Debian's package `chromium`")
        });
        let file = profile.path().join("DevToolsActivePort");
        let address = wait("the browser writes its port", || {
            let text = std::fs::read_to_string(&file).ok()?;
            let (port, path) = text.split_once('\n')?;
            Some((port.parse::<u16>().ok()?, path.trim().to_owned()))
        });
        let (port, path) = address;
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the browser listens on its port");
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client(url, stream).expect("the browser speaks the protocol");
        let mut browser = Self {
            process,
            socket,
            session: None,
            last: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(1280, 900);
        browser
    }

    /// Calls a method and returns its result.
    ///
    /// # Panics
    ///
    /// Panics with the browser's message if it refuses the call.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut call = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        let sent = self.socket.send(Message::text(call.to_string()));
        sent.expect("the browser is still there");
        loop {
            let message = self.socket.read().expect("the browser is still there");
            let Ok(text) = message.to_text() else { continue };
            let Ok(answer) = serde_json::from_str::<Value>(text) else {
                continue;
            };
            if answer["id"] != self.last {
                self.events.push(answer);
                continue;
            }
            assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
            return answer["result"].clone();
        }
    }

    /// Evaluates an expression, and a promise to its end.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    /// Opens a file and waits until its page is complete.
    #[track_caller]
    pub(crate) fn open(&mut self, file: &Path) {
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        let started = Instant::now();
        while self.evaluate("document.documentElement?.dataset.ready === 'true'") != true {
            let problems = self.problems();
            assert!(problems.is_empty(), "{}: {problems:#?}", file.display());
            assert!(started.elapsed() < PATIENCE, "{} is never complete", file.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Errors and warnings on the console, exceptions, violations of the page's own policy, and requests for anything but
    /// files and data, since the browser was started.
    pub(crate) fn problems(&self) -> Vec<String> {
        let problems = self.events.iter().filter_map(|event| {
            let parameters = &event["params"];
            let text = |value: &Value| Some(value.to_string());
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => text(&parameters["exceptionDetails"]),
                "Runtime.consoleAPICalled" if matches!(parameters["type"].as_str(), Some("error" | "warning")) => {
                    text(&parameters["args"])
                }
                "Log.entryAdded" => text(&parameters["entry"]),
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    let is_own = url.starts_with("file://") && url.ends_with(".html") || url == "data:,";
                    (!is_own).then(|| format!("request: {url}"))
                }
                _ => None,
            }
        });
        problems.collect()
    }

    /// Presses a key. `code` is its Windows virtual code, which Chromium expects.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let parameters =
                json!({"type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Shows the page in light or dark, or as for print.
    pub(crate) fn appear(&mut self, media: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"media": media, "features": features}),
        );
        self.settle();
    }

    /// Sets the size of the window.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
        self.settle();
    }

    /// Sets the size of the reader's text, 16 unless a reader chose another. Pages that are opened afterwards know it.
    pub(crate) fn write_in(&mut self, pixels: u32) {
        self.call(
            "Page.setFontSizes",
            json!({"fontSizes": {"standard": pixels, "fixed": pixels * 13 / 16}}),
        );
        self.settle();
    }

    /// Types into the element that has the focus.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
        self.settle();
    }

    /// Waits until the page has drawn what changed.
    fn settle(&mut self) {
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

#[track_caller]
fn wait<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: not in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
