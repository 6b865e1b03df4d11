//! `divvy profile`, `divvy plugin`, `divvy completions`, help and version.

use divvy_scheduler::plugin::PluginInstance;

use snapbox::str;

use super::{check, fixture, run};
use crate::scheduling::Host;

#[test]
fn the_built_in_profile_is_shown_with_its_comments() {
    let (exit, stdout, stderr) = run(&["profile", "show"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("# Divvy's built-in profile"), "{stdout}");
    assert!(stdout.contains("\nname = \"default\"\n"));
}

#[test]
fn built_in_profiles_are_listed_and_shown_with_what_they_extend() {
    check(
        &["profile", "list"],
        0,
        str![[r#"
PROFILE         MATCHES                                SUMMARY
default         -                                      Karmada's filters and scores, and division that is steady and spreads by any field
karmada         Karmada v1.19-rc                       decides as Karmada's own scheduler does
karmada-alpha   Karmada v1.19-rc, alpha feature gates  `karmada`, complete sets of components on one cluster, and workload affinity

"#]],
        "",
    );
    let (exit, stdout, _) = run(&["profile", "show", "--profile", "karmada"]);
    assert_eq!(exit, Some(0));
    assert!(
        stdout.starts_with("# Profile `karmada` (built-in profile), with everything it extends filled in.\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("taint-toleration") && stdout.contains("webster"),
        "{stdout}"
    );
}

#[test]
fn the_built_in_profile_is_valid() {
    let profile = Host::built_in().profile();
    let filters: Vec<&str> = profile.filters().map(PluginInstance::name).collect();
    let scores: Vec<String> = profile
        .scores()
        .map(|(plugin, weight)| format!("{} × {weight}", plugin.name()))
        .collect();
    let expected = format!(
        "\
ok: profile `default` (built-in profile)
  filters     {}
  scores      {}
  select      {}
  strategies  {}
  pace        none
  seed        0
",
        filters.join(", "),
        scores.join(", "),
        profile.selectors().next().expect("it has a selector").name(),
        profile.strategy_names().join(", ")
    );
    check(&["profile", "check"], 0, &expected, "");
}

#[test]
fn a_check_lists_the_pace_and_the_settings_of_moves() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("profile.toml");
    let moves = |lines: &str| {
        let text =
            format!("[[profile]]\nname = \"p\"\nextends = \"default\"\n[profile.moves]\npace = \"surge\"\n{lines}");
        std::fs::write(&file, text).expect("the file can be written");
        let (exit, stdout, stderr) = run(&["profile", "check", &file.display().to_string()]);
        assert_eq!(exit, Some(0), "{stderr}");
        let lines = stdout
            .lines()
            .filter(|line| line.contains("  pace ") || line.contains("  moves "));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(moves(""), ["  pace        surge", "  moves       as by default"]);
    assert_eq!(
        moves(
            "max-surge = \"10%\"\nmax-unavailable = 1\nfederated-hpa = false\nhours = [\"Mon-Fri 22:00-06:00 UTC\", \"Sat 00:00-06:00 UTC\"]\n[profile.moves.budgets]\nbindings = 5\n"
        ),
        [
            "  pace        surge",
            "  moves       budgets.bindings 5; federated-hpa false; hours Mon-Fri 22:00-06:00 UTC, Sat 00:00-06:00 UTC; max-surge 10%; \
             max-unavailable 1"
        ]
    );
}

#[test]
fn moves_of_nothing_are_refused_with_the_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("profile.toml");
    let text = "[[profile]]\nname = \"p\"\nextends = \"default\"\n[profile.moves]\npace = \"surge\"\nmax-surge = \"0%\"\nmax-unavailable = 0\n";
    std::fs::write(&file, text).expect("the file can be written");
    let path = file.display().to_string();
    let (exit, stdout, stderr) = run(&["profile", "check", &path]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let expected = format!(
        "error: {path}:6: `[profile.moves]` allows no surge and no unavailable replica: nothing could ever move\n  \
         hint: allow at least one replica in `max-surge` or in `max-unavailable`\n"
    );
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn every_problem_in_a_profile_is_reported_with_its_line() {
    let (exit, stdout, stderr) = run(&["profile", "check", "--profile", "broken.toml"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let (first, others) = stderr.split_once('\n').expect("there are several lines");
    assert!(
        first.starts_with("error: broken.toml:4: plugin `taint-tolerations` not found; looked in `"),
        "{stderr}"
    );
    assert_eq!(
        others,
        "  hint: did you mean `taint-toleration`?\n\
         error: broken.toml:7: configuration of plugin `static-weight`: unknown key `methd`\n  \
         hint: did you mean `method`?\n\
         error: 2 problems in the profile\n"
    );
}

#[test]
fn plugins_that_name_one_file_have_each_their_own_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("profile.toml");
    let mut text =
        "[[profile]]\nname = \"a\"\nextends = \"default\"\nfilters = [\"...\", \"one\", \"two\", \"three\"]\n"
            .to_owned();
    for name in ["one", "two", "three"] {
        text.push_str(&format!("[profile.plugin.{name}]\npath = \"absent.so\"\n"));
    }
    std::fs::write(&file, text).expect("the file can be written");
    let path = file.display().to_string();
    let (exit, _, stderr) = run(&["profile", "check", &path]);
    assert_eq!(exit, Some(2), "{stderr}");
    let errors: Vec<&str> = stderr.lines().filter(|line| line.contains("absent.so")).collect();
    assert_eq!(errors.len(), 3, "{stderr}");
    for (error, line) in errors.iter().zip([6, 8, 10]) {
        assert!(error.starts_with(&format!("error: {path}:{line}: ")), "{stderr}");
    }
}

#[test]
fn problems_of_every_kind_are_reported_at_once_and_inherited_ones_once() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("profile.toml");
    let text = "\
[[profile]]
name = \"a\"
extends = \"default\"
plugin-directories = [\"nowhere\"]
scores = [{plugin = \"cluster-locality\"}, {plugin = \"cluster-locality\"}]
assign = [\"duplicated\", \"averag\", \"duplicated\"]
[[profile]]
name = \"b\"
extends = \"a\"
seedd = 3
";
    std::fs::write(&file, text).expect("the file can be written");
    let path = file.display().to_string();
    let (exit, stdout, stderr) = run(&["profile", "check", &path]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let told: Vec<&str> = stderr.lines().collect();
    let nowhere = folder.path().join("nowhere");
    let expected = [
        format!("error: {path}:10: profile[1]: unknown key `seedd`"),
        "  hint: did you mean `seed`?".to_owned(),
        format!(
            "error: {path}:4: plugin directory `{}` is not a folder",
            nowhere.display()
        ),
        format!("error: {path}:5: `scores` lists plugin `cluster-locality` twice"),
        "  hint: leave one of them out".to_owned(),
        format!("error: {path}:6: plugin `averag` not found; looked in "),
        "  hint: did you mean `average`?".to_owned(),
        format!("error: {path}:6: `assign` lists plugin `duplicated` twice"),
        "  hint: leave one of them out".to_owned(),
        "error: 5 problems in the profile".to_owned(),
    ];
    assert_eq!(told.len(), expected.len(), "{stderr}");
    for (line, start) in told.iter().zip(&expected) {
        assert!(line.starts_with(start.as_str()), "{start}\n{stderr}");
    }
    // Several profiles, as arguments.
    let (exit, stdout, _) = run(&["profile", "check", "three.toml", "karmada"]);
    assert_eq!(exit, Some(0));
    assert_eq!(stdout.matches("ok: profile `").count(), 2, "{stdout}");
    let (_, stdout, _) = run(&["profile", "show", "three.toml"]);
    assert!(stdout.starts_with("# Profile `three`"), "{stdout}");
}

#[test]
fn without_any_plugin_one_error_names_the_searched_folders() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let alone = folder.path().join("divvy");
    std::fs::copy(crate::artifacts::workspace().binary("divvy"), &alone).expect("the binary can be copied");
    let output = std::process::Command::new(&alone)
        .args(["profile", "check"])
        .env_clear()
        .output()
        .expect("it can be started");
    assert_eq!(output.status.code(), Some(2));
    let beside = folder.path().display().to_string();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
    let searched = format!("no plugin found; looked in `{beside}`, ");
    assert!(stderr.contains(&searched), "{stderr}");
    assert!(stderr.ends_with("error: 1 problem in the profile\n"), "{stderr}");
}

#[test]
fn a_missing_profile_is_an_error_with_a_hint() {
    check(
        &["schedule", "-f", "fleet.yaml", "--profile", "nowhere.toml"],
        2,
        "",
        str![[r#"
error: profile `nowhere.toml` cannot be read
  hint: `--profile` takes a file, `FILE#NAME`, or a built-in profile: `default`, `karmada`, `karmada-alpha`
  cause: No such file or directory (os error 2)

"#]],
    );
    check(
        &["profile", "show", "--profile", "broken.toml#brokn"],
        2,
        "",
        "error: broken.toml: no profile `brokn`\n  hint: did you mean `broken`?\n",
    );
}

#[test]
fn every_bundled_plugin_is_listed_with_what_it_serves() {
    let (exit, stdout, _) = run(&["plugin", "list", "-o", "json"]);
    assert_eq!(exit, Some(0), "{stdout}");
    let plugins: serde_json::Value = serde_json::from_str(&stdout).expect("it is JSON");
    let plugins = plugins.as_array().expect("it is an array");
    let average = plugins.iter().find(|plugin| plugin["name"] == "average");
    let average = average.expect("it is listed");
    assert_eq!(average["strategies"], serde_json::json!(["Average"]));
    assert_eq!(average["extensionPoints"], serde_json::json!(["Assign"]));
    assert_eq!(average["inProfile"], true);
    assert_eq!(average["sha256"].as_str().map(str::len), Some(64));
}

/// They moved plugins through registries before the first release.
#[test]
fn commands_that_images_replaced_are_refused_with_the_replacement() {
    for command in ["push", "pull", "key"] {
        let (exit, stdout, stderr) = run(&["plugin", command, "registry.example/plugins/x:1"]);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(
            stderr.starts_with(&format!("error: unrecognized subcommand '{command}'\n"))
                && stderr.contains("tip: build an image of the plugin with its `Dockerfile`")
                && stderr.contains("docs/plugins/images.md"),
            "{stderr}"
        );
    }
    // Elsewhere these words never meant anything.
    let (_, _, stderr) = run(&["profile", "pull"]);
    assert!(!stderr.contains("Dockerfile"), "{stderr}");
}

#[test]
fn a_file_that_is_not_a_plugin_is_listed_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("libdivvy_plugin_text.so");
    std::fs::write(&file, "not a library").expect("the file can be written");
    let path = folder.path().display().to_string();
    let (exit, stdout, _) = run(&["plugin", "list", "--plugin-directory", &path]);
    assert_eq!(exit, Some(2));
    let line = format!(
        "\ntext\n  `{}` is not a shared library: it is a text file\n",
        file.display()
    );
    assert!(stdout.contains(&line), "{stdout}");
    assert!(stdout.contains(", 1 broken, from "), "{stdout}");
}

#[test]
fn a_plugin_is_listed_under_every_name_by_which_it_is_found() {
    for name in ["windows.so", "libwindows.so"] {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::copy(fixture("windows"), folder.path().join(name)).expect("the library can be copied");
        // Neither a plugin nor one that is found by this name.
        std::fs::write(folder.path().join("notes.so"), "not a library").expect("the file can be written");
        std::fs::copy(fixture("windows"), folder.path().join("other.so")).expect("the library can be copied");
        let path = folder.path().display().to_string();
        let (_, stdout, stderr) = run(&["plugin", "list", "-o", "json", "--plugin-directory", &path]);
        let plugins: Vec<serde_json::Value> = serde_json::from_str(&stdout).expect("it is JSON");
        let here = plugins
            .iter()
            .filter_map(|plugin| plugin["path"].as_str()?.strip_prefix(&path));
        assert_eq!(here.collect::<Vec<_>>(), [format!("/{name}")], "{stdout}{stderr}");
    }
}

#[test]
fn a_plugin_is_shown_with_its_configuration() {
    let (exit, stdout, _) = run(&["plugin", "show", "static-weight", "--load"]);
    assert_eq!(exit, Some(0));
    assert!(stdout.starts_with("static-weight "), "{stdout}");
    assert!(
        stdout.contains("\n  method  \"even-remainder\" | \"webster\"  \"even-remainder\"\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("\n  reads of a policy  staticWeightList[].weight\n"),
        "{stdout}"
    );
    let path = fixture("faulty").display().to_string();
    let (exit, stdout, _) = run(&["plugin", "inspect", &path, "--load", "-o", "json"]);
    assert_eq!(exit, Some(0));
    let plugin: serde_json::Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(plugin["preferencesSchema"]["properties"]["patience"]["type"], "integer");
}

#[test]
fn an_unknown_plugin_is_an_error_with_the_nearest_name() {
    let (exit, _, stderr) = run(&["plugin", "show", "averag"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.ends_with("\n  hint: did you mean `average`?\n"), "{stderr}");
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (exit, stdout, stderr) = run(&["completions", shell]);
        assert_eq!((exit, stderr.as_str()), (Some(0), ""));
        assert!(stdout.contains("DIVVY_COMPLETE"), "{shell}");
    }
}

#[test]
fn the_help_of_every_command_has_examples() {
    for command in [
        &["schedule"][..],
        &["diff"],
        &["headroom"],
        &["replay"],
        &["profile", "show"],
        &["profile", "check"],
        &["plugin", "list"],
        &["plugin", "inspect"],
        &["plugin", "verify"],
        &["completions"],
        &[],
    ] {
        let (exit, stdout, _) = run(&[command, &["--help"]].concat());
        assert_eq!(exit, Some(0));
        assert!(stdout.contains("\nExamples:\n"), "{command:?}\n{stdout}");
    }
    // The description is that of the arguments, all of it.
    for (command, end) in [
        ("schedule", "Changes nothing in any cluster"),
        ("diff", "Changes nothing in any cluster"),
        ("run", "service account of its pod"),
        ("explain", "within a limit on memory"),
        ("replay", "the profile in the recording is used"),
        ("bench", "planning the binding and then the cycle"),
    ] {
        let (_, stdout, _) = run(&["help", command]);
        let (description, _) = stdout.split_once("\n\nUsage:").unwrap_or_default();
        let words: Vec<&str> = description.split_whitespace().collect();
        let description = words.join(" ");
        assert!(
            description.trim_end_matches('.').ends_with(end),
            "{command}: {description}"
        );
    }
    let (exit, stdout, _) = run(&["--version"]);
    assert_eq!(exit, Some(0));
    assert!(
        stdout.starts_with("divvy ") && stdout.contains(" (plugin ABI "),
        "{stdout}"
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [
        &[][..],
        &["schedule"],
        &["sched"],
        &["schedule", "-f", "fleet.yaml", "-o", "xml"],
    ] {
        let (exit, stdout, stderr) = run(arguments);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!stderr.is_empty());
    }
}
