//! The colours, in one place, each named after what it means.
//!
//! The sixteen colours of the terminal's own theme alone, so that they can be read on any background.

use anstyle::{AnsiColor, Style};

/// Ordinary text.
pub(crate) const PLAIN: Style = Style::new();
/// What a reader looks for first: names of bindings and plugins.
pub(crate) const NAME: Style = Style::new().bold();
/// What is there if wanted: titles, hints of places.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// It went well; it grew.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// It asks for attention; it shrank.
pub(crate) const NOTABLE: Style = AnsiColor::Yellow.on_default();
/// It failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// The names of strategies.
pub(crate) const STRATEGY: Style = AnsiColor::Cyan.on_default();
/// The word `error`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The word `warning`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The words `hint` and `note`.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
