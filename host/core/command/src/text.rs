//! Text for a terminal: its width, its line breaks, and characters that must not reach the terminal.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

/// A count of replicas that is less than the one requested: `60 of 100`.
pub fn partial_count(replicas: i64, requested: i64) -> String {
    format!("{replicas} of {requested}")
}

/// Number of terminal columns that a text occupies.
pub fn width(text: &str) -> usize {
    // Nearly all text is of this kind, and the tables of Unicode are slow.
    match is_plain(text) {
        true => text.len(),
        false => UnicodeWidthStr::width(text),
    }
}

/// True for ASCII without control characters, where each byte is a column.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Escapes control characters; newlines and tabs become spaces. Text from manifests and plugins must neither break
/// lines nor reach the terminal as a command.
pub fn printable(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(' '),
            control if is_control(control) => {
                let _infallible = write!(shown, "{}", control.escape_default());
            }
            other => shown.push(other),
        }
    }
    Cow::Owned(shown)
}

pub use divvy_loader::shown::is_control;

/// True for control characters other than line breaks and tabs.
pub fn is_hidden(character: char) -> bool {
    is_control(character) && !matches!(character, '\n' | '\t')
}

/// Wraps a text between words, to lines of at most `columns`. A longer word gets a line of its own.
pub fn wrapped(text: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else {
        return vec![text.to_owned()];
    };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let needed = width(word);
        if used > 0 && used + 1 + needed > columns {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += needed;
        }
    }
    lines
}

/// `1 cluster`, `2 clusters`.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

/// The word for one or for several.
pub fn plural(count: usize, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

/// Names in one line, at most `most` of them: `a, b, and 3 more`.
pub fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let count = names.len();
    // `and 1 more` would take as much room as the name.
    let shown = if count <= most + 1 { count } else { most };
    let mut text = String::new();
    for name in names.take(shown) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&printable(name));
    }
    if shown < count {
        let _infallible = write!(text, ", and {} more", count - shown);
    }
    text
}
