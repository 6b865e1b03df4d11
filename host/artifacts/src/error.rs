//! Errors of artifacts, one variant per cause.

use std::path::PathBuf;

use divvy_loader::artifact::ArtifactError;
use divvy_loader::inspection::Refusal;
use divvy_loader::{LoadError, Replaceable};

/// Reason why an artifact was not pushed or pulled.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactsError {
    /// A document or blob is not what it should be.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// A library cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no artifact of this name.
    #[error("`{reference}` is not in {place}")]
    NotFound {
        /// The reference.
        reference: String,
        /// The registry or folder.
        place: String,
    },
    /// The digest that a registry says a document has is not the document's.
    #[error("{place} says that {what} has the digest `{said}`, but it has {actual}")]
    WrongSaidDigest {
        /// The registry.
        place: String,
        /// The document.
        what: String,
        /// The digest that it says.
        said: String,
        /// The digest of what it served.
        actual: String,
    },
    /// Neither a key nor a digest says what is expected.
    #[error(
        "nothing says what `{reference}` should be: it has no digest, and no key is given to check its signature with"
    )]
    Untrusted {
        /// The reference.
        reference: String,
    },
    /// The reference names no version.
    #[error("`{reference}` has neither a tag nor a digest")]
    NoVersion {
        /// The reference.
        reference: String,
    },
    /// There is no signature.
    #[error("`{reference}` is not signed")]
    NotSigned {
        /// The reference.
        reference: String,
    },
    /// No signature is acceptable.
    #[error("no signature of `{reference}` is valid for the given keys: {}", .reasons.join("; "))]
    SignatureRefused {
        /// The reference.
        reference: String,
        /// Why each is refused.
        reasons: Vec<String>,
    },
    /// Too many signatures.
    #[error("{what}: there are {actual} signatures, expected at most {limit}")]
    TooManySignatures {
        /// The artifact, or its list of signatures.
        what: String,
        /// Number of signatures.
        actual: usize,
        /// The limit.
        limit: usize,
    },
    /// A key cannot be read.
    #[error("`{path}` is not a minisign {kind} key: {message}", path = .path.display())]
    InvalidKey {
        /// The file.
        path: PathBuf,
        /// `public` or `secret`.
        kind: &'static str,
        /// The problem.
        message: String,
    },
    /// A key cannot be made, or signing failed.
    #[error("{action} failed: {message}")]
    Signing {
        /// What was done.
        action: &'static str,
        /// Message of minisign.
        message: String,
    },
    /// The library would not be loaded here.
    #[error("the library of `{reference}` is refused: {refusal}")]
    Refused {
        /// The reference.
        reference: String,
        /// The reason.
        refusal: Box<Refusal>,
    },
    /// The facts beside a library are not those of the library.
    #[error(
        "the configuration of `{reference}` does not describe its library: `{field}`: it says {said}, the library has {actual}"
    )]
    WrongFacts {
        /// The reference.
        reference: String,
        /// Field of the configuration.
        field: &'static str,
        /// What it says.
        said: String,
        /// What the library has.
        actual: String,
    },
    /// A file without a plugin.
    #[error("`{path}` has no plugin: {reason}", path = .path.display())]
    NoPlugin {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Two libraries are for one platform.
    #[error("`{first}` and `{second}` are both for {platform}", first = .first.display(), second = .second.display())]
    SamePlatform {
        /// A file.
        first: PathBuf,
        /// Another file.
        second: PathBuf,
        /// Their platform.
        platform: String,
    },
    /// Two libraries are of different plugins.
    #[error("`{first}` has {in_first}, and `{second}` has {in_second}", first = .first.display(), second = .second.display())]
    DifferentPlugins {
        /// A file.
        first: PathBuf,
        /// Its plugins with their versions.
        in_first: String,
        /// Another file.
        second: PathBuf,
        /// Its plugins with their versions.
        in_second: String,
    },
    /// What is pushed has no tag, or a digest.
    #[error("`{reference}` cannot be pushed: expected a tag and no digest")]
    NoTag {
        /// The reference.
        reference: String,
    },
    /// A folder that others can change.
    #[error(transparent)]
    Replaceable(#[from] Replaceable),
    /// A link where a folder or a file of its own is expected.
    #[error("`{path}` is a symbolic link, expected a file or folder of this layout", path = .path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A folder is not an OCI image layout.
    #[error("`{path}` is not an OCI image layout: {message}", path = .path.display())]
    NotALayout {
        /// The folder.
        path: PathBuf,
        /// The problem.
        message: String,
    },
    /// A layout has one name twice.
    #[error("`{path}` has the name `{name}` {count} times, expected once", path = .path.display())]
    Ambiguous {
        /// The folder.
        path: PathBuf,
        /// The name.
        name: String,
        /// How often.
        count: usize,
    },
    /// A file or folder cannot be read or written.
    #[error("`{path}`: {source}", path = .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A registry cannot be reached, or broke off.
    #[error("{url}: {message}")]
    Transport {
        /// The request.
        url: String,
        /// The problem.
        message: String,
    },
    /// A registry refuses a request.
    #[error("{method} {url}: the registry answers {status}{detail}")]
    Status {
        /// Method of the request.
        method: &'static str,
        /// The request.
        url: String,
        /// Status of the answer.
        status: u16,
        /// Its message, with a colon before it, if it has one.
        detail: String,
    },
    /// A request would leave a computer without encryption.
    #[error("{url} is not encrypted")]
    NotEncrypted {
        /// The request.
        url: String,
    },
    /// An answer that a registry must not give.
    #[error("{url}: {message}")]
    Protocol {
        /// The request.
        url: String,
        /// The problem.
        message: String,
    },
    /// Credentials cannot be read.
    #[error("the credentials for {host} in `{path}` cannot be used: {message}", path = .path.display())]
    Credentials {
        /// The registry.
        host: String,
        /// The file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
}

impl ArtifactsError {
    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Artifact(ArtifactError::NoPlatform { expected, .. }) => {
                Some(format!("ask its author for a build for {expected}"))
            }
            Self::Load(error) => error.hint(),
            Self::Refused { refusal, .. } => refusal.hint(),
            Self::Untrusted { .. } => Some(
                "give its author's public key with `--key`, or add `@sha256:…` to the reference; `--unsigned` believes whatever is there"
                    .to_owned(),
            ),
            Self::NotSigned { .. } => Some(
                "ask its author to push it with `--sign-with`; without `--key`, a digest in the reference says what is expected".to_owned(),
            ),
            Self::NoTag { .. } | Self::NoVersion { .. } => Some("write `HOST/REPOSITORY:VERSION`".to_owned()),
            Self::Replaceable(_) => Some("let only root and yourself write to it; `--allow-replaceable-files` is for the volumes of a pod".to_owned()),
            Self::NotEncrypted { .. } => {
                Some("only registries on this machine may be asked without encryption; `--plain-http` permits it".to_owned())
            }
            Self::Status { status: 401 | 403, .. } => {
                Some("log in with `docker login`, `podman login` or `oras login`, whose credentials are used".to_owned())
            }
            _ => None,
        }
    }
}
