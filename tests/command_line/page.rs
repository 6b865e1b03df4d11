//! `-o html`: its output, and the cases in which it is refused. `tests/page` tests the page in a browser.

use std::process::Stdio;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{divvy, run};
use crate::artifacts::repository;

#[test]
fn a_page_is_refused_onto_a_terminal_before_anything_is_read() {
    for command in ["schedule", "diff", "headroom", "survive", "policies"] {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
        grantpt(&terminal)
            .and_then(|()| unlockpt(&terminal))
            .expect("the terminal is ours");
        let name = ptsname(&terminal, Vec::new()).expect("the terminal has a name");
        let end = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it can be opened");
        let output = divvy(&[command, "-f", "missing.yaml", "-o", "html"])
            .stdout(Stdio::from(end))
            .stderr(Stdio::piped())
            .output();
        let output = output.expect("the binary can be started");
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = format!(
            "error: standard output is a terminal, and `-o html` prints a file for a browser\n  \
             hint: write it to a file: `divvy {command} … -o html > report.html`\n"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    }
}

#[test]
fn a_page_is_one_file_with_the_verdict_and_the_exit_code_of_the_table() {
    let examples = repository().join("examples/fleet");
    let examples = examples.to_str().expect("the path is UTF-8");
    let cases: [(&[&str], i32); 7] = [
        (&["schedule", "-f", "fleet.yaml", "-f", "unschedulable.yaml"], 1),
        (&["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"], 0),
        (&["diff", "-f", "fleet.yaml", "-f", "dump.yaml"], 0),
        (&["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--drain", "west-1"], 0),
        (
            &["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--without-each=cluster"],
            1,
        ),
        (&["survive", "-f", "fleet.yaml", "-f", "dump.yaml"], 1),
        (&["policies", "-f", examples], 1),
    ];
    for (arguments, expected) in cases {
        let (table_exit, table, _) = run(arguments);
        let (exit, page, errors) = run(&[arguments, &["-o", "html"]].concat());
        assert_eq!(
            (exit, table_exit),
            (Some(expected), Some(expected)),
            "{arguments:?}: {errors}"
        );
        assert!(
            page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"),
            "{arguments:?}"
        );
        let headline = page
            .split_once("</h1>")
            .and_then(|(before, _)| before.rsplit_once("</span> "));
        let headline = headline.map(|(_, headline)| headline).unwrap_or_default();
        let is_said = |line: &str| headline.to_lowercase() == format!("{}.", line.to_lowercase());
        assert!(
            table.lines().any(is_said),
            "{arguments:?}: `{headline}` is not in\n{table}"
        );
    }
}

#[test]
fn the_page_of_the_same_input_is_the_same() {
    let arguments = [
        "diff",
        "-f",
        "fleet.yaml",
        "-f",
        "dump.yaml",
        "--time",
        "2026-03-14T02:00:00Z",
        "-o",
        "html",
    ];
    let (exit, page, errors) = run(&arguments);
    assert_eq!(exit, Some(0), "{errors}");
    assert!(page == run(&arguments).1, "two pages of one input differ");
    assert!(page.contains("2026-03-14 02:00:00 UTC"));
    // Without a time, the one that builds agree on stands for the clock's.
    let page = |input: &str| {
        let mut command = divvy(&["diff", "-f", input, "-f", "dump.yaml", "-o", "html"]);
        let output = command.env("SOURCE_DATE_EPOCH", "1000000000").output();
        String::from_utf8(output.expect("the binary can be started").stdout).expect("a page is UTF-8")
    };
    let first = page("fleet.yaml");
    assert!(first == page("fleet.yaml") && first.contains("2001-09-09 01:46:40 UTC"));
}

#[test]
fn a_result_without_a_page_is_refused() {
    let (exit, stdout, stderr) = run(&["replay", "recording.jsonl", "-o", "html"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("invalid value 'html'"), "{stderr}");
}
