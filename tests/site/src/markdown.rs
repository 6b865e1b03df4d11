//! Links, headings and blocks of code of a Markdown text, with their positions.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A link or a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Bytes of the whole link, from its first bracket to its last.
    pub range: Range<usize>,
    /// Its destination, such as `../README.md#status`.
    pub destination: String,
    /// True for a picture.
    pub is_picture: bool,
}

/// A fenced block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Bytes of the block with its fences.
    pub range: Range<usize>,
    /// The words after the first fence.
    pub language: String,
    /// Its lines.
    pub code: String,
    /// The comment `<!-- … -->` in the line before, without its signs; empty if there is none.
    pub comment: String,
}

fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// All links and pictures, in their order. Links inside code are none.
pub fn links(text: &str) -> Vec<Link> {
    let found = events(text).filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. }) => Some((range, dest_url, false)),
        Event::Start(Tag::Image { dest_url, .. }) => Some((range, dest_url, true)),
        _ => None,
    });
    let found = found.map(|(range, destination, is_picture)| Link {
        range,
        destination: destination.into_string(),
        is_picture,
    });
    found.collect()
}

/// The fragments by which headings are linked, as mdBook and the usual forges make them.
pub fn fragments(text: &str) -> Vec<String> {
    let (mut fragments, mut counts) = (Vec::new(), BTreeMap::<String, usize>::new());
    let mut heading: Option<String> = None;
    for (event, _) in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let fragment = fragment(&heading.take().unwrap_or_default());
                let count = counts.entry(fragment.clone()).or_default();
                fragments.push(match *count {
                    0 => fragment,
                    number => format!("{fragment}-{number}"),
                });
                *count += 1;
            }
            _ => {}
        }
    }
    fragments
}

/// The fragment of one heading.
fn fragment(heading: &str) -> String {
    let kept = heading.chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        other if other.is_alphanumeric() => Some(other),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// All fenced blocks of code, in their order.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_inside, mut comment) = (false, String::new());
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_inside = true;
                blocks.push(Block {
                    range,
                    language: language.into_string(),
                    code: String::new(),
                    comment: std::mem::take(&mut comment),
                });
            }
            Event::Text(code) => {
                if let Some(block) = blocks.last_mut().filter(|_| is_inside) {
                    block.code.push_str(&code);
                }
            }
            Event::End(TagEnd::CodeBlock) => is_inside = false,
            Event::Html(html) => {
                let inner = html
                    .trim()
                    .strip_prefix("<!--")
                    .and_then(|rest| rest.strip_suffix("-->"));
                comment = inner.unwrap_or_default().trim().to_owned();
            }
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            _ => comment.clear(),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_none() {
        let text = "[a](b.md#c) `[d](e)` ![f](g.svg)\n\n```\n[h](i)\n```\n";
        let found: Vec<(String, bool)> = links(text)
            .into_iter()
            .map(|link| (link.destination, link.is_picture))
            .collect();
        assert_eq!(found, [("b.md#c".to_owned(), false), ("g.svg".to_owned(), true)]);
    }

    #[test]
    fn headings_have_the_fragments_of_mdbook_and_the_forges() {
        let text = "# A `divvy run`, *twice*\n\n## Same\n\n## Same\n";
        assert_eq!(fragments(text), ["a-divvy-run-twice", "same", "same-1"]);
    }

    #[test]
    fn a_block_has_the_comment_that_is_right_before_it() {
        let text = "<!-- file: a.yaml -->\n```yaml\nb: 1\n```\n\ntext\n\n```sh\nc\n```\n";
        let found: Vec<(String, String, String)> = blocks(text)
            .into_iter()
            .map(|block| (block.language, block.code, block.comment))
            .collect();
        let owned = |parts: [&str; 3]| {
            let [language, code, comment] = parts.map(str::to_owned);
            (language, code, comment)
        };
        assert_eq!(
            found,
            [owned(["yaml", "b: 1\n", "file: a.yaml"]), owned(["sh", "c\n", ""])]
        );
    }
}
