//! The pages of `-o html`, opened in Debian's Chromium: no error, no request, no barrier, and the figures of the JSON.
//!
//! A crate of its own, because it needs a browser, which the other tests do not. `axe/` holds axe-core, which looks for barriers.

mod accessibility;
mod browser;
mod figures;
mod heading;
mod hostile;
mod keyboard;
mod large;
mod layout;
mod pages;

use std::path::PathBuf;

use browser::Browser;
use tempfile::TempDir;

const FLEET: [&str; 2] = ["-f", "examples/fleet"];
const DRAINED: [&str; 2] = ["--drain", "eu-aws-frankfurt"];

/// Arguments of all commands that have a page: those with charts, then those with tables alone.
fn commands() -> [Vec<&'static str>; 6] {
    let with = |command: &'static str, more: &[&'static str]| [&[command][..], &FLEET, more].concat();
    [
        with("schedule", &[]),
        with("diff", &DRAINED),
        with("headroom", &[]),
        with("diff", &["--without-each", "cluster"]),
        with("survive", &[]),
        with("policies", &["--severity", "info"]),
    ]
}

/// A browser that has opened the page of a command. The folder holds the file.
fn opened(arguments: &[&str]) -> (Browser, TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = pages::page(arguments, folder.path());
    let mut browser = Browser::start();
    browser.open(&file);
    (browser, folder, file)
}

#[test]
fn a_page_opens_without_an_error_or_a_request() {
    for arguments in commands() {
        let (mut browser, _folder, _) = opened(&arguments);
        for (media, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "light")] {
            browser.appear(media, scheme);
        }
        browser.resize(400, 900);
        // Every table is made and every cell of a heat map can be described.
        browser.evaluate("document.querySelectorAll('summary').forEach((summary) => summary.click())");
        browser.evaluate("document.querySelectorAll('.grid .cell').forEach((cell) => cell.click())");
        browser.evaluate("document.querySelectorAll('thead button').forEach((button) => button.click())");
        let choices =
            "document.querySelectorAll('select').forEach((select) => [...select.options].forEach((option) => {
            select.value = option.value;
            select.dispatchEvent(new Event('change'));
        }))";
        browser.evaluate(choices);
        browser.call("Page.printToPDF", serde_json::json!({}));
        let problems = browser.problems();
        assert!(problems.is_empty(), "{arguments:?}: {problems:#?}");
    }
}

/// The page loads nothing, and its policy allows nothing. The policy makes no exception for inline code.
#[test]
fn the_policy_allows_nothing_but_the_scripts_and_styles_of_the_file() {
    let (mut browser, _folder, _) = opened(&commands()[1]);
    let policy = browser.evaluate("document.querySelector('meta[http-equiv=Content-Security-Policy]').content");
    let policy = policy.as_str().expect("there is a policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    for loose in ["unsafe", "http", "*", "blob:", "'self'"] {
        assert!(!policy.contains(loose), "{policy}");
    }
    browser.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = true'}))",
    );
    assert_eq!(browser.evaluate("window.ran === undefined"), true);
    browser.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'}))");
    let problems = browser.problems().join("\n");
    assert!(problems.contains("Content Security Policy"), "{problems}");
}
