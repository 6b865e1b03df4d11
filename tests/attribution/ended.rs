//! The command with a profile whose plugin ends it, and how it has ended.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use serde_json::Value;

use crate::artifacts::{with_bundled_plugins, workspace};
use crate::manifests::{Binding, cluster, list};

/// How a command has ended.
pub(crate) struct Ended {
    status: ExitStatus,
    pub(crate) output: String,
    pub(crate) log: String,
}

impl Ended {
    /// The exit code, or the number of the signal.
    pub(crate) fn how(&self) -> Result<i32, i32> {
        let signal = self.status.signal().unwrap_or_default();
        self.status.code().ok_or(signal)
    }

    /// The lines of standard error that name who ended the process.
    pub(crate) fn errors(&self) -> Vec<&str> {
        self.log.lines().filter(|line| line.starts_with("error: ")).collect()
    }

    /// Compares the end and the lines of [`Self::errors`].
    #[track_caller]
    pub(crate) fn check(&self, case: &str, how: Result<i32, i32>, errors: &[&str]) {
        let Self { output, log, .. } = self;
        assert_eq!(self.how(), how, "{case}: {output}{log}");
        assert_eq!(self.errors(), errors, "{case}: {log}");
    }
}

pub(crate) fn divvy(arguments: &[&str]) -> Ended {
    let mut command = Command::new(workspace().binary("divvy"));
    let output = with_bundled_plugins(command.args(arguments))
        .output()
        .expect("the binary can be started");
    Ended {
        status: output.status,
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        log: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command with a profile, and two clusters and a binding as its input.
pub(crate) fn run(command: &[&str], profile: &str, binding: Binding) -> Ended {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("the file can be written");
        path.display().to_string()
    };
    let objects: [Value; 3] = [cluster("a", 9).into(), cluster("b", 9).into(), binding.into()];
    let manifests = file("manifests.json", &list(objects));
    let profile = file("profile.toml", profile);
    let mut arguments: Vec<&str> = command.to_vec();
    if command[0] == "schedule" {
        arguments.extend(["-f", &manifests]);
    }
    arguments.extend(["--profile", &profile]);
    divvy(&arguments)
}
