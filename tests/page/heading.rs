//! A page says which fleet it is about, as of when, and from which input it was made.

use std::io::Write;
use std::process::Stdio;

use divvy_built::repository;
use ring::digest::SHA256;

use super::browser::Browser;
use super::pages::{self, command};

fn digest(bytes: &[u8]) -> String {
    ring::digest::digest(&SHA256, bytes)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn a_page_names_its_fleet_its_time_and_the_digest_of_its_input() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let inputs = ["examples/fleet/bindings.yaml", "examples/fleet/clusters"];
    let (mut browser, mut all) = (Browser::start(), String::new());
    for input in inputs {
        let path = repository().join(input);
        let mut files = match path.is_dir() {
            true => std::fs::read_dir(&path)
                .expect("the folder can be read")
                .map(|entry| entry.expect("it can be listed").path())
                .collect(),
            false => vec![path],
        };
        files.sort();
        for file in files {
            all.push_str(&format!(
                "{}\n",
                digest(&std::fs::read(file).expect("the file is there"))
            ));
        }
    }
    let arguments = [
        "schedule",
        "-f",
        inputs[0],
        "-f",
        inputs[1],
        "--time",
        "2026-03-14T02:00:00Z",
    ];
    let file = pages::page(&arguments, folder.path());
    browser.open(&file);
    let mut text = |place: &str| browser.evaluate(&format!("document.querySelector('{place}').textContent"));
    assert_eq!(text("#fleet"), "examples/fleet/bindings.yaml, examples/fleet/clusters");
    assert_eq!(text("#date"), "2026-03-14 02:00:00 UTC");
    assert_eq!(text("#digest"), format!("sha256:{}", digest(all.as_bytes())));
    assert!(
        text("title")
            .as_str()
            .is_some_and(|title| title.contains("examples/fleet/bindings.yaml"))
    );
    let facts = text("#command").to_string();
    assert!(
        facts.contains("divvy 0.") && facts.contains("divvy schedule -f examples/fleet/bindings.yaml"),
        "{facts}"
    );
    assert_eq!(
        std::fs::read(&file).ok(),
        std::fs::read(pages::page(&arguments, folder.path())).ok()
    );
}

/// As `sha256sum` prints it, of one file or one stream. Without `--time`, `SOURCE_DATE_EPOCH` takes the clock's place.
#[test]
fn the_digest_of_a_stream_is_its_own() {
    let text = std::fs::read(repository().join("examples/fleet/bindings.yaml")).expect("the file is there");
    let mut command = command(&["schedule", "-f", "-", "-o", "html"]);
    command
        .env("SOURCE_DATE_EPOCH", "1000000000")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    let mut input = child.stdin.take().expect("there is a pipe");
    input.write_all(&text).expect("it is read");
    drop(input);
    let page = child.wait_with_output().expect("it ends").stdout;
    let page = String::from_utf8(page).expect("a page is UTF-8");
    for expected in [
        format!("sha256:{}", digest(&text)),
        "<span id=\"fleet\">standard input</span>".to_owned(),
        "2001-09-09 01:46:40 UTC".to_owned(),
    ] {
        assert!(page.contains(&expected), "{expected}");
    }
}
