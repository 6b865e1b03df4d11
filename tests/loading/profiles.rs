//! Profiles whose plugins cannot be combined.

use divvy_loader::PluginDirectories;
use divvy_scheduler::profile::RegistryError;

use super::settled;
use crate::artifacts;
use crate::scheduling::{Host, configuration, name_libraries};

/// The errors of a profile, each with its hint.
#[track_caller]
fn refused(lines: &str) -> Vec<(String, String)> {
    let errors = Host::try_extending(lines).expect_err("the profile is refused");
    errors.iter().map(told).collect()
}

fn told(error: &RegistryError) -> (String, String) {
    let nowhere = std::path::Path::new("\0");
    (settled(&error.to_string(), nowhere), error.hint().unwrap_or_default())
}

#[track_caller]
fn check(lines: &str, expected: &[(&str, &str)]) {
    let actual = refused(lines);
    let actual: Vec<(&str, &str)> = actual
        .iter()
        .map(|(message, hint)| (message.as_str(), hint.as_str()))
        .collect();
    assert_eq!(actual, expected, "{lines}");
}

#[test]
fn two_plugins_of_one_name() {
    let library = artifacts::plugin("average").display();
    let lines = format!("assign = ['average', '{library}']");
    let twice = format!("two plugins are named `average`: `{library}` and `{library}`");
    check(&lines, &[(&twice, "")]);
}

#[test]
fn two_plugins_for_one_strategy() {
    let assign = "assign = ['average', 'rival']";
    check(
        assign,
        &[(
            "plugins `average` and `rival` both serve strategy `Average`",
            "choose one: `[profile.strategies]` `Average = \"average\"`",
        )],
    );
    let host = Host::extending(&format!("{assign}\nstrategies = {{ Average = 'rival' }}"));
    let strategy = host.profile().strategy("Average").expect("it is served");
    assert_eq!(strategy.plugin().name(), "rival");
}

#[test]
fn a_selector_after_one_that_enforces_spread_constraints() {
    let lines = "select = ['spread-constraints', 'few-per-provider']";
    check(
        lines,
        &[(
            "`select` lists `few-per-provider` after `spread-constraints`, which enforces spread constraints",
            "put `few-per-provider` before `spread-constraints`",
        )],
    );
    let errors = Host::try_extending(lines).expect_err("refused");
    assert_eq!(errors[0].key().as_deref(), Some("select[1]"));
    check(
        "select = ['few-per-provider', 'spread-constraints', 'few-per-provider']",
        &[(
            "`select` lists plugin `few-per-provider` twice",
            "leave one of them out",
        )],
    );
    check(
        "select = []",
        &[(
            "profile `test` has no `select`",
            "`extends = \"default\"` takes it from the built-in profile",
        )],
    );
}

#[test]
fn a_strategy_given_to_a_plugin_that_does_not_serve_it() {
    check(
        "strategies = { Average = 'specified', Other = 'unlisted' }",
        &[
            (
                "`strategies.Average` names plugin `specified`, which serves Specified",
                "",
            ),
            (
                "`strategies.Other` names plugin `unlisted`, which `assign` does not list",
                "",
            ),
        ],
    );
}

#[test]
fn an_unknown_configuration_key_names_the_nearest() {
    check(
        "[profile.plugin.static-weight.configuration]\nmethods = 'webster'",
        &[(
            "configuration of plugin `static-weight`: unknown key `methods`",
            "did you mean `method`?",
        )],
    );
    check(
        "[profile.plugin.static-weight.configuration]\nmethod = 'webstar'",
        &[(
            "configuration of plugin `static-weight`: method: unknown value `webstar`",
            "did you mean `webster`?",
        )],
    );
}

#[test]
fn a_configuration_value_of_another_type_is_named_with_both_types() {
    check(
        "assign = ['faulty']\n[profile.plugin.faulty.configuration]\npatience = 'long'",
        &[(
            "configuration of plugin `faulty`: patience: expected a whole number from 0 to 4294967295, got the string \"long\"",
            "",
        )],
    );
    let errors = Host::try_extending("assign = ['faulty']\n[profile.plugin.faulty.configuration]\npatience = 'long'");
    let keys: Vec<Option<String>> = errors.expect_err("refused").iter().map(RegistryError::key).collect();
    assert_eq!(keys, [Some("plugin.faulty.configuration.patience".to_owned())]);
}

#[test]
fn a_constructor_that_fails() {
    check(
        "assign = ['faulty']\nplugin.faulty.configuration.constructor = 'error'",
        &[("plugin `faulty` could not be constructed: the licence has run out", "")],
    );
}

#[test]
fn a_constructor_that_refuses_the_value_of_a_key() {
    let lines = "assign = ['faulty']\nplugin.faulty.configuration.constructor = 'key'";
    check(
        lines,
        &[(
            "configuration of plugin `faulty`: patience: expected less than 10, got 12",
            "9 is much already",
        )],
    );
    let errors = Host::try_extending(lines).expect_err("the profile is refused");
    assert_eq!(errors[0].key().as_deref(), Some("plugin.faulty.configuration.patience"));
}

#[test]
fn a_constructor_that_panics() {
    check(
        "assign = ['faulty']\nplugin.faulty.configuration.constructor = 'panic'",
        &[(
            "plugin `faulty` panicked in its constructor: the constructor panicked (at faulty/src/lib.rs:<line>)",
            "",
        )],
    );
}

#[test]
fn a_library_that_holds_another_plugin() {
    let library = artifacts::plugin("specified").display();
    let lines = format!("plugin.average.path = '{library}'");
    check(
        &lines,
        &[(&format!("`{library}` holds plugin `specified`, expected `average`"), "")],
    );
}

#[test]
fn a_library_with_a_different_checksum() {
    let digits = "0".repeat(64);
    let errors = refused(&format!("plugin.average.sha256 = '{digits}'"));
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].0.ends_with(&format!("the profile names sha256:{digits}")),
        "{errors:?}"
    );
}

#[test]
fn a_plugin_at_an_extension_point_that_it_does_not_serve() {
    check(
        "filters = ['average']\nscores = [{ plugin = 'specified' }]\nselect = 'cluster-locality'",
        &[
            ("plugin `average` does not serve Filter; it serves Assign", ""),
            ("plugin `specified` does not serve Score; it serves Assign", ""),
            ("plugin `cluster-locality` does not serve Select; it serves Score", ""),
        ],
    );
}

#[test]
fn a_plugin_that_is_not_found_names_the_searched_folders() {
    let here = artifacts::plugin("average")
        .parent()
        .expect("a library lies in a folder");
    let mut profile = configuration("extends = 'default'");
    name_libraries(&mut profile);
    profile.assign = Some(vec!["averag".to_owned()]);
    profile.plugin.retain(|name, _| name != "average");
    let directories = PluginDirectories::new([here.to_owned(), "/nonexistent".into()]);
    let errors = Host::new(&profile, &directories).expect_err("there is no such plugin");
    let expected = format!(
        "plugin `averag` not found; looked in `{}`, `/nonexistent`",
        here.display()
    );
    assert_eq!(told(&errors[0]), (expected, "did you mean `average`?".to_owned()));
    let errors = Host::new(&profile, &PluginDirectories::default()).expect_err("there is no such plugin");
    assert_eq!(
        told(&errors[0]),
        (
            "plugin `averag` not found; looked in no directory".to_owned(),
            "build the plugins, or name their folder in `plugin-directories` or DIVVY_PLUGIN_PATH".to_owned(),
        )
    );
}

#[test]
fn a_library_under_another_name_and_a_link_to_nothing_are_named() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let renamed = folder.path().join("renamed.so");
    std::fs::copy(artifacts::plugin("average"), &renamed).expect("a library can be copied");
    let mut profile = configuration("extends = 'default'");
    name_libraries(&mut profile);
    profile.assign = Some(vec!["average".to_owned()]);
    profile.plugin.retain(|name, _| name != "average");
    let directories = PluginDirectories::new([folder.path().to_owned()]);
    let errors = Host::new(&profile, &directories).expect_err("it has another name");
    let expected = (
        format!("plugin `average` not found; looked in `{}`", folder.path().display()),
        format!(
            "`{}` holds it: rename the file to `libdivvy_plugin_average.so`, or write its `path` in \
             `[profile.plugin.average]`",
            renamed.display()
        ),
    );
    assert_eq!(told(&errors[0]), expected);

    let link = folder.path().join("libdivvy_plugin_average.so");
    std::os::unix::fs::symlink(folder.path().join("nothing.so"), &link).expect("a link can be made");
    let errors = Host::new(&profile, &directories).expect_err("the link leads to nothing");
    assert_eq!(
        told(&errors[0]).0,
        format!("plugin file `{}` does not exist", link.display())
    );
}

#[test]
fn all_errors_are_reported_at_once() {
    let lines = "filters = ['average']\nassign = ['faulty']\n\
                 [profile.plugin.faulty.configuration]\nconstructor = 'error'\n[profile.plugin.idle]\n";
    check(
        lines,
        &[
            ("plugin `average` does not serve Filter; it serves Assign", ""),
            ("plugin `faulty` could not be constructed: the licence has run out", ""),
            ("profile `test` configures plugin `idle`, which it does not use", ""),
        ],
    );
    let empty = Host::new(&configuration(""), &PluginDirectories::default());
    let errors: Vec<(String, String)> = empty.expect_err("the profile is empty").iter().map(told).collect();
    let hint = "`extends = \"default\"` takes it from the built-in profile";
    assert_eq!(
        errors,
        [
            ("profile `test` has no `select`".to_owned(), hint.to_owned()),
            ("profile `test` has no `assign`".to_owned(), hint.to_owned()),
        ]
    );
}
