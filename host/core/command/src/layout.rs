//! Forms of a result as text: for a terminal, or as Markdown.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;

use crate::notes::folded;
use crate::style;
use crate::text::{printable, wrapped};

/// Form of a result as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Aligned columns. Lines are wrapped at the width of the terminal; without one, nothing is wrapped.
    Terminal(Option<usize>),
    /// Markdown as GitHub, GitLab and Gitea show it.
    Markdown,
}

impl Layout {
    /// Writes a paragraph of free text.
    ///
    /// # Errors
    ///
    /// The error of `out`. Some lines may have been written.
    pub fn paragraph(self, text: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let text = printable(text);
        match self {
            Self::Terminal(columns) => wrapped(&text, columns)
                .iter()
                .try_for_each(|part| writeln!(out, "{style}{part}{style:#}")),
            Self::Markdown if style == style::NAME => writeln!(out, "**{}**\n", markdown(&text)),
            Self::Markdown => writeln!(out, "{}\n", markdown(&text)),
        }
    }

    /// Writes the line between two parts. In Markdown, every part ends with one already.
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn gap(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Terminal(_) => writeln!(out),
            Self::Markdown => Ok(()),
        }
    }

    /// Writes the notes of a result as a part of it. On a terminal, they are messages beside it.
    ///
    /// # Errors
    ///
    /// The error of `out`. Some lines may have been written.
    pub fn notes(self, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Terminal(_) => Ok(()),
            Self::Markdown => {
                let mut notes = folded(notes).into_iter();
                notes.try_for_each(|note| self.paragraph(&format!("Note: {note}"), style::PLAIN, out))
            }
        }
    }
}

impl From<Option<usize>> for Layout {
    fn from(columns: Option<usize>) -> Self {
        Self::Terminal(columns)
    }
}

/// Text in which nothing has a meaning in Markdown, in HTML or on a forge: manifests can contain links, tags and mentions.
pub fn markdown(text: &str) -> Cow<'_, str> {
    let is_special = |character: char| "\\`*_{}[]()<>#+!|&~@$".contains(character);
    if !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A backslash would not keep a forge from notifying the account, or from linking the issue.
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            '|' => escaped.push_str("&#124;"),
            // These have no meaning within a line of text.
            '{' | '}' | '(' | ')' | '+' => escaped.push(character),
            special if is_special(special) => escaped.extend(['\\', special]),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_manifests_has_no_meaning_in_markdown() {
        let cases = [
            ("web-deployment", "web-deployment"),
            ("a|b", "a&#124;b"),
            ("<img src=x>", "&lt;img src=x&gt;"),
            ("@team #1", "&#64;team &#35;1"),
            ("[x](http://y)", "\\[x\\](http://y)"),
            ("`**_~~", "\\`\\*\\*\\_\\~\\~"),
            ("a & b", "a &amp; b"),
            ("10→4 (+2)", "10→4 (+2)"),
        ];
        for (text, expected) in cases {
            assert_eq!(markdown(text), expected);
        }
    }
}
