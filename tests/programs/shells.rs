//! Completions in fish and zsh, as their users have them. Those in bash are tested with the command line.

use crate::shell::in_shell;

const CLUSTERS: [&str; 4] = [
    "eu-aws-frankfurt",
    "eu-azure-amsterdam",
    "eu-gcp-belgium",
    "eu-onprem-paris",
];

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
