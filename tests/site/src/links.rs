//! Where the links of a document lead from the page that shows it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::SiteError;
use crate::markdown::links;

/// Documents and their pages.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    /// Root folder of the repository.
    pub(crate) repository: &'a Path,
    /// Folder of the book in the repository, such as `docs`.
    pub(crate) folder: String,
    /// Page in the book, by the path of the document in the repository.
    pub(crate) by_document: BTreeMap<String, String>,
}

/// A path relative to the folder of a file, without `.` and `..`; both are relative to one root.
pub(crate) fn joined(file: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The path from the folder of one file to another file.
fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let folders = from.len() - 1;
    let shared = from
        .iter()
        .take(folders)
        .zip(&to)
        .take_while(|(left, right)| left == right);
    let shared = shared.count();
    let up = std::iter::repeat_n("..", folders - shared);
    let parts: Vec<&str> = up.chain(to.into_iter().skip(shared)).collect();
    parts.join("/")
}

impl Pages<'_> {
    /// The text of a document for a page, with links that lead where those of the document do. Both are paths: of the document in
    /// the repository, of the page in the book.
    pub(crate) fn linked(&self, text: &str, document: &str, page: &str) -> Result<String, SiteError> {
        let mut changed = text.to_owned();
        // From the last to the first, so that the positions stay right. A picture can be inside a link.
        for link in links(text).into_iter().rev() {
            let original = text.get(link.range.clone()).unwrap_or_default();
            let Some((words, _)) = original.rsplit_once(&format!("]({}", link.destination)) else {
                // `[text][reference]`, and rustdoc's links.
                continue;
            };
            let Some(target) = self.target(&link.destination, document, page)? else {
                continue;
            };
            let start = link.range.start + words.len();
            match target {
                Target::Page(path) => {
                    let range = start..start + link.destination.len() + 2;
                    changed.replace_range(range, &format!("]({path}"));
                }
                Target::Outside(_) if link.is_picture => {
                    return Err(SiteError::PictureOutside {
                        document: document.to_owned(),
                        destination: link.destination,
                    });
                }
                Target::Outside(path) => {
                    let words = words.trim_start_matches('[');
                    // A name in backticks is the path, shortened.
                    let is_name =
                        words.starts_with('`') && path.ends_with(words.trim_matches('`').trim_end_matches('/'));
                    let replacement = match is_name {
                        true => format!("`{path}`"),
                        false => format!("{words} (`{path}`)"),
                    };
                    changed.replace_range(link.range, &replacement);
                }
            }
        }
        Ok(changed)
    }

    /// Where a link of a document leads from a page; `None` if it stays as it is.
    fn target(&self, destination: &str, document: &str, page: &str) -> Result<Option<Target>, SiteError> {
        let (path, fragment) = destination.split_once('#').unwrap_or((destination, ""));
        if let Some(guide) = path.strip_prefix("crate::guide::") {
            let guide = format!("framework/guide/{}.md", guide.replace('_', "-"));
            let known = self.by_document.get(&guide);
            return Ok(known.map(|to| Target::Page(relative(page, to))));
        }
        if path.is_empty() || path.contains(':') {
            return Ok(None);
        }
        let wanted = joined(document, path);
        let file = self.repository.join(&wanted);
        let index = format!("{wanted}/README.md");
        let known = self.by_document.get(&wanted).or_else(|| self.by_document.get(&index));
        let inside = wanted
            .strip_prefix(&self.folder)
            .and_then(|rest| rest.strip_prefix('/'));
        let inside = inside.filter(|_| file.is_file() && !wanted.ends_with(".md"));
        match (known.map(String::as_str).or(inside), file.exists()) {
            (Some(to), _) => {
                // mdBook makes the index of a folder from its README.
                let to = match to.strip_suffix("README.md") {
                    Some(folder) => format!("{folder}index.md"),
                    None => to.to_owned(),
                };
                let fragment = match fragment {
                    "" => String::new(),
                    fragment => format!("#{fragment}"),
                };
                Ok(Some(Target::Page(relative(page, &to) + &fragment)))
            }
            (None, true) => Ok(Some(Target::Outside(wanted))),
            (None, false) => Err(SiteError::BrokenLink {
                document: document.to_owned(),
                destination: destination.to_owned(),
            }),
        }
    }
}

/// Where a link leads.
#[derive(Debug)]
enum Target {
    /// To a page or a picture of the book: the path from the page with the link.
    Page(String),
    /// To a file that is not in the book: its path in the repository.
    Outside(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> Pages<'static> {
        let documents = [
            ("plugins/tree/README.md", "strategies/tree.md"),
            ("docs/which-division.md", "which-division.md"),
            ("framework/guide/debugging.md", "plugins/debugging.md"),
            ("examples/deploy/README.md", "run/README.md"),
        ];
        Pages {
            repository: Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
            folder: "docs".to_owned(),
            by_document: documents.map(|(from, to)| (from.to_owned(), to.to_owned())).into(),
        }
    }

    #[test]
    fn a_link_leads_to_the_page_with_its_document() {
        let text = "[a](../tree/README.md#rule), [b](../../docs/which-division.md), [c](https://karmada.io), [d](#e), [f](../../examples/deploy)";
        let changed = pages().linked(text, "plugins/region-shares/README.md", "strategies/region-shares.md");
        assert_eq!(
            changed.expect("all are files"),
            "[a](tree.md#rule), [b](../which-division.md), [c](https://karmada.io), [d](#e), [f](../run/index.md)"
        );
        let changed = pages().linked("[a](crate::guide::debugging)", "framework/guide/isolation.md", "run.md");
        assert_eq!(changed.expect("it is a guide"), "[a](plugins/debugging.md)");
    }

    #[test]
    fn a_file_without_a_page_is_named_and_one_that_does_not_exist_is_an_error() {
        let text = "[the rule](src/tree.rs), [`src/lib.rs`](src/lib.rs)";
        let changed = pages().linked(text, "plugins/tree/README.md", "strategies/tree.md");
        assert_eq!(
            changed.expect("both are files"),
            "the rule (`plugins/tree/src/tree.rs`), `plugins/tree/src/lib.rs`"
        );
        let broken = pages().linked("[a](nothing.md)", "plugins/tree/README.md", "strategies/tree.md");
        assert!(matches!(broken, Err(SiteError::BrokenLink { .. })), "{broken:?}");
        let picture = pages().linked("![a](src/lib.rs)", "plugins/tree/README.md", "strategies/tree.md");
        assert!(matches!(picture, Err(SiteError::PictureOutside { .. })), "{picture:?}");
    }
}
