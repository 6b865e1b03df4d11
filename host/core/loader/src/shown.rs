//! Texts of plugins as people may see them. A plugin chooses its texts, so they must not act on what shows them: a terminal, a log, an
//! editor.

use std::borrow::Cow;

/// True for control characters, and for characters that no one sees but that change the direction of text or break lines.
pub fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// The text in one line: line breaks and tabs become spaces, and any other control character U+FFFD, as bytes that are not UTF-8 do.
pub fn one_line(text: &str) -> Cow<'_, str> {
    // Nearly all texts are of this kind.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|character| visible(character, true)).collect())
}

/// As [`one_line`], but with the line breaks of the text.
pub fn lines(text: &str) -> Cow<'_, str> {
    match text.contains(is_control) {
        true => Cow::Owned(text.chars().map(|character| visible(character, false)).collect()),
        false => Cow::Borrowed(text),
    }
}

fn visible(character: char, is_one_line: bool) -> char {
    match character {
        '\n' if !is_one_line => '\n',
        '\n' | '\t' => ' ',
        control if is_control(control) => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_one_line_without_control_characters() {
        for (text, expected) in [
            ("no room in `m1`", "no room in `m1`"),
            ("é 東 — ok", "é 東 — ok"),
            ("one\ntwo\tthree", "one two three"),
            ("done\r\nERROR all is lost", "done\u{fffd} ERROR all is lost"),
            (
                "\u{1b}[2J\u{7}\0\u{7f}\u{9b}m",
                "\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}\u{fffd}m",
            ),
            (
                "a\u{202e}b\u{2066}c\u{200f}d\u{61c}e",
                "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e",
            ),
            (
                "a\u{2028}b\u{2029}c\u{85}d\u{feff}",
                "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}",
            ),
        ] {
            assert_eq!(one_line(text), expected, "{text:?}");
            assert!(!one_line(text).contains(is_control), "{text:?}");
        }
        assert_eq!(lines("table\nm1\r\n\u{202e}3"), "table\nm1\u{fffd}\n\u{fffd}3");
        assert_eq!(lines("table"), "table");
    }
}
