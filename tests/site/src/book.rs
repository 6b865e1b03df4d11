//! mdBook's JSON: a list of the context and the book, whose items are pages with their items below them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::links::{Pages, joined};
use crate::{SiteError, help, schema};

/// Beginning of the line that includes a document.
const INCLUDE: &str = "{{#include ";

/// Beginning of the line with a schema.
const SCHEMA: &str = "{{#schema ";

/// The line with all pages of `--help`.
const HELP: &str = "{{#help}}";

/// The changed book, as JSON, of what mdBook writes to a preprocessor.
///
/// # Errors
///
/// - [`SiteError::Input`] if it is not the input of a preprocessor.
/// - Any other for a page: a document that cannot be read, or a broken link.
pub fn preprocess(input: &str) -> Result<String, SiteError> {
    let input: Value = serde_json::from_str(input).map_err(|_| SiteError::Input)?;
    let root = input[0]["root"].as_str().ok_or(SiteError::Input)?;
    let root = fs::canonicalize(root).map_err(|_| SiteError::Input)?;
    let (Some(repository), Some(folder)) = (root.parent(), root.file_name()) else {
        return Err(SiteError::Input);
    };
    let mut book = input[1].clone();
    let items = book["items"].as_array_mut().ok_or(SiteError::Input)?;
    let mut pages = Pages {
        repository,
        folder: folder.to_string_lossy().into_owned(),
        by_document: BTreeMap::new(),
    };
    each_page(items, &mut |page, content| {
        let document = format!("{}/{page}", pages.folder);
        let documents = content
            .lines()
            .filter_map(|line| included(line, &document))
            .collect::<Vec<_>>();
        for included in documents.into_iter().chain([document.clone()]) {
            pages.by_document.entry(included).or_insert_with(|| page.to_owned());
        }
        Ok(())
    })?;
    each_page(items, &mut |page, content| {
        *content = changed(&pages, page, content)?;
        Ok(())
    })?;
    Ok(book.to_string())
}

/// Calls a function with the path and the text of each page.
fn each_page(
    items: &mut [Value],
    change: &mut dyn FnMut(&str, &mut String) -> Result<(), SiteError>,
) -> Result<(), SiteError> {
    for item in items {
        let Some(chapter) = item.get_mut("Chapter") else {
            // A separator or the title of a part.
            continue;
        };
        // The README of a folder has become its index by now; links name the file.
        if let Some(page) = chapter["source_path"].as_str().map(str::to_owned)
            && let Value::String(content) = &mut chapter["content"]
        {
            change(&page, content)?;
        }
        if let Some(below) = chapter["sub_items"].as_array_mut() {
            each_page(below, change)?;
        }
    }
    Ok(())
}

/// Path in the repository of the document that a line of another document includes.
fn included(line: &str, document: &str) -> Option<String> {
    let path = line.strip_prefix(INCLUDE)?.strip_suffix("}}")?;
    path.ends_with(".md").then(|| joined(document, path))
}

fn changed(pages: &Pages<'_>, page: &str, content: &str) -> Result<String, SiteError> {
    let document = format!("{}/{page}", pages.folder);
    let read = |path: &str| {
        let file = pages.repository.join(path);
        fs::read_to_string(&file).map_err(|source| SiteError::Read {
            page: page.to_owned(),
            path: Path::new(path).to_owned(),
            source,
        })
    };
    let own = pages.linked(content, &document, page)?;
    let mut text = String::with_capacity(own.len());
    for line in own.lines() {
        if let Some(path) = included(line, &document) {
            // Only pages have lines for mdBook; in other documents, they are examples.
            text.push_str(&pages.linked(&read(&path)?, &path, page)?.replace("{{#", "\\{{#"));
        } else if let Some(path) = line.strip_prefix(SCHEMA).and_then(|rest| rest.strip_suffix("}}")) {
            let path = joined(&document, path);
            let parsed = serde_json::from_str(&read(&path)?).map_err(|source| SiteError::Schema {
                page: page.to_owned(),
                path: path.clone(),
                source,
            })?;
            text.push_str(&schema::tables(&parsed));
        } else if line == HELP {
            text.push_str(&help::sections(&read(help::FILE)?));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn book(content: &str) -> String {
        let chapter = |path: &str, content: &str, below: Value| json!({ "Chapter": { "source_path": path, "content": content, "sub_items": below } });
        let tree = chapter(
            "strategies/tree.md",
            "{{#include ../../plugins/tree/README.md}}",
            json!([]),
        );
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let items = json!(["Separator", chapter("a.md", content, json!([tree]))]);
        json!([{ "root": root }, { "items": items }]).to_string()
    }

    fn first_page(content: &str) -> Result<String, SiteError> {
        let book = preprocess(&book(content))?;
        let book: Value = serde_json::from_str(&book).expect("it is JSON");
        let page = &book["items"][1]["Chapter"];
        let below = page["sub_items"][0]["Chapter"]["content"].as_str().unwrap_or_default();
        assert!(below.starts_with("# Tree\n"), "{below}");
        Ok(page["content"].as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn a_page_links_to_the_page_that_includes_a_document() {
        let page = first_page("[Tree](../plugins/tree/README.md), [`Cargo.toml`](../Cargo.toml)");
        assert_eq!(page.expect("both exist"), "[Tree](strategies/tree.md), `Cargo.toml`\n");
    }

    #[test]
    fn an_example_in_an_included_document_is_not_expanded() {
        let page = first_page("{{#include ../CONTRIBUTING.md}}").expect("it exists");
        assert!(page.contains("`\\{{#include ../plugins/average/README.md}}`"), "{page}");
    }

    #[test]
    fn a_page_has_the_help_and_the_schemas() {
        let page = first_page("# A\n{{#help}}\n{{#schema ../host/desk/cli/schema/schedule.json}}").expect("both exist");
        assert!(
            page.contains("\n## `divvy schedule`\n\n```text\nDecide which"),
            "{page}"
        );
        assert!(page.contains("| `binding` | string |"), "{page}");
    }

    #[test]
    fn what_does_not_exist_is_an_error() {
        let faults = [
            ("{{#include ../nothing.md}}", "a.md: `nothing.md` cannot be read"),
            ("[a](nothing.md)", "docs/a.md: `nothing.md` leads to no file"),
            ("{{#schema ../Cargo.toml}}", "a.md: `Cargo.toml` is not JSON"),
        ];
        for (content, expected) in faults {
            let error = first_page(content).expect_err(content);
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        assert!(matches!(preprocess("[]"), Err(SiteError::Input)));
    }
}
