//! Libraries of new plugins in C as a profile uses them: what it allows, and what is no decision.

use std::fs;

use super::{New, run};
use crate::artifacts::repository;

/// A library without the strategy for which its policies ask.
#[test]
fn an_error_is_no_golden_decision() {
    let new = New::in_c("my-plugin");
    let example =
        |file: &str| fs::read_to_string(repository().join("examples/c-plugin").join(file)).expect("it is there");
    for file in ["fill_in_order.c", "ready_only.c", "library.c"] {
        new.write(file, &example(file));
    }
    let make = "LIBRARY = libboth.so\nall:\n\tcc -std=c99 -Iinclude -shared -fPIC -fvisibility=hidden fill_in_order.c ready_only.c library.c \
                -o $(LIBRARY)\ntest:\n\t@true\nlibrary-path:\n\t@echo $(LIBRARY)\n";
    new.write("Makefile", make);
    let profile = "[[profile]]\nname = 'c'\nextends = 'default'\nassign = ['...', 'fill-in-order']\n\
                   [profile.plugin.fill-in-order]\npath = 'libboth.so'\nallow-uncertified = true\n";
    new.write("profile.toml", profile);

    // The policies ask for a strategy that this library does not have.
    let before = new.read("golden/enough-room/expected.txt");
    let (exit, stdout, stderr) = new.test(&["--update"]);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    assert!(
        stdout.contains("golden  enough-room: an error instead of a decision\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("Error: ") && stderr.contains("an error is never a golden decision"),
        "{stdout}{stderr}"
    );
    assert_eq!(new.read("golden/enough-room/expected.txt"), before);
}

/// A library without a certificate is allowed by its profile, for every command that loads it.
#[test]
fn commands_that_load_a_plugin_honour_what_its_profile_allows() {
    let new = New::in_c("my-plugin");
    new.make();
    let profile = format!("{}/profile.toml", new.path());
    let library = format!("{}/libdivvy_plugin_my_plugin.so", new.path());
    let manifests = format!("{}/manifests", new.path());
    for arguments in [
        &["plugin", "show", &library][..],
        &["plugin", "show", "my-plugin"],
        &["plugin", "list"],
        &["diff", "-f", &manifests, "--plugin", &library],
    ] {
        let (exit, stdout, stderr) = run(&[arguments, &["--profile", &profile]].concat());
        assert_eq!(exit, Some(0), "{arguments:?}: {stdout}{stderr}");
    }
    let (exit, stdout, _) = run(&["plugin", "show", &library]);
    assert_eq!(exit, Some(2));
    assert!(stdout.contains("allow-uncertified = true"), "{stdout}");
}
