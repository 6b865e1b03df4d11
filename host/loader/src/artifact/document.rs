//! The two documents of an artifact: image index and image manifest, as the OCI image specification 1.1 has them.
//!
//! Types of our own rather than those of `oci-spec`, which brings a generator of builders, a second `syn` and regular expressions into each process
//! that loads a plugin: of the documents, four structs are used, and each of their fields is judged here.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::digest::ContentDigest;
use super::error::ArtifactError;

/// Media type of a manifest.
pub const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of an index.
pub const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// Type of an artifact that is a plugin.
pub const ARTIFACT_TYPE: &str = "application/vnd.divvy.plugin.v1";
/// Media type of the facts about a library.
pub const CONFIGURATION_TYPE: &str = "application/vnd.divvy.plugin.config.v1+json";
/// Media type of a library. It is not compressed, so its digest is the checksum of the file that is opened.
pub const LIBRARY_TYPE: &str = "application/vnd.divvy.plugin.library.v1";
/// Annotation with the name of a file. It is shown, and never used as a path.
pub const TITLE_ANNOTATION: &str = "org.opencontainers.image.title";
/// Annotation with the version of the plugin.
pub const VERSION_ANNOTATION: &str = "org.opencontainers.image.version";
/// Largest document, in bytes. A manifest has about a thousand.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 10;
/// Maximum number of manifests of an index.
pub const MANIFESTS_MAX: usize = 64;

const SCHEMA_VERSION: u32 = 2;

/// What a document says of content that has a digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// Media type of the content.
    pub media_type: String,
    /// Digest of the content.
    pub digest: ContentDigest,
    /// Size of the content in bytes.
    pub size: u64,
    /// Type of the artifact, if the content is a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// Platform that the content is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// Remarks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// Describes bytes.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: ContentDigest::of(bytes),
            size: bytes.len() as u64,
            artifact_type: None,
            platform: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// An operating system and an architecture, by the names of Go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Platform {
    /// The architecture, such as `amd64`.
    pub architecture: String,
    /// The operating system, such as `linux`.
    pub os: String,
}

impl Platform {
    /// The platform of this process.
    pub fn own() -> Self {
        Self::linux(ARCH)
    }

    /// Linux on an architecture, by Rust's name.
    pub fn linux(architecture: &str) -> Self {
        let architecture = match architecture {
            "x86_64" => "amd64",
            "x86" | "i586" | "i686" => "386",
            "aarch64" => "arm64",
            "loongarch64" => "loong64",
            other => other,
        };
        Self {
            architecture: architecture.to_owned(),
            os: "linux".to_owned(),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.os, self.architecture)
    }
}

/// A manifest: a library for one platform, and facts about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    schema_version: u32,
    /// Always [`MANIFEST_TYPE`] once it is read.
    media_type: String,
    /// Type of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// The facts.
    pub config: Descriptor,
    /// The contents: for a plugin, its library.
    pub layers: Vec<Descriptor>,
    /// The manifest that this one is about, such as the one that is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    /// Remarks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Manifest {
    /// A manifest of an artifact.
    pub fn new(artifact_type: &str, config: Descriptor, layers: Vec<Descriptor>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            media_type: MANIFEST_TYPE.to_owned(),
            artifact_type: Some(artifact_type.to_owned()),
            config,
            layers,
            subject: None,
            annotations: BTreeMap::new(),
        }
    }

    /// Checks that this is a plugin's manifest, and returns the descriptor of the library. `what` names the document in errors.
    ///
    /// # Errors
    ///
    /// An [`ArtifactError`] if it is another artifact's, or has not exactly one layer.
    pub fn library(&self, what: &str) -> Result<&Descriptor, ArtifactError> {
        expect_type(
            what,
            "artifact type",
            ARTIFACT_TYPE,
            self.artifact_type.as_deref().unwrap_or_default(),
        )?;
        expect_type(
            what,
            "type of the configuration",
            CONFIGURATION_TYPE,
            &self.config.media_type,
        )?;
        let [library] = self.layers.as_slice() else {
            return Err(ArtifactError::WrongLayers {
                what: what.to_owned(),
                found: self.layers.len(),
            });
        };
        expect_type(what, "type of the layer", LIBRARY_TYPE, &library.media_type)?;
        Ok(library)
    }
}

/// An index: the manifests of a plugin for several platforms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    schema_version: u32,
    /// Always [`INDEX_TYPE`] once it is read. Folders need not say it.
    #[serde(default)]
    media_type: String,
    /// Type of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// The manifests.
    pub manifests: Vec<Descriptor>,
    /// Remarks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Index {
    /// An index.
    pub fn new(artifact_type: Option<&str>, manifests: Vec<Descriptor>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            media_type: INDEX_TYPE.to_owned(),
            artifact_type: artifact_type.map(str::to_owned),
            manifests,
            annotations: BTreeMap::new(),
        }
    }

    /// The only manifest for a platform.
    ///
    /// # Errors
    ///
    /// An [`ArtifactError`] if there is none or several, the index has too many, or it is another artifact's.
    pub fn for_platform(&self, what: &str, platform: &Platform) -> Result<&Descriptor, ArtifactError> {
        expect_type(
            what,
            "artifact type",
            ARTIFACT_TYPE,
            self.artifact_type.as_deref().unwrap_or_default(),
        )?;
        if self.manifests.len() > MANIFESTS_MAX {
            return Err(ArtifactError::TooManyManifests {
                what: what.to_owned(),
                actual: self.manifests.len(),
            });
        }
        let mut matching = self
            .manifests
            .iter()
            .filter(|found| found.platform.as_ref() == Some(platform));
        match (matching.next(), matching.next()) {
            (Some(only), None) => {
                expect_type(what, "type of the manifest", MANIFEST_TYPE, &only.media_type)?;
                Ok(only)
            }
            (None, _) => Err(ArtifactError::NoPlatform {
                what: what.to_owned(),
                expected: platform.clone(),
                found: self
                    .manifests
                    .iter()
                    .filter_map(|found| found.platform.clone())
                    .collect(),
            }),
            (Some(_), Some(_)) => Err(ArtifactError::SeveralForPlatform {
                what: what.to_owned(),
                platform: platform.clone(),
            }),
        }
    }
}

/// A document that was read. It says itself which of the two it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// A manifest.
    Manifest(Box<Manifest>),
    /// An index.
    Index(Index),
}

/// Both documents must say what they are: a text that can be read as either could be signed as one and used as the other.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    schema_version: u32,
    media_type: String,
    config: Option<IgnoredAny>,
    layers: Option<IgnoredAny>,
    manifests: Option<IgnoredAny>,
}

impl Document {
    /// Reads a document. `what` names it in errors.
    ///
    /// # Errors
    ///
    /// An [`ArtifactError`] if it is not a manifest or an index, or could be both.
    pub fn parse(what: &str, bytes: &[u8]) -> Result<Self, ArtifactError> {
        let kind: Kind = parse(what, bytes)?;
        let invalid = |message: &str| ArtifactError::InvalidDocument {
            what: what.to_owned(),
            message: message.to_owned(),
        };
        if kind.schema_version != SCHEMA_VERSION {
            return Err(invalid("its `schemaVersion` is not 2"));
        }
        let (is_manifest, is_index) = (kind.config.is_some() || kind.layers.is_some(), kind.manifests.is_some());
        if is_manifest && is_index {
            return Err(invalid("it has the fields of a manifest and of an index"));
        }
        match kind.media_type.as_str() {
            MANIFEST_TYPE => Ok(Self::Manifest(Box::new(parse(what, bytes)?))),
            INDEX_TYPE => Ok(Self::Index(parse(what, bytes)?)),
            other => Err(ArtifactError::WrongMediaType {
                what: what.to_owned(),
                field: "media type",
                expected: format!("{MANIFEST_TYPE}` or `{INDEX_TYPE}"),
                actual: other.to_owned(),
            }),
        }
    }

    /// Reads a document that must be a manifest.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`], and if it is an index.
    pub fn parse_manifest(what: &str, bytes: &[u8]) -> Result<Manifest, ArtifactError> {
        match Self::parse(what, bytes)? {
            Self::Manifest(manifest) => Ok(*manifest),
            Self::Index(_) => Err(ArtifactError::WrongMediaType {
                what: what.to_owned(),
                field: "media type",
                expected: MANIFEST_TYPE.to_owned(),
                actual: INDEX_TYPE.to_owned(),
            }),
        }
    }

    /// Media type of the document.
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::Manifest(_) => MANIFEST_TYPE,
            Self::Index(_) => INDEX_TYPE,
        }
    }
}

fn parse<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, ArtifactError> {
    serde_json::from_slice(bytes).map_err(|error| ArtifactError::InvalidDocument {
        what: what.to_owned(),
        message: error.to_string(),
    })
}

fn expect_type(what: &str, field: &'static str, expected: &str, actual: &str) -> Result<(), ArtifactError> {
    match actual == expected {
        true => Ok(()),
        false => Err(ArtifactError::WrongMediaType {
            what: what.to_owned(),
            field,
            expected: expected.to_owned(),
            actual: actual.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(architecture: &str) -> Descriptor {
        Descriptor {
            platform: Some(Platform::linux(architecture)),
            ..Descriptor::of(MANIFEST_TYPE, architecture.as_bytes())
        }
    }

    #[test]
    fn an_index_has_one_manifest_for_each_platform() {
        let index = Index::new(Some(ARTIFACT_TYPE), vec![descriptor("x86_64"), descriptor("aarch64")]);
        let found = index
            .for_platform("index", &Platform::linux("aarch64"))
            .expect("it is there");
        assert_eq!(found, &descriptor("aarch64"));
        let error = index
            .for_platform("index", &Platform::linux("s390x"))
            .expect_err("it is not there");
        assert_eq!(
            error.to_string(),
            "index has no library for linux/s390x; it has one for linux/amd64, linux/arm64"
        );
        let twice = Index::new(Some(ARTIFACT_TYPE), vec![descriptor("x86_64"), descriptor("x86_64")]);
        let error = twice
            .for_platform("index", &Platform::linux("x86_64"))
            .expect_err("two of them");
        assert!(matches!(error, ArtifactError::SeveralForPlatform { .. }), "{error}");
    }

    #[test]
    fn a_document_is_read_as_what_it_says_it_is() {
        let manifest = Manifest::new(
            ARTIFACT_TYPE,
            Descriptor::of(CONFIGURATION_TYPE, b"{}"),
            vec![Descriptor::of(LIBRARY_TYPE, b"library")],
        );
        let text = serde_json::to_string(&manifest).expect("JSON");
        assert_eq!(
            Document::parse("m", text.as_bytes()),
            Ok(Document::Manifest(Box::new(manifest)))
        );
        let digest = ContentDigest::of(b"library").to_string();
        for (from, to, expected) in [
            (
                "\"layers\"",
                "\"manifests\":[],\"layers\"",
                "fields of a manifest and of an index",
            ),
            ("\"schemaVersion\":2", "\"schemaVersion\":1", "`schemaVersion` is not 2"),
            (MANIFEST_TYPE, INDEX_TYPE, "missing field `manifests`"),
            (
                MANIFEST_TYPE,
                "text/html",
                "expected `application/vnd.oci.image.manifest.v1+json` or",
            ),
            ("\"layers\"", "\"layers\":[],\"layers\"", "duplicate field `layers`"),
            (digest.as_str(), "sha256:../../../etc/passwd", "is not a digest"),
            ("\"size\":7", "\"size\":-7", "invalid value"),
        ] {
            assert!(text.contains(from), "{from}");
            let error = Document::parse("m", text.replacen(from, to, 1).as_bytes()).expect_err(to);
            assert!(error.to_string().contains(expected), "{to}: {error}");
        }
    }
}
