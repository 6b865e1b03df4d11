//! A plugin in the scheduler's process that crashes, ends or hangs it is named, with the call and the binding.
//!
//! The command is run as users run it, and ends in its own way each time. [`crashes`]: signals. [`exits`]: `exit` and `quick_exit`.
//! [`hangs`]: calls that do not return. [`go`]: a runtime that handles signals itself.

mod crashes;
mod exits;
mod go;
mod hangs;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use serde_json::{Value, json};

use crate::artifacts::{with_bundled_plugins, workspace};
use crate::c_interface::hostile::{HOSTILE, opened};
use crate::manifests::{Binding, binding, cluster, list, priorities};

/// Points at which it does harm, and the words for their calls.
const POINTS: [(&str, &str); 5] = [
    ("prepare", "Prepare"),
    ("filter", "Filter"),
    ("score", "Score"),
    ("select", "Select"),
    ("assign", "Assign"),
];

/// How a command has ended.
pub(crate) struct Ended {
    status: ExitStatus,
    pub(crate) output: String,
    log: String,
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

    #[track_caller]
    fn check(&self, case: &str, how: Result<i32, i32>, errors: &[&str]) {
        let Self { output, log, .. } = self;
        assert_eq!(self.how(), how, "{case}: {output}{log}");
        assert_eq!(self.errors(), errors, "{case}: {log}");
    }
}

fn divvy(arguments: &[&str]) -> Ended {
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

/// A profile that uses the plugin in a library, with a fault in its constructor.
fn profile(library: &Path, fault: &str) -> String {
    format!(
        "[[profile]]\nname = 'hostile'\nextends = 'default'\nfilters = ['cluster-affinity', 'hostile']\nscores = ['hostile']\n\
         select = ['hostile']\nassign = ['hostile', 'average', 'priority-aggregated']\n[profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\n\
         configuration = {{ fault = '{fault}' }}\n",
        library.display()
    )
}

/// Runs a command with a profile, and two clusters and a binding as its input.
fn run(command: &[&str], profile: &str, binding: Binding) -> Ended {
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

/// Schedules a binding with a fault at a point, `web` in the namespace `default`.
pub(crate) fn harm(point: &str, fault: &str, more: &[&str]) -> Ended {
    // A state is prepared for all tiers of clusters together.
    let tiers = json!({ "clusterPriority": priorities([("a", 2), ("b", 1)]) });
    let binding = binding("web", 3)
        .preferences(&if point == "prepare" { tiers } else { json!({}) })
        .strategy("Hostile")
        .annotation("hostile.example/fault", fault)
        .annotation("hostile.example/point", point);
    run(&[&["schedule"], more].concat(), &profile(&HOSTILE, "none"), binding)
}

/// Checks a profile whose plugin does harm in its constructor.
pub(crate) fn construct(fault: &str, more: &[&str]) -> Ended {
    let command = [&["profile", "check"], more].concat();
    run(&command, &profile(&HOSTILE, fault), binding("web", 3))
}

/// Checks a profile whose library does harm when it is opened.
pub(crate) fn open(library: &Path, more: &[&str]) -> Ended {
    let command = [&["profile", "check"], more].concat();
    run(&command, &profile(library, "none"), binding("web", 3))
}

#[test]
fn a_plugin_that_does_no_harm_is_not_named() {
    let ended = harm("assign", "none", &[]);
    ended.check("none", Ok(0), &[]);
    assert!(ended.output.contains("Scheduled"), "{}", ended.output);
}
