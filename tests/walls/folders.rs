//! The contents of every plugin folder, and the use of one name everywhere.

use std::fs;
use std::process::Command;

use divvy_loader::PluginLibrary;

use super::{check_none, read};
use crate::artifacts::{metadata, plugin, plugin_folders, plugin_package, repository};
use crate::scheduling::Host;

/// Plugins whose rule the SDK has, because plugins of others need it, too.
const RULES_OF_THE_SDK: [&str; 3] = ["cluster-affinity", "cluster-eviction", "taint-toleration"];

#[test]
fn a_plugin_folder_has_a_readme_its_module_and_its_tests() {
    let mut broken = Vec::new();
    for folder in plugin_folders() {
        for file in ["Cargo.toml", "README.md", "src/lib.rs", "src/tests.rs"] {
            let path = format!("plugins/{folder}/{file}");
            if !repository().join(&path).is_file() {
                broken.push(format!("{path} is missing"));
            }
        }
        // The rule, without any ABI, has its own file.
        let rule = format!("plugins/{folder}/src/{}.rs", folder.replace('-', "_"));
        if repository().join(&rule).is_file() == RULES_OF_THE_SDK.contains(&folder.as_str()) {
            broken.push(format!("{rule} is missing, or the SDK has the rule"));
        }
    }
    check_none(
        broken,
        "a plugin folder has a README, src/lib.rs, its rule and src/tests.rs",
    );
}

/// Profile, logs, errors, folder and file name agree.
#[test]
fn a_plugin_has_one_name() {
    for folder in plugin_folders() {
        let library = PluginLibrary::load(plugin(&folder), None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            library.name(),
            folder,
            "plugins/{folder} has a plugin with another name"
        );
        let manifest = repository().join("plugins").join(&folder).join("Cargo.toml");
        let packages = &metadata().packages;
        let package = packages
            .iter()
            .find(|package| package.manifest_path.as_std_path() == manifest);
        let package = package.unwrap_or_else(|| panic!("{} is not in the workspace", manifest.display()));
        assert_eq!(package.name.as_str(), plugin_package(&folder));
    }
}

/// Runs the first step of CONTRIBUTING.md on a copy of the project.
/// A copy of what `.ci/new-plugin` changes, after it has made a plugin of each kind.
fn with_new_plugins() -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder can be made");
    let paths = [
        ".ci",
        "Cargo.lock",
        "Cargo.toml",
        "docs",
        "rustfmt.toml",
        "framework",
        "host",
        "plugins",
        "tests",
    ];
    let status = Command::new("cp")
        .arg("-r")
        .args(paths.map(|path| repository().join(path)))
        .arg(copy.path())
        .status();
    assert!(status.expect("cp can be started").success());
    for arguments in [
        ["strategy", "CopiedByTests"],
        ["filter", "FilterOfTests"],
        ["score", "ScoreOfTests"],
    ] {
        let output = Command::new(copy.path().join(".ci/new-plugin"))
            .args(arguments)
            .output();
        let output = output.expect("the script can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    copy
}

#[test]
fn a_new_plugin_starts_as_a_copy_with_its_own_names() {
    let copy = with_new_plugins();
    let text = |path: &str| fs::read_to_string(copy.path().join(path)).expect("the file is there");
    let plugins = [
        ("copied-by-tests", "average", "Average"),
        ("filter-of-tests", "api-enablement", "ApiEnablement"),
        ("score-of-tests", "cluster-locality", "ClusterLocality"),
    ];
    for (name, from, from_type) in plugins {
        let folder = copy.path().join("plugins").join(name);
        let module = name.replace('-', "_");
        let library = text(&format!("plugins/{name}/src/lib.rs"));
        for line in [format!("NAME: &'static str = \"{name}\";"), format!("mod {module};")] {
            assert!(library.contains(&line), "`{line}` is missing:\n{library}");
        }
        assert!(folder.join("src").join(format!("{module}.rs")).exists(), "{name}");
        let old_names = [
            format!("{from_type} {{"),
            format!("{from_type};"),
            format!("{from_type}>"),
            format!("{}::", from.replace('-', "_")),
            format!("\"{from}\""),
            format!("`{from}`"),
        ];
        let sources = walkdir::WalkDir::new(folder.join("src"))
            .into_iter()
            .map(|entry| entry.expect("it can be listed"));
        for source in sources.filter(|entry| entry.file_type().is_file()) {
            let code = fs::read_to_string(source.path()).expect("it can be read");
            let left: Vec<&String> = old_names.iter().filter(|old| code.contains(*old)).collect();
            assert!(left.is_empty(), "{} still has {left:?}", source.path().display());
        }
        assert!(text(&format!("plugins/{name}/Cargo.toml")).contains(&format!("\"divvy-plugin-{name}\"")));
        assert!(text("Cargo.lock").contains(&format!("\nname = \"divvy-plugin-{name}\"\n")));
    }
    assert!(text("plugins/copied-by-tests/src/lib.rs").contains("= &[\"CopiedByTests\"];"));
    let readme = text("plugins/copied-by-tests/README.md");
    assert!(
        readme.starts_with("# CopiedByTests\n") && readme.contains("strategy = \"CopiedByTests\"\n"),
        "{readme}"
    );
    let readme = text("plugins/filter-of-tests/README.md");
    assert!(
        readme.starts_with("# filter-of-tests\n") && readme.contains("rejected by filter-of-tests:"),
        "{readme}"
    );
    let summary = text("docs/SUMMARY.md");
    for page in [
        "strategies/copied-by-tests",
        "plugins/filter-of-tests",
        "plugins/score-of-tests",
    ] {
        assert!(summary.contains(&format!("]({page}.md)\n")), "{summary}");
        assert!(text(&format!("docs/{page}.md")).starts_with("{{#include ../../plugins/"));
    }
    let profile = text("host/core/profile/src/default.toml");
    assert!(profile.contains("\n    \"copied-by-tests\",\n]"));
    assert!(!profile.contains("-of-tests"), "{profile}");
}

#[test]
fn every_strategy_of_the_built_in_profile_is_documented_by_its_plugin() {
    let mut strategies = Host::built_in().profile().strategies().peekable();
    assert!(strategies.peek().is_some(), "the built-in profile has no strategy");
    for strategy in strategies {
        let folder = strategy.plugin().name();
        let readme = read(&repository().join("plugins").join(folder).join("README.md"));
        let title = format!("# {}\n", strategy.name());
        assert!(
            readme.text.starts_with(&title),
            "{} does not begin with `{title}`",
            readme.path
        );
    }
}

#[test]
fn a_readme_has_rule_configuration_example_and_maturity() {
    let mut broken = Vec::new();
    for folder in plugin_folders() {
        let readme = read(&repository().join("plugins").join(&folder).join("README.md"));
        for heading in ["## Rule", "## Configuration", "## Worked example", "## Maturity"] {
            if !readme.text.lines().any(|line| line == heading) {
                broken.push(format!("{} has no `{heading}`", readme.path));
            }
        }
    }
    check_none(broken, "a plugin's README has these sections");
}
