//! The pages of `--help`, as one text that shows every change of what a person reads.

use std::fmt::Write;
use std::os::unix::process::CommandExt;

use snapbox::file;

use super::{check_text, divvy, run};

/// The pages of a command and of the commands below it, which the page lists.
fn pages(command: &[&str], text: &mut String) {
    let (exit, page, _) = run(&[command, &["--help"]].concat());
    assert_eq!(exit, Some(0), "{command:?}");
    // Writing to a text cannot fail.
    let _infallible = writeln!(text, "$ {} --help\n\n{page}", [&["divvy"], command].concat().join(" "));
    let listed = page.split_once("\nCommands:\n").map_or("", |(_, listed)| listed);
    let below = listed.lines().take_while(|line| !line.is_empty());
    let below = below.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in below.filter(|name| !["", "help"].contains(name)) {
        pages(&[command, &[name]].concat(), text);
    }
}

#[test]
fn every_page_of_help_is_the_one_that_was_accepted() {
    let mut text = String::new();
    pages(&[], &mut text);
    assert!(text.matches("\nUsage: divvy").count() > 10, "{text}");
    check_text("the pages of help", &text, file!["help.txt"]);
}

#[test]
fn the_usage_has_the_name_by_which_kubectl_calls_it() {
    for (name, expected) in [
        ("/usr/bin/kubectl-divvy", "Usage: kubectl divvy schedule "),
        ("/usr/bin/divvy", "Usage: divvy schedule "),
    ] {
        let output = divvy(&["schedule", "--help"]).arg0(name).output();
        let page = String::from_utf8(output.expect("the binary can be started").stdout).expect("divvy writes UTF-8");
        assert!(page.contains(expected), "{page}");
    }
}
