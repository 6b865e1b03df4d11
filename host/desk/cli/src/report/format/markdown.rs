//! `-o markdown`: tables for a comment on a pull request.
//!
//! A forge refuses comments above 65,536 characters, so that rows are left out beyond 60,000: from the longest table first, with their
//! number. Verdict, sums and notes stay.

use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::layout::Layout;
use divvy_command::text::{counted, plural};

use super::{Content, Format, Needs, Offer};

/// Maximum number of characters, with room for what a job adds.
const CHARACTERS_MAX: usize = 60_000;
/// Characters that are kept for sentences about what is left out.
const RESERVED: usize = 2_000;
/// Lines of a table that are not rows: titles, and the line below them.
const TITLES: usize = 2;

/// `-o markdown`.
pub(super) const OFFER: Offer = Offer {
    name: "markdown",
    help: "Tables for a comment on a pull request, at most 60,000 characters; long ones are folded",
    needs: Needs::Markdown,
    make: |_| Ok(Arc::new(Markdown { link: None })),
};

/// `-o markdown=URL`.
pub(super) const WITH_LINK: Offer = Offer {
    name: "markdown=URL",
    help: "The same with a link to the whole report, such as an artifact of the job",
    needs: Needs::Markdown,
    make: |link| {
        let is_plain = |character: char| character.is_ascii_graphic() && !"()<>[]\\`\"".contains(character);
        let is_link = ["https://", "http://"].iter().any(|scheme| link.starts_with(scheme));
        match is_link && link.chars().all(is_plain) {
            true => Ok(Arc::new(Markdown {
                link: Some(link.to_owned()),
            })),
            false => Err(format!(
                "expected a URL such as `https://forge.example/run/7`, got `{link}`"
            )),
        }
    },
};

#[derive(Debug)]
struct Markdown {
    /// Where the whole report is.
    link: Option<String>,
}

impl Format for Markdown {
    fn is_markdown(&self) -> bool {
        true
    }

    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        let written = content.write_text(Layout::Markdown, &mut bytes);
        written.map_err(|error| Failure::internal(Diagnostic::new(error.to_string())))?;
        let text = shortened(&String::from_utf8_lossy(&bytes), CHARACTERS_MAX, self.link.as_deref());
        console.print(|out| out.write_all(text.as_bytes()))
    }
}

/// A part of a text: a table, or the lines between two.
struct Block<'a> {
    lines: Vec<&'a str>,
    is_table: bool,
    /// Rows that are left out.
    cut: usize,
}

impl Block<'_> {
    fn rows(&self) -> usize {
        match self.is_table {
            true => self.lines.len().saturating_sub(TITLES),
            false => 0,
        }
    }

    fn characters(&self) -> usize {
        self.lines.iter().map(|line| line.chars().count()).sum()
    }
}

/// A text with rows left out until it has at most this many characters, and a link to all of it.
fn shortened(text: &str, most: usize, link: Option<&str>) -> String {
    let mut blocks = blocks(text);
    let mut characters = text.chars().count();
    let budget = most.saturating_sub(RESERVED);
    while characters > budget {
        let longest = blocks.iter_mut().filter(|block| block.rows() > 0);
        let Some(longest) = longest.max_by_key(|block| block.characters()) else {
            break;
        };
        if let Some(line) = longest.lines.pop() {
            longest.cut += 1;
            characters -= line.chars().count();
        }
    }
    let is_cut = blocks.iter().any(|block| block.cut > 0);
    let mut kept = String::new();
    for block in &blocks {
        kept.extend(block.lines.iter().copied());
        if block.cut > 0 {
            let (rows, are) = (counted(block.cut, "more row"), plural(block.cut, "is", "are"));
            kept.push_str(&format!("\n{rows} {are} left out.\n"));
        }
    }
    // Without tables, only the beginning is left. The numbers of rows take a part of what is reserved.
    let fits = kept.chars().count() <= budget + RESERVED / 2;
    if !fits {
        kept = kept.chars().take(budget).collect();
        kept.push_str("\n\n…\n");
    }
    if is_cut || !fits {
        kept.push_str("\nA comment on a forge has at most 65,536 characters.\n");
    }
    if let Some(link) = link {
        kept.push_str(&format!("\n[The whole report]({link})\n"));
    }
    kept
}

/// The tables of a text, and what is between them. Lines keep their ends.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_table = line.starts_with('|');
        match blocks.last_mut().filter(|block| block.is_table == is_table) {
            Some(block) => block.lines.push(line),
            None => blocks.push(Block {
                lines: vec![line],
                is_table,
                cut: 0,
            }),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize) -> String {
        let rows: String = (0..rows).map(|row| format!("| row {row} | ä |\n")).collect();
        format!("| A | B |\n| - | - |\n{rows}")
    }

    #[test]
    fn a_short_text_stays_as_it_is() {
        let text = format!("Title\n\n{}\n**Verdict**\n", table(10));
        assert_eq!(shortened(&text, CHARACTERS_MAX, None), text);
        let linked = shortened(&text, CHARACTERS_MAX, Some("https://x.example/1"));
        assert_eq!(linked, format!("{text}\n[The whole report](https://x.example/1)\n"));
    }

    #[test]
    fn rows_of_the_longest_table_are_left_out_and_the_verdict_stays() {
        let text = format!("Title\n\n{}\n{}\n**Verdict**\n", table(9_000), table(20));
        let short = shortened(&text, CHARACTERS_MAX, Some("https://x.example/1"));
        assert!(short.chars().count() <= CHARACTERS_MAX);
        assert!(short.chars().count() > CHARACTERS_MAX - 2 * RESERVED);
        let rows = short.lines().filter(|line| line.starts_with("| row")).count();
        let sentence = format!("\n{} more rows are left out.\n", 9_020 - rows);
        assert!(short.contains(&sentence), "{rows}");
        assert!(short.contains(&table(20)), "the short table stays");
        assert!(short.contains("\n**Verdict**\n"));
        assert!(short.ends_with("\n[The whole report](https://x.example/1)\n"));
    }

    #[test]
    fn a_text_without_tables_is_cut() {
        let text = "ä".repeat(100_000);
        let short = shortened(&text, CHARACTERS_MAX, None);
        assert!(short.chars().count() <= CHARACTERS_MAX);
        assert!(short.contains('…') && short.contains("65,536 characters"));
    }

    #[test]
    fn a_link_is_a_url() {
        for (link, is_link) in [
            ("https://forge.example/runs/1?x=2#a", true),
            ("http://forge.example", true),
            ("forge.example", false),
            ("javascript:alert(1)", false),
            ("https://x.example/a b", false),
            ("https://x.example/)[x](y", false),
            ("", false),
        ] {
            assert_eq!((WITH_LINK.make)(link).is_ok(), is_link, "{link}");
        }
    }
}
