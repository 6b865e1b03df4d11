//! Texts that occur many times, each kept once.

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
