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
    let libraries = push.libraries.iter().map(|path| read(path));
    let mut libraries = libraries.collect::<Result<Vec<_>, _>>()?;
    // The digest does not depend on the order in which they are given.
    libraries.sort_by_key(|library| library.facts.platform());
    check_together(&libraries)?;
    let (root, bytes) = push_contents(repository, &libraries)?;
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

/// Pushes libraries with everything that is below the document that the tag leads to, and returns that document.
fn push_contents(repository: &dyn Repository, libraries: &[Library]) -> Result<(Descriptor, Vec<u8>), ArtifactsError> {
    let manifests = libraries.iter().map(|library| push_library(repository, library));
    let manifests = manifests.collect::<Result<Vec<_>, _>>()?;
    if let [only] = manifests.as_slice() {
        return Ok(only.clone());
    }
    for (descriptor, bytes) in &manifests {
        repository.put_document(None, descriptor, bytes)?;
    }
    let described = manifests.into_iter().zip(libraries);
    let described = described.map(|((descriptor, _), library)| Descriptor {
        platform: Some(library.facts.platform()),
        ..descriptor
    });
    let mut index = Index::new(Some(ARTIFACT_TYPE), described.collect());
    index.annotations.extend(version(libraries));
    document(INDEX_TYPE, &index)
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

#[cfg(test)]
mod tests {
    use divvy_loader::artifact::{Platform, find_artifact};

    use super::*;
    use crate::facts::PluginFacts;
    use crate::layout::Layout;

    /// A library that no one reads, with made-up facts.
    fn library(architecture: &str, version: &str) -> Library {
        let platform = Platform::linux(architecture);
        let plugin = PluginFacts {
            name: "surge".to_owned(),
            version: version.to_owned(),
            description: String::new(),
            language: "rust".to_owned(),
            abi_version: "1.1".to_owned(),
            oldest_abi_version: "1.0".to_owned(),
            certified: true,
            extension_points: vec!["Pace".to_owned()],
            strategies: Vec::new(),
        };
        Library {
            path: format!("{architecture}/libsurge.so").into(),
            bytes: format!("the library for {architecture}").into_bytes(),
            facts: LibraryFacts {
                architecture: platform.architecture,
                os: platform.os,
                target: format!("{architecture}-linux-gnu"),
                oldest_glibc: None,
                plugins: vec![plugin],
            },
        }
    }

    #[test]
    fn several_architectures_are_an_index_from_which_each_host_finds_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let reference: ArtifactReference = "registry.example/surge:1.0.0".parse().expect("a reference");
        let layout = Layout::create(folder.path(), &reference).expect("a layout");
        let own = std::env::consts::ARCH;
        let libraries = [library("s390x", "1.0.0"), library(own, "1.0.0")];
        let (root, bytes) = push_contents(&layout, &libraries).expect("it is pushed");
        layout.put_document(Some("1.0.0"), &root, &bytes).expect("it is named");
        assert_eq!(
            (root.media_type.as_str(), root.artifact_type.as_deref()),
            (INDEX_TYPE, Some(ARTIFACT_TYPE))
        );
        let found = find_artifact([folder.path()], &root.digest).expect("it has a library for this host");
        assert_eq!(std::fs::read(found.path).expect("the library"), libraries[1].bytes);
        let Ok(Document::Index(index)) = Document::parse("index", &bytes) else {
            panic!("it is an index");
        };
        assert_eq!(
            index.annotations.get(VERSION_ANNOTATION).map(String::as_str),
            Some("1.0.0")
        );
        let other = index
            .for_platform("index", &Platform::linux("s390x"))
            .expect("it has another");
        assert_ne!(other.digest.hexadecimal(), found.checksum);
    }

    #[test]
    fn libraries_of_one_artifact_have_the_same_plugins_and_different_platforms() {
        let refused = |first, second| {
            let refused = check_together(&[first, second]);
            refused.expect_err("they do not belong together").to_string()
        };
        assert_eq!(
            refused(library("x86_64", "1.0.0"), library("aarch64", "1.1.0")),
            "`x86_64/libsurge.so` has surge 1.0.0, and `aarch64/libsurge.so` has surge 1.1.0"
        );
        assert_eq!(
            refused(library("x86_64", "1.0.0"), library("x86_64", "1.0.0")),
            "`x86_64/libsurge.so` and `x86_64/libsurge.so` are both for linux/amd64"
        );
    }
}
