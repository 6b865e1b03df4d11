//! The pages of `--help`, as one text that shows every change of what a person reads.

use std::fmt::Write;

use snapbox::file;

use super::{check_text, run};

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
