//! Preprocessor of mdBook for `docs/`.
//!
//! A page of the site can be a document that lives elsewhere, such as the README of a plugin: `{{#include ../plugins/tree/README.md}}`.
//! mdBook copies the text and leaves its links as they are, which then lead nowhere. This preprocessor makes each link one to the page
//! that has the document, or the path of the file if no page has it. A link to a file that does not exist is an error.
//!
//! - [`markdown`]: links and headings of a Markdown text. [`links`]: where a link leads from a page.
//! - [`book`]: mdBook's JSON: pages in, pages out.
//! - [`help`]: `{{#help}}`, the `--help` of all commands. [`schema`]: `{{#schema FILE}}`, the tables of a JSON Schema.
//!
//! It writes nothing and starts no program: the texts of help and the schemas are files that tests compare with the binary.

pub mod book;
mod help;
mod links;
pub mod markdown;
mod schema;

use std::path::PathBuf;

/// Reason why the site cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A document cannot be read.
    #[error("{page}: `{}` cannot be read: {source}", path.display())]
    Read {
        /// Page that includes it.
        page: String,
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A link leads to a file that does not exist.
    #[error("{document}: `{destination}` leads to no file")]
    BrokenLink {
        /// Document with the link.
        document: String,
        /// The link.
        destination: String,
    },
    /// A picture is outside `docs/`, so mdBook does not copy it.
    #[error("{document}: the picture `{destination}` is outside docs/")]
    PictureOutside {
        /// Document with the picture.
        document: String,
        /// Its link.
        destination: String,
    },
    /// A JSON Schema cannot be parsed.
    #[error("{page}: `{path}` is not JSON: {source}")]
    Schema {
        /// Page with the schema.
        page: String,
        /// The file.
        path: String,
        /// Cause.
        source: serde_json::Error,
    },
    /// The input is not that of mdBook 0.5.
    #[error("expected a context with `root`, and a book with `items`, as mdBook 0.5 writes them")]
    Input,
}
