//! The share of continuous integration: lives of a few seeds, the same in another process.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Seeds that are lived: those of the gate cost some fifteen seconds of processor time. `.ci/run all` lives 2,000 more by a release build.
fn seeds() -> String {
    divvy_built::cases(30, 150).to_string()
}

/// The folder of the plugins, which the first command builds.
static PLUGINS: LazyLock<PathBuf> = LazyLock::new(|| {
    let output = run(&["plugins"]);
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
});

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_divvy-simulation"));
    let output = command.args(arguments).output();
    output.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn simulated(arguments: &[&str]) -> Output {
    let plugins = PLUGINS.display().to_string();
    let fixed = ["--plugins", &plugins, "--events", "150"];
    run(&[&fixed[..], arguments].concat())
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn no_seed_breaks_a_rule() {
    let output = simulated(&["seeds", &seeds()]);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_seed_has_the_same_story_in_another_process() {
    for seed in (0..divvy_built::cases(4, 12)).map(|seed| seed.to_string()) {
        let seed = seed.as_str();
        let (first, second) = (simulated(&["replay", seed]), simulated(&["replay", seed]));
        assert!(first.stdout.len() > 10_000, "seed {seed} has a story");
        assert_eq!(first.stdout, second.stdout, "seed {seed}");
    }
}
