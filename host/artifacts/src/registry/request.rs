//! Requests and answers: encryption, redirects, and bounds.

use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use divvy_loader::artifact::read_bounded;
use ureq::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use ureq::http::{Method, Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body};

use super::authorization::{self, Scope};
use super::credentials::Credentials;
use crate::error::ArtifactsError;

/// Maximum number of redirects: from a registry to its storage, and a little more.
const REDIRECTS_MAX: usize = 5;
/// Bytes of an error's text that are read.
const ERROR_BYTES_MAX: u64 = 16 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time without any byte.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const HEADERS_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for a whole transfer: a gibibyte at 300 KB/s.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(3600);

/// How registries are asked.
#[derive(Debug, Clone, Default)]
pub struct RegistryOptions {
    /// True if a registry that is not on this machine may be asked without encryption.
    pub plain_http: bool,
    /// Files with credentials, as `docker login` and `podman login` write them. The first that has some for the host is used.
    pub credentials: Vec<PathBuf>,
}

/// Asks one registry, for one repository.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    /// `https://HOST` or `http://HOST`.
    origin: String,
    repository: String,
    credentials: Option<Credentials>,
    /// Value of the header, once the registry asked for one, and what it is for.
    authorization: RefCell<Option<(Scope, String)>>,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Request<'a> {
    method: Method,
    url: &'a str,
    accept: Option<&'a str>,
    body: Option<(&'a str, &'a [u8])>,
    /// True if the body has a secret, which is for one host.
    is_secret: bool,
}

impl<'a> Request<'a> {
    fn new(method: Method, url: &'a str) -> Self {
        Self {
            method,
            url,
            accept: None,
            body: None,
            is_secret: false,
        }
    }

    pub(super) fn get(url: &'a str) -> Self {
        Self::new(Method::GET, url)
    }

    pub(super) fn head(url: &'a str) -> Self {
        Self::new(Method::HEAD, url)
    }

    pub(super) fn post(url: &'a str) -> Self {
        Self {
            body: Some(("application/octet-stream", b"")),
            ..Self::new(Method::POST, url)
        }
    }

    pub(super) fn form(url: &'a str, form: &'a [u8]) -> Self {
        Self {
            body: Some(("application/x-www-form-urlencoded", form)),
            is_secret: true,
            ..Self::new(Method::POST, url)
        }
    }

    pub(super) fn put(url: &'a str, media_type: &'a str, bytes: &'a [u8]) -> Self {
        Self {
            body: Some((media_type, bytes)),
            ..Self::new(Method::PUT, url)
        }
    }

    pub(super) fn accepting(self, types: &'a str) -> Self {
        Self {
            accept: Some(types),
            ..self
        }
    }
}

/// An answer that is not a redirect.
#[derive(Debug)]
pub(super) struct Answer {
    method: Method,
    url: String,
    response: Response<Body>,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// The content, as it arrives: whoever reads it sets the limit.
    pub(super) fn into_body(self) -> impl Read {
        self.response.into_body().into_reader()
    }

    /// This, if the registry did what it was asked for.
    pub(super) fn successful(self) -> Result<Self, ArtifactsError> {
        let status = self.status();
        if (200..300).contains(&status) {
            return Ok(self);
        }
        let (method, url) = (name_of(&self.method), self.url.clone());
        let text = read_bounded("the answer", self.into_body(), ERROR_BYTES_MAX).unwrap_or_default();
        Err(ArtifactsError::Status {
            method,
            url,
            status,
            detail: detail(&text),
        })
    }

    /// As [`Self::successful`], and `None` if there is no such thing.
    pub(super) fn unless_missing(self) -> Result<Option<Self>, ArtifactsError> {
        match self.status() {
            404 => Ok(None),
            _ => self.successful().map(Some),
        }
    }
}

impl Client {
    pub(super) fn new(host: &str, repository: &str, options: &RegistryOptions) -> Result<Self, ArtifactsError> {
        let agent = agent(is_local(host));
        let is_plain = options.plain_http || is_local(host) && !speaks_tls(&agent, host)?;
        let origin = format!("{}://{host}", if is_plain { "http" } else { "https" });
        Ok(Self {
            agent,
            origin,
            repository: repository.to_owned(),
            credentials: Credentials::find(host, &options.credentials)?,
            authorization: RefCell::new(None),
        })
    }

    pub(super) fn origin(&self) -> String {
        self.origin.clone()
    }

    /// Sends a request, once more with credentials if the registry asks for them.
    pub(super) fn send(&self, request: &Request<'_>, scope: Scope) -> Result<Answer, ArtifactsError> {
        let known = self.authorization.borrow().clone();
        let known = known.filter(|(known, _)| known.covers(scope) && self.is_own(request.url));
        let known = known.map(|(_, value)| value);
        let answer = self.follow(request, known.as_deref())?;
        // An upload may go to another host, which is none of the registry's credentials' business.
        if answer.status() != 401 || !self.is_own(request.url) {
            return Ok(answer);
        }
        let Some(value) = authorization::value(self, &answer, &self.repository, scope, self.credentials.as_ref())?
        else {
            return Ok(answer);
        };
        *self.authorization.borrow_mut() = Some((scope, value.clone()));
        self.follow(request, Some(&value))
    }

    /// Sends a request with a header of credentials, and follows redirects. Another host does not get the header.
    pub(super) fn follow(&self, request: &Request<'_>, authorization: Option<&str>) -> Result<Answer, ArtifactsError> {
        let mut url = request.url.to_owned();
        for _ in 0..=REDIRECTS_MAX {
            let is_own = origin_of(&url) == origin_of(request.url);
            let answer = self.once(request, &url, authorization.filter(|_| is_own))?;
            if !matches!(answer.status(), 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            url = self.location(answer)?;
            if request.is_secret && origin_of(&url) != origin_of(request.url) {
                return Err(ArtifactsError::Protocol {
                    url: request.url.to_owned(),
                    message: format!("credentials are not sent on to `{url}`"),
                });
            }
        }
        Err(ArtifactsError::Protocol {
            url,
            message: format!("more than {REDIRECTS_MAX} redirects"),
        })
    }

    /// The address to which an answer leads.
    pub(super) fn location(&self, answer: Answer) -> Result<String, ArtifactsError> {
        let protocol = |message: String| ArtifactsError::Protocol {
            url: answer.url.clone(),
            message,
        };
        let location = answer.header(LOCATION.as_str());
        let location = location.ok_or_else(|| protocol("the answer has no `Location`".to_owned()))?;
        if location.contains("://") {
            return Ok(location.to_owned());
        }
        match (
            location.starts_with("//"),
            location.strip_prefix('/'),
            origin_of(&answer.url),
        ) {
            (false, Some(path), Some(origin)) => Ok(format!("{origin}/{path}")),
            _ => Err(protocol(format!(
                "`Location` is neither an address nor an absolute path: `{location}`"
            ))),
        }
    }

    fn once(&self, request: &Request<'_>, url: &str, authorization: Option<&str>) -> Result<Answer, ArtifactsError> {
        self.check_encrypted(url)?;
        let failed = |message: String| ArtifactsError::Transport {
            url: url.to_owned(),
            message,
        };
        let mut builder = ureq::http::Request::builder().method(request.method.clone()).uri(url);
        if let Some(types) = request.accept {
            builder = builder.header(ACCEPT, types);
        }
        if let Some(value) = authorization {
            builder = builder.header(AUTHORIZATION, value);
        }
        let sent = match request.body {
            None => {
                let built = builder.body(()).map_err(|error| failed(error.to_string()))?;
                self.agent.run(built)
            }
            Some((media_type, bytes)) => {
                let built = builder.header(CONTENT_TYPE, media_type).body(bytes);
                let built = built.map_err(|error| failed(error.to_string()))?;
                self.agent.run(built)
            }
        };
        Ok(Answer {
            method: request.method.clone(),
            url: url.to_owned(),
            response: sent.map_err(|error| failed(error.to_string()))?,
        })
    }

    /// Nothing is sent without encryption but to this machine, or if it is permitted to the registry itself. A registry elsewhere cannot lead
    /// to this machine.
    fn check_encrypted(&self, url: &str) -> Result<(), ArtifactsError> {
        let is_encrypted = url.starts_with("https://");
        let host = host_of(url).unwrap_or_default();
        let is_plain = url.starts_with("http://") && self.origin.starts_with("http://");
        let is_permitted = is_plain && (self.is_own(url) || is_local(&host) && self.is_own_local());
        match is_encrypted || is_permitted {
            true => Ok(()),
            false => Err(ArtifactsError::NotEncrypted { url: url.to_owned() }),
        }
    }

    fn is_own_local(&self) -> bool {
        host_of(&self.origin).is_some_and(|host| is_local(&host))
    }

    fn is_own(&self, url: &str) -> bool {
        origin_of(url) == origin_of(&self.origin)
    }
}

/// A proxy is not for this machine: it would get what must not leave it without encryption.
fn agent(is_local: bool) -> Agent {
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> = found
        .certs
        .iter()
        .map(|certificate| Certificate::from_der(certificate.as_ref()).to_owned())
        .collect();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let configuration = Agent::config_builder()
        .tls_config(tls)
        .proxy(if is_local { None } else { ureq::Proxy::try_from_env() })
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(HEADERS_TIMEOUT))
        .timeout_per_read(Some(READ_TIMEOUT))
        .timeout_recv_body(Some(TRANSFER_TIMEOUT))
        .timeout_send_body(Some(TRANSFER_TIMEOUT))
        .user_agent(concat!("divvy/", env!("CARGO_PKG_VERSION")))
        .build();
    configuration.new_agent()
}

/// Finds out whether a registry on this machine wants encryption: one behind a forwarded port usually does, one for tests does not.
fn speaks_tls(agent: &Agent, host: &str) -> Result<bool, ArtifactsError> {
    let url = format!("https://{host}/v2/");
    match agent.get(&url).call() {
        Ok(_) => Ok(true),
        // It does, and is not believed: without encryption it would not be asked, either.
        Err(error) => match not_believed(&error) {
            Some(message) => Err(ArtifactsError::Transport { url, message }),
            None => Ok(false),
        },
    }
}

/// The reason if a certificate is not believed; `None` for any other error.
fn not_believed(error: &ureq::Error) -> Option<String> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        // During a handshake, it is an error of reading.
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref::<rustls::Error>()?,
        _ => return None,
    };
    matches!(error, rustls::Error::InvalidCertificate(_)).then(|| error.to_string())
}

/// True for names and addresses that never leave the machine.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Scheme, host and port of an address.
pub(super) fn origin_of(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?;
    // Credentials in an address would be sent to wherever a redirect leads.
    if authority.as_str().contains('@') {
        return None;
    }
    let scheme = uri.scheme_str()?;
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.as_str();
    Some(format!(
        "{scheme}://{}",
        authority.strip_suffix(usual).unwrap_or(authority)
    ))
}

fn host_of(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    Some(uri.authority()?.as_str().to_owned())
}

fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "PUT",
    }
}

/// The message of an error: a registry answers `{"errors": [{"code": …, "message": …}]}`.
fn detail(text: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    let errors = value.get("errors").and_then(serde_json::Value::as_array);
    let errors = errors.into_iter().flatten().filter_map(|error| {
        let field = |name: &str| error.get(name).and_then(serde_json::Value::as_str);
        field("message").or_else(|| field("code")).map(str::to_owned)
    });
    let errors: Vec<String> = errors.collect();
    match errors.is_empty() {
        true => String::new(),
        false => format!(": {}", errors.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for host in [
            "localhost",
            "localhost:5000",
            "127.0.0.1:5000",
            "127.1.2.3",
            "[::1]:5000",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "localhost.example:5000",
            "127.0.0.1.example",
            "registry.example",
            "10.0.0.1",
            "0.0.0.0",
            "",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn an_origin_has_no_user() {
        assert_eq!(
            origin_of("https://r.example:5000/v2/").as_deref(),
            Some("https://r.example:5000")
        );
        assert_eq!(origin_of("https://r.example@evil.example/v2/"), None);
        assert_ne!(origin_of("http://r.example/"), origin_of("https://r.example/"));
        assert_eq!(origin_of("https://r.example:443/"), origin_of("https://r.example/"));
    }
}
