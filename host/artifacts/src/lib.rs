//! Plugins as OCI artifacts: libraries in registries, as container images are, and in folders with the same content.
//!
//! - [`Signing`] and [`TrustedKey`]: minisign signatures, which say what an artifact is called as well as what it contains.
//! - [`push()`]: libraries of one plugin, one for each architecture, become an artifact.
//! - [`pull()`]: an artifact becomes files in a folder from which the loader takes them. Nothing of it is believed before it is checked, and
//!   nothing is in its final position before everything is.
//! - [`Repository`]: a place for artifacts: a [`Registry`] or a [`Layout`]. Neither is believed, so both are checked by the same code.
//!
//! The documents, and the way from a digest to a library, are the loader's (`divvy_loader::artifact`), which needs no network. This crate
//! knows no profiles but for their references, and no terminals.

mod error;
mod facts;
mod layout;
mod pull;
mod push;
mod registry;
mod repository;
mod signature;

pub use error::ArtifactsError;
pub use facts::{LibraryFacts, PluginFacts};
pub use layout::Layout;
pub use pull::{Pull, Pulled, Trust, pull};
pub use push::{Push, Pushed, push};
pub use registry::{Registry, RegistryOptions};
pub use repository::{Name, Repository, Served};
pub use signature::{KeyPair, Password, SIGNATURES_MAX, Signing, Statement, TrustedKey};
