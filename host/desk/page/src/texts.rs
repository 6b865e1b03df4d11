//! Texts that occur many times, each kept once, and texts with characters that make them deceptive.

use std::collections::HashMap;

/// Texts by number, in the order of their first use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Texts {
    /// The number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// The texts, at the index of their number.
    pub(crate) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

/// A text whose control characters, and characters that change the direction of text, are escaped. A browser would obey them.
pub(crate) fn visible(text: &str) -> String {
    let is_hidden = |character: char| {
        character.is_control() && !matches!(character, '\n' | '\t')
            || matches!(
                character,
                '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
            )
    };
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_hidden(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(visible("web\u{202e}\u{1b}[31m\té\n"), "web\\u{202e}\\u{1b}[31m\té\n");
        assert_eq!(visible("web\u{200f}\u{2028}"), "web\\u{200f}\\u{2028}");
    }
}
