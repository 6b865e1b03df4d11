//! The file: a template filled with the verdict, the data and everything that shows them.

use std::io;

use askama::Template;
use divvy_forecast::document::SideDocument;
use serde::Serialize;

use crate::content::{Command, Content, Heading};
use crate::data::data;
use crate::headline::{Headline, headline};
use crate::number::grouped;
use crate::packed::{packed, policy_hash};
use crate::sheet::{Sheet, SheetData};
use crate::texts::visible;

const STYLE: &str = include_str!("../assets/page.css");
/// The page's own scripts, in the order in which they depend on one another.
const SCRIPTS: [&str; 12] = [
    include_str!("../assets/format.js"),
    include_str!("../assets/data.js"),
    include_str!("../assets/table.js"),
    include_str!("../assets/grid.js"),
    include_str!("../assets/lines.js"),
    include_str!("../assets/bars.js"),
    include_str!("../assets/clusters.js"),
    include_str!("../assets/heat.js"),
    include_str!("../assets/moves.js"),
    include_str!("../assets/growth.js"),
    include_str!("../assets/sheet.js"),
    include_str!("../assets/main.js"),
];

/// Reason why a page could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The data could not be packed.
    #[error("the data of the page cannot be packed")]
    Data(#[source] io::Error),
    /// The template could not be filled.
    #[error("the template of the page cannot be filled")]
    Template(#[source] askama::Error),
}

/// The texts of one side.
struct SideText {
    label: &'static str,
    profile: String,
    strategy: String,
    changes: String,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: &'static str,
    headline: &'a Headline,
    fleet: String,
    /// As RFC 3339, and for people.
    date: &'a str,
    date_shown: String,
    digest: &'a str,
    command: String,
    version: &'a str,
    sides: Vec<SideText>,
    /// How capacity is counted; empty if nothing is decided.
    capacity: &'static str,
    notes: Vec<String>,
    omitted: Vec<String>,
    policy: String,
    style: &'a str,
    script: &'a str,
    data: String,
}

/// Everything of a page but its style, script and data.
struct Parts<'a> {
    title: &'static str,
    headline: Headline,
    arguments: &'a [String],
    version: &'a str,
    heading: &'a Heading,
    sides: Vec<SideText>,
    capacity: &'static str,
    notes: &'a [String],
    omitted: Vec<String>,
}

/// Renders a content as one HTML file.
///
/// # Errors
///
/// A [`PageError`] if the data or the template cannot be written. Neither depends on the content's texts.
pub fn render(content: &Content) -> Result<String, PageError> {
    let (data, omitted) = data(content);
    let parts = Parts {
        title: match content.command {
            Command::Schedule => "Where workloads run",
            Command::Diff => "What moves",
            Command::Headroom => "How far workloads can grow",
        },
        headline: headline(content).shown(),
        arguments: &content.arguments,
        version: &content.version,
        heading: &content.heading,
        sides: sides(content),
        capacity: match (content.command, content.assumes) {
            (Command::Headroom, true) => "each workload grows alone, beside everything that is decided",
            (Command::Headroom, false) => "each workload grows alone",
            (_, true) => "each result takes its room from those after it",
            (_, false) => "each binding decided on its own",
        },
        notes: &content.notes,
        omitted,
    };
    file(parts, &data)
}

/// Renders a page of tables as one HTML file.
///
/// # Errors
///
/// A [`PageError`] if the data or the template cannot be written. Neither depends on the texts.
pub fn render_sheet(sheet: &Sheet) -> Result<String, PageError> {
    let data = SheetData {
        format: 1,
        command: "tables",
        tables: &sheet.tables,
    };
    let parts = Parts {
        title: sheet.title,
        headline: sheet.headline.clone().shown(),
        arguments: &sheet.arguments,
        version: &sheet.version,
        heading: &sheet.heading,
        sides: sheet.side.iter().map(|text| side("Profile", text)).collect(),
        capacity: "",
        notes: &sheet.notes,
        omitted: Vec::new(),
    };
    file(parts, &data)
}

fn file(parts: Parts<'_>, data: &impl Serialize) -> Result<String, PageError> {
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat());
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        policy_hash(&script),
        policy_hash(STYLE)
    );
    let page = Page {
        title: parts.title,
        headline: &parts.headline,
        fleet: visible(&parts.heading.fleet),
        date: &parts.heading.date,
        date_shown: parts.heading.date.replace('T', " ").replace('Z', " UTC"),
        digest: parts.heading.digest.as_deref().unwrap_or_default(),
        command: parts
            .arguments
            .iter()
            .map(|argument| visible(&quoted(argument)))
            .collect::<Vec<_>>()
            .join(" "),
        version: parts.version,
        sides: parts.sides,
        capacity: parts.capacity,
        notes: parts.notes.iter().map(|note| visible(&grouped(note))).collect(),
        omitted: parts.omitted,
        policy,
        style: STYLE,
        script: &script,
        data: packed(data).map_err(PageError::Data)?,
    };
    // The template drops the line break at its end.
    let text = page.render().map_err(PageError::Template)?;
    Ok(text + "\n")
}

fn side(label: &'static str, side: &SideDocument) -> SideText {
    SideText {
        label,
        profile: visible(&side.profile),
        strategy: side.strategy.as_deref().map(visible).unwrap_or_default(),
        changes: visible(&side.changes.join(" ")),
    }
}

fn sides(content: &Content) -> Vec<SideText> {
    match &content.base {
        Some(base) => vec![side("Before", base), side("After", &content.after)],
        None => vec![side("Profile", &content.after)],
    }
}

/// An argument as a shell would need it.
fn quoted(argument: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./=:,@%+".contains(character);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An inline script ends at the first closing tag, wherever it is.
    #[test]
    fn no_script_or_style_holds_a_tag_that_ends_it() {
        for text in SCRIPTS.iter().chain([&STYLE]) {
            let text = text.to_ascii_lowercase();
            assert!(!text.contains("</script") && !text.contains("</style") && !text.contains("<!--"));
        }
    }

    #[test]
    fn arguments_are_quoted_as_a_shell_needs_them() {
        let cases = [
            ("--drain=eu-1", "--drain=eu-1"),
            ("", "''"),
            ("shop/*", "'shop/*'"),
            ("it's", r"'it'\''s'"),
        ];
        for (argument, expected) in cases {
            assert_eq!(quoted(argument), expected);
        }
    }
}
