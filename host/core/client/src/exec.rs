//! Credentials from a plugin of `exec`: a command that prints an `ExecCredential`.
//!
//! kube runs the command three times for each client. Here it runs once per process, and again when its credentials expire or are
//! refused.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use k8s_openapi::jiff::Timestamp;
use kube::config::{ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;

/// Credentials that a plugin has printed.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecCredentials {
    pub(super) token: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key_data: Option<String>,
    pub(super) expiration_timestamp: Option<Timestamp>,
}

/// The object that a plugin prints.
#[derive(Deserialize)]
struct ExecCredential {
    status: Option<ExecCredentials>,
}

/// Reason why a plugin provides no credentials, and a hint.
#[derive(Debug)]
pub(super) struct ExecFailure {
    pub(super) problem: String,
    pub(super) hint: Option<String>,
}

impl ExecFailure {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            hint: None,
        }
    }
}

/// What plugins have printed, by their settings. client-go has the same memory (`exec.globalCache`).
static KNOWN: Mutex<BTreeMap<String, ExecCredentials>> = Mutex::new(BTreeMap::new());

/// The credentials that a plugin has printed for this process, if they have not expired; otherwise it runs.
pub(super) fn known_or_run(exec: &ExecConfig) -> Result<ExecCredentials, ExecFailure> {
    let known = KNOWN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key(exec))
        .cloned();
    match known {
        Some(known)
            if known
                .expiration_timestamp
                .is_none_or(|expires| Timestamp::now() < expires) =>
        {
            Ok(known)
        }
        _ => run_anew(exec),
    }
}

/// Runs a plugin, and remembers what it prints.
pub(super) fn run_anew(exec: &ExecConfig) -> Result<ExecCredentials, ExecFailure> {
    let credentials = run(exec)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(key(exec), credentials.clone());
    Ok(credentials)
}

fn key(exec: &ExecConfig) -> String {
    json!([exec, exec.cluster]).to_string()
}

/// Runs a plugin. Waits for its end, so it must not be called by a thread of the runtime.
fn run(exec: &ExecConfig) -> Result<ExecCredentials, ExecFailure> {
    let name = exec
        .command
        .as_deref()
        .filter(|command| !command.is_empty())
        .ok_or_else(|| ExecFailure::new("`command` is missing"))?;
    let mut command = Command::new(name);
    command.args(exec.args.iter().flatten());
    for variable in exec.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(ExecFailure::new(
                    "`env` has a variable whose name or value cannot be one",
                ));
            }
            command.env(name, value);
        }
    }
    let is_terminal = std::io::stdin().is_terminal();
    let is_interactive = match exec.interactive_mode {
        Some(ExecInteractiveMode::Never) => false,
        Some(ExecInteractiveMode::Always) if !is_terminal => {
            return Err(ExecFailure {
                problem: format!("`{name}` needs a terminal (`interactiveMode: Always`), and standard input is none"),
                hint: Some("log in with the command itself first, or use another user".to_owned()),
            });
        }
        _ => is_terminal,
    };
    command.stdin(if is_interactive {
        Stdio::inherit()
    } else {
        Stdio::null()
    });
    // People read it: a request to log in, or the reason of a failure.
    command.stderr(Stdio::inherit());
    let mut spec = json!({"interactive": is_interactive});
    if exec.provide_cluster_info {
        spec["cluster"] = serde_json::to_value(&exec.cluster).unwrap_or_default();
    }
    let request = json!({"kind": "ExecCredential", "apiVersion": exec.api_version, "spec": spec});
    command.env("KUBERNETES_EXEC_INFO", request.to_string());
    let output = command.output().map_err(|error| ExecFailure {
        problem: match error.kind() {
            std::io::ErrorKind::NotFound => format!("the command `{name}` is not found"),
            _ => format!("the command `{name}` cannot be run: {error}"),
        },
        hint: exec.install_hint.as_deref().map(|hint| hint.trim().to_owned()),
    })?;
    if !output.status.success() {
        return Err(ExecFailure {
            // `exit status: 7` or `signal: 9 (SIGKILL)`.
            problem: format!("the command `{name}` failed ({})", output.status),
            hint: Some("what it printed is above".to_owned()),
        });
    }
    read(&output.stdout).map_err(|problem| ExecFailure::new(format!("the command `{name}` {problem}")))
}

/// Reads what a plugin has printed.
fn read(printed: &[u8]) -> Result<ExecCredentials, String> {
    let read: ExecCredential = serde_json::from_slice(printed).map_err(|error| {
        // The text of the error may quote a token.
        let (line, column) = (error.line(), error.column());
        format!("printed no `ExecCredential` (line {line}, column {column})")
    })?;
    read.status
        .ok_or_else(|| "printed an `ExecCredential` without a `status`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(exec: &ExecConfig) -> (String, Option<String>) {
        let failure = run(exec).err().expect("it fails");
        (failure.problem, failure.hint)
    }

    fn shell(script: &str) -> ExecConfig {
        ExecConfig {
            command: Some("sh".to_owned()),
            args: Some(vec!["-c".to_owned(), script.to_owned()]),
            ..ExecConfig::default()
        }
    }

    #[test]
    fn a_plugin_that_fails_is_named_with_the_kubeconfigs_hint() {
        let missing = ExecConfig {
            command: Some("no-such-command".to_owned()),
            install_hint: Some("brew install it\n".to_owned()),
            ..ExecConfig::default()
        };
        let (problem, hint) = failure(&missing);
        assert_eq!(problem, "the command `no-such-command` is not found");
        assert_eq!(hint.as_deref(), Some("brew install it"));
        assert_eq!(failure(&ExecConfig::default()).0, "`command` is missing");
        let printed = "the command `sh` printed no `ExecCredential` (line 1, column 12)";
        for (script, expected) in [
            ("exit 7", "the command `sh` failed (exit status: 7)"),
            (
                "echo not-json-at-all",
                "the command `sh` printed no `ExecCredential` (line 1, column 2)",
            ),
            ("echo '{\"status\": \"secret\"}'", printed),
            (
                "echo '{}'",
                "the command `sh` printed an `ExecCredential` without a `status`",
            ),
        ] {
            let problem = failure(&shell(script)).0;
            let (problem, expected) = match script.contains("secret") {
                // The column is serde's affair; the secret is not to be shown.
                true => (
                    problem.split(" (").next().unwrap().to_owned(),
                    expected.split(" (").next().unwrap(),
                ),
                false => (problem, expected),
            };
            assert_eq!(problem, expected, "{script}");
        }
    }

    #[test]
    fn a_plugin_is_told_what_kubectl_tells_it() {
        let script = r#"printf '{"status": {"token": "%s", "expirationTimestamp": "2030-01-01T00:00:00Z"}}' "$USED-$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"{} ')""#;
        let exec = ExecConfig {
            api_version: Some("client.authentication.k8s.io/v1".to_owned()),
            env: Some(vec![
                [("name", "USED"), ("value", "yes")]
                    .map(|(key, value)| (key.into(), value.into()))
                    .into(),
            ]),
            interactive_mode: Some(ExecInteractiveMode::Never),
            ..shell(script)
        };
        let credentials = run(&exec).unwrap_or_else(|failure| panic!("{}", failure.problem));
        let token = credentials.token.unwrap();
        for part in [
            "yes-",
            "kind:ExecCredential",
            "apiVersion:client.authentication.k8s.io/v1",
            "interactive:false",
        ] {
            assert!(token.contains(part), "`{part}` is not in {token}");
        }
        assert_eq!(credentials.expiration_timestamp.unwrap().as_second(), 1_893_456_000);
    }
}
