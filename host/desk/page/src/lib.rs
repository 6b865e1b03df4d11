//! A report as one HTML file: a verdict, charts, and the same data as tables.
//!
//! The file makes no requests: a Content Security Policy allows its own scripts and styles, by their hashes, and nothing else. The
//! data are gzipped JSON, which the browser unpacks, so that the file is small even for a large fleet.
//!
//! - [`content`]: the content of a page. A caller fills it from a forecast or from decisions.
//! - [`explanations`]: reasons per cluster, kept in little memory while decisions are made.
//! - [`flow`]: moves from cluster to cluster, attributed.
//! - [`data`]: the content in columns, as the page's scripts read it.
//! - [`sheet`]: a page of tables.
//! - [`table`]: its tables, and those of other pages.
//! - [`headline`](mod@headline): the verdict and its figures ([`figure`](mod@figure)), which the page shows even if scripts are off.
//! - [`digest`]: the digest of the input, which a page names.
//! - [`render()`]: the file.
//!
//! This crate opens no files, has no output and makes no decisions.

pub mod content;
pub mod data;
pub mod digest;
pub mod explanations;
pub mod figure;
pub mod flow;
pub mod headline;
mod number;
mod packed;
pub mod render;
pub mod sheet;
pub mod table;
mod texts;

pub use content::{Binding, Command, Content, Growth, Heading};
pub use explanations::{Explained, Explanations};
pub use render::{PageError, render, render_sheet};
pub use sheet::Sheet;
