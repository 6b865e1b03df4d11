//! A place for artifacts: a repository of a registry, or a folder.

use std::io::Read;

use divvy_loader::artifact::{ContentDigest, Descriptor};

use crate::error::ArtifactsError;

/// Name of a document in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'a> {
    /// A tag, which can be moved.
    Tag(&'a str),
    /// A digest.
    Digest(&'a ContentDigest),
}

impl std::fmt::Display for Name<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tag(tag) => write!(formatter, "tag `{tag}`"),
            Self::Digest(digest) => write!(formatter, "{digest}"),
        }
    }
}

/// A document as a repository serves it: not compared with any digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The bytes, at most [`divvy_loader::artifact::DOCUMENT_BYTES_MAX`].
    pub bytes: Vec<u8>,
    /// Media type that the repository says it has.
    pub media_type: String,
    /// Digest that the repository says it has, if it says one.
    pub digest: Option<String>,
}

/// A place for the documents and blobs of one artifact and its signatures.
pub trait Repository {
    /// Description of the place, for messages.
    fn describe(&self) -> String;

    /// A manifest or index; `None` if there is none of this name.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is larger than a document may be.
    fn document(&self, name: Name<'_>) -> Result<Option<Served>, ArtifactsError>;

    /// The content of a blob, as it is served.
    ///
    /// # Errors
    ///
    /// If it does not exist or cannot be read.
    fn blob(&self, descriptor: &Descriptor) -> Result<Box<dyn Read + '_>, ArtifactsError>;

    /// Stores a blob.
    ///
    /// # Errors
    ///
    /// If it cannot be stored.
    fn put_blob(&self, digest: &ContentDigest, bytes: &[u8]) -> Result<(), ArtifactsError>;

    /// Stores a manifest or index, under a tag as well if one is given. What it refers to must be stored before.
    ///
    /// # Errors
    ///
    /// If it cannot be stored.
    fn put_document(&self, tag: Option<&str>, descriptor: &Descriptor, bytes: &[u8]) -> Result<(), ArtifactsError>;
}
