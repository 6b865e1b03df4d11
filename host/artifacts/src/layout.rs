//! A folder with artifacts: an OCI image layout, 1.0. It is what is pushed to and pulled from without a registry, and what `pull` fills.
//!
//! A name is written in full, `HOST/REPOSITORY:TAG`, so one folder can hold any number of artifacts, and an artifact is called in a folder what it
//! is called in a registry. Entries of other tools stay as they are.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use divvy_loader::artifact::{BLOBS_FOLDER, ContentDigest, DOCUMENT_BYTES_MAX, Descriptor, INDEX_TYPE, read_bounded};
use divvy_loader::replaceable_by_others;
use divvy_profile::ArtifactReference;
use rustix::fs::{Mode, OFlags};
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::error::ArtifactsError;
use crate::repository::{Name, Repository, Served};

const MARKER: &str = "oci-layout";
const INDEX: &str = "index.json";
const VERSION: &str = "1.0.0";
const NAME_ANNOTATION: &str = "org.opencontainers.image.ref.name";
/// Largest `index.json`, in bytes: tens of thousands of names.
const INDEX_BYTES_MAX: u64 = 16 << 20;
const MARKER_BYTES_MAX: u64 = 4 << 10;
/// Others may read what was pulled: a scheduler often runs as another user.
const FILE_MODE: u32 = 0o644;

/// The artifacts of one name in a folder.
#[derive(Debug, Clone)]
pub struct Layout {
    folder: PathBuf,
    /// `HOST/REPOSITORY`.
    name: String,
}

impl Layout {
    /// Opens a folder that must be a layout.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::NotALayout`], and [`ArtifactsError::Link`] if a part of it is a symbolic link.
    pub fn open(folder: &Path, reference: &ArtifactReference) -> Result<Self, ArtifactsError> {
        let layout = Self::new(folder, reference);
        layout.check_links()?;
        let marker = folder.join(MARKER);
        let not_a_layout = |message: String| ArtifactsError::NotALayout {
            path: folder.to_owned(),
            message,
        };
        let file = open_regular(&marker).map_err(|source| not_a_layout(format!("`{MARKER}`: {source}")))?;
        let bytes = read_bounded(&format!("`{}`", marker.display()), file, MARKER_BYTES_MAX)?;
        let marker: Value =
            serde_json::from_slice(&bytes).map_err(|error| not_a_layout(format!("`{MARKER}`: {error}")))?;
        match marker.get("imageLayoutVersion").and_then(Value::as_str) {
            Some(VERSION) => Ok(layout),
            other => Err(not_a_layout(format!(
                "expected version {VERSION}, found {}",
                other.unwrap_or("none")
            ))),
        }
    }

    /// Opens a folder to write to it, and makes it a layout if it is not one yet.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], or if it cannot be written.
    pub fn create(folder: &Path, reference: &ArtifactReference) -> Result<Self, ArtifactsError> {
        let layout = Self::new(folder, reference);
        let blobs = layout.blobs();
        layout.check_links()?;
        fs::create_dir_all(&blobs).map_err(|source| file_error(&blobs, source))?;
        let marker = folder.join(MARKER);
        if marker.symlink_metadata().is_err() {
            let text = format!("{}\n", json!({ "imageLayoutVersion": VERSION }));
            layout.replace(folder, &marker, text.as_bytes())?;
        }
        Self::open(folder, reference)
    }

    /// As [`Self::create`], for a folder that only root and this user may change.
    ///
    /// # Errors
    ///
    /// As [`Self::create`], and [`ArtifactsError::Replaceable`] if others can change the folder or the one with its blobs.
    pub fn create_own(folder: &Path, reference: &ArtifactReference) -> Result<Self, ArtifactsError> {
        // Before anything is written, and again for what was there already.
        fs::create_dir_all(folder).map_err(|source| file_error(folder, source))?;
        let check = |path: &Path| replaceable_by_others(path).map_or(Ok(()), |found| Err(ArtifactsError::from(found)));
        check(folder)?;
        let layout = Self::create(folder, reference)?;
        check(&layout.blobs())?;
        Ok(layout)
    }

    fn new(folder: &Path, reference: &ArtifactReference) -> Self {
        Self {
            folder: folder.to_owned(),
            name: reference.name(),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn blobs(&self) -> PathBuf {
        self.folder.join(BLOBS_FOLDER)
    }

    fn blob_path(&self, digest: &ContentDigest) -> PathBuf {
        self.blobs().join(digest.hexadecimal())
    }

    /// What is written below a link would be somewhere else.
    fn check_links(&self) -> Result<(), ArtifactsError> {
        let blobs = self.blobs();
        let parts = [
            self.folder.join(MARKER),
            self.folder.join(INDEX),
            self.folder.join("blobs"),
            blobs,
        ];
        let link = parts.into_iter().find(|path| path.is_symlink());
        link.map_or(Ok(()), |path| Err(ArtifactsError::Link { path }))
    }

    /// A file beside the blobs, for content that is not checked yet. It is removed unless it is stored.
    pub(crate) fn stage(&self) -> Result<NamedTempFile, ArtifactsError> {
        self.temporary(&self.blobs())
    }

    fn temporary(&self, folder: &Path) -> Result<NamedTempFile, ArtifactsError> {
        let file = tempfile::Builder::new()
            .prefix(".partial-")
            .permissions(fs::Permissions::from_mode(FILE_MODE))
            .tempfile_in(folder);
        file.map_err(|source| file_error(folder, source))
    }

    /// Puts a file that was checked into its position.
    pub(crate) fn store(&self, digest: &ContentDigest, file: NamedTempFile) -> Result<PathBuf, ArtifactsError> {
        let path = self.blob_path(digest);
        persist(file, &path)?;
        Ok(path)
    }

    fn replace(&self, folder: &Path, path: &Path, bytes: &[u8]) -> Result<(), ArtifactsError> {
        let mut file = self.temporary(folder)?;
        file.write_all(bytes).map_err(|source| file_error(path, source))?;
        persist(file, path)
    }

    /// Reads `index.json`; an empty one if there is none.
    fn index(&self) -> Result<Map<String, Value>, ArtifactsError> {
        let path = self.folder.join(INDEX);
        let file = match open_regular(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Map::new()),
            Err(source) => return Err(file_error(&path, source)),
        };
        let bytes = read_bounded(&format!("`{}`", path.display()), file, INDEX_BYTES_MAX)?;
        serde_json::from_slice(&bytes).map_err(|error| ArtifactsError::NotALayout {
            path: self.folder.clone(),
            message: format!("`{INDEX}`: {error}"),
        })
    }

    /// The only descriptor with this tag.
    fn tagged(&self, tag: &str) -> Result<Option<Descriptor>, ArtifactsError> {
        let name = format!("{}:{tag}", self.name);
        let index = self.index()?;
        let entries = index
            .get("manifests")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let named: Vec<&Value> = entries.iter().filter(|entry| is_named(entry, &name)).collect();
        match named.as_slice() {
            [] => Ok(None),
            [only] => {
                let descriptor = serde_json::from_value::<Descriptor>((*only).clone());
                descriptor.map(Some).map_err(|error| ArtifactsError::NotALayout {
                    path: self.folder.clone(),
                    message: format!("`{INDEX}`: the entry of `{name}`: {error}"),
                })
            }
            several => Err(ArtifactsError::Ambiguous {
                path: self.folder.clone(),
                name,
                count: several.len(),
            }),
        }
    }

    /// Names a document that is stored.
    pub(crate) fn name(&self, tag: &str, descriptor: &Descriptor) -> Result<(), ArtifactsError> {
        let path = self.folder.join(INDEX);
        let marker = self.folder.join(MARKER);
        // Two commands at a time would each lose the other's entry. The lock ends with the file.
        let lock = open_regular(&marker).map_err(|source| file_error(&marker, source))?;
        lock.lock().map_err(|source| file_error(&marker, source))?;
        let mut index = self.index()?;
        let name = format!("{}:{tag}", self.name);
        let mut named = descriptor.clone();
        named.annotations.insert(NAME_ANNOTATION.to_owned(), name.clone());
        index.insert("schemaVersion".to_owned(), 2.into());
        index.insert("mediaType".to_owned(), INDEX_TYPE.into());
        let entries = index.entry("manifests").or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(entries) = entries else {
            return Err(ArtifactsError::NotALayout {
                path: self.folder.clone(),
                message: format!("`{INDEX}`: `manifests` is not a list"),
            });
        };
        entries.retain(|entry| !is_named(entry, &name));
        entries.push(json!(named));
        let text = serde_json::to_vec(&index).map_err(|error| file_error(&path, error.into()))?;
        self.replace(&self.folder, &path, &text)
    }

    fn open_blob(&self, digest: &ContentDigest) -> Result<Option<File>, ArtifactsError> {
        let path = self.blob_path(digest);
        match open_regular(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(_) if path.is_symlink() => Err(ArtifactsError::Link { path }),
            Err(source) => Err(file_error(&path, source)),
        }
    }
}

impl Repository for Layout {
    fn describe(&self) -> String {
        format!("`{}`", self.folder.display())
    }

    fn document(&self, name: Name<'_>) -> Result<Option<Served>, ArtifactsError> {
        let (digest, media_type) = match name {
            Name::Digest(digest) => (digest.clone(), String::new()),
            Name::Tag(tag) => match self.tagged(tag)? {
                Some(descriptor) => (descriptor.digest, descriptor.media_type),
                None => return Ok(None),
            },
        };
        let Some(file) = self.open_blob(&digest)? else {
            return Ok(None);
        };
        let what = format!("`{}`", self.blob_path(&digest).display());
        Ok(Some(Served {
            bytes: read_bounded(&what, file, DOCUMENT_BYTES_MAX)?,
            media_type,
            digest: Some(digest.to_string()),
        }))
    }

    fn blob(&self, descriptor: &Descriptor) -> Result<Box<dyn Read + '_>, ArtifactsError> {
        match self.open_blob(&descriptor.digest)? {
            Some(file) => Ok(Box::new(file)),
            None => Err(ArtifactsError::NotFound {
                reference: descriptor.digest.to_string(),
                place: self.describe(),
            }),
        }
    }

    fn put_blob(&self, digest: &ContentDigest, bytes: &[u8]) -> Result<(), ArtifactsError> {
        self.replace(&self.blobs(), &self.blob_path(digest), bytes)
    }

    fn put_document(&self, tag: Option<&str>, descriptor: &Descriptor, bytes: &[u8]) -> Result<(), ArtifactsError> {
        self.put_blob(&descriptor.digest, bytes)?;
        tag.map_or(Ok(()), |tag| self.name(tag, descriptor))
    }
}

fn is_named(entry: &Value, name: &str) -> bool {
    let annotation = entry
        .get("annotations")
        .and_then(|annotations| annotations.get(NAME_ANNOTATION));
    annotation.and_then(Value::as_str) == Some(name)
}

fn persist(file: NamedTempFile, path: &Path) -> Result<(), ArtifactsError> {
    file.as_file().sync_all().map_err(|source| file_error(path, source))?;
    file.persist(path).map_err(|error| file_error(path, error.error))?;
    Ok(())
}

/// Opens a regular file that is not a link. A pipe would be waited for, so it is not opened as one.
fn open_regular(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other("it is not a regular file")),
    }
}

fn file_error(path: &Path, source: std::io::Error) -> ArtifactsError {
    ArtifactsError::File {
        path: path.to_owned(),
        source,
    }
}
