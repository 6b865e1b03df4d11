//! Pushing: libraries of the same plugins, one for each platform, become an artifact, signed if there is a key.
//!
//! Nothing in an artifact depends on when or where it is pushed, so the same libraries have the same digest everywhere.

use std::path::{Path, PathBuf};

use divvy_loader::artifact::{
    ARTIFACT_TYPE, CONFIGURATION_TYPE, ContentDigest, Descriptor, Document, INDEX_TYPE, Index, LIBRARY_TYPE,
    MANIFEST_TYPE, Manifest, TITLE_ANNOTATION, VERSION_ANNOTATION,
};
use divvy_loader::inspection::Inspection;
use divvy_profile::ArtifactReference;
use serde::Serialize;

use crate::error::ArtifactsError;
use crate::facts::LibraryFacts;
use crate::pull::Signatures;
use crate::repository::Repository;
use crate::signature::{self, SIGNATURE_TYPE, SIGNATURES_MAX, Signing};

/// Libraries to push.
#[derive(Debug)]
pub struct Push<'a> {
    /// Name and tag of the artifact.
    pub reference: &'a ArtifactReference,
    /// The libraries, at least one.
    pub libraries: &'a [PathBuf],
    /// The key to sign with, if any.
    pub signing: Option<&'a Signing>,
}

/// An artifact that was pushed.
#[derive(Debug)]
pub struct Pushed {
    /// The reference with the digest.
    pub pinned: ArtifactReference,
    /// Facts about each library.
    pub libraries: Vec<LibraryFacts>,
}

/// A library that was read.
struct Library {
    path: PathBuf,
    bytes: Vec<u8>,
    facts: LibraryFacts,
}

/// Pushes an artifact. The tag is set last, so whoever pulls it meanwhile gets the old one or the new one.
///
/// # Errors
///
/// An [`ArtifactsError`] if a library is not a plugin, libraries do not belong together, or the repository refuses something.
pub fn push(repository: &dyn Repository, push: &Push<'_>) -> Result<Pushed, ArtifactsError> {
    let reference = push.reference;
    let (Some(tag), None) = (reference.tag(), reference.digest()) else {
        return Err(ArtifactsError::NoTag {
            reference: reference.to_string(),
        });
    };
    let libraries = push
        .libraries
        .iter()
        .map(|path| read(path))
        .collect::<Result<Vec<_>, _>>()?;
    check_together(&libraries)?;
    let mut manifests = Vec::new();
    for library in &libraries {
        manifests.push(push_library(repository, library)?);
    }
    let (root, bytes) = match manifests.as_slice() {
        [(only, bytes)] => (only.clone(), bytes.clone()),
        several => {
            for (descriptor, bytes) in several {
                repository.put_document(None, descriptor, bytes)?;
            }
            let described = several.iter().zip(&libraries);
            let described = described.map(|((descriptor, _), library)| Descriptor {
                platform: Some(library.facts.platform()),
                ..descriptor.clone()
            });
            let mut index = Index::new(Some(ARTIFACT_TYPE), described.collect());
            index.annotations.extend(version(&libraries));
            document(INDEX_TYPE, &index)?
        }
    };
    // A signature is there before the tag leads to what it signs.
    if let Some(signing) = push.signing {
        repository.put_document(None, &root, &bytes)?;
        sign(repository, reference, signing, &root, &bytes)?;
    }
    repository.put_document(Some(tag), &root, &bytes)?;
    Ok(Pushed {
        pinned: reference.with_digest(root.digest.hexadecimal()),
        libraries: libraries.into_iter().map(|library| library.facts).collect(),
    })
}

fn read(path: &Path) -> Result<Library, ArtifactsError> {
    let inspection = Inspection::read(path)?;
    let facts = LibraryFacts::of(&inspection)?;
    let file_error = |source| ArtifactsError::File {
        path: path.to_owned(),
        source,
    };
    let bytes = std::fs::read(path).map_err(file_error)?;
    // The facts are those of the bytes that are pushed.
    if ContentDigest::of(&bytes).hexadecimal() != inspection.checksum {
        return Err(file_error(std::io::Error::other("it was changed while it was read")));
    }
    Ok(Library {
        path: path.to_owned(),
        bytes,
        facts,
    })
}

fn check_together(libraries: &[Library]) -> Result<(), ArtifactsError> {
    for (index, second) in libraries.iter().enumerate() {
        for first in &libraries[..index] {
            if first.facts.platform() == second.facts.platform() {
                return Err(ArtifactsError::SamePlatform {
                    first: first.path.clone(),
                    second: second.path.clone(),
                    platform: second.facts.platform().to_string(),
                });
            }
            let (in_first, in_second) = (first.facts.names(), second.facts.names());
            if in_first != in_second {
                return Err(ArtifactsError::DifferentPlugins {
                    first: first.path.clone(),
                    in_first,
                    second: second.path.clone(),
                    in_second,
                });
            }
        }
    }
    Ok(())
}

/// Pushes a library with its facts, and returns its manifest, which is not pushed yet.
fn push_library(repository: &dyn Repository, library: &Library) -> Result<(Descriptor, Vec<u8>), ArtifactsError> {
    let (mut configuration, facts) = document(CONFIGURATION_TYPE, &library.facts)?;
    configuration.artifact_type = None;
    let mut layer = Descriptor::of(LIBRARY_TYPE, &library.bytes);
    if let Some(title) = library.path.file_name() {
        layer
            .annotations
            .insert(TITLE_ANNOTATION.to_owned(), title.to_string_lossy().into_owned());
    }
    repository.put_blob(&layer.digest, &library.bytes)?;
    repository.put_blob(&configuration.digest, &facts)?;
    let mut manifest = Manifest::new(ARTIFACT_TYPE, configuration, vec![layer]);
    manifest.annotations.extend(version(std::slice::from_ref(library)));
    document(MANIFEST_TYPE, &manifest)
}

/// The annotation that registries show, if there is one version.
fn version(libraries: &[Library]) -> Option<(String, String)> {
    let mut versions = libraries
        .iter()
        .flat_map(|library| &library.facts.plugins)
        .map(|plugin| &plugin.version);
    let first = versions.next()?;
    let is_only = versions.all(|version| version == first);
    is_only.then(|| (VERSION_ANNOTATION.to_owned(), first.clone()))
}

/// Adds a signature to those that the document has. The same content can have several tags, and several people can sign it.
fn sign(
    repository: &dyn Repository,
    reference: &ArtifactReference,
    signing: &Signing,
    root: &Descriptor,
    bytes: &[u8],
) -> Result<(), ArtifactsError> {
    let signature = signing.sign(reference, bytes)?;
    let layer = Descriptor::of(SIGNATURE_TYPE, &signature);
    let known = Signatures::read(repository, &root.digest)?;
    let mut signatures = known.map_or_else(Vec::new, |known| known.manifest.layers);
    signatures.push(layer.clone());
    if signatures.len() > SIGNATURES_MAX {
        return Err(ArtifactsError::TooManySignatures {
            what: format!("`{reference}`"),
            actual: signatures.len(),
            limit: SIGNATURES_MAX,
        });
    }
    repository.put_blob(&layer.digest, &signature)?;
    repository.put_blob(&ContentDigest::of(signature::EMPTY), signature::EMPTY)?;
    let (descriptor, bytes) = document(MANIFEST_TYPE, &signature::manifest(root, signatures))?;
    repository.put_document(Some(&signature::tag(&root.digest)), &descriptor, &bytes)
}

/// A document as the bytes that are pushed.
fn document(media_type: &str, content: &impl Serialize) -> Result<(Descriptor, Vec<u8>), ArtifactsError> {
    let bytes = serde_json::to_vec(content).map_err(|error| ArtifactsError::Signing {
        action: "writing a document",
        message: error.to_string(),
    })?;
    let mut descriptor = Descriptor::of(media_type, &bytes);
    descriptor.artifact_type = match Document::parse("document", &bytes) {
        Ok(Document::Manifest(manifest)) => manifest.artifact_type,
        Ok(Document::Index(index)) => index.artifact_type,
        Err(_) => None,
    };
    Ok((descriptor, bytes))
}
