//! References to plugins in registries: `HOST/REPOSITORY:TAG@sha256:DIGEST`.
//!
//! The form is that of container images, with a narrower grammar: the host is always written, because an omitted one would mean
//! whatever a tool falls back to, and the only digest is SHA-256. So one artifact has one spelling, and a signature can name it.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::duration::schema_of_text;

/// Maximum length of host and repository together, as in the distribution specification.
const NAME_BYTES_MAX: usize = 255;
const TAG_BYTES_MAX: usize = 128;
const DIGEST_PREFIX: &str = "sha256:";
const DIGEST_DIGITS: usize = 64;

/// Reference to an artifact in a registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArtifactReference {
    host: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// Reason why a text is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a reference to an artifact: {reason}")]
pub struct InvalidReference {
    /// The text.
    pub text: String,
    /// The part that is wrong, and the expected form.
    pub reason: &'static str,
}

impl ArtifactReference {
    /// Host of the registry, with its port if it has one.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Path of the repository in the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag, if one is named.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// SHA-256 digest of the manifest or index, in hexadecimal, if one is named.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Host and repository, without tag and digest.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.repository)
    }

    /// This reference with another tag and without a digest. The tag must be valid.
    #[must_use]
    pub fn with_tag(&self, tag: impl Into<String>) -> Self {
        Self {
            tag: Some(tag.into()),
            digest: None,
            ..self.clone()
        }
    }

    /// This reference with a digest, in hexadecimal.
    #[must_use]
    pub fn with_digest(&self, digest: impl Into<String>) -> Self {
        Self {
            digest: Some(digest.into()),
            ..self.clone()
        }
    }
}

impl fmt::Display for ArtifactReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(formatter, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(formatter, "@{DIGEST_PREFIX}{digest}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ArtifactReference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let invalid = |reason| InvalidReference {
            text: text.to_owned(),
            reason,
        };
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => (named, Some(digest)),
            None => (text, None),
        };
        let (host, path) = named
            .split_once('/')
            .ok_or_else(|| invalid("it has no host; write `HOST/REPOSITORY:TAG`"))?;
        let (repository, tag) = match path.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (path, None),
        };
        if !is_host(host) {
            return Err(invalid(
                "the part before the first `/` is not a host; expected a name with a dot, `localhost`, or either with `:PORT`",
            ));
        }
        if host.len() + repository.len() > NAME_BYTES_MAX || !repository.split('/').all(is_component) {
            return Err(invalid(
                "the repository has lower-case letters and digits, separated by `/`, `.`, `_` or `-`",
            ));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(invalid(
                "a tag has up to 128 letters, digits, `_`, `.` and `-`, and begins with none of the last two",
            ));
        }
        let digest = match digest.map(|digest| digest.strip_prefix(DIGEST_PREFIX)) {
            None => None,
            Some(Some(digits)) if is_digest(digits) => Some(digits.to_owned()),
            Some(_) => return Err(invalid("a digest is `sha256:` and 64 lower-case hexadecimal digits")),
        };
        Ok(Self {
            host: host.to_owned(),
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

/// A host that cannot be taken for the first part of a repository.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_told_apart = name.contains('.') || name == "localhost" || port.is_some();
    is_told_apart && name.split('.').all(is_label) && port.is_none_or(is_port)
}

/// A part of a repository's path: words of lower-case letters and digits, separated by `.`, `_`, `__` or dashes.
fn is_component(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let are_bounds_words =
        bytes.first().is_some_and(|byte| is_word(*byte)) && bytes.last().is_some_and(|byte| is_word(*byte));
    let separators = text.split(|character: char| character.is_ascii_lowercase() || character.is_ascii_digit());
    let mut separators = separators.filter(|separator| !separator.is_empty());
    are_bounds_words
        && separators
            .all(|separator| matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-'))
}

fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_first = |byte: &u8| is_word(*byte);
    text.len() <= TAG_BYTES_MAX
        && text.as_bytes().first().is_some_and(is_first)
        && text.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-')
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reference to an artifact that says its digest, so that it names one library for each architecture for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedArtifact {
    reference: ArtifactReference,
    digest: String,
}

impl PinnedArtifact {
    /// The reference with its digest.
    pub fn reference(&self) -> &ArtifactReference {
        &self.reference
    }

    /// SHA-256 digest of the manifest or index, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl fmt::Display for PinnedArtifact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reference.fmt(formatter)
    }
}

impl FromStr for PinnedArtifact {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let reference: ArtifactReference = text.parse()?;
        match reference.digest.clone() {
            Some(digest) => Ok(Self { reference, digest }),
            None => Err(InvalidReference {
                text: text.to_owned(),
                reason: "a profile names an artifact by its digest: `@sha256:` and 64 digits; `divvy plugin pull` prints it",
            }),
        }
    }
}

impl Serialize for PinnedArtifact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PinnedArtifact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

schema_of_text!(PinnedArtifact);

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> String {
        "0123456789abcdef".repeat(4)
    }

    #[test]
    fn a_reference_is_written_as_it_is_read() {
        let pinned = format!("registry.example:5000/plugins/surge:1.2.0@sha256:{}", digest());
        for text in [
            "registry.example/surge",
            "localhost/surge:latest",
            "127.0.0.1:41234/a/b__c/d--e.f:v1.0_x",
            "registry:5000/surge:1.2.0",
            pinned.as_str(),
        ] {
            let reference: ArtifactReference = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(reference.to_string(), text);
        }
        let reference: ArtifactReference = pinned.parse().expect("a reference");
        assert_eq!(
            (reference.host(), reference.repository(), reference.tag()),
            ("registry.example:5000", "plugins/surge", Some("1.2.0"))
        );
        assert_eq!(reference.digest(), Some(digest().as_str()));
        assert_eq!(
            reference.with_tag("2").to_string(),
            "registry.example:5000/plugins/surge:2"
        );
    }

    #[test]
    fn anything_else_is_refused() {
        let upper = format!("registry.example/surge@sha256:{}", digest().to_uppercase());
        let short = "registry.example/surge@sha256:0123";
        let long = format!("registry.example/surge:{}", "x".repeat(129));
        let deep = format!("registry.example/{}", "a/".repeat(200) + "a");
        for text in [
            "",
            "surge",
            "/surge",
            "plugins/surge:1",
            "registry.example/",
            "registry.example/../surge",
            "registry.example/a/./b",
            "registry.example/Surge",
            "registry.example/a//b",
            "registry.example/a___b",
            "registry.example/surge:",
            "registry.example/surge:-1",
            "registry.example/surge:a:b",
            "Registry.example/surge",
            "registry.example:/surge",
            "registry.example:99999/surge",
            "registry.example:+1/surge",
            "user@registry.example/surge",
            "registry.example/surge@sha512:00",
            "https://registry.example/surge",
            "registry.example/su rge",
            "registry.example/surge\n",
            "-a.example/surge",
            short,
            &upper,
            &long,
            &deep,
        ] {
            assert!(text.parse::<ArtifactReference>().is_err(), "{text}");
        }
        let error = "registry.example/surge:1"
            .parse::<PinnedArtifact>()
            .expect_err("no digest");
        assert!(error.to_string().contains("`divvy plugin pull` prints it"), "{error}");
    }
}
