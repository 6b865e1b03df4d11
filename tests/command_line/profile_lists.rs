//! Lists of a profile that inherit, and plugins that the command line adds to them.

use std::path::Path;

use serde_json::Value;

use super::run;
use crate::artifacts::{fixture, plugin, repository};
use crate::c_interface;

/// Writes a profile and returns its path.
fn profile(folder: &Path, text: &str) -> String {
    let file = folder.join("profile.toml");
    std::fs::write(&file, text).expect("the file can be written");
    file.display().to_string()
}

#[test]
fn a_profile_is_shown_with_the_origin_of_each_entry() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = profile(
        folder.path(),
        "[[profile]]\nname = 'house'\nextends = 'default'\nfilters = ['...', '!cluster-eviction']\n\
         scores = ['...', { plugin = 'cluster-locality', weight = 3 }]\n\
         [[profile]]\nname = 'batch'\nextends = 'house'\nassign = [\n  'duplicated',\n]\n",
    );
    let (exit, stdout, stderr) = run(&["profile", "show", &format!("{path}#batch")]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    let expected = format!(
        "filters = [
    \"api-enablement\",                # built-in profile `default`
    \"taint-toleration\",              # built-in profile `default`
    \"cluster-affinity\",              # built-in profile `default`
    \"spread-constraint-properties\",  # built-in profile `default`
    \"tree\",                          # built-in profile `default`
]
scores = [
    {{ plugin = \"cluster-locality\", weight = 3 }},  # {path}:5
]
select = [
    \"spread-constraints\",  # built-in profile `default`
]
assign = [
    \"duplicated\",  # {path}:10
]
"
    );
    assert!(stdout.contains(&expected), "{stdout}");
    // The output is a profile again.
    let shown = profile(folder.path(), &stdout);
    let (exit, again, _) = run(&["profile", "show", &shown]);
    assert_eq!(exit, Some(0));
    assert!(again.contains("    \"cluster-affinity\",\n"), "{again}");
}

#[test]
fn a_third_party_strategy_needs_one_entry() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = profile(
        folder.path(),
        &format!(
            "[[profile]]\nname = 'mine'\nextends = 'default'\nselect = ['few-per-provider', '...']\n\
             [profile.plugin.few-per-provider]\npath = {:?}\n",
            fixture("few-per-provider")
        ),
    );
    let (exit, stdout, stderr) = run(&["profile", "check", &path]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert!(
        stdout.contains("select      few-per-provider, spread-constraints\n"),
        "{stdout}"
    );
}

/// Clusters of each binding, by strategy.
fn clusters_of(arguments: &[&str], strategy: &str) -> Value {
    let input = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "-o", "json"];
    let (exit, stdout, stderr) = run(&[&input[..], arguments].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let rows = document["bindings"].as_array().expect("it is a list");
    let row = rows.iter().find(|row| row["strategy"] == strategy);
    row.expect("the strategy decided a binding")["clusters"].clone()
}

#[test]
fn an_additional_plugin_goes_before_the_selector_that_enforces_spread_constraints() {
    let library = fixture("few-per-provider").display().to_string();
    let without = clusters_of(&[], "Average");
    let with = clusters_of(&["--plugin", &library], "Average");
    // All clusters have one provider.
    assert_eq!(with.as_array().map(Vec::len), Some(1), "{with}");
    assert_ne!(without, with);
    let (exit, stdout, _) = run(&["profile", "show", "karmada", "--plugin", &library]);
    assert_eq!(exit, Some(0));
    let list = "select = [\n    \"few-per-provider\",    ";
    assert!(stdout.contains(list), "{stdout}");
}

/// A plain build has no certificate. The command line says that it is trusted, without a profile of its own.
#[test]
fn a_library_without_a_certificate_is_allowed_beside_its_path() {
    let careless = repository().join("tests/fixtures/careless.c");
    let library = c_interface::library("careless-allowed", &[careless])
        .display()
        .to_string();
    let arguments = ["profile", "show", "karmada", "--plugin", &library];
    let (exit, _, stderr) = run(&arguments);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("carries no certificate") && stderr.contains("`--allow-uncertified`"),
        "{stderr}"
    );
    let (exit, stdout, stderr) = run(&[&arguments[..], &["--allow-uncertified"]].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(stdout.contains("allow-uncertified = true"), "{stdout}");
    // It is allowed for the files that are named, and for no other.
    let path = format!(
        "[[profile]]\nname = 'mine'\nextends = 'default'\nassign = ['...', 'careless']\n[profile.plugin.careless]\npath = '{library}'\n"
    );
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (exit, _, stderr) = run(&[
        "profile",
        "check",
        "--profile",
        &profile(folder.path(), &path),
        "--allow-uncertified",
    ]);
    assert_eq!(exit, Some(2), "{stderr}");
}

/// The plugin stays where the profile lists it, also if it serves further extension points or comes in a file with
/// others.
#[test]
fn a_plugin_of_the_profile_is_taken_from_the_file_and_stays_where_it_is() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (list, name, others) in [
        ("filters = ['windows']", "windows", ["scores", "select"]),
        ("assign = ['unfaithful']", "unfaithful", ["filters", "scores"]),
    ] {
        let path = profile(folder.path(), &format!("[[profile]]\nname = 'mine'\n{list}\n"));
        let library = fixture(name).display().to_string();
        let (exit, stdout, stderr) = run(&["profile", "show", &path, "--plugin", &library]);
        assert_eq!(exit, Some(0), "{stderr}");
        assert!(stdout.contains(&format!("path = \"{library}\"")), "{stdout}");
        for other in others {
            let line = stdout
                .lines()
                .position(|line| line.starts_with(&format!("{other} = [")));
            assert_eq!(line, None, "{stdout}");
        }
    }
    // Of several plugins that the profile does not use, none is meant.
    let library = fixture("windows").display().to_string();
    let (exit, _, stderr) = run(&["profile", "show", "--plugin", &library]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.contains("holds several plugins: `curious`, `windows`"),
        "{stderr}"
    );
}

#[test]
fn a_library_that_another_hides_is_reported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let used = plugin("average");
    let name = used.file_name().expect("it is a file");
    let hidden = folder.path().join(name);
    std::fs::copy(used, &hidden).expect("the library can be copied");
    let path = profile(
        folder.path(),
        "[[profile]]\nname = 'mine'\nextends = 'default'\nplugin-directories = ['.']\n",
    );
    let (exit, _, stderr) = run(&["profile", "check", &path]);
    assert_eq!(exit, Some(0), "{stderr}");
    let [warning] = stderr.lines().collect::<Vec<_>>()[..] else {
        panic!("one line is expected: {stderr}");
    };
    assert!(
        warning.starts_with("warning: plugin `average` is taken from `"),
        "{warning}"
    );
    assert!(
        warning.ends_with("libdivvy_plugin_average.so`") && warning.contains("`, not from `"),
        "{warning}"
    );
}

#[test]
fn the_plugin_of_an_unlisted_strategy_is_named_with_the_line_to_add() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = profile(
        folder.path(),
        "[[profile]]\nname = 'mine'\nextends = 'default'\nassign = ['...', '!average']\n",
    );
    let input = [
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "--profile",
        &path,
    ];
    let hint = "hint: an installed plugin serves it: add it to the profile by `assign = [\"...\", \"average\"]`";
    let (exit, stdout, _) = run(&input);
    assert_eq!(exit, Some(2), "{stdout}");
    assert!(stdout.contains(hint), "{stdout}");
    let (exit, _, stderr) = run(&[&input[..], &["--strategy", "Average"]].concat());
    assert_eq!(exit, Some(2));
    assert!(stderr.ends_with(&format!("  {hint}\n")), "{stderr}");
    // Nothing serves it.
    let (_, _, stderr) = run(&[&input[..], &["--strategy", "Averag"]].concat());
    assert!(stderr.contains("  hint: known, nearest first: "), "{stderr}");
}
