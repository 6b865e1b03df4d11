//! Edits of sources by their tokens, which rewording a comment or reformatting code does not break.

use std::ops::Range;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// A replacement in one file of the repository. The replaced tokens must occur exactly once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// Path of the file in the repository.
    pub(crate) file: &'static str,
    /// Tokens to replace, without comments.
    pub(crate) from: &'static str,
    /// Replacement.
    pub(crate) to: &'static str,
}

/// One token, or one side of a pair of brackets, and its place in the text.
struct Token {
    text: String,
    place: Range<usize>,
}

impl Edit {
    /// The text of the file with this edit.
    ///
    /// # Panics
    ///
    /// Panics unless the replaced tokens occur exactly once.
    pub(crate) fn apply(&self, text: &str) -> String {
        let (tokens, from) = (tokens(text), tokens(self.from));
        let matches = |window: &&[Token]| {
            window
                .iter()
                .zip(&from)
                .all(|(found, wanted)| found.text == wanted.text)
        };
        let mut found = tokens.windows(from.len()).filter(matches);
        let (Some(replaced), None) = (found.next(), found.next()) else {
            panic!("{} must have these tokens exactly once: {}", self.file, self.from);
        };
        let (start, end) = (replaced[0].place.start, replaced[replaced.len() - 1].place.end);
        [&text[..start], self.to, &text[end..]].concat()
    }
}

/// The tokens of a source, in order, without comments.
fn tokens(text: &str) -> Vec<Token> {
    fn collect(stream: TokenStream, text: &str, tokens: &mut Vec<Token>) {
        let mut trees = stream.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                // The compiler sees the attribute `doc` where the text has a comment.
                TokenTree::Punct(sign) if sign.as_char() == '#' && text[sign.span().byte_range()].starts_with('/') => {
                    trees.next_if(|tree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '!'));
                    trees.next();
                }
                TokenTree::Group(group) => {
                    let has_brackets = group.delimiter() != Delimiter::None;
                    tokens.extend(has_brackets.then(|| token(group.span_open(), text)));
                    collect(group.stream(), text, tokens);
                    tokens.extend(has_brackets.then(|| token(group.span_close(), text)));
                }
                leaf => tokens.push(token(leaf.span(), text)),
            }
        }
    }
    let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut tokens = Vec::new();
    collect(stream, text, &mut tokens);
    tokens
}

fn token(span: Span, text: &str) -> Token {
    let place = span.byte_range();
    Token {
        text: text[place.clone()].to_owned(),
        place,
    }
}

#[test]
fn comments_and_spaces_do_not_matter_to_an_edit() {
    let text = "//! A file.\n\nstruct One {\n    /// A comment.\n    first: u32, // another\n\n    #[doc(hidden)]\n    last: u32,\n}\n";
    let edit = Edit {
        file: "one.rs",
        from: "first:u32, #[doc(hidden)] last",
        to: "only",
    };
    assert_eq!(
        edit.apply(text),
        "//! A file.\n\nstruct One {\n    /// A comment.\n    only: u32,\n}\n"
    );
}

#[test]
#[should_panic(expected = "one.rs must have these tokens exactly once: u32")]
fn an_edit_that_could_be_made_in_two_places_is_refused() {
    let edit = Edit {
        file: "one.rs",
        from: "u32",
        to: "u64",
    };
    edit.apply("struct One { first: u32, last: u32 }");
}
