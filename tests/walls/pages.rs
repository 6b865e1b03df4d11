//! The README and the site: their length, their links, and names that must exist in the code.

use std::collections::{BTreeMap, BTreeSet};

use divvy_site::markdown::{blocks, fragments, links};

use super::{ROOTS, SourceFile, check_none, files, read};
use crate::artifacts::{plugin_folders, repository};
use crate::pages::pages;

/// Maximum words of the README, which is for a first visit; the site has the rest.
const README_WORDS_MAXIMUM: usize = 900;
/// Four screens.
const MAP_LINES_MAXIMUM: usize = 200;

/// All Markdown files for people.
fn documents() -> Vec<SourceFile> {
    let mut found = files(&ROOTS, &[".md"]);
    found.extend(files(&["docs"], &[".md"]));
    let root = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ];
    found.extend(root.map(|name| read(&repository().join(name))));
    // A template becomes the README of another crate.
    found.retain(|file| !file.path.starts_with("host/bench/scaffold/"));
    found
}

/// The text of `--help` of each command, such as `divvy schedule`.
fn help() -> BTreeMap<String, String> {
    let text = read(&repository().join("tests/command_line/help.txt")).text;
    let pages = text.split("$ divvy").filter_map(|page| page.split_once(" --help\n"));
    pages
        .map(|(command, page)| (command.trim().to_owned(), page.to_owned()))
        .collect()
}

#[test]
fn the_readme_is_short() {
    let words = read(&repository().join("README.md")).text.split_whitespace().count();
    assert!(
        words <= README_WORDS_MAXIMUM,
        "README.md has {words} words, at most {README_WORDS_MAXIMUM}: move some to a page in docs/"
    );
}

#[test]
fn the_map_is_short() {
    let lines = read(&repository().join("ARCHITECTURE.md")).text.lines().count();
    assert!(
        lines <= MAP_LINES_MAXIMUM,
        "ARCHITECTURE.md has {lines} lines, at most {MAP_LINES_MAXIMUM}: move some to docs/contributing/rooms.md or decision.md"
    );
}

#[test]
fn the_summary_lists_every_page() {
    let summary = read(&repository().join("docs/SUMMARY.md"));
    let listed: BTreeSet<String> = links(&summary.text).into_iter().map(|link| link.destination).collect();
    let all = pages();
    let known = all.iter().filter_map(|page| page.strip_prefix("docs/"));
    let known: BTreeSet<String> = known.filter(|page| *page != "SUMMARY.md").map(str::to_owned).collect();
    check_none(
        known.symmetric_difference(&listed).cloned().collect(),
        "docs/SUMMARY.md lists the pages in docs/, each of them",
    );
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let documents = documents();
    assert!(documents.len() > 60, "the documents were not found");
    let mut broken = Vec::new();
    for document in &documents {
        let folder = repository().join(&document.path);
        let folder = folder.parent().expect("a document is in a folder");
        for link in links(&document.text) {
            let (path, fragment) = link.destination.split_once('#').unwrap_or((&link.destination, ""));
            if path.contains(':') {
                continue;
            }
            let file = if path.is_empty() {
                repository().join(&document.path)
            } else {
                folder.join(path)
            };
            let has_heading = || fragments(&read_canonical(&file)).iter().any(|known| known == fragment);
            if !file.exists() || (!fragment.is_empty() && !has_heading()) {
                broken.push(format!("{}: {}", document.path, link.destination));
            }
        }
    }
    check_none(broken, "a link leads to a file, and its fragment to a heading there");
}

fn read_canonical(file: &std::path::Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// A command that needs a control plane cannot run, but its arguments can be checked.
#[test]
fn commands_that_are_not_run_have_arguments_that_exist() {
    let (help, mut broken, mut count) = (help(), Vec::new(), 0);
    for page in pages() {
        let text = read(&repository().join(&page)).text;
        let unrun = blocks(&text)
            .into_iter()
            .filter(|block| block.language == "sh" && block.comment.starts_with("not run: "));
        for line in unrun.flat_map(|block| {
            block
                .code
                .replace("\\\n", " ")
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        }) {
            for command in line
                .split('|')
                .filter_map(|command| command.trim().strip_prefix("divvy "))
            {
                count += 1;
                let words: Vec<&str> = command.split_whitespace().collect();
                // The longest name of a command, such as `plugin verify`.
                let names = (1..=words.len().min(2)).rev().map(|length| words[..length].join(" "));
                let known = names.into_iter().find_map(|name| help.get(&name));
                let Some(known) = known else {
                    broken.push(format!("{page}: `divvy {command}` is no command"));
                    continue;
                };
                let options = words.iter().filter(|word| word.starts_with('-') && word.len() > 1);
                let names = options.map(|option| option.split_once('=').map_or(*option, |(name, _)| name));
                let unknown = names.filter(|name| !has_option(known, name));
                broken.extend(unknown.map(|name| format!("{page}: `divvy {command}` has no `{name}`")));
            }
        }
    }
    assert!(count > 5, "only {count} commands were found");
    check_none(broken, "a command of a page has the arguments that its --help lists");
}

/// True if a page of help lists an option.
fn has_option(page: &str, name: &str) -> bool {
    let mut words = page.split([' ', '\n', ',', '.', '`', '=', '[']);
    words.any(|word| word == name)
}

/// The texts by which the page is searched are those that the code prints. `…` stands for a part that varies.
#[test]
fn messages_that_are_explained_exist() {
    let text = read(&repository().join("docs/troubleshooting.md")).text;
    let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
    let sources = files(&["framework", "host", "plugins"], &[".rs"]);
    let (mut broken, mut count) = (Vec::new(), 0);
    for heading in headings {
        count += 1;
        let message = heading.trim_matches('`').trim();
        let parts = message.split('…').map(|part| part.trim_matches([' ', '`', ':', ',']));
        let parts: Vec<&str> = parts.filter(|part| part.len() > 5).collect();
        let is_known = |part: &&str| sources.iter().any(|source| source.text.contains(*part));
        if parts.is_empty() || !parts.iter().all(is_known) {
            broken.push(message.to_owned());
        }
    }
    assert!(count > 20, "only {count} messages were found");
    check_none(broken, "docs/troubleshooting.md explains messages that exist");
}

#[test]
fn every_bundled_plugin_has_a_page() {
    let texts: Vec<String> = pages().iter().map(|page| read(&repository().join(page)).text).collect();
    let missing = plugin_folders().into_iter().filter(|folder| {
        let include = format!("{{{{#include ../../plugins/{folder}/README.md}}}}");
        !texts.iter().any(|text| text.contains(&include))
    });
    check_none(
        missing.collect(),
        "a page of docs/ includes the README of each bundled plugin",
    );
}

#[test]
fn the_site_has_every_schema() {
    let page = read(&repository().join("docs/reference/schemas.md")).text;
    let schemas = files(&["host"], &[".json"]).into_iter().map(|file| file.path);
    let schemas = schemas.filter(|path| path.contains("/schema/") && !path.ends_with("/profile.json"));
    let missing = schemas.filter(|path| !page.contains(&format!("{{{{#schema ../../{path}}}}}")));
    check_none(missing.collect(), "docs/reference/schemas.md has every JSON Schema");
}
