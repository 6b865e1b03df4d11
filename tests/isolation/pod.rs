//! Isolation under the restrictions of the pod in `examples/deploy`: another user than root, no capabilities, no new privileges, a root
//! file system that is read-only, and a container's filter of system calls.
//!
//! The filter of Docker (`profiles/seccomp/default.json` of moby at 00f3d189) allows all calls that isolation uses: `memfd_create`,
//! `seccomp`, `prctl`, `landlock_*`, `capset`, `prlimit64`, `futex` and `close_range`. What differs from a machine without it is that
//! `clone3` answers `ENOSYS`.

use std::process::{Command, Stdio};

use super::missing::{LACKING, profile, schedule};
use super::{divvy, file};
use crate::artifacts::{repository, with_bundled_plugins, workspace};

/// The user and the group of the pod.
const USER: &str = "65532";

/// Makes the root file system read-only, gives everything up, and runs a program with one system call less.
const RESTRICTED: &str = "mount -o remount,bind,ro / && touch \"$0\" 2>/dev/null && exit 90; \
     exec setpriv --reuid \"$1\" --regid \"$1\" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
     \"$2\" clone3 ENOSYS \"$3\" \"$@\"";

#[test]
fn an_isolated_plugin_decides_in_a_pod() {
    let deployment = repository().join("examples/deploy/host/deployment.yaml");
    let deployment = std::fs::read_to_string(deployment).expect("there is a deployment");
    for restriction in [
        &format!("runAsUser: {USER}"),
        "type: RuntimeDefault",
        "allowPrivilegeEscalation: false",
        "readOnlyRootFilesystem: true",
        "drop: [ALL]",
    ] {
        assert!(deployment.contains(restriction), "the pod has no `{restriction}`");
    }
    // Only root, or a user who may make namespaces, can restrict a process like this.
    let mut namespace = Command::new("unshare");
    namespace.args(["--mount", "true"]).stderr(Stdio::null());
    if !namespace.status().is_ok_and(|status| status.success()) {
        return;
    }
    let process = profile("pod", "process");
    let (decided, expected, _) = divvy(&schedule(&process));
    let probe = file("pod/probe", "");
    let mut command = Command::new("unshare");
    command
        .args([
            "--mount",
            "sh",
            "-c",
            &RESTRICTED.replace("\"$@\"", &schedule(&process).join(" ")),
        ])
        .arg(probe)
        .arg(USER)
        .arg(&*LACKING)
        .arg(workspace().binary("divvy"));
    let output = with_bundled_plugins(&mut command)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("the command can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = text(&output.stderr);
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (decided, expected),
        "{log}"
    );
    // Nothing is missing: the worker is confined as anywhere else.
    assert!(!log.contains("WARN"), "{log}");
}
