//! Clients that renew their credentials.
//!
//! A client of kube keeps what it was made of: after a rotation of credentials, every request is refused until the process ends. Here
//! the kubeconfig and all files that it names are read again when one of them changes, when credentials expire, and when the API server
//! does not know them (401); a plugin for credentials then runs again. A request that was refused is sent once more if the credentials
//! are others. What cannot be read leaves the clients as they are.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::header::RETRY_AFTER;
use http::{Request, Response, StatusCode};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::client::Body;
use kube::{Client, Config};
use ring::digest::{self, Digest, SHA256};
use tower_service::Service;

use super::configuration::Configured;
use super::error::ConnectionError;
use super::source::{Plugins, load};
use super::wording::worded;
use super::{Clients, ConnectionOptions, WATCH_SECONDS};
use crate::files::FileVersions;

/// Time without data after which a watching connection is dropped.
const READ_TIMEOUT: Duration = Duration::from_secs(WATCH_SECONDS as u64 + 10);
/// Time between two looks at the files.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// Time between two renewals because of refusals or of an expiry: a plugin may be slow, and ask a service that has limits.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(5);
/// Time before the expiry of credentials at which new ones are requested.
const BEFORE_EXPIRY: SignedDuration = SignedDuration::from_secs(10);

/// Connects to an API server, with clients that renew their credentials.
pub(super) async fn connect(options: &ConnectionOptions) -> Result<Clients, ConnectionError> {
    let mut seen = FileVersions::default();
    let (loaded, server) = read(options.clone(), &mut seen, Plugins::Known).await?;
    let connection = Arc::new(Connection {
        options: options.clone(),
        present: Mutex::new(Arc::new(loaded)),
        renewals: Mutex::new(Renewals {
            looked: Instant::now(),
            forced: None,
            seen,
            under_way: None,
            complaint: None,
        }),
    });
    let client = |purpose| {
        let renewed = Renewed {
            connection: Arc::clone(&connection),
            purpose,
        };
        Client::new(renewed, "default")
    };
    Ok(Clients {
        watching: client(Purpose::Watching),
        writing: client(Purpose::Writing),
        server,
    })
}

/// The clients that the credentials of one moment make.
struct Loaded {
    watching: Client,
    writing: Client,
    /// Counts changes of the credentials.
    generation: u64,
    /// Digest of everything that the clients are made of.
    digest: Digest,
    expires: Option<Timestamp>,
}

/// Reads a configuration and makes the clients. Also returns the server's address.
///
/// Adds the files that were read to `files`, also those of a configuration that cannot be used. A plugin's credentials from before are
/// used if there are any, unless new ones are requested.
async fn read(
    options: ConnectionOptions,
    files: &mut FileVersions,
    plugins: Plugins,
) -> Result<(Loaded, String), ConnectionError> {
    let read = tokio::task::spawn_blocking(move || {
        let mut files = FileVersions::default();
        (load(&options, &mut files, plugins), files)
    });
    let (read, noted) = read.await.unwrap_or_else(|_| {
        let text = "the configuration could not be read because of a defect of Divvy".to_owned();
        (Err(ConnectionError::Client(text)), FileVersions::default())
    });
    *files = noted;
    let Configured { config, expires } = read?;
    let digest = digest(&config);
    let server = config.cluster_url.to_string();
    let mut watching = config.clone();
    watching.read_timeout = Some(READ_TIMEOUT);
    watching.reset_reader_on_write = true;
    let client = |config: Config| Client::try_from(config).map_err(|error| ConnectionError::Client(worded(&error)));
    let loaded = Loaded {
        watching: client(watching)?,
        writing: client(config)?,
        generation: 0,
        digest,
        expires,
    };
    Ok((loaded, server))
}

/// A digest, so that secrets are not kept for the comparison.
fn digest(config: &Config) -> Digest {
    let mut digest = digest::Context::new(&SHA256);
    // Each part ends where the next begins: texts of JSON and of Rust's debug format are quoted.
    let user = serde_json::to_vec(&config.auth_info).unwrap_or_default();
    digest.update(&user);
    let server = format!(
        "{:?} {:?} {:?} {:?} {}",
        config.cluster_url, config.proxy_url, config.root_cert, config.tls_server_name, config.accept_invalid_certs
    );
    digest.update(server.as_bytes());
    digest.finish()
}

/// A connection whose clients are replaced when credentials change.
struct Connection {
    options: ConnectionOptions,
    present: Mutex<Arc<Loaded>>,
    renewals: Mutex<Renewals>,
}

struct Renewals {
    /// The last look at the files.
    looked: Instant,
    /// The last renewal that was not due to a changed file.
    forced: Option<Instant>,
    /// The versions of the files at the last renewal, whether it succeeded or not.
    seen: FileVersions,
    /// A renewal that others can wait for. It goes on if the request that began it is given up.
    under_way: Option<Shared<BoxFuture<'static, ()>>>,
    /// The reason why the last renewal failed.
    complaint: Option<String>,
}

/// Reason for a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Changed,
    Expired,
    Refused,
}

impl Cause {
    fn words(self) -> &'static str {
        match self {
            Self::Changed => "a file has changed",
            Self::Expired => "the credentials expire",
            Self::Refused => "the API server refused the credentials",
        }
    }
}

impl Connection {
    fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.present.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The present clients, renewed if a file has changed or the credentials expire.
    async fn present(self: &Arc<Self>) -> Arc<Loaded> {
        let due = self.renewal_if_due();
        if let Some(renewal) = due {
            renewal.await;
        }
        self.loaded()
    }

    /// Renews credentials that the API server does not know. Returns true if they are others than those of `generation` now.
    async fn renew_refused(self: &Arc<Self>, generation: u64) -> bool {
        if self.loaded().generation == generation {
            let renewal = self.renewal_if(Cause::Refused);
            if let Some(renewal) = renewal {
                renewal.await;
            }
        }
        self.loaded().generation != generation
    }

    fn renewal_if_due(self: &Arc<Self>) -> Option<Shared<BoxFuture<'static, ()>>> {
        let expires = self.loaded().expires;
        if expires.is_some_and(|expires| Timestamp::now() + BEFORE_EXPIRY >= expires) {
            return self.renewal_if(Cause::Expired);
        }
        let mut renewals = self.lock();
        if renewals.looked.elapsed() < LOOK_INTERVAL {
            return None;
        }
        renewals.looked = Instant::now();
        let now = renewals.seen.now();
        if now == renewals.seen {
            return None;
        }
        Some(self.renewal(&mut renewals, Cause::Changed))
    }

    /// A renewal that was forced, unless one was shortly before.
    fn renewal_if(self: &Arc<Self>, cause: Cause) -> Option<Shared<BoxFuture<'static, ()>>> {
        let mut renewals = self.lock();
        let is_under_way = renewals
            .under_way
            .as_ref()
            .is_some_and(|under_way| under_way.peek().is_none());
        if !is_under_way {
            if renewals
                .forced
                .is_some_and(|forced| forced.elapsed() < RENEWAL_INTERVAL)
            {
                return None;
            }
            renewals.forced = Some(Instant::now());
        }
        Some(self.renewal(&mut renewals, cause))
    }

    /// The renewal that is under way, or a new one.
    fn renewal(self: &Arc<Self>, renewals: &mut Renewals, cause: Cause) -> Shared<BoxFuture<'static, ()>> {
        if let Some(under_way) = renewals
            .under_way
            .as_ref()
            .filter(|under_way| under_way.peek().is_none())
        {
            return under_way.clone();
        }
        let connection = Arc::clone(self);
        let task = tokio::spawn(async move { connection.renew(cause).await });
        let shared = task.map(|_ended| ()).boxed().shared();
        renewals.under_way = Some(shared.clone());
        shared
    }

    async fn renew(&self, cause: Cause) {
        let before = self.loaded();
        // Versions from before the files are read: a change meanwhile is seen at the next look.
        let mut seen = FileVersions::default();
        let read = read(self.options.clone(), &mut seen, Plugins::Run).await;
        self.lock().seen = seen;
        match read {
            Ok((mut loaded, server)) => {
                let is_same = loaded.digest.as_ref() == before.digest.as_ref();
                loaded.generation = before.generation + u64::from(!is_same);
                self.lock().complaint = None;
                match is_same {
                    // Connections are kept.
                    true => {
                        loaded.watching = before.watching.clone();
                        loaded.writing = before.writing.clone();
                        tracing::debug!(cause = cause.words(), "the credentials are the same as before");
                    }
                    false => tracing::info!(server, cause = cause.words(), "the credentials are renewed"),
                }
                *self.present.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
            }
            Err(error) => {
                let text = error.to_string();
                let mut renewals = self.lock();
                if renewals.complaint.as_ref() != Some(&text) {
                    let cause = cause.words();
                    tracing::warn!(
                        cause,
                        error = text,
                        "the credentials cannot be renewed; those from before are used"
                    );
                    renewals.complaint = Some(text);
                }
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Renewals> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Watching,
    Writing,
}

/// The service behind a client: the present client of a connection.
#[derive(Clone)]
struct Renewed {
    connection: Arc<Connection>,
    purpose: Purpose,
}

impl Service<Request<Body>> for Renewed {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, kube::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let renewed = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect_bytes().await?;
            let mut is_first = true;
            loop {
                let present = renewed.connection.present().await;
                let client = match renewed.purpose {
                    Purpose::Watching => &present.watching,
                    Purpose::Writing => &present.writing,
                };
                let request = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
                let response = client.send(request).await?;
                let is_refused = response.status() == StatusCode::UNAUTHORIZED;
                if is_refused && is_first && renewed.connection.renew_refused(present.generation).await {
                    is_first = false;
                    continue;
                }
                return with_asked_wait(response).await;
            }
        })
    }
}

/// Puts the wait that an API server asks for in a header into the status, which is all that kube's errors keep of an answer.
async fn with_asked_wait(response: Response<Body>) -> Result<Response<Body>, kube::Error> {
    let header = response.headers().get(RETRY_AFTER);
    let seconds = header.and_then(|value| value.to_str().ok()?.trim().parse::<u32>().ok());
    let Some(seconds) = seconds.filter(|_| !response.status().is_success()) else {
        return Ok(response);
    };
    let (parts, body) = response.into_parts();
    let bytes = body.collect_bytes().await?;
    let body = asking_to_wait(&bytes, parts.status, seconds);
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// A refusal as a status with a wait. Priority and fairness answer in plain text.
fn asking_to_wait(body: &[u8], code: StatusCode, seconds: u32) -> Vec<u8> {
    let read: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let mut status = read.filter(|status| status["kind"] == "Status").unwrap_or_else(|| {
        serde_json::json!({
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": String::from_utf8_lossy(body).trim(),
            "reason": code.canonical_reason().unwrap_or_default(),
            "code": code.as_u16(),
        })
    });
    if !status["details"]["retryAfterSeconds"].is_u64() {
        if !status["details"].is_object() {
            status["details"] = serde_json::json!({});
        }
        status["details"]["retryAfterSeconds"] = seconds.into();
    }
    status.to_string().into_bytes()
}

#[cfg(test)]
mod certificates;
#[cfg(test)]
mod tests;
