//! Colours, each named after its meaning.
//!
//! Only the sixteen colours of the terminal's theme are used, so that text is readable on any background.

use anstyle::{AnsiColor, Style};

/// Ordinary text.
pub const PLAIN: Style = Style::new();
/// Names of bindings and plugins, the first thing that a reader looks for.
pub const NAME: Style = Style::new().bold();
/// Secondary text: titles, locations, figures.
pub const FAINT: Style = Style::new().dimmed();
/// Success, or growth.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// A result that needs attention, or shrinkage.
pub const NOTABLE: Style = AnsiColor::Yellow.on_default();
/// Failure.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Names of strategies.
pub const STRATEGY: Style = AnsiColor::Cyan.on_default();
/// The word `error`.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The word `warning`.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The words `hint` and `note`.
pub const HINT: Style = AnsiColor::Cyan.on_default().bold();
