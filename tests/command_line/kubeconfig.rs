//! Kubeconfigs on the command line: errors that name file, field and remedy, and proxies of the shell.

use std::fs;

use super::divvy;

/// Runs `divvy schedule` with a kubeconfig of one cluster and one user, and variables of the environment. Returns exit code and
/// standard error, in which the file is `FILE`.
fn schedule(cluster: &str, user: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("kubeconfig");
    let text = format!(
        "clusters: [{{name: c, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
    );
    fs::write(&file, text).expect("the file can be written");
    let shown = file.display().to_string();
    let mut command = divvy(&["schedule", "--kubeconfig", &shown]);
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("the binary can be started");
    let errors = String::from_utf8(output.stderr).expect("divvy writes UTF-8");
    (output.status.code(), errors.replace(&shown, "FILE"))
}

#[test]
fn a_kubeconfig_that_cannot_be_used_is_an_error_with_a_hint() {
    let server = "{server: 'https://127.0.0.1:1'}";
    for (cluster, user, expected) in [
        (
            "{server: '127.0.0.1:7443'}",
            "{}",
            "error: kubeconfig `FILE` cannot be used: `server` of the cluster `c` has no scheme: `127.0.0.1:7443`\n  \
             hint: write it with scheme, host and port: `https://127.0.0.1:7443`\n",
        ),
        (
            server,
            "{token: [a]}",
            "error: kubeconfig `FILE` cannot be used: `users[0].user.token`: expected a string, got a list\n  \
             hint: `kubectl config view --kubeconfig FILE` reads it, too\n",
        ),
        (
            server,
            "{exec: {command: no-such-plugin, installHint: get it at example.com}}",
            "error: kubeconfig `FILE` cannot be used: `exec` of the user `u`: the command `no-such-plugin` is not found\n  \
             hint: get it at example.com\n",
        ),
    ] {
        assert_eq!(schedule(cluster, user, &[]), (Some(2), expected.to_owned()));
    }
}

/// Nothing listens on the port 1, so a connection without a proxy is refused.
#[test]
fn a_proxy_of_the_shell_does_not_stand_in_the_way_of_this_machine() {
    for (server, variables) in [
        (
            "{server: 'https://127.0.0.1:1'}",
            &[("HTTPS_PROXY", "http://192.0.2.1:9")][..],
        ),
        ("{server: 'https://localhost:1'}", &[("https_proxy", "ftp://192.0.2.1")]),
        (
            "{server: 'http://127.0.0.1:1'}",
            &[("HTTP_PROXY", "http://192.0.2.1:9")],
        ),
    ] {
        let (code, errors) = schedule(server, "{token: \"a\\n\"}", variables);
        assert_eq!(code, Some(2), "{errors}");
        assert!(
            errors.contains("Cluster objects cannot be listed") && errors.contains("refused"),
            "{errors}"
        );
    }
    let (code, errors) = schedule(
        "{server: 'https://karmada.example.com'}",
        "{}",
        &[("HTTPS_PROXY", "ftp://me:secret@192.0.2.1")],
    );
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("`HTTPS_PROXY`, which has the scheme `ftp`") && !errors.contains("secret"),
        "{errors}"
    );
}
