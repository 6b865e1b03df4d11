//! A repository of a registry, by the OCI distribution specification 1.1: manifests and blobs by their digests, and tags.
//!
//! Each answer is read up to a limit. Redirects are followed here rather than by the HTTP client, so that credentials go only to the host
//! that they are for, and nothing leaves the machine without encryption.

mod authorization;
mod credentials;
mod request;

use std::io::Read;

use divvy_loader::artifact::{ContentDigest, DOCUMENT_BYTES_MAX, Descriptor, INDEX_TYPE, MANIFEST_TYPE, read_bounded};
use divvy_profile::ArtifactReference;

use crate::error::ArtifactsError;
use crate::repository::{Name, Repository, Served};
use authorization::Scope;
use request::{Answer, Client, Request};

pub use request::RegistryOptions;

/// Header with the digest of a document.
const DIGEST_HEADER: &str = "docker-content-digest";

/// A repository of a registry.
#[derive(Debug)]
pub struct Registry {
    client: Client,
    repository: String,
    /// Address of the repository, without a slash at its end.
    base: String,
}

impl Registry {
    /// The repository of an artifact. Nothing is requested yet, unless the registry is on this machine: then, whether it wants encryption.
    ///
    /// # Errors
    ///
    /// If the credentials for the registry cannot be read, or a registry on this machine has a certificate that is not trusted.
    pub fn new(reference: &ArtifactReference, options: &RegistryOptions) -> Result<Self, ArtifactsError> {
        let client = Client::new(reference.host(), reference.repository(), options)?;
        let base = format!("{}/v2/{}", client.origin(), reference.repository());
        Ok(Self {
            client,
            repository: reference.repository().to_owned(),
            base,
        })
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }
}

impl Repository for Registry {
    fn describe(&self) -> String {
        self.client.origin()
    }

    fn document(&self, name: Name<'_>) -> Result<Option<Served>, ArtifactsError> {
        let named = match name {
            Name::Tag(tag) => tag.to_owned(),
            Name::Digest(digest) => digest.to_string(),
        };
        let url = self.url(&format!("manifests/{named}"));
        let accept = format!("{INDEX_TYPE}, {MANIFEST_TYPE}");
        let request = Request::get(&url).accepting(&accept);
        let Some(answer) = self.client.send(&request, Scope::Pull)?.unless_missing()? else {
            return Ok(None);
        };
        let header = |name: &str| answer.header(name).map(str::to_owned);
        let media_type = header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
        let digest = header(DIGEST_HEADER);
        let what = format!("the document `{named}` of {}/{}", self.describe(), self.repository);
        Ok(Some(Served {
            bytes: read_bounded(&what, answer.into_body(), DOCUMENT_BYTES_MAX)?,
            media_type,
            digest,
        }))
    }

    fn blob(&self, descriptor: &Descriptor) -> Result<Box<dyn Read + '_>, ArtifactsError> {
        let url = self.url(&format!("blobs/{}", descriptor.digest));
        let answer = self.client.send(&Request::get(&url), Scope::Pull)?;
        let answer = answer.unless_missing()?.ok_or_else(|| ArtifactsError::NotFound {
            reference: descriptor.digest.to_string(),
            place: format!("{}/{}", self.describe(), self.repository),
        })?;
        Ok(Box::new(answer.into_body()))
    }

    fn put_blob(&self, digest: &ContentDigest, bytes: &[u8]) -> Result<(), ArtifactsError> {
        let url = self.url(&format!("blobs/{digest}"));
        let known = self.client.send(&Request::head(&url), Scope::Push)?;
        if known.unless_missing()?.is_some() {
            return Ok(());
        }
        let start = self
            .client
            .send(&Request::post(&self.url("blobs/uploads/")), Scope::Push)?;
        let location = self.client.location(start.successful()?)?;
        let separator = if location.contains('?') { '&' } else { '?' };
        let url = format!("{location}{separator}digest={digest}");
        let request = Request::put(&url, "application/octet-stream", bytes);
        self.client.send(&request, Scope::Push)?.successful().map(drop)
    }

    fn put_document(&self, tag: Option<&str>, descriptor: &Descriptor, bytes: &[u8]) -> Result<(), ArtifactsError> {
        let named = tag.map_or_else(|| descriptor.digest.to_string(), str::to_owned);
        let url = self.url(&format!("manifests/{named}"));
        let request = Request::put(&url, &descriptor.media_type, bytes);
        let answer: Answer = self.client.send(&request, Scope::Push)?.successful()?;
        // A registry that stores other bytes than it was sent would serve an artifact that no one signed.
        match answer.header(DIGEST_HEADER) {
            Some(said) if said != descriptor.digest.to_string() => Err(ArtifactsError::WrongSaidDigest {
                place: self.describe(),
                what: url.clone(),
                said: said.to_owned(),
                actual: descriptor.digest.to_string(),
            }),
            _ => Ok(()),
        }
    }
}
