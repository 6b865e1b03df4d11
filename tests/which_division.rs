//! `docs/which-division.md`: the results on the page are those of its policies.
//!
//! The first block of YAML is the workload, and each further one a policy. A `console` block runs the command in its first
//! line, in a folder with `examples`, the workload and the last policy, and continues with what the command prints.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, Data};

use crate::artifacts::{self, plugin, repository, workspace};

const PAGE: &str = "docs/which-division.md";

/// Folders with the bundled plugins, and with the plugin that the page takes from the examples.
fn plugin_path() -> std::ffi::OsString {
    let example = repository().join("examples/out-of-tree-plugin/Cargo.toml");
    let built = artifacts::build(&example, &["--locked"]);
    let libraries = [plugin("duplicated"), built.library("divvy-plugin-cheapest-first")];
    let folders = libraries.map(|library| library.parent().expect("a library is in a folder"));
    std::env::join_paths(folders).expect("no folder has a colon")
}

/// What a command of the page prints, after the line with the command.
fn output(line: &str, folder: &Path, plugins: &std::ffi::OsStr) -> String {
    let arguments = line
        .strip_prefix("$ divvy ")
        .unwrap_or_else(|| panic!("`{line}` does not run divvy"));
    let output = Command::new(workspace().binary("divvy"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env_clear()
        .env("DIVVY_PLUGIN_PATH", plugins)
        .stdin(Stdio::null())
        .output()
        .expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    // What the changes leave without replicas is what a gate fails for.
    let expected = i32::from(stdout.contains(" newly missing"));
    assert_eq!(output.status.code(), Some(expected), "{line}: {stderr}{stdout}");
    assert_eq!(stderr, "", "{line}");
    stdout
}

#[test]
fn each_wish_has_the_result_of_its_policy() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::os::unix::fs::symlink(repository().join("examples"), folder.path().join("examples"))
        .expect("a link can be made");
    let plugins = plugin_path();
    let page = fs::read_to_string(repository().join(PAGE)).expect("the page can be read");
    let (mut made, mut policies, mut results) = (String::new(), 0, 0);
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once("```") {
        let (block, after) = after.split_once("\n```\n").expect("a block ends");
        let (language, content) = block.split_once('\n').expect("a block has a language");
        made.push_str(before);
        let content = match language {
            "yaml" => {
                let name = if policies == 0 { "web.yaml" } else { "policy.yaml" };
                fs::write(folder.path().join(name), content).expect("the manifest can be written");
                policies += 1;
                content.to_owned()
            }
            "console" => {
                results += 1;
                let command = content.lines().next().expect("a block has a command");
                let printed = output(command, folder.path(), &plugins);
                format!("{command}\n{}", printed.trim_end())
            }
            other => panic!("a block of `{other}`"),
        };
        made.push_str(&format!("```{language}\n{content}\n```\n"));
        rest = after;
    }
    made.push_str(rest);
    // Every policy has a result.
    assert_eq!(policies, results + 1);
    let expected = Data::read_from(&repository().join(PAGE), None);
    let assert = Assert::new().action_env(DEFAULT_ACTION_ENV);
    let compared = assert.try_eq(Some(&PAGE), made.into(), expected.raw());
    compared.unwrap_or_else(|error| panic!("{error}"));
}

/// The contents at the beginning of the page list every wish, by the link that its heading has.
#[test]
fn every_wish_is_listed() {
    let page = fs::read_to_string(repository().join(PAGE)).expect("the page can be read");
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let links: Vec<String> = headings
        .map(|heading| {
            let kept = |character: char| character.is_alphanumeric() || matches!(character, ' ' | '-');
            let anchor: String = heading
                .to_lowercase()
                .chars()
                .filter(|character| kept(*character))
                .collect();
            format!("(#{})", anchor.replace(' ', "-"))
        })
        .collect();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| [")).collect();
    assert_eq!(rows.len(), links.len());
    for (row, link) in rows.iter().zip(&links) {
        assert!(row.contains(link.as_str()), "{row} has no {link}");
    }
}
