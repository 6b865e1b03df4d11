//! Versions in step: one of scheduler, SDK, chart and documentation, one of the ABI, and the changelog and the kept binaries of both.
//!
//! A version is raised in the commit that dates its section of the changelog, so that every tree says which release it follows.

use super::{check_none, read};
use crate::artifacts::{metadata, repository};

/// The crate whose version is that of the ABI.
const ABI: &str = "divvy-framework-abi";

fn text(path: &str) -> String {
    read(&repository().join(path)).text
}

/// The version of a crate of the workspace.
fn version_of(name: &str) -> String {
    let packages = metadata().workspace_packages();
    let package = packages.into_iter().find(|package| *package.name == name);
    package.expect("the workspace has the crate").version.to_string()
}

/// The version of a release.
fn release() -> String {
    version_of("divvy-cli")
}

#[test]
fn every_crate_has_the_version_of_the_release() {
    let release = release();
    let packages = metadata().workspace_packages().into_iter();
    let others = packages.filter(|package| *package.name != ABI && package.version.to_string() != release);
    check_none(
        others
            .map(|package| format!("{} {}", package.name, package.version))
            .collect(),
        "`version.workspace = true`, except for the crate of the ABI",
    );
}

/// A published crate would otherwise find an older one.
#[test]
fn a_crate_asks_for_the_version_beside_it() {
    let manifest = text("Cargo.toml");
    let dependencies = manifest
        .lines()
        .filter(|line| line.contains("version = \"") && line.contains("path = \"framework"));
    let mut checked = 0;
    let stale = dependencies.filter(|line| {
        checked += 1;
        let name = line.split(' ').next().unwrap_or_default();
        !line.contains(&format!("version = \"{}\"", version_of(name)))
    });
    let stale: Vec<String> = stale.map(str::to_owned).collect();
    check_none(stale, "the workspace's dependencies have the versions of their crates");
    assert!(checked > 5, "{checked}");
}

#[test]
fn the_chart_and_the_deployment_name_the_release() {
    let release = release();
    for (path, expected) in [
        ("packaging/chart/Chart.yaml", format!("\nversion: {release}\n")),
        ("packaging/chart/Chart.yaml", format!("\nappVersion: {release}\n")),
        ("docs/start.md", format!("divvy-{release}-linux-amd64.tar.gz")),
        ("docs/start.md", format!("divvy_{release}_amd64.deb")),
        ("examples/deploy/README.md", format!("divvy:{release}")),
        ("examples/deploy/README.md", format!("`newTag: {release}`")),
        (
            "examples/deploy/shadow/kustomization.yaml",
            format!("newTag: {release}\n"),
        ),
        (
            "examples/deploy/beside/kustomization.yaml",
            format!("newTag: {release}\n"),
        ),
        (
            "examples/deploy/instead/kustomization.yaml",
            format!("newTag: {release}\n"),
        ),
    ] {
        assert!(text(path).contains(&expected), "{path} lacks `{}`", expected.trim());
    }
}

#[test]
fn the_changelog_has_a_dated_section_of_the_release_below_the_unreleased_one() {
    let changelog = text("CHANGELOG.md");
    let titles: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(titles.first(), Some(&"[Unreleased]"));
    let date = titles
        .get(1)
        .and_then(|title| title.strip_prefix(&format!("[{}] - ", release())));
    let date = date.unwrap_or_else(|| panic!("no `## [{}] - YYYY-MM-DD` follows Unreleased: {titles:?}", release()));
    let lengths: Vec<usize> = date.split('-').map(str::len).collect();
    let is_date = lengths == [4, 2, 2] && date.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    assert!(is_date, "expected a date such as 2026-11-27, got {date}");
    // What a user sees of the other two versions is in the first line of the section.
    let section = changelog.split("\n## ").nth(2).unwrap_or_default();
    let abi = version_of(ABI);
    let (minor, _patch) = abi.rsplit_once('.').expect("a version has three parts");
    let versions = format!("ABI {minor}, SDK {}.", version_of("divvy-framework"));
    assert!(section.contains(&versions), "the section says `{versions}`");
}

#[test]
fn the_abi_version_has_kept_binaries() {
    let abi = version_of(ABI);
    let (minor, _patch) = abi.rsplit_once('.').expect("a version has three parts");
    let folder = format!("tests/frozen/{minor}");
    assert!(
        repository().join(&folder).join("host.gz").is_file(),
        "{folder} is missing: `tests/frozen/make` makes it"
    );
}
