//! Completions in fish and zsh, as their users have them. Those in bash are tested with the command line.

use std::process::Command;

use crate::artifacts::{repository, workspace};

const CLUSTERS: [&str; 4] = [
    "eu-aws-frankfurt",
    "eu-azure-amsterdam",
    "eu-gcp-belgium",
    "eu-onprem-paris",
];

/// Runs a script in a shell in which `divvy` is found.
fn in_shell(shell: &str, arguments: &[&str], script: &str) -> String {
    let divvy = workspace().binary("divvy").parent().expect("a binary is in a folder");
    let path = std::env::join_paths([divvy, "/usr/bin".as_ref(), "/bin".as_ref()]).expect("no folder has a colon");
    let output = Command::new(shell)
        .args(arguments)
        .arg(script)
        .current_dir(repository())
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/nonexistent")
        .env("TERM", "dumb")
        .output();
    let output = output
        .unwrap_or_else(|error| panic!("`{shell}` cannot be started ({error}): install Debian's package `{shell}`"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell}: {stderr}");
    String::from_utf8(output.stdout).expect("candidates are UTF-8")
}

#[test]
fn fish_completes_with_its_script() {
    let script = "divvy completions fish | source; complete -C 'divvy diff -f examples/fleet --drain eu-'";
    let printed = in_shell("fish", &["--no-config", "-c"], script);
    let found: Vec<&str> = printed.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(found, CLUSTERS);
}

/// Completion needs a terminal with keys; what the script's function adds is printed instead.
#[test]
fn zsh_completes_with_its_script() {
    let script = r#"
        compdef() { : }
        _describe() { local -a values=("${(@P)3}"); print -l -- ${values%%:*} }
        source <(divvy completions zsh)
        words=(divvy diff -f examples/fleet --drain eu-) CURRENT=6
        functions _clap_dynamic_completer_divvy >/dev/null && _clap_dynamic_completer_divvy
    "#;
    let printed = in_shell("zsh", &["-f", "-c"], script);
    for cluster in CLUSTERS {
        assert!(printed.contains(cluster), "{printed}");
    }
}
