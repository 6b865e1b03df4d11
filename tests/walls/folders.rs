//! What every plugin folder has, and that its name is one and the same everywhere.

use divvy_host::plugin::PluginLibrary;

use super::{check_none, read};
use crate::artifacts::{metadata, plugin, plugin_folders, plugin_package, repository};
use crate::scheduling::Host;

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
        // The rule, with no ABI in sight, stands in a file of its own.
        let rule = format!("plugins/{folder}/src/{}.rs", folder.replace('-', "_"));
        if !repository().join(&rule).is_file() {
            broken.push(format!("{rule} is missing"));
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
        assert_eq!(library.name(), folder, "plugins/{folder} calls itself otherwise");
        let manifest = repository().join("plugins").join(&folder).join("Cargo.toml");
        let packages = &metadata().packages;
        let package = packages
            .iter()
            .find(|package| package.manifest_path.as_std_path() == manifest);
        let package = package.unwrap_or_else(|| panic!("{} is no package of the workspace", manifest.display()));
        assert_eq!(package.name.as_str(), plugin_package(&folder));
    }
}

#[test]
fn every_strategy_of_the_built_in_profile_is_documented_by_its_plugin() {
    let strategies: Vec<_> = Host::built_in().profile().strategies().collect();
    assert_eq!(strategies.len(), 7);
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
fn a_readme_says_rule_configuration_example_and_maturity() {
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
