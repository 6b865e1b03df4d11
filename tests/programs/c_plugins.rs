//! Plugins in C as `divvy plugin new` creates them: `divvy plugin test` builds them by make, runs their tests and compares their decisions.
//!
//! What it does with decisions is the same for every language, and is tested here because a plugin in C is built in less than a second.

use std::fs;
use std::process::Command;

use crate::artifacts::repository;
use crate::created::{New, run, run_with};

/// A new plugin in C for this extension point.
///
/// # Panics
///
/// Panics if make is missing, with the package that has it.
#[track_caller]
fn plugin(point: &str) -> New {
    if let Err(error) = Command::new("make").arg("--version").output() {
        panic!("`make` cannot be started ({error}): install Debian's package `make`");
    }
    New::create("my-plugin", &["--language=c", "--point", point])
}

#[test]
fn new_plugins_in_c_build_and_pass() {
    let templates = [
        ("assign", &["enough-room", "too-little-room"][..]),
        ("filter", &["no-region"]),
        ("score", &["most-room"]),
        ("select", &["two-clusters"]),
        ("pace", &["target"]),
    ];
    for (point, cases) in &templates[..divvy_built::cases(1, templates.len())] {
        plugin(point).passes(cases);
    }
}

#[test]
fn a_changed_decision_is_shown_and_updated_only_outside_ci() {
    let new = plugin("assign");
    let expected = new.read("golden/enough-room/expected.txt");
    new.write(
        "golden/enough-room/expected.txt",
        &expected.replace("berlin: 8", "berlin: 7"),
    );
    let (exit, stdout, stderr) = new.test(&[]);
    assert_eq!(exit, Some(1), "{stdout}{stderr}");
    let difference = "\
golden  enough-room: differs (- expected, + actual)
    shop/web-deployment: Scheduled by MyPlugin
  -   berlin: 7 replicas
  +   berlin: 8 replicas
      dallas: 1 replica
golden  too-little-room: ok
";
    assert!(stdout.ends_with(difference), "{stdout}");
    let hint = "error: 1 of 2 golden cases failed\n  \
                hint: if the new decisions are right, run `divvy plugin test --update`\n";
    assert!(stderr.ends_with(hint), "{stderr}");

    let (exit, stdout, stderr) = run_with(&["plugin", "test", new.path(), "--update"], &[("CI", "true")]);
    assert_eq!(
        (exit, stdout.as_str(), stderr.as_str()),
        (
            Some(2),
            "",
            "error: `--update` is refused where the environment variable `CI` is set\n  \
             hint: run it on your machine, and commit what it writes\n"
        )
    );
    let (exit, stdout, _) = new.test(&["--update"]);
    assert_eq!(exit, Some(0), "{stdout}");
    assert!(
        stdout.contains("golden  enough-room: updated\ngolden  too-little-room: ok\n"),
        "{stdout}"
    );
    assert_eq!(new.read("golden/enough-room/expected.txt"), expected);
}

#[test]
fn a_plugin_without_golden_cases_or_outside_its_profile_does_not_pass() {
    let new = plugin("assign");
    let profile = new.read("profile.toml");
    new.write("profile.toml", &profile.replace(", \"my-plugin\"", ""));
    let (exit, _, stderr) = new.test(&[]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("profile `my-plugin` does not use the plugin `my-plugin`\n  hint: list it under"),
        "{stderr}"
    );

    new.write("profile.toml", &profile);
    fs::remove_dir_all(new.folder.join("golden")).expect("the folder can be removed");
    let (exit, stdout, stderr) = new.test(&[]);
    let expected = format!(
        "error: `{}` has no golden case\n  hint: put manifests into `golden/NAME/`, and let `divvy plugin test --update` \
         write the decisions\n",
        new.path()
    );
    assert_eq!((exit, stdout.as_str(), stderr), (Some(2), "", expected));

    let (exit, _, stderr) = run(&["plugin", "test", "/proc/self"]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("it has neither a Cargo.toml nor a Makefile"),
        "{stderr}"
    );
}

#[test]
fn a_test_that_fails_ends_the_run_before_anything_is_loaded() {
    let new = plugin("assign");
    let rule = new.read("rule.c");
    new.write(
        "rule.c",
        &rule.replace("room[cluster] > room[best]", "room[cluster] < room[best]"),
    );
    let (exit, stdout, stderr) = new.test(&[]);
    assert_eq!((exit, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("error: `make test` failed"), "{stderr}");
}

/// The file that was built is loaded, and one that other commands would load is named.
#[test]
fn a_copy_elsewhere_is_named_and_not_loaded() {
    let new = plugin("assign");
    let elsewhere = new.folder.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder can be made");
    let copy = elsewhere.join("libdivvy_plugin_my_plugin.so");
    // Loading it would fail.
    fs::write(&copy, "not a library").expect("the file can be written");
    let profile = new
        .read("profile.toml")
        .replace("path = \"libdivvy_plugin_my_plugin.so\"\n", "");
    new.write("profile.toml", &profile);
    let folder = elsewhere.to_str().expect("the path is UTF-8");
    let (exit, stdout, stderr) = new.test(&["--plugin-directory", folder]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let note = format!(
        "note: other commands load another copy of `my-plugin` with this profile: {}\n  copy: written ",
        copy.display()
    );
    assert!(stderr.contains(&note), "{stderr}");
}

/// A new plugin whose library holds the two plugins of the example, a strategy and then a filter. `change` is made to the filter's source.
fn both(change: impl FnOnce(&str) -> String) -> New {
    let new = plugin("assign");
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
        // Both decide with the profile's filters, so what a wrong one breaks can be found with either.
        assert!(end("fill-in-order").contains(" checks"), "{stdout}{stderr}");
        assert_eq!(
            (
                end("ready-only").contains("keeps its contracts in all of "),
                stdout.contains("\nrejections: ")
            ),
            (expected == 0, expected == 1),
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
