//! Tables for a terminal: aligned columns, text that fits, colours by their meaning.
//!
//! A crate of its own, because a table of millions of cells is written by its innermost functions, while the rest of the command
//! line is compiled for a short build.
//!
//! - [`grid`]: rows of cells in columns.
//! - [`text`]: the width of a text, its line breaks, and what must not reach a terminal.
//! - [`style`]: colours, each named after its meaning.

mod cell;
pub mod grid;
pub mod style;
pub mod text;
