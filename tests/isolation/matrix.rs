//! The same harm in the scheduler's process and in a worker. The table in the documentation is what this test observes.
//!
//! Not tried in the scheduler's process: what would harm the machine or the test itself, such as taking all memory.

use std::fmt::Write;

use super::divvy;
use super::harm::{decided, profile};
use crate::artifacts::repository;
use crate::attribution::{Ended, construct, harm, open};
use crate::c_interface::hostile::opened;
use crate::generated;

const PAGE: &str = "docs/measurements.md";
const HEADING: &str = "## What harm costs\n";
const NEXT: &str = "\n## What attacks cost\n";

/// What is done in Assign, in words.
const IN_ASSIGN: [(&str, &str); 18] = [
    ("segmentation fault", "writes to address 8"),
    ("abort", "`abort()`"),
    ("raise", "raises SIGSEGV"),
    ("stack overflow", "overflows its stack"),
    ("exit", "`exit(0)`"),
    ("quick_exit", "`quick_exit(0)`"),
    ("_exit", "`_exit(0)`"),
    ("kill", "sends SIGKILL to itself"),
    ("endless loop", "loops forever"),
    ("deadlock", "waits forever"),
    ("write to the snapshot", "writes to the snapshot"),
    ("write to an input", "writes to the column `capacity`, an input"),
    ("forged sink", "passes a false address to a service"),
    ("huge text", "writes a note of 1 GiB"),
    ("output", "prints to standard output"),
    ("read a file", "reads `/etc/passwd`, and aborts if it can"),
    ("socket", "makes a socket, and aborts if it can"),
    ("limits", "sets the limit of descriptors to 0"),
];

/// What is done before or between decisions.
const ELSEWHERE: [(&str, &str); 3] = [
    ("segmentation fault", "writes to address 8"),
    ("exit", "`exit(0)`"),
    ("deadlock", "waits forever"),
];

/// How a command has ended, and what it says: the line that names the plugin, or the result.
fn in_process(ended: &Ended) -> String {
    let mut words = match ended.how() {
        Ok(code) => format!("exit code {code}"),
        Err(signal) => match signal {
            6 => "SIGABRT".to_owned(),
            9 => "SIGKILL".to_owned(),
            11 => "SIGSEGV".to_owned(),
            signal => format!("signal {signal}"),
        },
    };
    match ended.errors().first() {
        Some(error) => _ = write!(words, "; `` {} ``", constant(error)),
        None if ended.output.contains("Scheduled") => words.push_str("; the binding is decided"),
        None => words.push_str("; nothing is said"),
    }
    words
}

/// A message without what differs from run to run: addresses and folders.
fn constant(message: &str) -> String {
    let mut parts = message.split("0x");
    let mut constant = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part
            .find(|letter: char| !letter.is_ascii_hexdigit())
            .unwrap_or(part.len());
        let (address, rest) = part.split_at(digits);
        // Short ones are the plugin's own.
        let address = if address.len() > 4 { "…" } else { address };
        _ = write!(constant, "0x{address}{rest}");
    }
    if let (Some(start), Some(end)) = (constant.find("`/"), constant.rfind('/')) {
        constant.replace_range(start + 1..=end, "");
    }
    constant
}

/// What a binding gets that an isolated plugin was called for: its error, or that it is decided.
fn isolated(told: &str) -> String {
    if told == "a=3" {
        return "the binding is decided".to_owned();
    }
    let start = told.find("its worker").unwrap_or_else(|| panic!("{told}"));
    let error = told[start..].split(['"', ';']).next().unwrap_or_default();
    format!("error of the binding: `{}`", error.trim_end())
}

/// The error of a profile whose plugin has a fault in its constructor.
fn construct_isolated(fault: &str) -> String {
    let configuration = format!("[profile.plugin.hostile.configuration]\nfault = '{fault}'\n");
    let profile = profile(&format!("matrix/{}.toml", fault.replace(' ', "-")), &configuration);
    refused(profile.to_str().expect("a path of ASCII"))
}

/// The error of a profile whose library exits when it is opened.
fn open_isolated() -> String {
    let library = opened("hostile_matrix_opened", "_exit(0)");
    let text = std::fs::read_to_string(profile("matrix/opened.toml", "")).expect("a profile");
    let named = crate::c_interface::hostile::HOSTILE.display().to_string();
    let profile = super::file(
        "matrix/opened.toml",
        &text.replace(&named, &library.display().to_string()),
    );
    refused(profile.to_str().expect("a path of ASCII"))
}

fn refused(profile: &str) -> String {
    let (exit, _, log) = divvy(&["profile", "check", "--profile", profile]);
    assert_eq!(exit, Some(2), "{log}");
    let start = log.find("its worker").unwrap_or_else(|| panic!("{log}"));
    let error = log[start..].lines().next().unwrap_or_default();
    format!("error of the profile: `{error}`")
}

#[test]
fn the_table_in_the_documentation_is_what_happens() {
    // Waiting for the constructor takes half a minute, in which this thread does the rest.
    let constructing = std::thread::spawn(|| ELSEWHERE.map(|(fault, _)| construct_isolated(fault)));
    let limit = ["--hang-limit", "1s"];
    let mut table = String::from("\n| the plugin | in the scheduler's process | in a worker |\n|---|---|---|\n");
    let mut row = |what: &str, here: &Ended, there: &str| {
        _ = writeln!(table, "| {what} | {} | {there} |", in_process(here));
    };
    // A plugin whose worker fails three times in a row is not called any more.
    let alternating: Vec<&str> = IN_ASSIGN.iter().flat_map(|(fault, _)| [*fault, "none"]).collect();
    let told = decided("matrix", "assign", &alternating);
    for ((fault, words), there) in IN_ASSIGN.iter().zip(told.iter().step_by(2)) {
        let there = match *fault {
            // Which one depends on the C library.
            "stack overflow" => isolated(there)
                .replace("SIGSEGV", "a signal")
                .replace("SIGABRT", "a signal"),
            _ => isolated(there),
        };
        row(words, &harm("assign", fault, &limit), &there);
    }
    let alternating: Vec<&str> = ELSEWHERE.iter().flat_map(|(fault, _)| [*fault, "none"]).collect();
    let told = decided("matrix", "prepare", &alternating);
    for ((fault, words), there) in ELSEWHERE.iter().zip(told.iter().step_by(2)) {
        let here = harm("prepare", fault, &limit);
        row(&format!("{words} when it prepares a cycle"), &here, &isolated(there));
    }
    let constructed = constructing.join().expect("the commands end");
    for ((fault, words), there) in ELSEWHERE.iter().zip(constructed) {
        row(
            &format!("{words} in its constructor"),
            &construct(fault, &limit),
            &there,
        );
    }
    let library = opened("hostile_matrix_exits", "exit(0)");
    row(
        "`exit(0)` when its library is opened",
        &open(&library, &limit),
        &open_isolated(),
    );

    let page = std::fs::read_to_string(repository().join(PAGE)).expect("there is this page");
    let (before, after) = page.split_once(HEADING).expect("the page has the heading");
    let introduction = after.split("\n| ").next().expect("a split has a first part");
    let (_, after) = after.split_once(NEXT).expect("the page goes on");
    generated::check(PAGE, &format!("{before}{HEADING}{introduction}{table}{NEXT}{after}"));
}
