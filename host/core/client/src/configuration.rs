//! What a context says, checked field by field, as the settings of a client.
//!
//! Everything that kube would read from files or get from a plugin is read here, once for both clients, and with its field in each message.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use k8s_openapi::jiff::Timestamp;
use kube::Config;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, ExecConfig};
use secrecy::{ExposeSecret, SecretString};

use super::certificate::{Unusable, authorities, check_identity};
use super::error::{Field, KubeconfigProblem};
use super::exec::{ExecCredentials, ExecFailure};
use super::kubeconfig::Chosen;
use super::proxy::{self, Environment, UnusableProxy};

/// What a configuration needs besides the kubeconfig.
pub(super) struct Outside<'a> {
    /// Reads a file.
    pub(super) read: &'a mut dyn FnMut(&Path) -> io::Result<Vec<u8>>,
    /// Runs a plugin for credentials.
    pub(super) run: &'a dyn Fn(&ExecConfig) -> Result<ExecCredentials, ExecFailure>,
    /// Reads a variable of the environment.
    pub(super) environment: Environment<'a>,
}

/// Settings of a client, and the time at which its credentials expire.
pub(super) struct Configured {
    pub(super) config: Config,
    pub(super) expires: Option<Timestamp>,
}

/// The settings for a context.
pub(super) fn configure(chosen: Chosen, outside: &mut Outside<'_>) -> Result<Configured, KubeconfigProblem> {
    let Chosen {
        cluster: (cluster_name, cluster),
        user: (user_name, mut user),
        namespace,
    } = chosen;
    let owner = Owner {
        kind: "cluster",
        name: &cluster_name,
    };
    let mut config = Config::new(server(&cluster, owner)?);
    if let Some(namespace) = namespace {
        config.default_namespace = namespace;
    }
    config.root_cert = root_certificates(&cluster, owner, outside)?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.disable_compression = cluster.disable_compression.unwrap_or(false);
    config.tls_server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    config.proxy_url = match cluster.proxy_url.as_deref().filter(|url| !url.is_empty()) {
        Some(url) => Some(proxy::parse(url).map_err(|problem| owner.invalid("proxy-url", problem, None))?),
        None => environment_proxy(&config.cluster_url, owner, outside.environment)?,
    };
    let owner = Owner {
        kind: "user",
        name: &user_name,
    };
    check_authorization(&user, owner)?;
    take_provided(&mut user, owner)?;
    read_token(&mut user, owner, outside)?;
    let mut expires = None;
    let has_own = user.username.is_some() && user.password.is_some();
    if let Some(mut exec) = user.exec.take()
        && !has_own
        && user.token.is_none()
    {
        if exec.provide_cluster_info {
            exec.cluster = Some(shown_cluster(&cluster, &config));
        }
        let failed = |failure: ExecFailure| KubeconfigProblem::Exec {
            user: user_name.clone(),
            problem: failure.problem,
            hint: failure.hint,
        };
        let credentials = (outside.run)(&exec).map_err(failed)?;
        expires = credentials.expiration_timestamp;
        take_credentials(&mut user, credentials, owner)?;
    }
    read_identity(&mut user, owner, outside)?;
    config.auth_info = user;
    Ok(Configured { config, expires })
}

/// The cluster or user whose fields are read.
#[derive(Clone, Copy)]
struct Owner<'a> {
    kind: &'static str,
    name: &'a str,
}

impl Owner<'_> {
    fn field(self, name: &'static str) -> Field {
        Field {
            name,
            kind: self.kind,
            owner: self.name.to_owned(),
        }
    }

    fn invalid(self, name: &'static str, problem: impl Into<String>, hint: Option<&str>) -> KubeconfigProblem {
        KubeconfigProblem::Invalid {
            field: self.field(name),
            problem: problem.into(),
            hint: hint.map(str::to_owned),
        }
    }

    /// The content of a field with data in base64, or of the file that another field names. The data come first, as in kubectl.
    fn data_or_file(
        self,
        (data_name, data): (&'static str, Option<&str>),
        (file_name, file): (&'static str, Option<&str>),
        outside: &mut Outside<'_>,
    ) -> Result<Option<(&'static str, Vec<u8>)>, KubeconfigProblem> {
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            // kubectl ignores line breaks in base64, too.
            let compact: String = data.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
            let decoded = STANDARD.decode(compact).map_err(|_| {
                let hint = format!("`base64 -w0 FILE` makes it; `{file_name}` names a file instead");
                self.invalid(data_name, "is not base64", Some(&hint))
            })?;
            return Ok(Some((data_name, decoded)));
        }
        match file.filter(|file| !file.is_empty()) {
            Some(file) => Ok(Some((file_name, self.file(file_name, file, outside)?))),
            None => Ok(None),
        }
    }

    fn file(self, name: &'static str, file: &str, outside: &mut Outside<'_>) -> Result<Vec<u8>, KubeconfigProblem> {
        (outside.read)(Path::new(file)).map_err(|source| KubeconfigProblem::File {
            field: self.field(name),
            file: PathBuf::from(file),
            source,
        })
    }
}

/// The address of the API server.
fn server(cluster: &Cluster, owner: Owner<'_>) -> Result<Uri, KubeconfigProblem> {
    let server = cluster.server.as_deref().unwrap_or_default().trim();
    if server.is_empty() {
        return Err(KubeconfigProblem::Missing(owner.field("server")));
    }
    let hint = |example: &str| format!("write it with scheme, host and port: `{example}`");
    let example = "https://karmada.example.com:5443";
    if !server.contains("://") {
        let with_scheme = format!("https://{server}");
        let problem = format!("has no scheme: `{server}`");
        return Err(owner.invalid("server", problem, Some(&hint(&with_scheme))));
    }
    let uri: Uri = server.parse().map_err(|error| {
        owner.invalid(
            "server",
            format!("is not a URL: `{server}`: {error}"),
            Some(&hint(example)),
        )
    })?;
    let problem = match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => match has_usable_port(&uri) {
            true => return Ok(uri),
            false => format!("has no port between 1 and 65535 after the colon: `{server}`"),
        },
        (Some("http" | "https"), _) => format!("has no host: `{server}`"),
        (scheme, _) => format!(
            "has the scheme `{}`, expected `https` or `http`",
            scheme.unwrap_or_default()
        ),
    };
    Err(owner.invalid("server", problem, Some(&hint(example))))
}

/// True unless a URL names a port that does not exist, which the type of URLs takes for none.
fn has_usable_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let after_host = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    match after_host.rsplit_once(':') {
        Some((_, "")) | None => true,
        Some(_) => uri.port_u16().is_some_and(|port| port > 0),
    }
}

/// The authorities of the server's certificate; `None` for those of the system.
fn root_certificates(
    cluster: &Cluster,
    owner: Owner<'_>,
    outside: &mut Outside<'_>,
) -> Result<Option<Vec<Vec<u8>>>, KubeconfigProblem> {
    let data = (
        "certificate-authority-data",
        cluster.certificate_authority_data.as_deref(),
    );
    let file = ("certificate-authority", cluster.certificate_authority.as_deref());
    let Some((name, pem)) = owner.data_or_file(data, file, outside)? else {
        return Ok(None);
    };
    authorities(&pem)
        .map(Some)
        .map_err(|problem| owner.invalid(name, problem, None))
}

fn environment_proxy(
    server: &Uri,
    owner: Owner<'_>,
    environment: Environment<'_>,
) -> Result<Option<Uri>, KubeconfigProblem> {
    proxy::from_environment(server, environment).map_err(|UnusableProxy { variable, problem }| {
        let hint = format!("correct `{variable}`, or name the server in `NO_PROXY`");
        owner.invalid(
            "server",
            format!("is to be reached by the proxy of `{variable}`, which {problem}"),
            Some(&hint),
        )
    })
}

/// Checks what kube makes a header of without a check.
fn check_authorization(user: &AuthInfo, owner: Owner<'_>) -> Result<(), KubeconfigProblem> {
    let one = |name, value: Option<&String>| match value {
        Some(value) => check_header(value, name, owner),
        None => Ok(()),
    };
    one("as", user.impersonate.as_ref())?;
    one("as-uid", user.impersonate_uid.as_ref())?;
    for group in user.impersonate_groups.iter().flatten() {
        check_header(group, "as-groups", owner)?;
    }
    Ok(())
}

/// Uses the token of an `auth-provider`. kubectl has no provider but `oidc` any more.
fn take_provided(user: &mut AuthInfo, owner: Owner<'_>) -> Result<(), KubeconfigProblem> {
    let Some(mut provider) = user.auth_provider.take() else {
        return Ok(());
    };
    match (provider.name.as_str(), provider.config.remove("id-token")) {
        ("oidc", Some(token)) => {
            user.token = Some(SecretString::from(token));
            Ok(())
        }
        ("oidc", None) => Err(owner.invalid("auth-provider", "has no `id-token`", Some("log in again"))),
        (name, _) => {
            let problem = format!("is `{name}`, which is not supported, as in kubectl since 1.26");
            Err(owner.invalid(
                "auth-provider",
                problem,
                Some("use the plugin for `exec` of your provider"),
            ))
        }
    }
}

/// Reads the token of a user, or that of `tokenFile`. White space around it is dropped: editors end a file with a line break.
fn read_token(user: &mut AuthInfo, owner: Owner<'_>, outside: &mut Outside<'_>) -> Result<(), KubeconfigProblem> {
    let token = user.token.as_ref().map(|token| token.expose_secret().trim().to_owned());
    if let Some(token) = token.filter(|token| !token.is_empty()) {
        check_header(&token, "token", owner)?;
        user.token = Some(SecretString::from(token));
        user.token_file = None;
        return Ok(());
    }
    user.token = None;
    let Some(file) = user.token_file.take().filter(|file| !file.is_empty()) else {
        return Ok(());
    };
    let read = owner.file("tokenFile", &file, outside)?;
    let token = String::from_utf8(read).unwrap_or_default().trim().to_owned();
    if token.is_empty() {
        let problem = format!("is `{file}`, which holds no token");
        return Err(owner.invalid("tokenFile", problem, None));
    }
    check_header(&token, "tokenFile", owner)?;
    user.token = Some(SecretString::from(token));
    Ok(())
}

/// Checks a value that is sent in a header.
fn check_header(value: &str, name: &'static str, owner: Owner<'_>) -> Result<(), KubeconfigProblem> {
    match HeaderValue::from_str(value) {
        Ok(_) => Ok(()),
        Err(_) => Err(owner.invalid(
            name,
            "holds a character that cannot be sent, such as a line break in the middle",
            Some("write it in one line"),
        )),
    }
}

/// Uses what a plugin has printed in place of the user's own credentials.
fn take_credentials(
    user: &mut AuthInfo,
    credentials: ExecCredentials,
    owner: Owner<'_>,
) -> Result<(), KubeconfigProblem> {
    let failed = |problem: &str| KubeconfigProblem::Exec {
        user: owner.name.to_owned(),
        problem: problem.to_owned(),
        hint: None,
    };
    let token = credentials.token.map(|token| token.trim().to_owned());
    if let Some(token) = token.filter(|token| !token.is_empty()) {
        HeaderValue::from_str(&token)
            .map_err(|_| failed("the token of the command holds a character that cannot be sent"))?;
        user.token = Some(SecretString::from(token));
    }
    match (credentials.client_certificate_data, credentials.client_key_data) {
        (Some(certificate), Some(key)) => {
            user.client_certificate_data = Some(STANDARD.encode(certificate));
            user.client_key_data = Some(SecretString::from(STANDARD.encode(key)));
        }
        (None, None) if user.token.is_none() => {
            return Err(failed("the command printed neither a token nor a certificate"));
        }
        (None, None) => {}
        _ => {
            return Err(failed(
                "the command printed a certificate without a key, or a key without a certificate",
            ));
        }
    }
    Ok(())
}

/// Reads the certificate of a user and its key.
fn read_identity(user: &mut AuthInfo, owner: Owner<'_>, outside: &mut Outside<'_>) -> Result<(), KubeconfigProblem> {
    let data = ("client-certificate-data", user.client_certificate_data.as_deref());
    let file = ("client-certificate", user.client_certificate.as_deref());
    let certificate = owner.data_or_file(data, file, outside)?;
    let data = (
        "client-key-data",
        user.client_key_data.as_ref().map(ExposeSecret::expose_secret),
    );
    let file = ("client-key", user.client_key.as_deref());
    let key = owner.data_or_file(data, file, outside)?;
    (user.client_certificate, user.client_key) = (None, None);
    let ((certificate_name, certificate), (key_name, key)) = match (certificate, key) {
        (None, None) => {
            (user.client_certificate_data, user.client_key_data) = (None, None);
            return Ok(());
        }
        (Some(_), None) => return Err(KubeconfigProblem::Missing(owner.field("client-key"))),
        (None, Some(_)) => return Err(KubeconfigProblem::Missing(owner.field("client-certificate"))),
        (Some(certificate), Some(key)) => (certificate, key),
    };
    check_identity(&certificate, &key).map_err(|unusable| match unusable {
        Unusable::Certificate(problem) => owner.invalid(certificate_name, problem, None),
        Unusable::Key(problem) => owner.invalid(key_name, problem, None),
    })?;
    user.client_certificate_data = Some(STANDARD.encode(certificate));
    user.client_key_data = Some(SecretString::from(STANDARD.encode(key)));
    Ok(())
}

/// What a plugin sees of the cluster if it asks for it (`provideClusterInfo`).
fn shown_cluster(cluster: &Cluster, config: &Config) -> ExecAuthCluster {
    let authorities = config.root_cert.iter().flatten();
    let pem: String = authorities
        .map(|der| {
            let lines = STANDARD.encode(der);
            format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")
        })
        .collect();
    // The cluster's own data for plugins are in the extension of this name (client-go, `clientauthentication.Cluster`).
    let extensions = cluster.extensions.iter().flatten();
    let mut extensions = extensions.filter(|extension| extension.name == "client.authentication.k8s.io/exec");
    ExecAuthCluster {
        server: cluster.server.clone(),
        insecure_skip_tls_verify: cluster.insecure_skip_tls_verify,
        certificate_authority_data: (!pem.is_empty()).then(|| pem.into_bytes()),
        proxy_url: cluster.proxy_url.clone(),
        tls_server_name: cluster.tls_server_name.clone(),
        config: extensions.next().map(|extension| extension.extension.clone()),
    }
}
