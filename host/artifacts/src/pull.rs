//! Pulling: an artifact becomes files in a folder, each of them checked before it is there.
//!
//! The order: the bytes of the manifest or index are compared with the digest that was asked for and with the signature, and only then parsed.
//! They say size and digest of everything else. The library is read into a temporary file, not further than its size, and compared; only
//! then is it inspected, which runs none of its code. Files get their names once all of this holds, the artifact's own name last.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use divvy_loader::LoadOptions;
use divvy_loader::artifact::{
    ArtifactError, ContentDigest, DOCUMENT_BYTES_MAX, Descriptor, Document, MANIFEST_TYPE, Manifest, Platform,
};
use divvy_loader::inspection::Inspection;
use divvy_profile::ArtifactReference;
use jiff::civil::Date;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::error::ArtifactsError;
use crate::facts::LibraryFacts;
use crate::layout::Layout;
use crate::repository::{Name, Repository, Served};
use crate::signature::{
    self, SIGNATURE_BYTES_MAX, SIGNATURE_TYPE, SIGNATURES_ARTIFACT_TYPE, SIGNATURES_MAX, TrustedKey,
};

/// Largest library, in bytes: what the loader reads.
const LIBRARY_BYTES_MAX: u64 = 1 << 30;
const CHUNK: usize = 64 << 10;

/// Reason to believe that an artifact is what it is called.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// One of these keys signed it.
    Keys(&'a [TrustedKey]),
    /// The reference has its digest.
    Digest,
    /// None: whatever the repository has is taken.
    None,
}

/// An artifact to pull.
#[derive(Debug)]
pub struct Pull<'a> {
    /// Its name, with a tag, a digest or both.
    pub reference: &'a ArtifactReference,
    /// Why it is believed.
    pub trust: Trust<'a>,
    /// The present day, in UTC, on which signatures must not have expired.
    pub today: Date,
    /// The folder that it is pulled into.
    pub into: &'a Path,
    /// True if others than root and this user may be able to change the folder.
    pub allow_replaceable: bool,
}

/// An artifact that was pulled.
#[derive(Debug)]
pub struct Pulled {
    /// The reference with the digest, as a profile names it.
    pub pinned: ArtifactReference,
    /// Facts about the library for this platform.
    pub facts: LibraryFacts,
    /// The library's file.
    pub library: PathBuf,
    /// SHA-256 checksum of the library, in hexadecimal.
    pub checksum: String,
    /// The key that signed it, if signatures were checked.
    pub signed_by: Option<PathBuf>,
}

/// A document whose digest was compared.
struct Checked {
    digest: ContentDigest,
    bytes: Vec<u8>,
    /// Media type that the repository says it has; empty if it says none.
    media_type: String,
}

/// Pulls an artifact for this platform.
///
/// # Errors
///
/// An [`ArtifactsError`] with the first thing that is not as it should be. Nothing has changed in the folder then.
pub fn pull(repository: &dyn Repository, pull: &Pull<'_>) -> Result<Pulled, ArtifactsError> {
    let reference = pull.reference;
    let written = reference.to_string();
    if matches!(pull.trust, Trust::Digest) && reference.digest().is_none() {
        return Err(ArtifactsError::Untrusted { reference: written });
    }
    let root = root(repository, reference)?;
    let digest = &root.digest;
    let signed = match pull.trust {
        Trust::Keys(keys) => {
            let listed = Signatures::read(repository, digest)?;
            let listed = listed.ok_or_else(|| ArtifactsError::NotSigned {
                reference: written.clone(),
            })?;
            let signatures = listed.fetch(repository)?;
            if signatures.is_empty() {
                return Err(ArtifactsError::NotSigned { reference: written });
            }
            let key = signature::check(keys, &signatures, (reference, digest, &root.bytes), pull.today)?;
            Some((key.path().to_owned(), listed, signatures))
        }
        Trust::Digest | Trust::None => None,
    };
    // From here on, the documents are what their author wrote, who is not believed further.
    let mut documents = Vec::new();
    let document = root.parse(&written)?;
    let descriptor = root.descriptor(&document);
    let manifest = match document {
        Document::Manifest(manifest) => *manifest,
        Document::Index(index) => {
            let own = index.for_platform(&written, &Platform::own())?;
            let checked = by_digest(repository, own)?;
            let manifest = Document::parse_manifest(&format!("the manifest {}", own.digest), &checked.bytes)?;
            documents.push(checked);
            manifest
        }
    };
    let layer = manifest.library(&written)?;
    let configuration = small_blob(repository, "the configuration", &manifest.config, DOCUMENT_BYTES_MAX)?;
    let said: LibraryFacts = serde_json::from_slice(&configuration).map_err(|error| {
        ArtifactsError::from(ArtifactError::InvalidDocument {
            what: format!("the configuration {}", manifest.config.digest),
            message: error.to_string(),
        })
    })?;
    let store = match pull.allow_replaceable {
        true => Layout::create(pull.into, reference)?,
        false => Layout::create_own(pull.into, reference)?,
    };
    let library = download(repository, layer, &store)?;
    let facts = inspect(&written, library.path(), &said)?;
    // All is checked. The name comes last, so a folder never has a name without its content.
    let path = store.store(&layer.digest, library)?;
    store.put_blob(&manifest.config.digest, &configuration)?;
    for Checked { digest, bytes, .. } in &documents {
        store.put_blob(digest, bytes)?;
    }
    if let Some((_, listed, signatures)) = &signed {
        listed.keep(&store, digest, signatures)?;
    }
    store.put_document(reference.tag(), &descriptor, &root.bytes)?;
    Ok(Pulled {
        pinned: reference.with_digest(digest.hexadecimal()),
        facts,
        library: path,
        checksum: layer.digest.hexadecimal().to_owned(),
        signed_by: signed.map(|(key, ..)| key),
    })
}

/// The manifest or index that a reference names. Its digest is compared if the reference has one.
fn root(repository: &dyn Repository, reference: &ArtifactReference) -> Result<Checked, ArtifactsError> {
    let what = reference.to_string();
    let expected = reference.digest().map(ContentDigest::of_hexadecimal).transpose();
    let expected = expected.map_err(|error| ArtifactError::InvalidDocument {
        what: what.clone(),
        message: error.to_string(),
    })?;
    let name = match (&expected, reference.tag()) {
        (Some(digest), _) => Name::Digest(digest),
        (None, Some(tag)) => Name::Tag(tag),
        (None, None) => {
            return Err(ArtifactsError::NoVersion { reference: what });
        }
    };
    let served = repository.document(name)?.ok_or_else(|| ArtifactsError::NotFound {
        reference: what.clone(),
        place: repository.describe(),
    })?;
    checked(repository, &what, served, expected.as_ref())
}

fn by_digest(repository: &dyn Repository, descriptor: &Descriptor) -> Result<Checked, ArtifactsError> {
    let what = format!("the manifest {}", descriptor.digest);
    let served = repository.document(Name::Digest(&descriptor.digest))?;
    let served = served.ok_or_else(|| ArtifactsError::NotFound {
        reference: descriptor.digest.to_string(),
        place: repository.describe(),
    })?;
    let checked = checked(repository, &what, served, Some(&descriptor.digest))?;
    match checked.bytes.len() as u64 == descriptor.size {
        true => Ok(checked),
        false => Err(ArtifactError::WrongSize {
            what,
            expected: descriptor.size,
            actual: checked.bytes.len() as u64,
        }
        .into()),
    }
}

/// Compares a document with the digest that names it, and with the one that the repository says. It is not parsed.
fn checked(
    repository: &dyn Repository,
    what: &str,
    served: Served,
    expected: Option<&ContentDigest>,
) -> Result<Checked, ArtifactsError> {
    let actual = ContentDigest::of(&served.bytes);
    if let Some(expected) = expected.filter(|expected| **expected != actual) {
        return Err(ArtifactError::WrongDigest {
            what: what.to_owned(),
            expected: expected.clone(),
            actual,
        }
        .into());
    }
    if let Some(said) = served.digest.filter(|said| *said != actual.to_string()) {
        return Err(ArtifactsError::WrongSaidDigest {
            place: repository.describe(),
            what: what.to_owned(),
            said,
            actual: actual.to_string(),
        });
    }
    Ok(Checked {
        digest: actual,
        bytes: served.bytes,
        media_type: served.media_type,
    })
}

impl Checked {
    /// What the document says itself counts; a repository that says otherwise hands it out as something else.
    fn parse(&self, what: &str) -> Result<Document, ArtifactsError> {
        let document = Document::parse(what, &self.bytes)?;
        let own = document.media_type();
        match self.media_type.is_empty() || self.media_type == own {
            true => Ok(document),
            false => Err(ArtifactError::WrongMediaType {
                what: what.to_owned(),
                field: "media type",
                expected: own.to_owned(),
                actual: self.media_type.clone(),
            }
            .into()),
        }
    }

    fn descriptor(&self, document: &Document) -> Descriptor {
        let mut descriptor = Descriptor::of(document.media_type(), &self.bytes);
        descriptor.artifact_type = match document {
            Document::Manifest(manifest) => manifest.artifact_type.clone(),
            Document::Index(index) => index.artifact_type.clone(),
        };
        descriptor
    }
}

/// The signatures of a document.
pub(crate) struct Signatures {
    /// The manifest that lists them.
    pub(crate) manifest: Manifest,
    bytes: Vec<u8>,
}

impl Signatures {
    /// Reads the list; `None` if there is none.
    pub(crate) fn read(repository: &dyn Repository, digest: &ContentDigest) -> Result<Option<Self>, ArtifactsError> {
        let Some(served) = repository.document(Name::Tag(&signature::tag(digest)))? else {
            return Ok(None);
        };
        let what = format!("the signatures of {digest}");
        let manifest = Document::parse_manifest(&what, &served.bytes)?;
        if manifest.artifact_type.as_deref() != Some(SIGNATURES_ARTIFACT_TYPE) {
            return Err(ArtifactError::WrongMediaType {
                what,
                field: "artifact type",
                expected: SIGNATURES_ARTIFACT_TYPE.to_owned(),
                actual: manifest.artifact_type.unwrap_or_default(),
            }
            .into());
        }
        let actual = manifest.layers.len();
        match actual <= SIGNATURES_MAX {
            true => Ok(Some(Self {
                manifest,
                bytes: served.bytes,
            })),
            false => Err(ArtifactsError::TooManySignatures {
                what,
                actual,
                limit: SIGNATURES_MAX,
            }),
        }
    }

    /// The signatures themselves.
    fn fetch(&self, repository: &dyn Repository) -> Result<Vec<Vec<u8>>, ArtifactsError> {
        let layers = self.manifest.layers.iter();
        let layers = layers.filter(|layer| layer.media_type == SIGNATURE_TYPE);
        let fetch = |layer| small_blob(repository, "the signature", layer, SIGNATURE_BYTES_MAX);
        layers.map(fetch).collect()
    }

    /// Keeps them beside what they sign, so that the folder can be pulled from with the same keys.
    fn keep(&self, store: &Layout, signed: &ContentDigest, signatures: &[Vec<u8>]) -> Result<(), ArtifactsError> {
        for signature in signatures {
            store.put_blob(&ContentDigest::of(signature), signature)?;
        }
        store.put_blob(&ContentDigest::of(signature::EMPTY), signature::EMPTY)?;
        let descriptor = Descriptor::of(MANIFEST_TYPE, &self.bytes);
        store.put_document(Some(&signature::tag(signed)), &descriptor, &self.bytes)
    }
}

/// A blob that is small enough for memory.
fn small_blob(
    repository: &dyn Repository,
    kind: &str,
    descriptor: &Descriptor,
    limit: u64,
) -> Result<Vec<u8>, ArtifactsError> {
    let what = format!("{kind} {}", descriptor.digest);
    if descriptor.size > limit {
        return Err(ArtifactError::TooLarge { what, limit }.into());
    }
    let mut bytes = Vec::new();
    copy(&what, repository.blob(descriptor)?, descriptor, &mut bytes)?;
    Ok(bytes)
}

/// Reads a library into a file that has no name yet.
fn download(repository: &dyn Repository, layer: &Descriptor, store: &Layout) -> Result<NamedTempFile, ArtifactsError> {
    let what = format!("the library {}", layer.digest);
    if layer.size > LIBRARY_BYTES_MAX {
        return Err(ArtifactError::TooLarge {
            what,
            limit: LIBRARY_BYTES_MAX,
        }
        .into());
    }
    let mut file = store.stage()?;
    copy(&what, repository.blob(layer)?, layer, &mut file)?;
    Ok(file)
}

/// Copies content, not further than its size, and compares its digest.
fn copy(what: &str, source: impl Read, descriptor: &Descriptor, sink: &mut dyn Write) -> Result<(), ArtifactsError> {
    let unreadable = |error: std::io::Error| ArtifactError::Unreadable {
        what: what.to_owned(),
        message: error.to_string(),
    };
    // One byte more shows that there is more.
    let mut source = source.take(descriptor.size.saturating_add(1));
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut actual = 0;
    loop {
        let read = match source.read(&mut chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(error).into()),
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        actual += bytes.len() as u64;
        hash.update(bytes);
        sink.write_all(bytes).map_err(unreadable)?;
    }
    if actual != descriptor.size {
        return Err(ArtifactError::WrongSize {
            what: what.to_owned(),
            expected: descriptor.size,
            actual,
        }
        .into());
    }
    let actual = ContentDigest::from_hash(hash);
    match actual == descriptor.digest {
        true => Ok(()),
        false => Err(ArtifactError::WrongDigest {
            what: what.to_owned(),
            expected: descriptor.digest.clone(),
            actual,
        }
        .into()),
    }
}

/// Reads the facts from the library, which must be what the configuration says, and that this host would load.
fn inspect(reference: &str, library: &Path, said: &LibraryFacts) -> Result<LibraryFacts, ArtifactsError> {
    let inspection = Inspection::read(library)?;
    let facts = LibraryFacts::of(&inspection)?;
    said.check(reference, &facts)?;
    for plugin in &facts.plugins {
        // Whether a plugin without a certificate is loaded is the profile's decision.
        let refusal = inspection.refusal(LoadOptions {
            name: Some(&plugin.name),
            allow_uncertified: true,
            ..LoadOptions::default()
        });
        if let Some(refusal) = refusal {
            return Err(ArtifactsError::Refused {
                reference: reference.to_owned(),
                refusal: Box::new(refusal),
            });
        }
    }
    Ok(facts)
}
