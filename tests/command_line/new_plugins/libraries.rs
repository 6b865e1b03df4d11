//! Libraries of new plugins in C as a profile uses them: what it allows, and what is no decision.

use std::fs;

use super::{New, run};
use crate::artifacts::repository;

/// A new plugin whose library holds the two plugins of the example, a strategy and then a filter. `change` is made to the filter's source.
fn both(change: impl FnOnce(&str) -> String) -> New {
    let new = New::in_c("my-plugin");
    let example =
        |file: &str| fs::read_to_string(repository().join("examples/c-plugin").join(file)).expect("it is there");
    for file in ["fill_in_order.c", "library.c"] {
        new.write(file, &example(file));
    }
    new.write("ready_only.c", &change(&example("ready_only.c")));
    let make = "LIBRARY = libboth.so\nall:\n\tcc -std=c99 -Iinclude -shared -fPIC -fvisibility=hidden fill_in_order.c ready_only.c library.c \
                -o $(LIBRARY)\ntest:\n\t@true\nlibrary-path:\n\t@echo $(LIBRARY)\n";
    new.write("Makefile", make);
    let profile = "[[profile]]\nname = 'c'\nextends = 'default'\nfilters = ['...', 'ready-only']\nassign = ['...', 'fill-in-order']\n\
                   [profile.plugin.fill-in-order]\npath = 'libboth.so'\nallow-uncertified = true\n\
                   [profile.plugin.ready-only]\npath = 'libboth.so'\nallow-uncertified = true\n";
    new.write("profile.toml", profile);
    new
}

/// Each plugin of a library is verified, and a fault of the last one fails.
#[test]
fn every_plugin_of_a_library_is_verified() {
    let wrong = |source: &str| {
        let right = "if (call->codes.data[row] != 0 || (row < rows";
        assert!(source.contains(right), "{source}");
        // It accepts what another filter has rejected.
        source.replace(right, "call->codes.data[row] = 0;\n        if ((row < rows")
    };
    for (new, expected) in [(both(str::to_owned), 0), (both(wrong), 1)] {
        for case in ["enough-room", "too-little-room"] {
            let file = format!("golden/{case}/manifests.yaml");
            new.write(&file, &new.read(&file).replace("MyPlugin", "FillInOrder"));
        }
        let (exit, stdout, stderr) = new.test(&["--update"]);
        assert_eq!(exit, Some(expected), "{stdout}{stderr}");
        let end = |plugin: &str| {
            stdout
                .lines()
                .filter(|line| line.contains(&format!("plugin `{plugin}` ")))
                .collect::<String>()
        };
        assert!(
            end("fill-in-order").contains("keeps its contracts in all of "),
            "{stdout}{stderr}"
        );
        assert_eq!(
            end("ready-only").contains("keeps its contracts in all of "),
            expected == 0,
            "{stdout}{stderr}"
        );
        assert!(stdout.contains("ready-only 1.0.0"), "{stdout}{stderr}");
    }
}

/// A library without the strategy for which its policies ask.
#[test]
fn an_error_is_no_golden_decision() {
    let new = both(str::to_owned);

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
