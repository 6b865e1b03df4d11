//! Plugins as OCI artifacts: the documents around a library, and finding the library of a digest in folders.
//!
//! An artifact is a chain of digests: an index names the manifest of each architecture, a manifest names its library. A profile pins the first
//! link, so nothing else has to be believed, neither the folder that holds the files nor a record of what was pulled. Each document is
//! bounded before it is read, and compared with the digest that names it before it is parsed. The library's bytes are compared by
//! the loader, as those of any library with a checksum: exactly the bytes that were hashed are opened.
//!
//! The folder is an OCI image layout, of which only `blobs/sha256` is read here. Nothing in this module uses a network.

mod digest;
mod document;
mod error;
mod stored;

pub use digest::{ContentDigest, InvalidDigest};
pub use document::{
    ARTIFACT_TYPE, CONFIGURATION_TYPE, DOCUMENT_BYTES_MAX, Descriptor, Document, INDEX_TYPE, Index, LIBRARY_TYPE,
    MANIFEST_TYPE, MANIFESTS_MAX, Manifest, Platform, TITLE_ANNOTATION, VERSION_ANNOTATION,
};
pub use error::ArtifactError;
pub use stored::{BLOBS_FOLDER, StoredLibrary, find_artifact, read_bounded};
