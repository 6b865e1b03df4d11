//! The pages of `--help`, as one text that shows every change of what a person reads.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::process::CommandExt;

use snapbox::file;

use super::{check_text, divvy, run};

/// Commands whose `--help` is shorter than `divvy help COMMAND`.
const SHORTENED: [&str; 5] = ["schedule", "diff", "headroom", "survive", "rebalance"];

/// Lines of two screens.
const LINES_MAX: usize = 110;

/// The pages of a command and of the commands below it, which the page lists.
fn pages(command: &[&str], text: &mut String) {
    let (exit, page, _) = run(&[command, &["--help"]].concat());
    assert_eq!(exit, Some(0), "{command:?}");
    // Writing to a text cannot fail.
    let _infallible = writeln!(text, "$ {} --help\n\n{page}", [&["divvy"], command].concat().join(" "));
    if let [name] = command
        && SHORTENED.contains(name)
    {
        let (_, full, _) = run(&["help", name]);
        let _infallible = writeln!(text, "$ divvy help {name}\n\n{full}");
    }
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

/// The options of a page: the first words of lines that begin with a dash.
fn options(page: &str) -> BTreeSet<&str> {
    let lines = page.lines().filter(|line| line.trim_start().starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',']).filter(|word| word.starts_with("--")).take(1));
    words.collect()
}

#[test]
fn a_page_with_many_options_fits_two_screens_and_has_all_of_them() {
    for name in SHORTENED {
        let (exit, page, _) = run(&[name, "--help"]);
        assert_eq!(exit, Some(0));
        assert_eq!(run(&[name, "-h"]).1, page);
        let lines = page.lines().count();
        assert!(lines <= LINES_MAX, "{name}: {lines} lines\n{page}");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        let (_, full, _) = run(&["help", name]);
        assert!(page.contains(&format!("`divvy help {name}`")), "{page}");
        let missing: Vec<_> = options(&full).difference(&options(&page)).copied().collect();
        assert!(missing.is_empty() && options(&full).len() > 10, "{name}: {missing:?}");
        // The full page is for everything else.
        assert!(full.contains("Exit codes, the highest that applies:"), "{full}");
    }
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
